"""AutoKernel on a table as it is: text is a category, and a number that is missing counts as the mean of its column.

A text in a column makes the feature (column, text) 1. Its columns are those of the tables, as for any other name: what is
known of a value, also how often it comes, stands there. So beside the names the model keeps one thing only, `always`.

    full     a column has MOST_VALUES features, or all columns together MOST_CATEGORIES. Then a value without a feature has
             that of all OTHER ones; at every TURN-th example it takes over the feature of a value that has become rare
    gap      None, NaN, or absent though it is one of `always`: the columns of numbers that were in each of the first
             FIRST_ROWS examples. (In a bag of words, or where names come and go, absent stays 0.)
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import rejoin
from ...inputs.batches import Batch
from ...inputs.features import Category, copied
from ...inputs.frames import is_gap
from ...model.batch_passes import Part
from ...model.calls import run_once
from ...parameters import check_example, is_missing, number
from ..features.drawn import key_of
from .room import NEW_METRIC, NO_DRAW
from .words import WordTables

MOST_VALUES, MOST_CATEGORIES = 64, 512
OTHER = "<other>"
LONGEST = 200  # characters of a category: a longer text is one of the others
RARE, TURN = 1e-3, 32  # as a share of examples
FIRST_ROWS = 32

ABSENT: Any = object()


def cell_of(name: Any, value: Any, predicted: bool = False) -> Any:
    """What a value of a user says: a number, a text, or None for a gap. Raises for one that says nothing, such as a list;
    in prediction an infinite one, of statistics without data, is ABSENT."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return str.__str__(value)  # of a subclass, too
    if is_gap(value):
        return None
    return ABSENT if predicted and is_missing(value) else number(name, value)


class RawBatch(Batch):
    """Many examples, checked, of which some hold text or gaps. `rows`: a tuple of cells for each."""

    def __init__(self, batch: Batch, predicted: bool):
        vars(self).update(vars(batch))
        columns = batch.rows.T.tolist()
        if batch.bad.any():
            given = batch.given.T.tolist() if batch.frame is None else batch.frame.lists()
            for at in np.flatnonzero(~np.isfinite(batch.rows).all(axis=0)).tolist():
                name = self.names[at]
                columns[at] = [cell_of(name, value, predicted) for value in given[at]]
        self.rows = list(zip(*columns, strict=True)) or [()] * len(batch)

    def part(self, start: int, stop: int) -> Batch:
        found = copy.copy(self)
        found.rows = self.rows[start:stop]
        return found

    def example(self, t: int) -> dict[Any, Any]:
        row = zip(self.names, self.rows[t], strict=True)
        return {name: cell for name, cell in row if cell is not ABSENT}


class TableReader(WordTables):
    """A model that reads any table."""

    # The columns of numbers that were in all of the first examples; None: it does not know them
    always: frozenset[Any] | None = None

    # one example

    def _written(self, x: dict[Any, Any]) -> Any:
        if not self._lacks(x):
            try:
                return super()._written(x)
            except ValueError:  # text, gaps, or what is refused below too
                pass
        return super()._written(self._encoded(x)[0])

    def _taken(self, x: dict[Any, Any]) -> dict[Any, float]:
        return self._encoded(x)[0]

    def _lacks(self, x: Any) -> bool:
        """Whether an example, or a list of names, is without a column that was always there."""
        names = x.keys() if hasattr(x, "keys") else set(x)
        return bool(self.always) and not self.always <= names and self._knows_columns

    @property
    def _knows_columns(self) -> bool:
        """Whether there were enough examples to say which columns are always there."""
        return not self.of_words and self.n_examples >= FIRST_ROWS

    def _read(self, x: dict[Any, Any]) -> dict[Any, float]:
        """An example to be predicted, as numbers."""
        check_example(x)
        return self._encoded({k: v for k, v in x.items() if is_gap(v) or not is_missing(v)})[0]

    def _encoded(self, x: Mapping[Any, Any]) -> tuple[dict[Any, float], bool]:
        """(an example as numbers, whether they would be the same after the next examples)"""
        check_example(x)
        found: dict[Any, float] = {}
        lasting, gaps = True, list[Any]()
        for name, value in copied(x).items():
            if type(value) is float and value - value == 0.0:
                found[name] = value
                continue
            cell = cell_of(name, value)
            if cell is None:
                gaps.append(name)
            elif isinstance(cell, str):
                category = self._category(name, cell)
                found[category] = 1.0
                lasting = lasting and category in self.features.places and category[1] == cell
            else:
                found[name] = cell
        if self.always and self._knows_columns:
            gaps += [name for name in self.always if name not in found and name not in gaps]
        if gaps and self.block is not None and not self.of_words:
            means, places = self._means(), self.features.places
            found.update({name: float(means[places[name]]) for name in gaps if name in places})
        return found, lasting and not gaps

    def _means(self) -> Any:
        """The running means of all features."""
        return self._table("moments")[core.MEAN]

    # categories

    def _category(self, column: Any, text: str) -> Category:
        """The name of the feature of a value."""
        name = Category((column, text if len(text) <= LONGEST else OTHER))
        if name in self.features.places or self.of_words or not self._is_full(column):
            return name
        if self.n_examples % TURN == 0 and self._rarest(column)[1] < RARE:
            return name
        return Category((column, OTHER))

    def _values(self) -> dict[Any, list[Category]]:
        """The categories of each column, but for that of all others."""
        memo: dict[Any, Any] = self.edition  # first: another thread may add names
        if "values" not in memo:
            values: dict[Any, list[Category]] = {}
            for name in list(self.features.places):
                if type(name) is Category and name[1] != OTHER:
                    values.setdefault(name[0], []).append(name)
            memo["values"] = values
        return memo["values"]  # type: ignore[no-any-return]

    def _is_full(self, column: Any) -> bool:
        values = self._values()
        of_all = sum(map(len, values.values()))
        return len(values.get(column, ())) >= MOST_VALUES or of_all >= MOST_CATEGORIES

    def _rarest(self, column: Any) -> tuple[Any, float]:
        """(the rarest value of a column, its share of the examples)"""
        known = self._values().get(column, [])
        if not known:
            return None, 1.0
        shares = self._means()[[self.features.places[name] for name in known]]
        at = int(shares.argmin())
        return known[at], float(shares[at])

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        """Values of full columns take over the features of the rarest ones."""
        if self.block is None or self.of_words or not any(type(n) is Category for n in names):
            super().add_features(names, beside)
            return
        twin, further = self.twin(), []
        for name in names:
            full = type(name) is Category and name[1] != OTHER and twin._is_full(name[0])
            rarest = twin._rarest(name[0])[0] if full else None
            if rarest is None:
                further.append(name)
            else:
                twin._hand_over(rarest, name)
        if further:
            super(TableReader, twin).add_features(further, beside)
        self.adopt(twin)

    def _hand_over(self, old: Category, new: Category) -> None:
        """Give the feature of a value to another one, of which nothing is known."""
        room, place = self._tables, self.features.places[old]
        for name in ("moments", "archive"):
            room[name][:, place] = 0.0
        memory.views(self.block).vectors[place] = 0.0
        room["metric"][:, place] = NEW_METRIC
        for name in ("linear_weights", "linear_sums"):
            room[name][:, 1 + place] = 0.0
        if 1 + place < room["covariance"].shape[0]:
            room["least_squares"][:, 1 + place] = 0.0
            room["covariance"][1 + place] = room["covariance"][:, 1 + place] = 0.0
            room["covariance"][1 + place, 1 + place] = 1.0
        room["keys"][0, place] = key_of(new, self.entropy)
        self._draw_bins_again()
        places = self.features.places
        names = {new if name == old else name: at for name, at in places.items()}
        self.change_names(self.features._replace, names)

    def _draw_bins_again(self) -> None:
        """Choose the features of the bins again. Tables of the bins that lose one begin anew."""
        room = self._tables
        slots, before, cells = room["slots"], room["slots"].copy(), room["bins"].copy()
        slots[core.FEATURE], slots[core.DRAW] = 0.0, NO_DRAW
        run_once(self, rejoin)
        changed = (slots[core.FEATURE] != before[core.FEATURE]).reshape(-1, core.BIN_TABLES)
        kept = np.repeat(~changed.any(axis=0), core.CELLS_PER_TABLE)
        room["bins"][:] = np.where(kept[:, None], cells, 0.0)

    # which columns are always there

    def _note(self, batch: Iterable[Collection[Any]]) -> None:
        """Take note of the names of the next examples."""
        rounds = self.n_examples
        if rounds >= FIRST_ROWS or (self.always is None and rounds) or self.always == frozenset():
            return
        always, known = self.always, {n for n in self.features if type(n) is not Category}
        for _, names in zip(range(FIRST_ROWS - rounds), batch, strict=False):
            here = frozenset(name for name in names if type(name) is not Category)
            known |= here
            always = here if always is None else always & here
            if 2 * len(always) < len(known):  # not a table
                always = frozenset()
        self.always = always

    def _learn_call(self, call: Any, target: float, w: float, wanted: bool = False) -> Any:
        before, rounds = self.always, self.n_examples
        if rounds >= FIRST_ROWS:
            return super()._learn_call(call, target, w, wanted)
        try:
            self._note([call.x])
            return super()._learn_call(call, target, w, wanted)
        except BaseException:
            if self.n_examples == rounds:
                self.always = before
            raise

    # many examples

    def batch_of(self, X: Any, predicted: bool = False) -> Batch:
        if isinstance(X, Batch):
            return X
        batch = Batch(X)
        if batch.listed or getattr(batch.given, "dtype", None) != getattr(X, "dtype", None):
            return batch.checked(predicted)  # sparse, or an array of dates, which came as text
        if not batch.bad.any() and not self._lacks(batch.names):
            return batch
        cells = RawBatch(batch, predicted)
        return self._as_numbers(cells) if predicted else cells

    def _as_numbers(self, cells: RawBatch) -> Batch:
        """Examples to be predicted, as numbers of the known features."""
        names = list(self.features.places)
        rows = [self._encoded(cells.example(t))[0] for t in range(len(cells))]
        return Batch.of(names, _matrix(names, rows), cells.frame)

    def rows_in(self, part: Batch, wanted: bool) -> Iterator[Part]:
        before, rounds = self.always, self.n_examples
        try:
            if isinstance(part, RawBatch):
                yield from self._parts_in(part, wanted)
            else:
                n = min(len(part), max(FIRST_ROWS - rounds, 0))
                self._note(part.example(t) for t in range(n if part.listed else min(n, 1)))
                yield from super().rows_in(part, wanted)
        except BaseException:
            if self.n_examples == rounds:
                self.always = before
            raise

    def _parts_in(self, part: RawBatch, wanted: bool) -> Iterator[Part]:
        """Examples with text or gaps: together as long as what was learned before makes no difference to their numbers."""
        start = 0
        while start < len(part):
            rows = [self._encoded(part.example(start))]
            while rows[-1][1] and start + len(rows) < len(part) and self._knows_columns:
                rows.append(self._encoded(part.example(start + len(rows))))
            some = [x for x, lasting in rows if lasting] or [rows[0][0]]
            self._note(some)
            if not self.of_words and self._is_of_words(some[0]):
                self._change_to_words()
            names = list(dict.fromkeys(itertools.chain(*some)))
            batch = Batch.of(names, _matrix(names, some))
            before = self._scores_before(batch) if wanted and len(some) == 1 else None
            yield Part(start, batch, self.rows_of(batch), before)
            start += len(some)


def _matrix(names: list[Any], rows: list[dict[Any, float]]) -> Any:
    """Examples as a matrix."""
    cells = [[x.get(name, 0.0) for name in names] for x in rows]
    return np.array(cells, float).reshape(len(rows), len(names))
