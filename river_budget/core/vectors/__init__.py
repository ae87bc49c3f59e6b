"""How support vectors are stored: a table, a table in float32, or sparse lists."""
