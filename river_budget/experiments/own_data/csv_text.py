"""Separated values: which sign separates them, whether there is a header, and the rows.

Python's `csv.Sniffer` guesses from the frequency of signs and often wrongly; here each separator is
tried on the first lines, and the one wins by which most of them have equally many cells.
"""

from __future__ import annotations

import codecs
import csv
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..common.console import did_you_mean
from .values import number

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
SAMPLE_LINES = 100  # on which separators are tried ...
SAMPLE_CHARACTERS = 1 << 20  # ... at most as many of them as hold these
MOST_COMPARED = 10  # expected names that a header may hold with an error
MOST_LINES_OF_A_ROW = 1000  # with more, a quote was never closed
BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
OTHER = "cp1252"  # latin-1 as Windows writes it, with a sign for the euro

Rows = Iterator[tuple[int, list[Any]]]


def encoding_of(head: bytes) -> str | None:
    """The encoding of a text by its first bytes; None if it is no text."""
    for mark, encoding in BOMS.items():
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # its last letter may be cut off
    except UnicodeDecodeError:
        return OTHER
    return "utf-8"


def opened(
    text: Iterable[str], path: str, header: str, expected: Sequence[str]
) -> tuple[str, bool, list[str], Rows, list[int]]:
    """The separator, whether there is a header, the names, the rows, and where odd ones are
    counted.
    """
    first, rest = _sample(iter(text))
    separator = separator_of(first)
    found = _rows(itertools.chain(first, rest), separator, path)
    line, top = next(found, (0, []))
    if not top:
        raise RuntimeError(f"{path} holds nothing but empty lines")
    has_header = _is_header(top, expected) if header == "auto" else header == "yes"
    names = _names(top) if has_header else [str(i + 1) for i in range(len(top))]
    odd: list[int] = []
    rows = found if has_header else itertools.chain([(line, top)], found)
    return separator, has_header, names, _even(rows, len(names), odd), odd


def _sample(lines: Iterator[str]) -> tuple[list[str], Iterator[str]]:
    """(the first lines, the others). An error behind a line is raised when the others are read."""
    found: list[str] = []
    left = SAMPLE_CHARACTERS
    try:
        while len(found) < SAMPLE_LINES and left > 0 and (line := next(lines, "")):
            found.append(line)
            left -= len(line)
    except RuntimeError as error:
        if not found:
            raise
        return found, _raising(error)
    return found, lines


def _raising(error: RuntimeError) -> Iterator[str]:
    yield from ()
    raise error


def separator_of(lines: Sequence[str]) -> str:
    """The sign by which most lines have equally many cells, more than one.

    Of two that are as good, the one whose cells hold none of the other signs, apart from decimal
    commas.
    """

    def quality(separator: str) -> tuple[float, float, int]:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        if not rows:
            return 0.0, 0.0, 0
        ((width, count),) = Counter(map(len, rows)).most_common(1)
        others = [sign for sign in SEPARATORS if sign != separator]
        cells = [cell for row in rows for cell in row]
        clean = sum(
            number(cell, separator == ";") is not None or not any(sign in cell for sign in others)
            for cell in cells
        )
        return (count / len(rows), clean / len(cells), width) if width > 1 else (0.0, 0.0, 0)

    try:
        best = max(SEPARATORS, key=quality)
    except csv.Error:
        return ","
    return best if quality(best)[2] else ","


def _rows(lines: Iterable[str], separator: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the line in which it ends, cells) of each row that is not empty."""
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    before = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise RuntimeError(f"{path}, line {before + 1}: {error}; is a quote open?") from None
        if reader.line_num - before > MOST_LINES_OF_A_ROW:
            raise RuntimeError(f"{path}, line {before + 1}: a quote opens and is never closed")
        before = reader.line_num
        if any(row):
            yield before, row


def _is_header(row: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether a first row holds names and not values.

    It does if it has a name like one that is expected, or no number, or 0, 1, 2 ... as pandas names
    columns that have no names.
    """
    cells = [cell.strip() for cell in row]
    counted = cells[1:] if cells[0] == "" else cells
    if len(counted) > 2 and counted == [str(i) for i in range(len(counted))]:
        return True
    if all(number(cell) is None for cell in cells):
        return True
    words = [name for name in expected if number(name) is None]
    return bool(set(words) & set(cells)) or any(
        did_you_mean(name, cells) for name in words[:MOST_COMPARED]
    )


def _names(row: Sequence[str]) -> list[str]:
    """The names in a header, each once, and none of them empty."""
    found: dict[str, None] = {}
    counts: Counter[str] = (
        Counter()
    )  # how many are called as a cell, so that no number is tried twice
    for i, cell in enumerate(row):
        name = first = cell.strip() or f"column {i + 1}"
        while name in found:
            counts[first] += 1
            name = f"{first} {counts[first] + 1}"
        found[name] = None
    names = list(found)
    if len(names) > 1 and not row[-1].strip():  # a separator at the end of the line
        names.pop()
    return names


def _even(rows: Iterable[tuple[int, list[Any]]], width: int, odd: list[int]) -> Rows:
    """Rows with this many cells; others are empty lists, and `odd` has the lines of the first and
    their number.
    """
    for line, row in rows:
        if len(row) == width + 1 and not row[-1].strip():
            row = row[:-1]
        if len(row) != width:
            odd[:] = [odd[0], odd[1] + 1] if odd else [line, 1]
            row = []
        yield line, row
