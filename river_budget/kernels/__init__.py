"""Kernels: k(x, z) of two examples. Kernel objects hold parameters; the model that gets them
computes values.
"""

from __future__ import annotations

from .custom import Custom
from .known import RBF, Cosine, Laplacian, Linear, Normalised, Polynomial
from .known import Kernel as Kernel

__all__ = ["RBF", "Cosine", "Custom", "Laplacian", "Linear", "Normalised", "Polynomial"]


def __dir__() -> list[str]:
    return __all__
