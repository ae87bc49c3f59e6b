"""The base class of kernels, and how a width becomes gamma."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from ..parameters import Value, positive


class Kernel(Value):
    """Base class of all kernels."""

    file_limits: ClassVar[Mapping[str, int]] = {}
    scales: Mapping[Any, float] | None = None  # factors of features

    def header_fields(self, n_features: int) -> dict[str, Any]:
        """The header fields of a model whose first example has `n_features` features.

        `bounded` says that k(x, x) = 1 for every x.
        """
        raise NotImplementedError


PER_FEATURE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)/d", re.ASCII)


def check_width(gamma: float | str) -> None:
    if not isinstance(gamma, str):
        positive("gamma", gamma)
    elif gamma != "auto" and not (PER_FEATURE.fullmatch(gamma) and _multiple(gamma) > 0.0):
        raise ValueError(
            f"gamma must be a positive number, 'auto', or a text such as '2/d', not {gamma!r}"
        )


def _multiple(gamma: str) -> float:
    """c of 'c/d'"""
    return 1.0 if gamma == "auto" else float(gamma.removesuffix("/d"))


def checked_scales(scales: Any) -> dict[Any, float] | None:
    if scales is None:
        return None
    if not isinstance(scales, Mapping):
        raise ValueError(f"scales must be a dict of features and factors, not {scales!r}")
    for name, factor in scales.items():
        positive(f"scales[{name!r}]", factor)
    return {name: float(factor) for name, factor in scales.items()}


def width(gamma: float | str, n_features: int) -> float:
    return _multiple(gamma) / max(n_features, 1) if isinstance(gamma, str) else float(gamma)
