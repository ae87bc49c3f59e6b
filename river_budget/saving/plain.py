"""Encode names, labels and parameters as JSON values, and decode them.

Text, booleans, None and integers are JSON values. Other values are an object with one entry:
{"float": repr}, {"tuple": [...]}, {"dict": [[name, value], ...]}, {"RBF": {parameters}} and so on for
kernels and maintenance strategies, whose parameters that are None are left out, and {"Custom": {"name":
...}} for the name of a kernel function.
"""  # noqa: E501

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from .. import kernels, maintenance
from ..core import custom_kernels
from ..inputs.features import TUPLES
from ..parameters import Value
from .errors import SavedModelError, damaged

DEEPEST_TUPLE = 20  # the depth up to which tuples may be nested
VALUES = {
    name: getattr(module, name) for module in (kernels, maintenance) for name in module.__all__
}


def encoded(value: Any, depth: int = 0) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and value == value:  # not NaN, which as a name is never equal to itself
        return {"float": repr(value)}
    if type(value) in TUPLES and depth < DEEPEST_TUPLE:
        return {"tuple": [encoded(part, depth + 1) for part in value]}
    if type(value) is dict and depth < DEEPEST_TUPLE:
        pairs = [[encoded(key), encoded(part, depth + 1)] for key, part in value.items()]
        return {"dict": pairs}
    if type(value) is kernels.Custom:
        return {"Custom": {"name": value.known_as}}
    if isinstance(value, Value) and type(value) is VALUES.get(type(value).__name__):
        parameters = {k: encoded(v, depth + 1) for k, v in vars(value).items() if v is not None}
        return {type(value).__name__: parameters}
    raise SavedModelError(
        f"{short(value)} cannot be saved: names, labels and parameters must be text, numbers, "
        "booleans, "
        "None, or tuples of them"
    )


def decoded(value: Any, depth: int = 0) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, dict) and len(value) == 1 and depth < DEEPEST_TUPLE:
        ((kind, content),) = value.items()
        if kind == "float" and isinstance(content, str):
            try:
                return float(content)
            except ValueError:
                pass
        if kind == "tuple" and isinstance(content, list):
            return tuple(decoded(part, depth + 1) for part in content)
        if kind == "dict" and isinstance(content, list):
            return _dict(content, depth + 1)
        if kind == "Custom" and isinstance(content, dict):
            return _kernel_function(content.get("name"))
        if kind in VALUES and isinstance(content, dict):
            return built(VALUES[kind], content, depth + 1)
    raise damaged(f"{short(value)} is no value")


def name(value: Any) -> Any:
    """A name or a label: text, a number, a boolean, None, or a tuple of these."""
    found = decoded(value)
    if not is_name(found):
        raise damaged(f"{short(found)} is no name")
    return found


def is_name(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(is_name, value))
    return value is None or (isinstance(value, (bool, int, float, str)) and value == value)


def _dict(pairs: list[Any], depth: int) -> dict[Any, Any]:
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise damaged("a table has no pairs of names and values")
    try:
        return {decoded(key, depth): decoded(value, depth) for key, value in pairs}
    except TypeError:  # an unhashable key in a forged file
        raise damaged("a table has no names") from None


def _kernel_function(name: Any) -> kernels.Custom:
    """The kernel whose function is registered under this name; a file contains only names of
    functions.
    """
    function = custom_kernels.known_function(name) if isinstance(name, str) else None
    if function is None:
        raise SavedModelError(
            f"the model has the kernel function {short(name)}, which this process does not know: "
            "files hold the "
            "names of functions only. Make rb.kernels.Custom(function) of it, with the same name, "
            "before loading"
        )
    return kernels.Custom(function, name)


def built(kind: Any, parameters: Any, depth: int = 0) -> Any:
    """An object made from its parameters, which its constructor checks."""
    if not isinstance(parameters, dict):
        raise damaged(f"{short(parameters)} are no parameters")
    arguments = {name: decoded(value, depth + 1) for name, value in parameters.items()}
    try:
        return kind(**arguments)
    except (TypeError, ValueError, OverflowError) as error:
        raise damaged(f"{kind.__name__}: {error}") from None


def short(value: Any) -> str:
    """An abbreviated repr for error messages: in a forged file any value may be very long."""
    return reprlib.repr(value)
