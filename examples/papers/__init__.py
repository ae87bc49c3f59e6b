"""The tables and figures of five papers, measured again, and further comparisons: `python
examples/papers --help`.
"""
