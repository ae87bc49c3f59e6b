"""Batch methods that the papers compare with: only their tables and figures use them."""
