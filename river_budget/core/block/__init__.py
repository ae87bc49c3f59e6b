"""The memory of a model: its layout, allocation, limits, codes and random numbers."""
