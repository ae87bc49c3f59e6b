"""The command line, `python examples/papers`: the verbs and their options."""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Sequence
from typing import Any

from river_budget import datasets
from river_budget.experiments.auto.auto import chosen_streams
from river_budget.experiments.auto.auto_streams import SEEN, STREAMS
from river_budget.experiments.command.main import run
from river_budget.experiments.command.options import (
    Parser,
    add_formats,
    add_seed,
    add_verb,
    flag,
    many,
    option,
    whole,
)
from river_budget.experiments.common.console import (
    GOOD,
    SHORT,
    check_drawing,
    check_names,
    draw,
    print_tables,
    say_missing,
)
from river_budget.experiments.speed.speed import processor
from river_budget.messages.progress import Progress

from . import boosters, boosters_report, defaults
from . import moa_report as report
from .moa import LEARNERS, Match, compare
from .printed.all_records import all_records
from .records.document import write
from .records.outcomes import Outcomes
from .records.records import Record, rows
from .records.reports import remarks, summary, table
from .records.stored import at_hand
from .records.tasks import Store, measure, ready

RESULTS = "river-budget-results"  # the folder of stored measurements
MOA_RECORD, BOOSTERS_RECORD = "moa.jsonl", "boosters.jsonl"  # in the folder of results
BOOSTERS_PAGES = "against_the_best.md", "boosters.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb, and return its exit code."""
    return run(parser(), arguments)


def parser() -> argparse.ArgumentParser:
    """The parser of all verbs, in the order in which `--help` lists them."""
    top = Parser("papers", description="Tables and figures of papers, measured again.")
    verbs = top.add_subparsers(dest="command", required=True)
    add_verb(verbs, "list", run_list, "the tables and figures, and the datasets at hand")
    for kind in ("table", "figure"):
        add_record(verbs, kind)
    for add in (add_reproduce, add_defaults, add_moa, add_boosters):
        add(verbs)
    return top


def add_record(verbs: Any, kind: str) -> None:
    """Options of `table` and `figure`."""
    verb = add_verb(verbs, kind, run_record, f"measure a {kind} of a paper again")
    verb.add_argument("name", help=f"such as 2016-{kind}-5; see `list`")
    text = "only these datasets, downloaded if they are not at hand (default: all at hand)"
    many(verb, "--data", text)
    text = "at most so many orders of the examples (default: those of the paper)"
    option(verb, "--repeats", text, whole)
    flag(verb, "--times", "print seconds too")
    text = "draw the curves (default: NAME.png for a figure, no picture for a table)"
    option(verb, "--plot", text, metavar="PNG")
    add_jobs(verb)
    add_formats(verb)
    add_results(verb)


def add_reproduce(verbs: Any) -> None:
    """Options of `reproduce`."""
    verb = add_verb(verbs, "reproduce", run_reproduce, "everything that the data at hand allows")
    option(verb, "--output", "the folder for the document and plots", default="reproduced")
    many(verb, "--only", "only these tables and figures (default: all)")
    add_jobs(verb)
    add_results(verb)


def run_list(options: argparse.Namespace) -> int:
    """Print the names of tables, figures and datasets."""
    here = [name for name in datasets.names() if at_hand(name)]
    for record in all_records():
        absent = ", ".join(name for name in record.datasets() if not at_hand(name))
        text = f"  (not at hand: {absent})" if absent else ""
        print(f"{record.name:15}  {record.title}{text}")
    print(f"\ndatasets at hand: {', '.join(here)}")
    print(f"to be downloaded: {', '.join(n for n in datasets.names() if n not in here)}")
    return GOOD


def run_record(options: argparse.Namespace) -> int:
    """Measure a table or figure and print it."""
    record, store = narrowed(find(options.name, options.command), options), Store(options.results)
    if not record.tasks():
        raise RuntimeError("none of the data is at hand: name it with --data to download it")
    plot = options.plot or (f"{record.name}.png" if options.command == "figure" else None)
    check_drawing(plot)
    tasks = [task for task in record.tasks() if task.key not in store]
    with Progress(len(tasks), record.name) as progress:
        measure(tasks, store, options.jobs, progress)
    found = rows(record, store)
    shown = table(record, found, options.times)
    print_tables(options, (shown, "\n".join(remarks(record, found, store))))
    if plot and record.panels is not None:
        draw(plot, list(record.panels(record, store)), record.title, record.columns)
    return SHORT if any(row.short for row in found) else GOOD


def narrowed(record: Record, options: argparse.Namespace) -> Record:
    """The part of a record on the chosen datasets, or else on the available ones."""
    names = record.datasets()
    if options.data is not None:
        check_names(options.data, names, "dataset of this record")
        return record.only(options.data, options.repeats)
    here = record.available(ready)
    say_missing([name for name in names if name not in here.datasets()])
    return here.at_most(options.repeats)


def find(name: str, kind: str) -> Record:
    """The table or figure of this name."""
    records = {record.name: record for record in all_records() if record.kind == kind}
    check_names([name], list(records), kind)
    return records[name]


def run_reproduce(options: argparse.Namespace) -> int:
    """Measure all tables and figures and write their document."""
    records = all_records()
    if options.only:
        check_names(options.only, [record.name for record in records], "table or figure")
        records = [record for record in records if record.name in options.only]
    store = Store(options.results)
    parts = [record.available(ready) for record in records]
    tasks = {task.key: task for part in parts for task in part.tasks() if task.key not in store}
    with Progress(len(tasks), "reproduce") as progress:
        for part in parts:
            measure(part.tasks(), store, options.jobs, progress)
            # after every record, so that the document shows what is finished
            write(options.output, parts, store, [part])
    found = [row for part in parts for row in rows(part, store)]
    print(f"{summary(found)}; see {pathlib.Path(options.output) / 'README.md'}")
    return SHORT if any(row.short for row in found) else GOOD


def add_jobs(verb: Any) -> None:
    """The option for the number of runs at the same time."""
    option(verb, "--jobs", "how many runs at once", whole, 2)


def add_results(verb: Any) -> None:
    """The option for the folder of measurements."""
    option(verb, "--results", "the folder where finished runs are kept", default=RESULTS)


def add_defaults(verbs: Any) -> None:
    """Options of `defaults`."""
    verb = add_verb(verbs, "defaults", run_defaults, "every estimator without settings")
    many(verb, "--data", "only these streams (default: all at hand)")
    flag(verb, "--grid", "beside the best of a grid of settings")
    add_formats(verb)


def run_defaults(options: argparse.Namespace) -> int:
    """Measure `StandardScaler | model()` for every estimator."""
    check_names(options.data or (), list(defaults.STREAMS), "stream")
    grid, found = f" {defaults.GRID_CAPTION}" if options.grid else "", []
    for classification in (True, False):
        header, lines = defaults.table(classification, options.grid, options.data)
        if len(header) > 1:
            caption = f"{defaults.CAPTION[classification]}{grid} A star: kept for comparison.\n"
            found.append(((header, lines), caption))
    print_tables(options, *found)
    return GOOD


def add_moa(verbs: Any) -> None:
    """Options of `moa`."""
    text = "AutoKernel beside MOA's learners"
    verb = add_verb(verbs, "moa", run_moa, text)
    verb.epilog = (
        f"The file {MOA_RECORD} in the results folder keeps each run of MOA by stream, learner, "
        "seed and number of "
        "generated rows. With these runs the same command measures only AutoKernel, and needs "
        "neither capymoa nor "
        "Java. It repeats a stopped run if the limit is larger."
    )
    many(verb, "--data", "only these streams (default: all at hand but the unseen)")
    many(verb, "--models", "such as SAMkNN (default: all)")
    option(verb, "--examples", "at most so many of each stream", whole, 3000)
    text = "the length of generated streams, which also sets the places of their drifts"
    option(verb, "--rows", text, whole, 10_000)
    add_seed(verb)
    text = (
        "processor seconds for each learner of MOA and stream; a stopped run is compared on the "
        "rows that it saw"
    )
    option(verb, "--limit", text, seconds, 60.0)
    add_results(verb)
    text = (
        "write tables into the measured part of this page, and two pictures beside it (default: no "
        "page)"
    )
    option(verb, "--page", text, metavar="MD")
    add_formats(verb)


def run_moa(options: argparse.Namespace) -> int:
    """Measure AutoKernel, and MOA's learners where no run is stored."""
    check_names(options.models or (), list(LEARNERS), "model")
    check_drawing(options.page)
    data = chosen_streams(options.data, list(SEEN))
    how = {"examples": options.examples, "rows": options.rows, "seed": options.seed}
    path = pathlib.Path(options.results) / MOA_RECORD
    match = Match(path, limit=options.limit, machine=processor(), **how)
    found = compare(match, data, options.models or list(LEARNERS))
    if not found:
        raise RuntimeError("none of this can be measured: no stream at hand suits the learners")
    tables = [(report.rows(found, one), f"{report.CAPTION[one]}\n") for one in (False, True)]
    tables.append((report.summary(found), ""))
    print_tables(options, *(table for table in tables if table[0][1]))
    if options.page:
        folder = pathlib.Path(options.page).parent
        report.fill(options.page, report.measured(found, match.on(found)))
        draw(folder / report.TIME_PICTURE, report.time_panels(found), report.TITLE)
        draw(folder / report.WINS_PICTURE, report.wins_panels(found), report.TITLE)
    return GOOD


def add_boosters(verbs: Any) -> None:
    """Options of `boosters`."""
    text = "AutoKernel beside batch learners that are refitted, and mixtures"
    verb = add_verb(verbs, "boosters", run_boosters, text)
    heavy = ", ".join(sorted(boosters.HEAVY))
    verb.epilog = (
        f"The file {BOOSTERS_RECORD} in the results folder keeps each run by stream, number of "
        "rows, seed and learner. None is "
        "repeated: remove its line to measure a run again."
    )
    many(verb, "--data", f"only these streams (default: all at hand but {heavy})")
    many(verb, "--models", "such as LightGBM (default: all but those on all rows)")
    option(verb, "--examples", "at most so many of each stream", whole, 10_000)
    option(verb, "--rows", "the length of generated streams", whole, 10_000)
    add_seed(verb)
    text = (
        "processor seconds for each learner and stream; a stopped run is compared on the rows that "
        "it saw"
    )
    option(verb, "--limit", text, seconds, 120.0)
    add_results(verb)
    text = (
        f"write tables into {BOOSTERS_PAGES[0]} and {BOOSTERS_PAGES[1]} in this folder (default: "
        "into none)"
    )
    option(verb, "--guide", text, metavar="FOLDER")
    add_formats(verb)


def run_boosters(options: argparse.Namespace) -> int:
    """Measure the learners where no run is stored, and print the tables."""
    check_names(options.models or (), boosters.LEARNERS, "model")
    boosters.start()
    data = chosen_streams(options.data, [one for one in STREAMS if one not in boosters.HEAVY])
    how = options.examples, options.rows, options.seed, options.limit
    settings = boosters.Settings(*how)
    outcomes = Outcomes(pathlib.Path(options.results) / BOOSTERS_RECORD)
    learners = list(dict.fromkeys([boosters.OURS, *(options.models or boosters.USUAL)]))
    found = boosters.compare(data, learners, settings, outcomes)
    tables = []
    for one in (False, True):
        others = [run for run in report.of_kind(found, one) if run.rival != boosters.OURS]
        if others:
            caption = f"{boosters_report.CAPTION[one]}\n"
            tables += [(report.wide(others, one), caption)]
    print_tables(options, *tables, (boosters_report.summary(found), ""))
    if options.guide:
        single = boosters.single(outcomes, options.seed)
        text = boosters_report.measured(found, settings, processor(), single)
        comparing, own = (pathlib.Path(options.guide) / page for page in BOOSTERS_PAGES)
        report.fill(comparing, text, "boosters")
        report.fill(own, boosters_report.streams(found))
    return GOOD


def seconds(text: str) -> float:
    """A number above 0."""
    value = float(text)
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value
