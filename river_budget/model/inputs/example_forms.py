"""Checks that examples and their values are valid, and errors that say what they must be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...parameters import as_float

LONGEST_SHOWN = 60  # at most so many characters of a wrong example in an error


def check_example(x: Any) -> None:
    """Raise TypeError if this is no dict, nor anything that is used like one."""
    if type(x) is dict or (hasattr(x, "keys") and hasattr(x, "items")):
        return
    shown = repr(x)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 3]}..."
    advice = ""
    if isinstance(x, (list, tuple, np.ndarray)):
        advice = (
            ": dict(enumerate(x)) numbers its features, learn_many and predict_many take a matrix"
        )
    raise TypeError(f"an example must be a dict of its features, not {shown}{advice}")


def number(feature: Any, value: Any) -> float:
    """The value of a feature as a float, or an error that names both."""
    result = as_float(value)
    if result is None:
        raise ValueError(
            f"feature {feature!r} must be a finite number, not {value!r}{_advice(value)}"
        )
    return result


def _advice(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return ": text needs an encoder in front, such as preprocessing.OneHotEncoder()"
    if is_missing(value):
        return ": rb.Guard('skip') in front leaves such examples out, an imputer fills gaps"
    return ""


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, or infinity (of statistics without data)."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, (float, np.floating)) and not math.isfinite(value)
