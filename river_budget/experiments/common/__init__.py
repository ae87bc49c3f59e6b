"""Code for all experiments: what is on disk, tables, and what a verb prints, checks and draws."""
