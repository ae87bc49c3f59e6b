"""How support vectors are stored: a table or sparse lists."""
