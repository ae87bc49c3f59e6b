"""The printed figures of the paper of 2016: mean, standard deviation and seconds of every cell."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator

from ...records.verdicts import Printed


def printed_table(number: int) -> dict[tuple[str, str], Printed]:
    """{(row, column): the printed figure}, of a table and its table of times."""
    seconds = dict(_fields(f"times {number}", 1))
    table = {}
    for place, (mean, deviation) in _fields(f"table {number}", 2):
        if mean != "-":
            spent = seconds.get(place, ["-"])[0]
            known = [None if figure == "-" else figure for figure in (deviation, spent)]
            table[place] = Printed(mean, *known)
    return table


def _fields(name: str, width: int) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """((row, column), `width` fields) of a table in printed.txt, which begins with its name."""
    text = importlib.resources.files(__package__).joinpath("printed.txt").read_text("utf-8")
    (lines,) = (part.splitlines() for part in text.split("\n\n") if part.startswith(name))
    columns = lines[1].split()
    for line in lines[2:]:
        row, *figures = line.split()
        for i, column in enumerate(columns):
            yield (row, column), figures[i * width : (i + 1) * width]
