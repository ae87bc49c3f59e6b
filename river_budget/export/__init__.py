"""Models in other formats."""

from __future__ import annotations

from ..messages.extras import missing

try:
    from .predictors import onnx
except ImportError as error:
    onnx = missing("export.onnx", "onnx: pip install onnx", error)

__all__ = ["onnx"]


def __dir__() -> list[str]:
    return __all__
