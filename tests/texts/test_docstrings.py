"""Docstrings, from which the reference is made, say what they must."""

from __future__ import annotations

import inspect
import re

import pytest
from folders import EXAMPLES

import river_budget as rb

pytest.importorskip("sklearn", reason="scikit-learn is not installed, and rb.sklearn stands on it")
pytest.importorskip("onnx", reason="onnx is not installed, and rb.export stands on it")


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


PUBLIC = list(public())
each_name = pytest.mark.parametrize(("name", "kind"), PUBLIC, ids=[name for name, _ in PUBLIC])


@each_name
def test_every_public_name_describes_each_of_its_parameters(name, kind):
    parts = parts_of(kind.__doc__ or "")
    assert parts[""], f"{name} does not say what it is for"
    if name == "rb.distributed.Sweep" or (inspect.isclass(kind) and issubclass(kind, Exception)):
        return  # made by the package and not by users
    parameters = [p for p in inspect.signature(kind).parameters if p not in ("args", "kwargs")]
    described = re.findall(r"^\S.*", parts.get("Parameters", ""), re.M)
    assert not set(parameters).difference(described), f"{name} does not describe all parameters"


@each_name
def test_every_public_name_says_when_it_is_bad_shows_its_point_and_names_its_sources(name, kind):
    parts = parts_of(kind.__doc__ or "")
    paragraphs = parts[""].split("\n\n")
    assert len(paragraphs[0]) > 10, f"{name} does not say what it is for"
    assert any(p.startswith("Not for ") for p in paragraphs), f'{name}: a paragraph "Not for ..."'
    assert ">>> " in parts.get("Examples", ""), f"{name} has no example"
    references = parts.get("References", "")
    assert re.search(r"^\[\^1\]: .", references, re.M), f"{name} has no reference"
    for target in re.findall(r"\]\((guide/[^)#]*)", references):
        assert (EXAMPLES / target).exists(), target
    known = ["", "Parameters", "Returns", "Examples", "References"]  # of numpydoc, in this order
    assert list(parts) == [title for title in known if title in parts]
