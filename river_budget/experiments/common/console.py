"""Code for all verbs of the command line: exit codes, checks of names, tables and figures."""

from __future__ import annotations

import argparse
import difflib
import pathlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .tables import Table, as_text, formatted

if TYPE_CHECKING:  # it loads numpy, and `--version` needs none
    from ...plots.panels import Panel

GOOD, SHORT, USAGE, NO_DATA, INTERRUPTED = 0, 1, 2, 3, 130


MOST_LISTED = 20  # names in a sentence


def visible(text: str) -> str:
    """A text for the terminal: what is no letter, sign, space or end of a line becomes an escape as
    in Python.
    """
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Print a remark to the standard error stream."""
    print(visible(text), file=sys.stderr)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: the first of many, and how many there are."""
    more = f" ... ({len(names):,} in all)" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def counted(n: int, thing: str) -> str:
    """A number of things: 1 row, 2 rows."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def print_tables(options: argparse.Namespace, *tables: tuple[Table, str]) -> None:
    """Print tables in the chosen format; if that is text, each with its caption below."""
    if options.format == "text":
        text = "\n".join(f"{as_text(*table)}\n\n{caption}" for table, caption in tables)
    else:
        text = formatted(options.format, [table for table, _ in tables])
    print(visible(text))


def say_missing(names: Sequence[str]) -> None:
    """Print which datasets are left out, if any."""
    if names:
        say(f"left out, as they are not at hand: {', '.join(names)}")


def check_names(names: Sequence[str], all_names: Sequence[str], kind: str) -> None:
    """Raise an error for a name that is not in `all_names`."""
    known = set(all_names)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, all_names)
            there = f"; {hint} There are" if hint else "; there are"
            raise LookupError(f"there is no {kind} {name!r}{there} {listed(all_names)}")


def did_you_mean(name: str, all_names: Sequence[str]) -> str:
    """A question that suggests the name closest to a wrong one; "" if none is close."""
    lower = {known.lower(): known for known in all_names}
    close = difflib.get_close_matches(name.lower(), list(lower), 1)
    return f"did you mean {lower[close[0]]!r}?" if close else ""


def check_drawing(plot: str | None) -> None:
    """Raise an error if a figure is wanted and cannot be drawn, before hours of measuring."""
    if plot:
        from ...plots.figures import load_matplotlib

        load_matplotlib()


def draw(
    path: str | pathlib.Path, panels: Sequence[Panel], title: str, columns: int | None = None
) -> None:
    """Draw panels into a file, and print its name."""
    from ...plots.figures import draw

    draw(path, panels, title=title, columns=columns)
    say(f"drawn: {path}")
