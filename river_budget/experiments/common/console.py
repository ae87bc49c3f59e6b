"""What verbs of the command line share: exit codes, checks of names, tables and pictures."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from ...plots.panels import Panel
from .formats import FORMATS

GOOD, SHORT, USAGE, NO_DATA, INTERRUPTED = 0, 1, 2, 3, 130


def print_table(
    options: argparse.Namespace, header: list[str], lines: list[list[str]], caption: str
) -> None:
    """Print a table in the format that was asked for, and its caption below where that is text."""
    print(FORMATS[options.format](header, lines))
    if options.format == "text":
        print(f"\n{caption}")


def say_missing(names: Sequence[str]) -> None:
    """Say which datasets are left out, if any."""
    if names:
        print(f"left out, as they are not at hand: {', '.join(names)}", file=sys.stderr)


def check_names(names: Sequence[str], all_names: Sequence[str], kind: str) -> None:
    """Raise for a name that is none of these."""
    for name in names:
        if name not in all_names:
            raise LookupError(f"there is no {kind} {name!r}; there are {', '.join(all_names)}")


def check_drawing(plot: str | None) -> None:
    """Raise where a picture is wanted and cannot be drawn, before hours are spent on its numbers."""
    if plot:
        from ...plots.axes import load_matplotlib

        load_matplotlib()


def draw(
    path: str | pathlib.Path, panels: Sequence[Panel], title: str, columns: int | None = None
) -> None:
    """Draw panels into a file, and say so."""
    from ...plots.figures import draw

    draw(path, panels, title=title, columns=columns)
    print(f"drawn: {path}", file=sys.stderr)
