"""Find out from the first rows of a file what its columns are."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..common.console import MOST_LISTED, check_names, counted, listed
from .columns import MOST_LABELS, MOST_WORDS, Columns, Dates, SparseColumns, Target
from .source import Source
from .values import form_of, is_missing, moment, number, truth, word, words_of

PREVIEW_ROWS = 1000  # first rows from which to find out what the columns are ...
PREVIEW_CELLS = 1_000_000  # ... fewer where a row has thousands of cells
NUMBER_SHARE = 0.9  # of the cells of a column of numbers, at least so many are numbers
MOST_WHOLE_LABELS = 20  # at most so many different integers are labels; more are numbers to predict
ROWS_PER_LABEL = 5
LEAST_ROWS_OF_ID = 10  # in fewer rows, integers may be consecutive by chance
MOST_DISTINCT_SHARE = 0.5  # different words per cell; a column with more is text
LEAST_ROWS_OF_NAMES = 20
WORDS_OF_A_SENTENCE = 3  # a column with more words in a cell, on average, holds texts
ID_NAME = re.compile(r"(^|[\s_-])(id|uuid|guid|index|key)$|^unnamed: 0$", re.IGNORECASE)


@dataclass
class Plan:
    """What to learn from a file, and notes about its columns."""

    columns: Columns
    target: Target
    at: int  # the index of the target in a row
    notes: list[str] = field(default_factory=list)

    def examples(self, rows: Iterator[tuple[int, list[Any]]]) -> Iterator[tuple[Any, Any]]:
        """(x, y) of each row that has a target."""
        for line, row in rows:
            if row:
                y = self.target.read(row[self.at], line)
                if y is not None:
                    yield self.columns.features(row, line), y


def preview_of(source: Source) -> list[tuple[int, list[Any]]]:
    """The first rows."""
    width = 1 if source.names is None else len(source.names)
    n = max(min(PREVIEW_ROWS, PREVIEW_CELLS // width), LEAST_ROWS_OF_NAMES)
    return list(itertools.islice(source.rows, n))


def plan(
    source: Source,
    preview: Sequence[tuple[int, list[Any]]],
    target: str | None,
    task: str = "auto",
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> Plan:
    """Make the plan from the first rows of a source."""
    rows = [row for _, row in preview if row]
    if not rows:
        raise RuntimeError(source.broken or _why_no_rows(source, bool(preview)))
    if source.names is None:
        known = sorted({name for row in rows for name in row[1]}, key=lambda n: (len(n), n))
        found = target_of([row[0] for row in rows], target or "the label", task)
        sparse = SparseColumns(known)
        wide = ", too many to fill what a line leaves out with 0" if not sparse.absent else ""
        return Plan(sparse, found, 0, [f"{len(known)} features{wide}"])
    if target is None:
        raise LookupError(f"--target is missing; there are {listed(source.names)}")
    check_names([target, *drop, *keep, *texts], source.names, "column")
    at = source.names.index(target)
    found = target_of([row[at] for row in rows], target, task, source.decimal_comma)
    columns, notes = _sorted(source, source.names, rows, [*drop, target], keep, texts)
    if not columns.names:
        left = f" ({notes[-1]})" if notes else ""
        raise RuntimeError(f"beside {target!r} there is no column to learn from{left}")
    return Plan(columns, found, at, [*notes, *_order(rows, at, found)])


def every_column(
    source: Source,
    preview: Sequence[tuple[int, list[Any]]],
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> Columns:
    """All columns of a source whose columns have names, none of them a target."""
    names = source.names or []
    check_names([*drop, *keep, *texts], names, "column")
    rows = [row for _, row in preview if row]
    if not rows:
        raise RuntimeError(source.broken or _why_no_rows(source, bool(preview)))
    return _sorted(source, names, rows, drop, keep, texts)[0]


def _sorted(
    source: Source,
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    drop: Sequence[str],
    keep: Sequence[str],
    texts: Sequence[str],
) -> tuple[Columns, list[str]]:
    """The columns that are features, and notes about them; without features, the reasons."""
    sorting, dropped, kept = _Sorting(rows, source.decimal_comma), set(drop), set(keep)
    for i, name in enumerate(names):
        if name not in dropped and name not in texts:
            sorting.add(name, i, name in kept)
    texts = [name for name in dict.fromkeys(texts) if name not in dropped]
    found = sorting.numbers, sorting.words, source.decimal_comma, texts, sorting.dates
    columns = Columns(*found)
    columns.place(names)
    if columns.names:
        return columns, sorting.notes(texts)
    return columns, [sorting.reasons()] if sorting.left_out else []


def _why_no_rows(source: Source, some: bool) -> str:
    """The reason why there is nothing to learn, as an error text."""
    if some and source.names is not None:
        width = len(source.names)
        return (
            f"no row has {width} cells as the first; the first that has not is line {source.odd[0]}"
        )
    return "there is a header and no row below it" if source.header else "there are no rows"


def target_of(cells: Sequence[Any], name: str, task: str, decimal_comma: bool = False) -> Target:
    """The target and its type, found from its first cells."""
    known = [cell for cell in cells if not is_missing(cell)]
    if not known:
        raise RuntimeError(f"the target {name!r} is empty in the first {len(cells)} rows")
    numbers = [value for cell in known if (value := number(cell, decimal_comma)) is not None]
    numeric = len(numbers) >= NUMBER_SHARE * len(known)
    whole = numeric and all(value.is_integer() for value in numbers)
    if all(truth(cell) is not None for cell in known):
        kind = "bool"
    elif not numeric:
        kind = "text"
    elif task == "classification":
        kind = "int" if whole else "text"
    else:
        few = min(MOST_WHOLE_LABELS, max(2, len(known) // ROWS_PER_LABEL))
        kind = "int" if whole and len(set(numbers)) <= few else "number"
    if task == "regression":
        if not numeric:
            raise RuntimeError(
                f"the target {name!r} holds words, as {word(known[0])!r}, no numbers"
            )
        kind = "number"
    if kind == "text" and len(labels := set(map(word, known))) > MOST_LABELS:
        raise RuntimeError(
            f"the target {name!r} has {len(labels)} different values in {len(known)} rows: no "
            "labels"
        )
    return Target(name, kind, decimal_comma)


class _Sorting:
    """Columns sorted by what they hold: numbers, words, or nothing to learn from."""

    def __init__(self, rows: Sequence[Sequence[Any]], decimal_comma: bool):
        self.rows, self.decimal_comma = rows, decimal_comma
        self.numbers: list[str] = []
        self.words: dict[str, list[str]] = {}
        self.dates: dict[str, Dates] = {}
        self.left_out: list[str] = []
        self.constant: list[str] = []

    def add(self, name: str, at: int, keep: bool) -> None:
        """Sort one column."""
        cells = [row[at] for row in self.rows if not is_missing(row[at])]
        values = [self._number(cell) for cell in cells]
        numbers = [value for value in values if value is not None]
        words = dict.fromkeys(map(word, cells))
        if len(words) <= 1:
            self.constant.append(name)
        numeric = len(numbers) >= NUMBER_SHARE * len(cells)
        form = None if numeric else form_of(cells, NUMBER_SHARE)
        if form is not None:
            self.dates[name] = _dates(cells, form)
            return
        why = _counts(name, numbers) if numeric else _names_things(name, len(words), cells)
        if why and not keep:
            self.left_out.append(f"{name!r} {why}")
        elif numeric:
            self.numbers.append(name)
        else:
            self.words[name] = list(words)[:MOST_WORDS]

    def _number(self, cell: Any) -> float | None:
        value = truth(cell)
        return number(cell, self.decimal_comma) if value is None else float(value)

    def reasons(self) -> str:
        """The columns that are left out, and why."""
        more = ["..."] if len(self.left_out) > MOST_LISTED else []
        return "; ".join([*self.left_out[:MOST_LISTED], *more])

    def notes(self, texts: Sequence[str]) -> list[str]:
        """Notes on which columns are used, and which not and why."""
        kinds = [(len(self.words), "of words"), (len(texts), "of texts (their words)")]
        further = "".join(f", {count} {kind}" for count, kind in kinds if count)
        found = [f"{counted(len(self.numbers), 'column')} of numbers{further}"]
        if self.dates:
            each = "hour, weekday, month, days since the first row"
            found.append(
                f"dates ({each}): "
                f"{listed([f'{name} {one.form}' for name, one in self.dates.items()])}"
            )
        if self.left_out:
            found.append(f"left out (--keep takes them): {self.reasons()}")
        if self.constant:
            found.append(f"the same in all of the first rows: {listed(self.constant)}")
        return found


def _dates(cells: Sequence[Any], form: str) -> Dates:
    """How to read a column of dates."""
    found = [one for cell in cells if (one := moment(cell, form)) is not None]
    timed = len({(one.hour, one.minute) for one in found}) > 1
    return Dates(form, found[0], timed)


def _counts(name: str, numbers: Sequence[float]) -> str:
    """The reason to leave out a column of numbers, if it counts rows or is an identifier."""
    if len(numbers) < LEAST_ROWS_OF_ID:
        return ""
    if all(b - a == 1.0 for a, b in itertools.pairwise(numbers)):
        return "counts the rows"
    whole = all(value.is_integer() for value in numbers)
    distinct = len(set(numbers)) == len(numbers)
    return "gives every row a number" if whole and distinct and ID_NAME.search(name) else ""


def _names_things(name: str, distinct: int, cells: Sequence[Any]) -> str:
    """The reason to leave out a column of words, if nearly every row has a different one."""
    many = len(cells) >= LEAST_ROWS_OF_NAMES and distinct > MOST_DISTINCT_SHARE * len(cells)
    if not many and distinct <= MOST_WORDS:
        return ""
    if sum(len(words_of(cell)) for cell in cells) > WORDS_OF_A_SENTENCE * len(cells):
        return f"holds sentences, whose words --text {shlex.quote(name)} takes as features"
    return f"has {distinct} different words in {len(cells)} rows"


def _order(rows: Sequence[Sequence[Any]], at: int, target: Target) -> list[str]:
    """A warning if rows are sorted by label: then the previous label would be the best
    prediction.
    """
    labels = [word(row[at]) for row in rows]
    changes = sum(a != b for a, b in itertools.pairwise(labels))
    kinds = len(set(labels))
    if kinds == 1:
        return [f"the target is {labels[0]!r} in all of the first {len(labels)} rows"]
    if target.regression or not 1 < kinds < len(labels) // ROWS_PER_LABEL or changes >= kinds:
        return []
    return ["the rows stand in the order of the target: shuffle them, or errors look far too small"]
