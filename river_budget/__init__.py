"""Kernel learning on streams with a fixed budget, for River."""

from __future__ import annotations

from . import kernels, maintenance
from .bsgd import BSGDClassifier, BSGDRegressor

__version__ = "0.1.0"

__all__ = ["BSGDClassifier", "BSGDRegressor", "kernels", "maintenance"]
