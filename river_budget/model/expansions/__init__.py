"""Kernel expansions: their budget, the storage of their vectors, and the mean of iterates."""
