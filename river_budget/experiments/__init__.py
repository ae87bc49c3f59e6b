"""What `river-budget` measures: a race for newcomers, AutoKernel, speed, and models on a file of
one's own.
"""
