"""Numerical primitives with the same order of summation on every processor."""
