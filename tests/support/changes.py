"""Read changes to the package from the entries of mutants.txt and tricks.txt.

An entry ends at an empty line. Below the name of a file of river_budget, lines with - occur once in this file, and
lines with + replace them. Lines with # or = are comments.
"""

from __future__ import annotations

from typing import NamedTuple

from folders import ROOT

PACKAGE = ROOT / "river_budget"


class Change(NamedTuple):
    """In `file`, replace `old`, which occurs once, by `new`."""

    file: str
    old: str
    new: str


def entries(text: str) -> list[list[str]]:
    """The lines of each entry."""
    blocks = [[x for x in block.splitlines() if x[0] not in "#="] for block in text.split("\n\n")]
    return [block for block in blocks if block]


def changes_of(lines: list[str]) -> list[Change]:
    """The changes of an entry, each of which begins with the name of a file."""
    found: list[tuple[str, list[str], list[str]]] = []
    for line in lines:
        if line[0] in "-+":
            found[-1][1 if line[0] == "-" else 2].append(line[2:])
        else:
            found.append((line, [], []))
    return [Change(file, "\n".join(old), "\n".join(new)) for file, old, new in found]


def changed(change: Change) -> str | None:
    """The text of the file with the change in it, or None if it no longer applies."""
    file = PACKAGE / change.file
    text = file.read_text() if file.exists() else ""
    return text.replace(change.old, change.new) if text.count(change.old) == 1 else None


def applies(change: Change) -> bool:
    return changed(change) is not None
