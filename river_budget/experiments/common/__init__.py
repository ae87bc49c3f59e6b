"""Code for all experiments: results, scores, tables, and what a verb prints, checks and draws."""
