"""Convert dicts, frames, sparse matrices and labels into rows, sparse lists and numeric targets."""
