"""Convert the caller's examples (rows, lists, dicts) to the form that passes use."""
