"""All tables and figures of all papers, in the order in which they are listed."""

from __future__ import annotations

from ..records.records import Record
from . import figures2016, paper2005, paper2010, paper2012, paper2016, paper2018


def all_records() -> list[Record]:
    """The records of every paper."""
    modules = (paper2016, figures2016, paper2010, paper2005, paper2018, paper2012)
    return [record for module in modules for record in module.records()]
