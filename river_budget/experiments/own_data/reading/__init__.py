"""Files as rows of cells, whatever their format, and what a cell says."""
