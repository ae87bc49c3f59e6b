"""What the package tells its user: warnings about a stream, summaries, progress, a line while code
is compiled.
"""
