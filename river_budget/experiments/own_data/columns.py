"""Convert the cells of a row to the features and the target for a model.

Numbers are features. A text becomes the counts of its words (`review_good`); a date its hour,
weekday, month, and the days since that of the first row. A word stays a word, and an empty cell is
None, as is a word in a column of numbers; both are counted. So a row is an example for AutoKernel.

All other models get it encoded: each word of a column becomes a one-hot feature, named as by
River's OneHotEncoder (`colour_red`), and what is None is left out.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..common.console import check_names
from .values import FORMS, is_missing, moment, number, truth, word, words_of

MOST_WORDS = 100  # at most so many words of a column get a feature
MOST_LABELS = 100


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


@dataclasses.dataclass
class Dates:
    """How a column of dates is read: its form, the first date, and whether the time of the day says
    something.
    """

    form: str
    first: datetime.datetime
    timed: bool

    def features(self, name: str, found: datetime.datetime) -> dict[str, float]:
        """The features of a date."""
        x = {
            f"{name}_weekday": float(found.weekday()),
            f"{name}_month": float(found.month),
            f"{name}_days": (found - self.first) / datetime.timedelta(days=1),
        }
        return x | {f"{name}_hour": found.hour + found.minute / 60} if self.timed else x


class Columns:
    """The columns that are features, by name, and a count of unreadable cells."""

    def __init__(
        self,
        numbers: Sequence[str],
        words: dict[str, list[str]],
        decimal_comma: bool = False,
        texts: Sequence[str] = (),
        dates: dict[str, Dates] | None = None,
    ):
        self.numbers, self.decimal_comma = list(numbers), decimal_comma
        self.words = {name: {w: f"{name}_{w}" for w in known} for name, known in words.items()}
        self.texts, self.dates = list(texts), dates or {}
        self.growing = True  # whether words that come later get features
        self.missing: Counter[str] = Counter()
        self.unreadable: dict[str, list[Any]] = {}
        self.unknown: Counter[str] = Counter()  # words without a feature
        self._places: dict[str, int] = {}  # in a row

    @property
    def names(self) -> list[str]:
        """The names of all columns that are read."""
        return [*self.numbers, *self.words, *self.texts, *self.dates]

    @property
    def measured(self) -> list[str]:
        """The features that are numbers or parts of dates, and no words."""
        return [
            *self.numbers,
            *(part for name, one in self.dates.items() for part in one.features(name, one.first)),
        ]

    def place(self, names: Sequence[str]) -> None:
        """Find these columns in a file with the columns `names`."""
        check_names(self.names, names, "column")
        self._places = {name: i for i, name in enumerate(names)}

    def features(self, row: Sequence[Any], line: int) -> dict[str, Any]:
        """A row as an example: numbers, words, and None for what is missing."""
        x: dict[str, Any] = {}
        for name in self.numbers:
            cell = row[self._places[name]]
            try:
                value = float(cell)
            except (TypeError, ValueError):
                value = self._odd(name, cell, line)
            if value - value == 0.0:  # finite
                x[name] = value
            else:
                x[name] = None
                self.missing[name] += 1
        for name in self.words:
            cell = self._cell(row, name)
            x[name] = None if cell is None else word(cell)
        for name in self.texts:
            if (cell := self._cell(row, name)) is not None:
                for feature in (f"{name}_{one}" for one in words_of(cell)):
                    x[feature] = x.get(feature, 0.0) + 1.0
        for name, dates in self.dates.items():
            cell = self._cell(row, name)
            found = None if cell is None else moment(cell, dates.form)
            if found is not None:
                x.update(dates.features(name, found))
                continue
            x.update(dict.fromkeys(dates.features(name, dates.first)))
            if cell is not None:
                self.missing[name] += 1
                note(self.unreadable.setdefault(name, []), line, cell)
        return x

    def encoded(self, x: dict[str, Any]) -> dict[str, float]:
        """An example for models that take numbers only."""
        if not self.words and None not in x.values():
            return x
        found: dict[str, float] = {}
        for name, value in x.items():
            if value is None:
                continue
            if name in self.words:
                self._add_word(found, name, value)
            else:
                found[name] = value
        return found

    def _cell(self, row: Sequence[Any], name: str) -> Any:
        """The cell of a column; None, and counted, if it says nothing."""
        cell = row[self._places[name]]
        if not is_missing(cell):
            return cell
        self.missing[name] += 1
        return None

    def _odd(self, name: str, cell: Any, line: int) -> float:
        """The number in a cell that float() does not read; NaN if it is no number."""
        value = truth(cell)
        if value is not None:
            return float(value)
        found = number(cell, self.decimal_comma)
        if found is None and not is_missing(cell):
            note(self.unreadable.setdefault(name, []), line, cell)
        return float("nan") if found is None else found

    def _add_word(self, x: dict[str, float], name: str, text: str) -> None:
        """Add 1 for the word of a column, and 0 for the column's other words."""
        known = self.words[name]
        if text not in known and self.growing and len(known) < MOST_WORDS:
            known[text] = f"{name}_{text}"
        x.update(dict.fromkeys(known.values(), 0.0))
        if text in known:
            x[known[text]] = 1.0
        else:
            self.unknown[name] += 1

    def description(self) -> dict[str, Any]:
        """All that must be known to read the columns of another file, for JSON."""
        words = {name: list(known) for name, known in self.words.items()}
        dates = {
            name: [one.form, one.first.isoformat(), one.timed] for name, one in self.dates.items()
        }
        return {
            "numbers": self.numbers,
            "words": words,
            "decimal_comma": self.decimal_comma,
            "texts": self.texts,
            "dates": dates,
        }


class SparseColumns(Columns):
    """The features of LIBSVM, which leaves out zeros: no column has a name.

    Features of the first rows that a line does not name are 0, unless there are so many that this
    would take long.
    """

    MOST_FILLED = 1000

    def __init__(self, known: Sequence[str]):
        super().__init__([], {})
        self.absent = dict.fromkeys(known, 0.0) if len(known) <= self.MOST_FILLED else {}

    def features(self, row: Sequence[Any], line: int) -> dict[str, Any]:
        """The features of a row."""
        return self.absent | {k: v for k, v in row[1].items() if v - v == 0.0}

    def description(self) -> dict[str, Any]:
        """All that must be known to read another file, for JSON."""
        return {"sparse": list(self.absent)}


def described(known: dict[str, Any]) -> Columns:
    """The columns of a description; raises an error if it is none."""
    columns: Columns
    if "sparse" in known:
        columns = SparseColumns(list(map(str, known["sparse"])))
    else:
        words = {str(name): list(map(str, found)) for name, found in known["words"].items()}
        dates = {}
        for name, (form, first, timed) in known["dates"].items():
            if form not in FORMS or type(timed) is not bool:
                raise ValueError(form)
            dates[str(name)] = Dates(form, datetime.datetime.fromisoformat(first), timed)
        numbers, texts = (list(map(str, known[kind])) for kind in ("numbers", "texts"))
        columns = Columns(numbers, words, bool(known["decimal_comma"]), texts, dates)
    columns.growing = False
    return columns


def note(found: list[Any], line: int, cell: Any) -> None:
    """Count an unreadable cell, and keep the first one."""
    found[:] = [found[0], found[1], found[2] + 1] if found else [line, str(cell)[:40], 1]
