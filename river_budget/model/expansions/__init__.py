"""Kernel expansions: budgets, how vectors are stored, the mean of iterates."""
