"""Calls of compiled passes: for one example, by the fast path or through Python, and for batches."""
