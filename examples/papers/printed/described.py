"""Records with the titles and notes of records.toml, other texts and figures in files, and which
datasets are there.
"""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Iterable
from typing import Any

from ..records.records import Cell, Panels, Record
from ..records.stored import at_hand
from ..records.verdicts import Claim


def contents(name: str) -> dict[str, Any]:
    """The contents of a TOML file of this folder."""
    return tomllib.loads(importlib.resources.files(__package__).joinpath(name).read_text("utf-8"))


RECORDS = contents("records.toml")


def record(
    name: str, cells: Iterable[Cell], panels: Panels | None = None, *claims: Claim
) -> Record:
    """A table, or a figure with its panels and the claims that are checked on it."""
    return Record(name, cells=tuple(cells), panels=panels, claims=claims, **RECORDS[name])


def first_at_hand(*names: str) -> str:
    """The first of these datasets that can be read without a download; where none can, the
    first.
    """
    return next(filter(at_hand, names), names[0])
