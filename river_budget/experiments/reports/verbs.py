"""The verbs list, table, figure and reproduce: measure records of papers, and show them."""

from __future__ import annotations

import argparse
import pathlib

from ... import datasets
from ...progress import Progress
from ..common.console import (
    GOOD,
    SHORT,
    check_drawing,
    check_names,
    draw,
    print_table,
    say_missing,
)
from ..common.stored import at_hand
from ..papers.all_records import all_records
from ..records.measure import measure
from ..records.records import Record, rows
from ..records.store import Store
from ..records.tasks import ready
from . import printing
from .document import write


def run_list(options: argparse.Namespace) -> int:
    """Print the names of tables, figures and datasets."""
    if options.format != "text":
        print_table(options, ["kind", "name", "title", "at hand", "missing"], listed(), "")
        return GOOD
    for record in all_records():
        missing = [name for name in record.datasets() if not at_hand(name)]
        text = f"  (not at hand: {', '.join(missing)})" if missing else ""
        print(f"{record.name:15}  {record.title}{text}")
    here = [name for name in datasets.names() if at_hand(name)]
    print(f"\ndatasets at hand: {', '.join(here)}")
    print(f"to be downloaded: {', '.join(n for n in datasets.names() if n not in here)}")
    return GOOD


def listed() -> list[list[str]]:
    """A line for each table, figure and dataset: kind, name, title, whether its data is at hand, what is missing."""
    lines = []
    for record in all_records():
        missing = [name for name in record.datasets() if not at_hand(name)]
        here = "no" if missing else "yes"
        lines.append([record.kind, record.name, record.title, here, " ".join(missing)])
    for name in datasets.names():
        lines.append(["dataset", name, "", "yes" if at_hand(name) else "no", ""])
    return lines


def run_record(options: argparse.Namespace) -> int:
    """Measure a table or figure and print it."""
    record, store = narrowed(find(options.name, options.command), options), Store(options.results)
    if not record.tasks():
        raise RuntimeError("none of the data is at hand: name it with --data to download it")
    plot = options.plot or (f"{record.name}.png" if options.command == "figure" else None)
    check_drawing(plot)
    tasks = [task for task in record.tasks() if task.key not in store]
    with Progress(len(tasks), record.name) as progress:
        measure(tasks, store, 1 if record.alone else options.jobs, progress)
    found = rows(record, store)
    shape = (
        printing.wide(record, found)
        if options.wide
        else printing.table(record, found, options.times)
    )
    print_table(options, *shape, "\n".join(printing.remarks(record, found, store)))
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
            measure(part.tasks(), store, 1 if part.alone else options.jobs, progress)
            # after every record, so that the document shows what is finished
            write(options.output, parts, store)
    found = [row for part in parts for row in rows(part, store)]
    if options.format == "text":
        print(f"{printing.summary(found)}; see {pathlib.Path(options.output) / 'README.md'}")
    else:
        counts = printing.counts(found)
        print_table(options, list(counts), [[str(count) for count in counts.values()]], "")
    return SHORT if any(row.short for row in found) else GOOD


VERBS = {"list": run_list, "table": run_record, "figure": run_record, "reproduce": run_reproduce}
