"""The papers' tables and figures, and a race for newcomers: `river-budget` on the command line."""
