"""Gradient descent: OGD, BOGD, NORMA, BSGD, and the one-class machine."""
