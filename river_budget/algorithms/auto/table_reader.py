"""AutoKernel on a table as it is: text is a category, and a number that is missing counts as the
mean of its column.

A text in a column makes the feature (column, text) 1. It has a row in the tables as any other name,
and what is known of a text, also how often it comes, stands there. So beside its names a model
keeps one thing only, `always`.

    full    a column has MOST_VALUES features, or all columns have MOST_CATEGORIES. Then a text
            without a feature has that of all OTHER ones. At every TURN-th example it takes over the
            feature of the rarest text, if that has become RARE: so what comes often soon has a
            feature, of 10,000 texts only one in TURN costs a copy of the model, and nobody counts
            texts that have none
    gap     None, NaN, or absent though it is one of `always`: the columns of numbers that were in
            each of the first FIRST_ROWS examples. (In a bag of words, or where names come and go,
            absent stays 0.) The number of GAPS is a feature, as that a number is missing often says
            something. (A feature for each column says more where several columns do, and costs 5 to
            10 % more errors where gaps are random.)
"""

from __future__ import annotations

import copy
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
from ...model.calls import Workspace, run_once
from ...model.one_by_one import OTHERWISE
from ...parameters import check_example, is_missing, number
from ..features.drawn import key_of
from .categories import GAPS, OTHER
from .room import NEW_METRIC, NO_DRAW
from .words import WordTables

MOST_VALUES, MOST_CATEGORIES = 64, 512
LONGEST = 200  # characters of a category: a longer text is one of the others
RARE, TURN = 1e-3, 16  # as a share of examples
FIRST_ROWS = 32

ABSENT: Any = object()


def cell_of(name: Any, value: Any, predicted: bool = False) -> Any:
    """What a value of a user says: a number, a text, or None for a gap.

    Raises for one that says nothing, such as a list. In prediction an infinite one, of statistics
    without data, is ABSENT.
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return str.__str__(value)  # of a subclass, too
    if is_gap(value):
        return None
    return ABSENT if predicted and is_missing(value) else number(name, value)


class RawBatch(Batch):
    """Many examples, checked, of which some hold text or gaps. `rows`: a tuple of cells for
    each.
    """

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


class Known:
    """What follows from the names of a model, and from where its block lies."""

    def __init__(self, model: Any):
        self.of_words, self._rounds = bool(model._of_words), None
        self.values: dict[Any, dict[str, Category]] = {}  # by column and text
        self.zeros: dict[Any, float] = {}  # an example without anything
        self.places: dict[Any, int] = {}  # of features that are no categories
        self.reads_cells = False  # whether there were texts or gaps
        if model._block is None:
            return
        self._rounds = memoryview(memory.state_of(model._block, core.STATE)["rounds"])
        if self.of_words:
            return
        self.means = model._table("moments")[core.MEAN, model._n_means :]
        self.all_places = places = model._features.places.copy()  # in one step
        for name in places:
            if type(name) is Category and name != GAPS:
                self.values.setdefault(name[0], {})[name[1]] = name
            elif type(name) is not Category:
                self.places[name] = places[name]
        self.zeros = dict.fromkeys(places, 0.0)
        self.n_values = sum(map(len, self.values.values()))
        self.reads_cells = bool(self.values) or GAPS in places

    @property
    def rounds(self) -> int:
        """How many examples were learned."""
        return 0 if self._rounds is None else int(self._rounds[0])

    def is_full(self, column: Any) -> bool:
        """Whether a further text of a column gets no feature of its own."""
        if self.of_words or self._rounds is None:
            return False
        return len(self.own(column)) >= MOST_VALUES or self.n_values >= MOST_CATEGORIES

    def own(self, column: Any) -> list[Category]:
        """The texts of a column that have features of their own."""
        found = self.values.get(column, {}).items()
        return [name for text, name in found if text != OTHER]

    def rarest(self, column: Any) -> tuple[Any, float]:
        """(the rarest text of a column, its share of the examples)"""
        known = self.own(column)
        if not known:
            return None, 1.0
        shares = self.means[[self.all_places[name] for name in known]]
        at = int(shares.argmin())
        return known[at], float(shares[at])


class TableReader(WordTables):
    """A model that reads any table."""

    _reads_tables = True
    # The columns of numbers that were in all of the first examples; None: it does not know them
    _always: frozenset[Any] | None = None

    # one example

    def _learn_any(
        self, x: dict[Any, Any], target: float, w: float, labels: Any, wanted: bool
    ) -> Any:
        if (self._version.get("known") or self._known()).reads_cells:
            x = self._encoded(x)[0]
            found = self._learn_whole(x, target, w, labels, wanted)
            if found is not OTHERWISE:
                return found
        return super()._learn_any(x, target, w, labels, wanted)

    def _score_any(self, x: dict[Any, Any], read: bool) -> Any:
        if (self._version.get("known") or self._known()).reads_cells:
            x = self._read(x)
            found = self._score_whole(x, read)
            if found is not OTHERWISE:
                return found
        return super()._score_any(x, read)

    def _prepare_call(self, x: dict[Any, Any]) -> Any:
        if type(x) is not dict:
            check_example(x)
        if not (self._always and self._lacks(x)):
            try:
                return super()._prepare_call(x)
            except ValueError:  # text, gaps, or what is refused below too
                pass
        return super()._prepare_call(self._encoded(x)[0])

    def _taken(self, x: dict[Any, Any]) -> dict[Any, float]:
        return self._read(x, predicted=False)

    def _is_whole(self, names: Collection[Any]) -> bool:
        return not self._always or self._always.issubset(names)

    def _read(self, x: dict[Any, Any], predicted: bool = True) -> dict[Any, float]:
        """An example as numbers; `predicted`: an infinite one counts as absent."""
        try:
            return self._encoded(x)[0]
        except ValueError:
            if not predicted:
                raise
            return self._encoded(self._without_bad(x))[0]

    def _without_bad(self, x: dict[Any, Any]) -> dict[Any, Any]:
        check_example(x)
        return {name: v for name, v in x.items() if is_gap(v) or not is_missing(v)}

    def _encoded(self, x: Mapping[Any, Any], ahead: int = 0) -> tuple[dict[Any, float], bool]:
        """(an example as numbers, whether they are the same at all examples from the next one to so
        many ahead)

        One without new names has all known ones, so that it can be written as a whole row.
        """
        known, always, lasting = self._known(), self._always, True
        settled, values = known.rounds >= FIRST_ROWS, known.values
        found: dict[Any, float] = {}
        texts, gaps = list[Any](), list[Any]()
        if type(x) is not dict:
            check_example(x)
        x = copied(x)
        for name, value in x.items():
            kind = type(value)
            if kind is float and value - value == 0.0:
                found[name] = value
                continue
            cell = value if kind is str else cell_of(name, value)
            if type(cell) is str:
                category = values[name].get(cell) if name in values else None
                if category is None:
                    category, lasts = self._category(known, name, cell, ahead)
                    lasting = lasting and lasts
                found[category] = 1.0
                if name in known.places:
                    texts.append(name)
            elif cell is None:
                gaps.append(name)
            else:
                found[name] = cell
        if always and settled:
            gaps += [name for name in texts if name in always]
            gaps += [name for name in always if name not in x]
        if gaps and not known.of_words:
            found[GAPS] = float(len(gaps))
        for name in gaps:
            if name in known.places:
                found[name] = float(known.means[known.places[name]])
        if settled and len(whole := known.zeros | found) == len(known.zeros):
            found = whole
        return found, lasting and not gaps

    def _lacks(self, x: Any) -> bool:
        """Whether an example, or a list of names, is without a column that was always there."""
        always = self._always
        if not always or self._of_words:
            return False
        names = x.keys() if hasattr(x, "keys") else set(x)
        return not always <= names and self._known().rounds >= FIRST_ROWS

    # categories

    def _known(self) -> Known:
        """What follows from the names, and is kept until they change."""
        memo = self._version  # first: another thread may add names
        if "known" not in memo:
            memo["known"] = Known(self)
        return memo["known"]  # type: ignore[no-any-return]

    def _category(self, known: Known, column: Any, text: str, ahead: int) -> tuple[Category, bool]:
        """(the name for a text without a feature, whether it is the same up to so many examples
        ahead)
        """
        name = Category((column, text if len(text) <= LONGEST else OTHER))
        if not known.is_full(column):
            return name, False
        other, turn = Category((column, OTHER)), known.rounds % TURN
        if turn == 0 and known.rarest(column)[1] < RARE:
            return name, False
        return other, 0 < turn < TURN - ahead and OTHER in known.values.get(column, ())

    def _add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        """Values of full columns take over the features of the rarest ones."""
        full = [name for name in names if type(name) is Category and self._is_at_limit(name)]
        if not full:
            super()._add_features(names, beside)
            return
        changed = self._snapshot()
        for name in full:
            changed._hand_over(changed._known().rarest(name[0])[0], name)
        if further := [name for name in names if name not in full]:
            super(TableReader, changed)._add_features(further, beside)
        self._swap_in(changed)

    def _is_at_limit(self, name: Category) -> bool:
        """Whether a text gets a feature only from another one of its column."""
        column, text = name
        known = self._known()
        return text != OTHER and known.is_full(column) and bool(known.own(column))

    def _hand_over(self, old: Category, new: Category) -> None:
        """Give the feature of a value to another one, of which nothing is known."""
        room, place = self._tables, self._features.places[old]
        column = self._n_means + place
        for name in ("moments", "archive"):
            room[name][:, column] = 0.0
        if self._watches == core.KEEPS:
            room["first_rows"][:, 2 + place] = 0.0
        room["texts"][core.TOTAL :, place : place + 1] = 0.0
        memory.views(self._block).vectors[column] = 0.0
        room["metric"][:, column] = NEW_METRIC
        for name in ("linear_weights", "linear_sums", "noise"):
            room[name][:, 1 + column : 2 + column] = 0.0  # `noise` is empty in a classifier
        if 1 + column < room["covariance"].shape[0]:
            room["least_squares"][:, 1 + column] = 0.0
            room["covariance"][1 + column] = room["covariance"][:, 1 + column] = 0.0
            room["covariance"][1 + column, 1 + column] = 1.0
        room["keys"][0, column] = key_of(new, self._entropy)
        self._draw_bins_again()
        places = self._features.places
        names = {new if name == old else name: at for name, at in places.items()}
        self._change_names(self._features._replace, names)

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

    def _note(self, rounds: int, batch: Iterable[Collection[Any]]) -> None:
        """Take note of the names of the next examples."""
        if rounds >= FIRST_ROWS or (self._always is None and rounds) or self._always == frozenset():
            return
        always, known = self._always, {n for n in self._features if type(n) is not Category}
        for _, names in zip(range(FIRST_ROWS - rounds), batch, strict=False):
            here = frozenset(name for name in names if type(name) is not Category)
            known |= here
            always = here if always is None else always & here
            if 2 * len(always) < len(known):  # not a table
                always = frozenset()
        self._always = always

    def _learn_call(self, call: Any, target: float, w: float, wanted: bool = False) -> Any:
        known = self._version.get("known") or self._known()
        if call.version is not self._version and known.reads_cells:
            # what another thread has made the model forget
            gone = [n for n in self._features.unknown(call.x) if type(n) is Category]
            call.x = {n: v for n, v in call.x.items() if v or n not in gone}
        before, rounds = self._always, known.rounds
        if rounds >= FIRST_ROWS:
            return super()._learn_call(call, target, w, wanted)
        try:
            self._note(rounds, [call.x])
            return super()._learn_call(call, target, w, wanted)
        except BaseException:
            if self._known().rounds == rounds:
                self._always = before
            raise

    # many examples

    def _batch_of(self, X: Any, predicted: bool = False) -> Batch:
        if isinstance(X, RawBatch):
            return X
        batch = X if isinstance(X, Batch) else Batch(X)
        if batch.listed or getattr(X, "dtype", np.dtype(float)).kind in "mMV":
            return batch.checked(predicted)  # sparse, or dates, or bytes of no kind
        if not batch.bad.any() and not self._lacks(batch.names):
            return batch
        cells = RawBatch(batch, predicted)
        return self._as_numbers(cells) if predicted else cells

    def _as_numbers(self, cells: RawBatch) -> Batch:
        """Examples to be predicted, as numbers of the known features."""
        names = list(self._features.places)
        rows = [self._encoded(cells.example(t))[0] for t in range(len(cells))]
        return Batch.of(names, _matrix(names, rows), cells.frame)

    def _rows_in(self, part: Batch, wanted: bool) -> Iterator[Part]:
        before, rounds = self._always, self._known().rounds
        try:
            if isinstance(part, RawBatch):
                yield from self._parts_in(part, wanted)
            else:
                n = min(len(part), max(FIRST_ROWS - rounds, 0))
                n = n if part.listed else min(n, 1)
                self._note(rounds, (part.example(t) for t in range(n)))
                yield from super()._rows_in(part, wanted)
        except BaseException:
            if self._known().rounds == rounds:
                self._always = before
            raise

    def _parts_in(self, part: RawBatch, wanted: bool) -> Iterator[Part]:
        """Examples with text or gaps: together as long as their numbers do not follow from what was
        learned before.
        """
        start = 0
        while start < len(part):
            x, lasting = self._encoded(part.example(start))
            rounds, rows = self._known().rounds, [x]
            self._note(rounds, rows)
            if lasting and rounds >= FIRST_ROWS:
                for t in range(start + 1, len(part)):
                    x, lasting = self._encoded(part.example(t), t - start)
                    if not lasting or x.keys() != rows[0].keys():
                        break
                    rows.append(x)
            elif not self._of_words and self._is_of_words(x):
                self._change_to_words()
            batch = Batch.of(list(rows[0]), _matrix(list(rows[0]), rows))
            before = self._scores_before(batch.part(0, 1)) if wanted else None
            lists = self._rows_of(batch)
            # often a single row: to make room for its results would take ten times as long as to
            # learn it
            if "work" not in self._version:
                self._version["work"] = Workspace(self, self._block)
            yield Part(start, batch, lists, before)
            start += len(rows)
        self._version.pop("work", None)


def _matrix(names: list[Any], rows: list[dict[Any, float]]) -> Any:
    """Examples as a matrix."""
    cells = [[x.get(name, 0.0) for name in names] for x in rows]
    return np.array(cells, float).reshape(len(rows), len(names))
