"""Batch methods that the papers compare with. Only the papers' tables and figures use them."""
