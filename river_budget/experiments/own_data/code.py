"""The program that does what `try` did with a model: the pipeline as Python code, and the loop
around it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Sequence
from typing import Any

from river import base, compose


def program(
    model: Any, data: str, target: str, given: dict[str, Any], labels: Sequence[Any] | None = None
) -> str:
    """A program that reads the file and lets the model predict and then learn each row."""
    modules: set[str] = set()
    made = expression(model, modules)
    named = "".join(f", {name}={value!r}" for name, value in given.items() if value)
    known = "y" if labels is None else f"y == {labels[1]!r}"
    imports = f"from river import {', '.join(sorted(modules))}\n" if modules else ""
    return (
        f"{imports}import river_budget as rb\n\nmodel = {made}\n"
        f"for x, y in rb.read({data!r}, {target!r}{named}):\n"
        f"    prediction = model.predict_one(x)\n    model.learn_one(x, {known})\n"
    )


def expression(model: Any, modules: set[str]) -> str:
    """A model without what it has learned, as Python code; modules of River that it needs are
    added.
    """
    if isinstance(model, compose.Pipeline):
        return " | ".join(_part(step, modules) for step in model.steps.values())
    if isinstance(model, compose.TransformerUnion):
        return f"({' + '.join(_part(each, modules) for each in model.transformers.values())})"
    if not isinstance(model, base.Base):
        return repr(model)
    kind = type(model)
    place = _place(kind)
    if not place.startswith("rb"):
        modules.add(place.partition(".")[0])
    return f"{place}.{kind.__name__}({', '.join(_arguments(model, modules))})"


def _part(model: Any, modules: set[str]) -> str:
    """A model among others: a pipeline in parentheses."""
    made = expression(model, modules)
    return f"({made})" if isinstance(model, compose.Pipeline) else made


def _place(kind: Any) -> str:
    """The public module of a class, as programs name it."""
    package, *inside = kind.__module__.split(".")
    if package == "river_budget":
        return f"rb.{inside[0]}" if inside[0] in ("kernels", "maintenance") else "rb"
    for depth in range(1, len(inside) + 1):
        place = ".".join(inside[:depth])
        if getattr(importlib.import_module(f"{package}.{place}"), kind.__name__, None) is kind:
            return place
    return ".".join(inside)


def _is_code(text: str) -> bool:
    """Whether Python can read this: the address of a function, which the class sets by itself, is
    none.
    """
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _arguments(model: Any, modules: set[str]) -> list[str]:
    """The parameters that are not the defaults, as code."""
    known = inspect.signature(type(model)).parameters
    several = [name for name, one in known.items() if one.kind is one.VAR_POSITIONAL]
    if several:  # such as the keys of a selection
        values = getattr(model, several[0], getattr(model, "keys", ()))
        return [expression(value, modules) for value in sorted(values, key=str)]
    needed = [name for name, one in known.items() if one.default is one.empty]
    usual = type(model)(*(getattr(model, name) for name in needed))
    found = [expression(getattr(model, name), modules) for name in needed]
    for name in [name for name in known if name not in needed and hasattr(model, name)]:
        own, other = getattr(model, name), getattr(usual, name, None)
        made = expression(own, set())
        if made != expression(other, set()) and _is_code(made):
            found.append(f"{name}={expression(own, modules)}")
    return found
