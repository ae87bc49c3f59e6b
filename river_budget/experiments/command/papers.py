"""The verbs about the tables and figures of papers: list, table, figure and reproduce."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_formats, add_jobs, add_results, add_verb, whole


def run_on_records(options: argparse.Namespace) -> int:
    """Run one of these verbs, which load the papers' records and the methods that they compare."""
    from ..reports.verbs import VERBS

    return VERBS[options.command](options)


def add_list(verbs: Any) -> None:
    """Options of `list`."""
    verb = add_verb(
        verbs, "list", run_on_records, "the tables and figures, and the datasets at hand"
    )
    add_formats(verb)


def add_record(verbs: Any, kind: str) -> None:
    """Options of `table` and `figure`."""
    verb = add_verb(verbs, kind, run_on_records, f"measure a {kind} of a paper again")
    verb.add_argument("name", help=f"such as 2016-{kind}-5; see `river-budget list`")
    verb.add_argument(
        "--data",
        nargs="+",
        help="only these datasets, downloaded if they are not at hand (default: all at hand)",
    )
    verb.add_argument(
        "--repeats",
        type=whole,
        help="at most so many orders of the examples (default: those of the paper)",
    )
    shape = verb.add_mutually_exclusive_group()
    shape.add_argument("--times", action="store_true", help="print seconds too")
    shape.add_argument("--wide", action="store_true", help="print a column for every dataset")
    verb.add_argument(
        "--plot",
        metavar="PNG",
        help="draw the curves (default: NAME.png for a figure, no picture for a table)",
    )
    add_jobs(verb)
    add_formats(verb)
    add_results(verb)


def add_reproduce(verbs: Any) -> None:
    """Options of `reproduce`."""
    verb = add_verb(verbs, "reproduce", run_on_records, "everything that the data at hand allows")
    verb.add_argument(
        "--output", default="reproduced", help="the folder for the document and plots"
    )
    verb.add_argument("--only", nargs="+", help="only these tables and figures (default: all)")
    add_formats(verb)
    add_jobs(verb)
    add_results(verb)
