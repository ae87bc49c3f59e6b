"""The options and the run of `auto --moa`: AutoKernel and the learners of MOA."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

from ..common.console import (
    GOOD,
    check_drawing,
    check_names,
    draw,
    print_tables,
    say_missing,
)
from .options import RESULTS, seconds

RECORD = "moa.jsonl"  # in the folder of results


def add_moa(verb: Any) -> None:
    """Options of `auto --moa`."""
    beside = verb.add_argument_group(
        "comparison with MOA",
        f"The file {RECORD} in the results folder keeps each run of MOA by stream, learner, seed and number of "
        "generated rows. With these runs the same command measures only AutoKernel, and needs no Java. It repeats a "
        "stopped run if the limit is larger.",
    )
    beside.add_argument(
        "--moa",
        action="store_true",
        help="compare with MOA's learners instead of River's (needs capymoa and Java)",
    )
    beside.add_argument(
        "--limit",
        type=seconds,
        default=60.0,
        help="processor seconds for each learner of MOA and stream; a stopped run is compared on the rows that it saw",
    )
    beside.add_argument("--results", help=f"the folder of stored runs (default: {RESULTS})")
    beside.add_argument(
        "--page",
        metavar="MD",
        help="write tables into the measured part of this page, and two pictures beside it (default: no page)",
    )


def run_moa(options: argparse.Namespace) -> int:
    """Measure AutoKernel and MOA's learners."""
    from ..auto import moa_report as report
    from ..auto.auto_streams import STREAMS
    from ..auto.moa import LEARNERS
    from ..auto.moa_runs import Match, Record, compare
    from ..speed.machine import processor

    check_names(options.data or (), list(STREAMS), "stream")
    check_names(options.models or (), list(LEARNERS), "model")
    check_drawing(options.plot or options.page)
    options.results = pathlib.Path(options.results or RESULTS)
    missing = [name for name in options.data or STREAMS if not STREAMS[name].ready]
    say_missing(missing)
    data = [name for name in options.data or STREAMS if name not in missing]
    how = {"examples": options.examples, "rows": options.rows, "seed": options.seed}
    match = Match(Record(options.results / RECORD), limit=options.limit, machine=processor(), **how)
    found = compare(match, data, options.models or list(LEARNERS))
    if not found:
        raise RuntimeError("none of this can be measured: no stream at hand suits the learners")
    tables = [(report.rows(found, one), f"{report.CAPTION[one]}\n") for one in (False, True)]
    tables.append((report.summary(found), ""))
    print_tables(options, [(table, caption) for table, caption in tables if table[1]])
    times, wins = report.time_panels(found), report.wins_panels(found)
    if options.plot:
        draw(options.plot, [*times, *wins], report.TITLE)
    if options.page:
        folder = pathlib.Path(options.page).parent
        report.fill(options.page, report.measured(found, match.on(found)))
        draw(folder / report.TIME_PICTURE, times, report.TITLE)
        draw(folder / report.WINS_PICTURE, wins, report.TITLE)
    return GOOD
