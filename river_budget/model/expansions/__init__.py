"""Kernel expansions: their budget, their vectors and coefficients."""
