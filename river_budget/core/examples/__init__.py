"""From what the caller has (rows, lists, dicts) to what a pass sees."""
