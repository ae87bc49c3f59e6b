"""Gradient descent: OGD, BOGD, NORMA, BSGD."""
