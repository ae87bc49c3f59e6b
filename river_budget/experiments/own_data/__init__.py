"""Users' own files: find out what their columns are, try models on their rows, predict other
rows.
"""
