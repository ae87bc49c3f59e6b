"""Numerical primitives from LLVM instructions, with the same order of summation on every processor."""
