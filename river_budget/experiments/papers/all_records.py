"""All tables and figures of all papers, in the order in which they are listed."""

from __future__ import annotations

from ..records.records import Record
from . import paper2005, paper2010, paper2012
from .paper2016 import tables_and_figures as paper2016
from .paper2018 import tables_and_figures as paper2018


def all_records() -> list[Record]:
    """The records of every paper."""
    modules = (paper2016, paper2010, paper2005, paper2018, paper2012)
    return [record for module in modules for record in module.records()]
