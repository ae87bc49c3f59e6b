"""Calls of compiled passes: prepared, for one example or many, the short way and the long way."""
