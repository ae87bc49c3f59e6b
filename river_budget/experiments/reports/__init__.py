"""Measured records as tables, and the document of all of them."""
