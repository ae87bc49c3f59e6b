"""River's and our models with default parameters, or one kernel per stream: errors, times, memory,
curves.
"""
