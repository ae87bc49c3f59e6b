"""Convert what the caller has (rows, lists, dicts) to the form in which passes see examples."""
