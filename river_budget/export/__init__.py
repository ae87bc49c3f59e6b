"""Models in other formats."""

from __future__ import annotations

try:
    from .predictors import onnx
except ImportError as error:
    raise ImportError("river_budget.export needs onnx: pip install onnx") from error

__all__ = ["onnx"]


def __dir__() -> list[str]:
    return __all__
