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


@pytest.mark.parametrize(("name", "kind"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_every_public_name_describes_each_of_its_parameters(name, kind):
    parts = docstrings.parts_of(kind.__doc__ or "")
    assert parts[""], f"{name} does not say what it is for"
    if name == "rb.distributed.Sweep" or (inspect.isclass(kind) and issubclass(kind, Exception)):
        return  # made by the package and not by users
    parameters = [p for p in inspect.signature(kind).parameters if p not in ("args", "kwargs")]
    described = [entry for entry, _ in docstrings.entries_of(parts.get("Parameters", ""))]
    assert not set(parameters).difference(described), f"{name} does not describe all parameters"


@pytest.mark.parametrize(("name", "kind"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_every_public_name_says_when_it_is_bad_shows_its_point_and_names_its_sources(name, kind):
    parts = docstrings.parts_of(kind.__doc__ or "")
    paragraphs = parts[""].split("\n\n")
    assert len(paragraphs[0]) > 10, f"{name} does not say what it is for"
    assert any(p.startswith("Not for ") for p in paragraphs), f'{name}: a paragraph "Not for ..."'
    assert ">>> " in parts.get("Examples", ""), f"{name} has no example"
    assert re.search(r"^\[\^1\]: .", parts.get("References", ""), re.M), f"{name} has no reference"


@pytest.mark.parametrize(("name", "kind"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_references_to_the_guide_lead_somewhere(name, kind):
    text = docstrings.parts_of(kind.__doc__ or "").get("References", "")
    for target in re.findall(r"\]\((guide/[^)#]*)", text):
        assert (EXAMPLES / target).exists(), target


def test_sections_are_those_of_numpydoc_in_their_order():
    known = ["", "Parameters", "Returns", "Examples", "References"]
    for name, kind in PUBLIC:
        sections = list(docstrings.parts_of(kind.__doc__ or ""))
        assert sections == [title for title in known if title in sections], name
