"""What `river-budget` measures: a race for newcomers, speed, and the tables and figures of papers."""
