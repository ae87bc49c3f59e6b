"""The memory of a model: tables, sizes, codes, random numbers."""
