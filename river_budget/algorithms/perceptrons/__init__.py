"""Perceptrons with and without a budget, and budgeted passive-aggressive learning."""
