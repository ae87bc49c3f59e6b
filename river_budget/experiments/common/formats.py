"""Tables as text, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

Table = tuple[list[str], list[list[str]]]  # header, lines


def as_text(header: list[str], lines: list[list[str]]) -> str:
    """Columns side by side."""
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
    """Comma-separated values."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *lines])
    return buffer.getvalue().rstrip("\n")


def as_json(header: list[str], lines: list[list[str]]) -> str:
    """A list with an object for each line."""
    found = [dict(zip(header, fields, strict=True)) for fields in lines]
    return json.dumps(found, indent=1, ensure_ascii=False)


FORMATS: dict[str, Callable[[list[str], list[list[str]]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}
