"""What a cell says: a number, a truth value, a moment, a text, or nothing."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from typing import Any

MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?"})
TRUTH = {"true": True, "false": False}
# $12,345, -€3.50, 55.1%; the sign of a currency or of percent says nothing about the size
AMOUNT = re.compile(
    r"([-+]?)\s*[$€£¥]?\s*([-+]?)\s*(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+)\s*[$€£¥%]?"
)
# forms of dates that are not ISO, each with the usual separators; the first by which all cells are
# dates is taken
DAYS = (
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%d %b %Y",
    "%b %d %Y",
)
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
ISO = "ISO"
FORMS = (ISO, *(day + time for day in DAYS for time in TIMES))
SWAPPED = str.maketrans(".,", ",.")
WORD = re.compile(r"\w\w+")


def is_missing(cell: Any) -> bool:
    """Whether a cell says nothing: it is empty, or holds one of the usual words for that."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or bool(cell != cell)


def number(cell: Any, decimal_comma: bool = False) -> float | None:
    """The finite number in a cell, None if there is none."""
    try:
        value = float(cell)
    except (TypeError, ValueError):
        if not isinstance(cell, str):
            return None
        text = cell.strip()
        if decimal_comma:
            text = text.translate(SWAPPED)
        found = AMOUNT.fullmatch(text)
        if found is None or (found[1] and found[2]):
            return None
        value = float(found[1] + found[2] + found[3].replace(",", ""))
    return value if math.isfinite(value) else None


def truth(cell: Any) -> bool | None:
    """The truth value in a cell, None if there is none."""
    return cell if isinstance(cell, bool) else TRUTH.get(str(cell).strip().lower())


def word(cell: Any) -> str:
    """A cell as text."""
    return str(cell).strip()


def words_of(cell: Any) -> list[str]:
    """The words of a text of two letters or more, in small letters."""
    return WORD.findall(str(cell).lower())


def moment(cell: Any, form: str) -> datetime.datetime | None:
    """The date, and the time by the clock of its place, in a cell; None if there is none."""
    try:
        if isinstance(cell, str):
            text = cell.strip().replace(",", "")
            found = (
                datetime.datetime.fromisoformat(text)
                if form == ISO
                else datetime.datetime.strptime(text, form)
            )
        elif isinstance(cell, datetime.datetime):
            found = cell
        elif isinstance(cell, datetime.date):
            found = datetime.datetime.combine(cell, datetime.time())
        else:
            return None
    except ValueError:
        return None
    return found.replace(tzinfo=None)


def form_of(cells: Sequence[Any], share: float) -> str | None:
    """The form by which most cells are dates, and at least this share of them; None if they are
    none.
    """
    if not cells or number(cells[0]) is not None:
        return None
    best, most = None, share * len(cells)
    for form in FORMS:
        if moment(cells[0], form) is None and moment(cells[-1], form) is None:
            continue
        count = sum(moment(cell, form) is not None for cell in cells)
        if count > most or (best is None and count >= most):
            best, most = form, count
        if count == len(cells):
            return form
    return best
