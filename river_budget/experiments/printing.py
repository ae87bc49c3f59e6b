"""Tables as text, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence

from .records import Record, Row

HEADER = ["data", "algorithm", "paper", "ours", "runs", "verdict", "note"]


def figure(mean: float, deviation: float, runs: int, digits: int) -> str:
    text = f"{mean:.{digits}f}"
    return f"{text} ± {deviation:.{digits}f}" if runs > 1 else text


def printed(row: Row) -> str:
    paper = row.cell.printed
    if paper is None:
        return ""
    return paper.mean if paper.deviation is None else f"{paper.mean} ± {paper.deviation}"


def line(record: Record, row: Row, times: bool) -> list[str]:
    cell = row.cell
    ours = figure(row.mean, row.deviation, row.runs, record.digits)
    note = "" if row.verdict in ("EXACT", "MATCH") and "only" not in cell.note else cell.note
    fields = [cell.column, cell.row, printed(row), ours, str(row.runs), row.verdict, note]
    return [*fields, f"{row.seconds:.2f}"] if times else fields


def table(
    record: Record, rows: Sequence[Row], times: bool = False
) -> tuple[list[str], list[list[str]]]:
    """(header, lines); columns that are empty throughout are left out."""
    header = [*HEADER, "seconds"] if times else HEADER
    lines = [line(record, row, times) for row in rows]
    used = [i for i in range(len(header)) if any(fields[i] for fields in lines)]
    return [header[i] for i in used], [[fields[i] for i in used] for fields in lines]


SIGNS = {"EXACT": "=", "MATCH": "≈", "CLOSE": "~", "NO": "≠"}


def wide(record: Record, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """A line for every algorithm, a column for every dataset: ours, the verdict as a sign, the paper's."""
    columns = list(dict.fromkeys(row.cell.column for row in rows))
    lines: dict[str, list[str]] = {}
    for row in rows:
        fields = lines.setdefault(row.cell.row, [row.cell.row] + [""] * len(columns))
        text = f"{row.mean:.{record.digits}f}"
        if row.cell.printed is not None:
            text += f" {SIGNS[row.verdict]} {row.cell.printed.mean}"
        fields[1 + columns.index(row.cell.column)] = text
    return ["ours, paper", *columns], list(lines.values())


def as_text(header: list[str], lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    rows = [header, ["-" * width for width in widths], *lines]
    return "\n".join(
        "  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def as_markdown(header: list[str], lines: list[list[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def as_csv(header: list[str], lines: list[list[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *lines])
    return buffer.getvalue().rstrip("\n")


def as_json(header: list[str], lines: list[list[str]]) -> str:
    found = [dict(zip(header, fields, strict=True)) for fields in lines]
    return json.dumps(found, indent=1, ensure_ascii=False)


FORMATS: dict[str, Callable[[list[str], list[list[str]]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}


def summary(rows: Sequence[Row]) -> str:
    """How many cells have which verdict."""
    words = [row.verdict for row in rows if row.verdict]
    counts = {word: words.count(word) for word in ("EXACT", "MATCH", "CLOSE", "NO")}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
