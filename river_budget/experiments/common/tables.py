"""Tables as text, Markdown, CSV or JSON.

A cell of a printed table may hold several values, as `85.2 ± 1.3`, or a star. CSV and JSON, which
programs read, have a column for each value, and plain numbers.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

Table = tuple[list[str], list[list[str]]]  # header, lines
NO_NUMBERS = (float("inf"), float("-inf"))  # JSON has no infinity

NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|-?inf)"
FORMS = [  # forms of all cells of a column, and what each part adds to the column's name
    (rf"\*?{NUMBER}", ("",)),
    (rf"{NUMBER}(?: ± {NUMBER})?", ("", " deviation")),
    (r"(\d+)(?: of (\d+))?", ("", " of")),
    (rf"{NUMBER}-{NUMBER}", (" least", " most")),
    (rf"{NUMBER} \({NUMBER}\)", ("", " best of grid")),
    (rf"{NUMBER}: {NUMBER} \({NUMBER}-{NUMBER}\)", ("", " ratio", " least", " most")),
    (r"(.*?)(?: \*)?", ("",)),
]


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


def as_json(*tables: Table) -> str:
    """The lines of all tables as one list of objects, with plain numbers."""
    found = []
    for names, rows in (plain(*table) for table in tables):
        for fields in rows:
            values = [None if value in NO_NUMBERS else value for value in fields]
            found.append(dict(zip(names, values, strict=True)))
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)


FORMATS: dict[str, Callable[[list[str], list[list[str]]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "csv": as_csv,
}


def formatted(form: str, tables: Sequence[Table]) -> str:
    """Several tables in one format: one list in JSON, otherwise one below the other."""
    if form == "json":
        return as_json(*tables)
    return "\n\n".join(FORMATS[form](*table) for table in tables)


def plain(header: list[str], lines: list[list[str]]) -> tuple[list[str], list[list[Any]]]:
    """(header, lines) with one number per cell, and None for an empty cell."""
    names: list[str] = []
    columns: list[list[Any]] = []
    for name, cells in zip(header, zip(*lines, strict=True), strict=True) if lines else ():
        suffixes, found = _taken_apart(cells)
        names += [name + suffix for suffix in suffixes]
        columns += found
    return names or header, [list(row) for row in zip(*columns, strict=True)]


def _taken_apart(cells: tuple[str, ...]) -> tuple[tuple[str, ...], list[list[Any]]]:
    """For the first form that fits all cells: the additions to the name, and the columns."""
    for pattern, suffixes in FORMS if any(cells) else ():
        matches = [re.fullmatch(pattern, cell, re.DOTALL) for cell in cells]
        if all(match or not cell for match, cell in zip(matches, cells, strict=True)):
            groups = [match.groups() if match else (None,) * len(suffixes) for match in matches]
            return suffixes, [[*map(_value, column)] for column in zip(*groups, strict=True)]
    return ("",), [[None] * len(cells)]


def _value(part: str | None) -> Any:
    """A number as a number, and other text unchanged."""
    if part is None or part in ("", "nan"):
        return None
    if re.fullmatch(r"[-+]?\d+", part):
        return int(part)
    return float(part) if re.fullmatch(NUMBER, part) else part
