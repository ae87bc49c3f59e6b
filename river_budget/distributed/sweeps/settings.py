"""The settings of a grid, and texts that identify them in another session."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Mapping
from typing import Any

from river import base, compose

from ...parameters import Value


def chosen(model: Any, grid: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the parameters of a grid have in a model."""
    setting = {}
    for name, inside in grid.items():
        value = (
            model[name]
            if isinstance(model, (compose.Pipeline, compose.TransformerUnion))
            else getattr(model, name)
        )
        setting[name] = chosen(value, inside) if isinstance(inside, Mapping) else value
    return setting


def described(value: Any) -> str:
    """A value as text, with all parameters. The text is the same in another session."""
    if isinstance(value, Value):
        return repr(value)  # which contains the parameters that are set
    if isinstance(value, base.Base):
        return f"{type(value).__name__}({described(value._get_params())})"
    if isinstance(value, dict):
        return ", ".join(
            f"{name}({described(each)})" if isinstance(each, dict) else f"{name}={described(each)}"
            for name, each in value.items()
        )
    if isinstance(value, tuple) and len(value) == 2 and inspect.isclass(value[0]):
        if issubclass(value[0], Value):
            return described(value[0](**value[1]))
        return f"{value[0].__name__}({described(value[1])})"  # as River writes an object
    if inspect.isroutine(value) or inspect.isclass(value):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)


def fingerprint(*texts: str) -> str:
    """A short text that identifies these texts."""
    for text in texts:
        if unnamed := re.search(r"\S*(<lambda>| at 0x[0-9a-f]+)", text):
            raise ValueError(
                f"checkpoint: {unnamed[0]} cannot be recognised in a later session, use a function "
                "with a name or an object whose repr tells its content"
            )
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
