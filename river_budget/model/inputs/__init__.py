"""Dicts, frames, sparse matrices and labels become rows, lists and targets."""
