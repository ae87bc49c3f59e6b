"""How support vectors are stored: in a table."""
