"""Kernels: k(x, z) of two examples. Kernel objects hold parameters; the model that gets them computes values."""

from __future__ import annotations

from .base import Kernel as Kernel
from .custom import Custom
from .known import RBF, Laplacian, Linear, Polynomial
from .normalised import Cosine, Normalised

__all__ = ["RBF", "Cosine", "Custom", "Laplacian", "Linear", "Normalised", "Polynomial"]


def __dir__() -> list[str]:
    return __all__
