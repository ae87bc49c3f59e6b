"""The preparation of datasets in the papers. All functions change the whole set in place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .reading import Floats

Preparation = Callable[[Floats, Floats], None]
"""Takes the matrix and the targets and changes them."""


def as_published(X: Floats, y: Floats) -> None:
    """Change nothing: many sets of the papers are used raw."""


def pixels(X: Floats, y: Floats) -> None:
    """Scale grey values from 0..255 to 0..1."""
    X /= 255


def columns_around_zero(X: Floats, y: Floats) -> None:
    """Scale every feature to [-1, 1]."""
    _to_unit(X)
    X *= 2
    X -= 1


def everything_to_unit(X: Floats, y: Floats) -> None:
    """Scale every feature and the target to [0, 1]."""
    _to_unit(X)
    _to_unit(y)


def _to_unit(values: Floats) -> None:
    least = values.min(axis=0)
    span = values.max(axis=0) - least
    values -= least
    values /= np.where(span == 0, 1, span)  # a constant becomes 0 (in the authors' script 0 / 0)
