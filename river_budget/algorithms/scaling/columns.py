"""Statistics: places for the names of features, a table with three numbers at each, and how an
example becomes a row.

All that may fail or run a user's code (looking names up, converting values) happens before any
number changes, and without the lock, as a name keeps its place. A name with a place at which
nothing was ever learned counts as unknown: so an example that is refused, or interrupted anywhere,
leaves everything as it was.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.passes.scaling import NEVER, learn, scale
from ...inputs.features import packer_of
from ...model.calls import class_of_passes
from ...model.lock import lock_of
from ...parameters import as_float, check_example, number

Example = dict[Any, Any]

UNKNOWN = 0  # the place of all unknown names: its numbers stay the initial ones
FEWEST = 8  # places of a small table
PASSES = class_of_passes(learn, scale)  # its `score` is `scale`
NUMBERS = frozenset({float, int, bool, np.bool_, *(np.dtype(c).type for c in "bhilqBHILQefd")})


class PreparedExample:
    """An example: its names, its values, and the rows of a pass over it, which hold the places of
    the names, too.
    """

    __slots__ = ("names", "pool", "rows", "values", "write")

    def __init__(self, names: Sequence[Any], places: Sequence[int], pool: list[PreparedExample]):
        """`pool` takes the row after use."""
        self.names, self.pool = names, pool
        self.rows = np.array([places, places], float)
        self.values = memoryview(self.rows[1])
        self.write = functools.partial(packer_of(len(names)), self.values, 0)


class Whole:
    """How to read examples with exactly the names that were known at some time."""

    __slots__ = ("get", "names", "places", "pool", "size")

    def __init__(self, places: dict[Any, int]):
        items = list(places.items())  # one step for all threads
        names = self.names = [name for name, _ in items]
        self.size, self.places = len(names), [place for _, place in items]
        # itemgetter of one name returns no tuple
        self.get = (
            operator.itemgetter(*names) if len(names) > 1 else lambda x: [x[n] for n in names]
        )
        # A row in use is not among these: a signal handler may use the scaler meanwhile
        self.pool: list[PreparedExample] = []


def check_types(values: Sequence[Any]) -> None:
    """Raise TypeError for values of other types than NUMBERS: struct would take numpy's complex
    numbers.
    """
    if not NUMBERS.issuperset(map(type, values)):
        raise TypeError


class Statistics:
    """Names, their places and their numbers, and the lock of all who read or change the numbers."""

    __slots__ = (
        *("__weakref__", "initial", "lock", "next"),
        *("places", "scaling", "table", "whole"),
    )

    def __init__(self, scaling: int, initial: tuple[float, ...], rows: Iterable[list[Any]] = ()):
        """`rows`: [name, number, number, number] of each feature."""
        names: list[Any] = []
        numbers: list[Any] = [initial]
        for name, *own in rows:
            names.append(name)
            numbers.append(own)
        self.scaling, self.initial = scaling, initial
        self.lock = lock_of(self, "lock")
        self.places = {name: place for place, name in enumerate(names, UNKNOWN + 1)}
        self.next = itertools.count(UNKNOWN + 1 + len(names))
        self.table: Any = np.array(numbers, float)
        self._make_room(FEWEST)
        self.whole = Whole(self.places)

    def __reduce__(self) -> Any:
        return Statistics, (self.scaling, self.initial, self.learned())

    def learned(self) -> list[list[Any]]:
        """[name, number, number, number] of each feature that was learned."""
        items = list(self.places.items())
        with self.lock:
            numbers = self.table[[place for _, place in items]].tolist()
        rows = zip(items, numbers, strict=True)
        return [[name, *own] for (name, _), own in rows if own[0] != NEVER]

    # places

    def _places_of(self, names: Iterable[Any]) -> list[int]:
        return [self.places.get(name, UNKNOWN) for name in names]

    def _given_places(self, names: Iterable[Any]) -> list[int]:
        """The places of names, which are given to new ones."""
        return [self.places.get(name) or self._new_place(name) for name in names]

    def _new_place(self, name: Any) -> int:
        """Give a place to a name, unless another thread has done so meanwhile: `setdefault` is one
        step.
        """
        place = next(self.next)
        self._make_room(place + 1)
        return self.places.setdefault(name, place)

    def _make_room(self, n: int) -> None:
        """Widen the table to n places: before names have them, as compiled code checks no
        bounds.
        """
        with self.lock:
            while n > len(self.table):
                old = self.table
                table = np.tile(self.initial, (max(n, 2 * len(old)), 1))
                table[: len(old)] = old
                if self.table is old:  # else a signal handler has made room in this thread
                    self.table = table

    # examples

    def run(self, x: Example, learned: bool) -> PreparedExample:
        """Read an example, and learn or scale its values; new names that are learned are given
        places.
        """
        whole, row = self.whole, None
        if type(x) is dict and len(x) == whole.size:
            try:
                values = whole.get(x)
                # Python's floats add up to a float, faster than their types are looked at
                if type(values[0]) is not float or type(sum(values)) is not float:
                    check_types(values)
                try:
                    row = whole.pool.pop()
                except IndexError:
                    row = PreparedExample(whole.names, whole.places, whole.pool)
                row.write(*values)
            except Exception:  # other names or values, which are read as follows or refused there
                row = None
        if row is None:
            row = self._read_any(x, learned)
        with self.lock:
            (PASSES.learn if learned else PASSES.score)(self.scaling, self.table, row.rows)
        return row

    def _read_any(self, x: Example, learned: bool) -> PreparedExample:
        x = copied(x)  # another thread may change the original
        values = [_float(name, value) for name, value in x.items()]  # first, as it may be refused
        places = self._given_places(x) if learned else self._places_of(x)
        if len(x) == len(self.places) != self.whole.size:
            self.whole = Whole(self.places)
        row = PreparedExample(list(x), places, [])
        row.write(*values)
        return row

    # batches

    def learn_rows(self, names: list[Any], values: Any) -> None:
        """Learn the rows of a matrix whose columns have these names."""
        if len(values):
            rows = np.ascontiguousarray(np.vstack([self._given_places(names), values]))
            with self.lock:
                PASSES.learn(self.scaling, self.table, rows)

    def numbers_of(self, names: list[Any]) -> Any:
        """The numbers of these names, initial ones for unknown names: a matrix with three rows."""
        places = self._places_of(names)
        with self.lock:
            return self.table[places].T


def copied(x: Any) -> Example:
    """A copy of an example, or of what is used like one, as a dict."""
    if type(x) is not dict:
        check_example(x)
        return dict(x)
    return x.copy()


def _float(name: Any, value: Any) -> float:
    """The value of a feature as a float, NaN and infinity included as in River; an error for all
    else.
    """
    found = as_float(value)
    if found is None and isinstance(value, (float, np.floating)):
        return float(value)
    return number(name, value) if found is None else found
