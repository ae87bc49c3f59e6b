"""The API reference is in step with the docstrings."""

from __future__ import annotations

import inspect

import pytest
import reference

PUBLIC = list(reference.public())


def test_the_reference_says_what_the_docstrings_say():
    """If not: `python tests/reference.py` writes it anew."""
    assert reference.PLACE.read_text() == reference.reference()


@pytest.mark.parametrize(("name", "kind"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_every_public_name_describes_each_of_its_parameters(name, kind):
    parts = reference.parts_of(kind.__doc__ or "")
    assert parts[""], f"{name} does not say what it is for"
    if name == "rb.distributed.Sweep" or (inspect.isclass(kind) and issubclass(kind, Exception)):
        return  # made by the package and not by users
    parameters = [p for p in inspect.signature(kind).parameters if p not in ("args", "kwargs")]
    described = [entry for entry, _ in reference.entries_of(parts.get("Parameters", ""))]
    assert not set(parameters).difference(described), f"{name} does not describe all parameters"
