"""Docstrings, from which the reference is made, say what they must."""

from __future__ import annotations

import inspect
import re

import docstrings
import pytest
from folders import EXAMPLES

pytest.importorskip("sklearn", reason="scikit-learn is not installed, and rb.sklearn stands on it")
pytest.importorskip("onnx", reason="onnx is not installed, and rb.export stands on it")
PUBLIC = list(docstrings.public())
each_name = pytest.mark.parametrize(("name", "kind"), PUBLIC, ids=[name for name, _ in PUBLIC])


@each_name
def test_every_public_name_describes_each_of_its_parameters(name, kind):
    parts = docstrings.parts_of(kind.__doc__ or "")
    assert parts[""], f"{name} does not say what it is for"
    if name == "rb.distributed.Sweep" or (inspect.isclass(kind) and issubclass(kind, Exception)):
        return  # made by the package and not by users
    parameters = [p for p in inspect.signature(kind).parameters if p not in ("args", "kwargs")]
    described = [entry for entry, _ in docstrings.entries_of(parts.get("Parameters", ""))]
    assert not set(parameters).difference(described), f"{name} does not describe all parameters"


@each_name
def test_every_public_name_says_when_it_is_bad_shows_its_point_and_names_its_sources(name, kind):
    parts = docstrings.parts_of(kind.__doc__ or "")
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
