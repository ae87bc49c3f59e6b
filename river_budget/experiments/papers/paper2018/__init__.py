"""S. Qaadan, T. Glasmachers. Multi-merge budget maintenance, 2018: all tables and figures."""
