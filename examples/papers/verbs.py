"""The verbs about tables and figures of papers: list, table, figure and reproduce."""

from __future__ import annotations

import argparse
import pathlib

from river_budget import datasets
from river_budget.experiments.common.console import (
    GOOD,
    SHORT,
    check_drawing,
    check_names,
    draw,
    print_tables,
    say_missing,
)
from river_budget.experiments.common.stored import at_hand
from river_budget.progress import Progress

from .printed.all_records import all_records
from .records.records import Record, rows
from .records.reports import counts, remarks, summary, table, wide, write
from .records.tasks import Store, measure, ready


def run_list(options: argparse.Namespace) -> int:
    """Print the names of tables, figures and datasets."""
    here = [name for name in datasets.names() if at_hand(name)]
    records = all_records()
    missing = {r.name: [name for name in r.datasets() if not at_hand(name)] for r in records}
    if options.format != "text":
        lines = [
            [r.kind, r.name, r.title, "no" if missing[r.name] else "yes", " ".join(missing[r.name])]
            for r in records
        ]
        for name in datasets.names():
            lines.append(["dataset", name, "", "yes" if name in here else "no", ""])
        print_tables(options, ((["kind", "name", "title", "at hand", "missing"], lines), ""))
        return GOOD
    for record in records:
        absent = ", ".join(missing[record.name])
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
        measure(tasks, store, 1 if record.alone else options.jobs, progress)
    found = rows(record, store)
    shape = wide(record, found) if options.wide else table(record, found, options.times)
    print_tables(options, (shape, "\n".join(remarks(record, found, store))))
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
        print(f"{summary(found)}; see {pathlib.Path(options.output) / 'README.md'}")
    else:
        words = counts(found)
        print_tables(options, ((list(words), [[*map(str, words.values())]]), ""))
    return SHORT if any(row.short for row in found) else GOOD
