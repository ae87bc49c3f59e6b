"""The verbs about the tables and figures of papers: list, table, figure and reproduce."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_formats, add_jobs, add_results, add_verb, flag, many, option, whole


def run_on_records(options: argparse.Namespace) -> int:
    """Run one of these verbs, which load the papers' records and the methods that they compare."""
    from ..reports import VERBS

    return VERBS[options.command](options)


def add_list(verbs: Any) -> None:
    """Options of `list`."""
    text = "the tables and figures, and the datasets at hand"
    add_formats(add_verb(verbs, "list", run_on_records, text))


def add_record(verbs: Any, kind: str) -> None:
    """Options of `table` and `figure`."""
    verb = add_verb(verbs, kind, run_on_records, f"measure a {kind} of a paper again")
    verb.add_argument("name", help=f"such as 2016-{kind}-5; see `river-budget list`")
    text = "only these datasets, downloaded if they are not at hand (default: all at hand)"
    many(verb, "--data", text)
    text = "at most so many orders of the examples (default: those of the paper)"
    option(verb, "--repeats", text, whole)
    shape = verb.add_mutually_exclusive_group()
    flag(shape, "--times", "print seconds too")
    flag(shape, "--wide", "print a column for every dataset")
    text = "draw the curves (default: NAME.png for a figure, no picture for a table)"
    option(verb, "--plot", text, metavar="PNG")
    add_jobs(verb)
    add_formats(verb)
    add_results(verb)


def add_reproduce(verbs: Any) -> None:
    """Options of `reproduce`."""
    verb = add_verb(verbs, "reproduce", run_on_records, "everything that the data at hand allows")
    option(verb, "--output", "the folder for the document and plots", default="reproduced")
    many(verb, "--only", "only these tables and figures (default: all)")
    add_formats(verb)
    add_jobs(verb)
    add_results(verb)
