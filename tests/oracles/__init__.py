"""Plain NumPy references written from the papers; they import nothing of river_budget."""
