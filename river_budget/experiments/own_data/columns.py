"""Convert the cells of a row to the features and the target for a model.

Numbers are features. Each word of a column becomes a one-hot feature, named as by River's OneHotEncoder
(`colour_red`). An empty cell leaves its feature out, as does a word in a column of numbers; both are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..common.console import check_names

MOST_WORDS = 100  # at most so many words of a column get a feature
MOST_LABELS = 100
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


class Target:
    """The column to predict: a number, or a label that is an integer, a boolean or a word."""

    def __init__(self, name: str, kind: str, decimal_comma: bool = False):
        self.name, self.kind, self.decimal_comma = name, kind, decimal_comma
        self.labels: Counter[Any] = Counter()
        self.missing = 0
        self.unreadable: list[Any] = []  # first line and cell, and how many
        self.crowded = 0

    @property
    def regression(self) -> bool:
        return self.kind == "number"

    def read(self, cell: Any, line: int) -> Any:
        """The target in a cell; None, and counted, if it cannot be learned."""
        if is_missing(cell):
            self.missing += 1
            return None
        value = self.value(cell)
        if value is None:
            note(self.unreadable, line, cell)
        elif not self.regression:
            if value not in self.labels and len(self.labels) >= MOST_LABELS:
                self.crowded += 1
                return None
            self.labels[value] += 1
        return value

    def value(self, cell: Any) -> Any:
        """The target in a cell; None if the cell is no valid target."""
        if self.kind == "text":
            return word(cell)
        if self.kind == "bool":
            return truth(cell)
        value = number(cell, self.decimal_comma)
        if self.kind == "number" or value is None:
            return value
        return int(value) if value.is_integer() else None


class Columns:
    """The columns that are features, by name, and a count of unreadable cells."""

    def __init__(
        self, numbers: Sequence[str], words: dict[str, list[str]], decimal_comma: bool = False
    ):
        self.numbers, self.decimal_comma = list(numbers), decimal_comma
        self.words = {name: {w: f"{name}_{w}" for w in known} for name, known in words.items()}
        self.growing = True  # whether words that come later get features
        self.missing: Counter[str] = Counter()
        self.unreadable: dict[str, list[Any]] = {}
        self.unknown: Counter[str] = Counter()  # words without a feature
        self._numbers: list[tuple[str, int]] = []
        self._words: list[tuple[str, int, dict[str, float]]] = []

    def place(self, names: Sequence[str]) -> None:
        """Find these columns in a file with the columns `names`."""
        check_names([*self.numbers, *self.words], names, "column")
        places = {name: i for i, name in enumerate(names)}
        self._numbers = [(name, places[name]) for name in self.numbers]
        self._words = [
            (name, places[name], dict.fromkeys(known.values(), 0.0))
            for name, known in self.words.items()
        ]

    def features(self, row: Sequence[Any], line: int) -> dict[str, float]:
        """The features of a row."""
        x: dict[str, float] = {}
        for name, i in self._numbers:
            try:
                value = float(row[i])
            except (TypeError, ValueError):
                value = self._odd(name, row[i], line)
            if value - value == 0.0:  # finite
                x[name] = value
            else:
                self.missing[name] += 1
        for name, i, absent in self._words:
            if is_missing(row[i]):
                self.missing[name] += 1
            else:
                self._add_word(x, name, word(row[i]), absent)
        return x

    def _odd(self, name: str, cell: Any, line: int) -> float:
        """The number in a cell that float() does not read; NaN if it is no number."""
        value = truth(cell)
        if value is not None:
            return float(value)
        found = number(cell, self.decimal_comma)
        if found is None and not is_missing(cell):
            note(self.unreadable.setdefault(name, []), line, cell)
        return float("nan") if found is None else found

    def _add_word(
        self, x: dict[str, float], name: str, text: str, absent: dict[str, float]
    ) -> None:
        """Add 1 for the word of a column, and 0 for the column's other words."""
        known = self.words[name]
        feature = known.get(text)
        if feature is None and self.growing and len(known) < MOST_WORDS:
            feature = known[text] = f"{name}_{text}"
            absent[feature] = 0.0
        x.update(absent)
        if feature is None:
            self.unknown[name] += 1
        else:
            x[feature] = 1.0

    def description(self) -> dict[str, Any]:
        """All that must be known to read the columns of another file, for JSON."""
        words = {name: list(known) for name, known in self.words.items()}
        return {"numbers": self.numbers, "words": words, "decimal_comma": self.decimal_comma}


class SparseColumns:
    """The features of LIBSVM, which leaves out zeros.

    Features of the first rows that a line does not name are 0, unless there are so many that this would take long.
    """

    MOST_FILLED = 1000

    def __init__(self, known: Sequence[str]):
        self.absent = dict.fromkeys(known, 0.0) if len(known) <= self.MOST_FILLED else {}
        self.growing = True
        self.missing: Counter[str] = Counter()
        self.unreadable: dict[str, list[Any]] = {}
        self.unknown: Counter[str] = Counter()

    def place(self, names: Sequence[str]) -> None:
        """Do nothing: LIBSVM's lines name their features."""

    def features(self, row: Sequence[Any], line: int) -> dict[str, float]:
        """The features of a row."""
        return self.absent | {k: v for k, v in row[1].items() if v - v == 0.0}

    def description(self) -> dict[str, Any]:
        """All that must be known to read another file, for JSON."""
        return {"sparse": list(self.absent)}


def note(found: list[Any], line: int, cell: Any) -> None:
    """Count an unreadable cell, and keep the first one."""
    found[:] = [found[0], found[1], found[2] + 1] if found else [line, str(cell)[:40], 1]
