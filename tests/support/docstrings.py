"""Every public name, and the sections of its docstring."""

from __future__ import annotations

import inspect
import re
import textwrap

import river_budget as rb


def public():
    """(name, object) of everything that users see, in groups."""
    names = [name for name in rb.__all__ if not inspect.ismodule(getattr(rb, name))]
    for name in sorted(names, key=str.lower):
        yield f"rb.{name}", getattr(rb, name)
    for module in ("kernels", "maintenance", "plots", "distributed", "export", "sklearn"):
        for name in getattr(rb, module).__all__:
            yield f"rb.{module}.{name}", getattr(getattr(rb, module), name)


def parts_of(text):
    """The sections of a numpydoc docstring; the text before them has the key ""."""
    found, title = {"": []}, ""
    lines = inspect.cleandoc(text).splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and set(below) == {"-"} and line.strip():
            title = line.strip()
            found[title] = []
        elif set(line) != {"-"} or not line:
            found[title].append(line)
    return {name: "\n".join(body).strip("\n") for name, body in found.items()}


def entries_of(section):
    """(name, text) of a section of parameters."""
    for entry in re.split(r"\n(?=\S)", section):
        name, _, text = entry.partition("\n")
        yield name, " ".join(textwrap.dedent(text).split())
