"""Names, labels and parameters as JSON, and back.

Text, booleans, None and whole numbers are what they are in JSON. Others are an object of one entry:
{"float": repr}, {"tuple": [...]}, {"RBF": {parameters}} and so on for kernels and maintenance strategies.
"""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from .. import kernels, maintenance
from ..parameters import Value
from .errors import SavedModelError

DEEPEST = 20  # tuples within tuples
VALUES = {
    name: getattr(module, name) for module in (kernels, maintenance) for name in module.__all__
}


def encoded(value: Any, depth: int = 0) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and value == value:  # no NaN is equal to another
        return {"float": repr(value)}
    if type(value) is tuple and depth < DEEPEST:
        return {"tuple": [encoded(part, depth + 1) for part in value]}
    if isinstance(value, Value) and type(value) is VALUES.get(type(value).__name__):
        return {type(value).__name__: {k: encoded(v) for k, v in vars(value).items()}}
    raise SavedModelError(
        f"{short(value)} cannot be saved: names, labels and parameters must be text, numbers, booleans, "
        "None, or tuples of them"
    )


def number(value: Any) -> Any:
    """The same for a number that may be NaN."""
    return {"float": "nan"} if value != value else encoded(value)


def decoded(value: Any, depth: int = 0) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, dict) and len(value) == 1 and depth < DEEPEST:
        ((kind, content),) = value.items()
        if kind == "float" and isinstance(content, str):
            try:
                return float(content)
            except ValueError:
                pass
        if kind == "tuple" and isinstance(content, list):
            return tuple(decoded(part, depth + 1) for part in content)
        if kind in VALUES and isinstance(content, dict):
            return built(VALUES[kind], content, depth + 1)
    raise SavedModelError(f"the file is damaged: {short(value)} is no value")


def built(kind: Any, parameters: Any, depth: int = 0) -> Any:
    """An object from its parameters, which its constructor checks."""
    if not isinstance(parameters, dict):
        raise SavedModelError(f"the file is damaged: {short(parameters)} are no parameters")
    arguments = {name: decoded(value, depth + 1) for name, value in parameters.items()}
    try:
        return kind(**arguments)
    except (TypeError, ValueError, OverflowError) as error:
        raise SavedModelError(f"the file is damaged: {kind.__name__}: {error}") from None


def short(value: Any) -> str:
    """A few words of it: in a forged file, anything may be very long."""
    return reprlib.repr(value)
