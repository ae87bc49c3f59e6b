"""Numerical primitives with one order of summation, from LLVM instructions."""
