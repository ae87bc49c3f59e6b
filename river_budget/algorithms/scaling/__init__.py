"""Scalers with the numbers of River's: Python looks names up, compiled code sees arrays."""
