"""Tables for programs: split the cells of a printed table, with stars and signs, into plain numbers.

A cell of a printed table may hold several values, as `85.2 ± 1.3`. CSV and JSON have a column for each value.
"""

from __future__ import annotations

import re
from typing import Any

NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|-?inf)"
VERDICTS = {"=": "EXACT", "≈": "MATCH", "~": "CLOSE", "≠": "NO"}
FORMS = [  # forms of all cells of a column, and what each part adds to the column's name
    (rf"\*?{NUMBER}", ("",)),
    (rf"{NUMBER}(?: ± {NUMBER})?", ("", " deviation")),
    (r"(\d+)(?: of (\d+))?", ("", " of")),
    (rf"{NUMBER}-{NUMBER}", (" least", " most")),
    (rf"{NUMBER} \({NUMBER}\)", ("", " best of grid")),
    (rf"{NUMBER}: {NUMBER} \({NUMBER}-{NUMBER}\)", ("", " ratio", " least", " most")),
    (rf"(?:{NUMBER}|-)(?: +([=≈~≠])?(?: ?{NUMBER})?)?", ("", " verdict", " paper")),
    (r"(.*?)(?: \*)?", ("",)),
]


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
    for pattern, suffixes in FORMS:
        matches = [re.fullmatch(pattern, cell, re.DOTALL) for cell in cells]
        if any(cells) and all(
            match or not cell for match, cell in zip(matches, cells, strict=True)
        ):
            groups = [match.groups() if match else (None,) * len(suffixes) for match in matches]
            return suffixes, [
                [_value(part) for part in column] for column in zip(*groups, strict=True)
            ]
    return ("",), [[None] * len(cells)]


def _value(part: str | None) -> Any:
    """A number as a number, the sign of a verdict as its word, and other text unchanged."""
    if part is None or part in ("", "nan"):
        return None
    if re.fullmatch(r"[-+]?\d+", part):
        return int(part)
    return float(part) if re.fullmatch(NUMBER, part) else VERDICTS.get(part, part)
