"""One cell of a file: what it says if it is a number, a truth value, or nothing."""

from __future__ import annotations

import math
from typing import Any

MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?"})
TRUTH = {"true": True, "false": False}


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
        if not (decimal_comma and isinstance(cell, str)):
            return None
        return number(cell.replace(",", ".", 1))
    return value if math.isfinite(value) else None


def truth(cell: Any) -> bool | None:
    """The truth value in a cell, None if there is none."""
    return cell if isinstance(cell, bool) else TRUTH.get(str(cell).strip().lower())


def word(cell: Any) -> str:
    """A cell as text."""
    return str(cell).strip()
