"""Models in other formats."""

from __future__ import annotations

try:
    from .models import onnx
except ImportError as error:
    raise ImportError(
        'river_budget.export needs the package onnx: pip install "river-budget[onnx]"'
    ) from error

__all__ = ["onnx"]
