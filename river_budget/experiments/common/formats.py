"""Tables as text, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from .plain import plain

Table = tuple[list[str], list[list[str]]]  # header, lines
NO_NUMBERS = (float("inf"), float("-inf"))


def as_text(header: list[str], lines: list[list[str]]) -> str:
    """A table as aligned columns of text."""
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    rows = [header, ["-" * width for width in widths], *lines]
    return "\n".join(
        "  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def as_markdown(header: list[str], lines: list[list[str]]) -> str:
    """A Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def as_csv(header: list[str], lines: list[list[str]]) -> str:
    """Comma-separated values, with plain numbers."""
    buffer = io.StringIO()
    names, rows = plain(header, lines)
    csv.writer(buffer, lineterminator="\n").writerows([names, *rows])
    return buffer.getvalue().rstrip("\n")


def as_json(header: list[str], lines: list[list[str]]) -> str:
    """A list with an object for each line, with plain numbers; JSON has no infinity."""
    names, rows = plain(header, lines)
    return json_list([dict(zip(names, fields, strict=True)) for fields in rows])


def json_list(objects: list[dict[str, Any]]) -> str:
    """A list of objects as JSON."""
    found = [{k: None if v in NO_NUMBERS else v for k, v in one.items()} for one in objects]
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)


def many_tables(form: str, tables: Sequence[Table]) -> str:
    """Several tables: one list in JSON, otherwise one below the other."""
    if form != "json":
        return "\n\n".join(FORMATS[form](*table) for table in tables)
    found = []
    for table in tables:
        names, rows = plain(*table)
        found += [dict(zip(names, fields, strict=True)) for fields in rows]
    return json_list(found)


FORMATS: dict[str, Callable[[list[str], list[list[str]]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}
