"""AutoKernel on words: when names seem to have no end, a model changes to tables that hold names by their hashes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ...core.block import blocks
from ...core.block.codes import Task
from ...core.compiling.named_rows import named_rows
from ...core.passes.auto import tables as core
from ...core.passes.auto.scaling import LARGEST_VALUE
from ...core.passes.auto.words import classes as classes_core
from ...core.passes.auto.words import names as names_core
from ...core.passes.auto.words import numbers as numbers_core
from ...model.calls.calls import PreparedList, Rows
from ...model.inputs.batches import Batch
from ...model.inputs.features import FeatureIndex
from ...model.inputs.lists import Lists
from ...parameters import COUNT
from .checks import LARGE
from .nameless import Nameless, hashes_of
from .tables import AutoTables

# More names than this, of which an example has fewer than one in so many: more will come
MANY_NAMES, NAMES_PER_WORD = 1024, 8
NAMES_OF_A_CALL = 512  # of one example
# The same in both kinds of model: targets, errors, intervals
KEPT = (
    "rounds average variance last squared_error absolute_error lowest highest stretch latest_error"
)
SHARED_TABLES = ("prior", "mixer", "calibration", "quantiles", "unseen")


def _buckets_of(hashes: Any, n: int) -> Any:
    """The buckets of names, of which there are n: as compiled code computes it."""
    half = np.uint64(32)
    return (((hashes.view(np.uint64) >> half) * np.uint64(n)) >> half).astype(np.int64)


class WordClasses:
    """The passes of a classifier on words."""

    learning_pass = staticmethod(classes_core.learn)
    scoring_pass = staticmethod(classes_core.decide)


class WordNumbers:
    """The passes of a regressor on words."""

    learning_pass = staticmethod(numbers_core.learn)
    scoring_pass = staticmethod(numbers_core.decide)


class WordTables(AutoTables):
    """A model that may change to words, and then stays there."""

    _experts: ClassVar[tuple[str, ...]]  # their names, in the order of the mixer
    _word_experts: ClassVar[tuple[str, ...]]  # the same in a model of words
    row_scoring: ClassVar[Any]  # the compiled pass over rows of all features
    word_passes: ClassVar[Any]
    ranges = {"slots": COUNT, "held": COUNT}
    word_slots = 0  # slots for names in a model of words, else 0

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.word_slots = 0

    @property
    def takes_lists(self) -> bool:  # type: ignore[override]
        return self.word_slots > 0

    @property
    def pass_holder(self) -> Any:
        return self.word_passes if self.word_slots else type(self)

    @property
    def scoring_pass(self) -> Any:  # type: ignore[override]
        return self.word_passes.scoring_pass if self.word_slots else self.row_scoring

    @property
    def _expert_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._word_experts if self.word_slots else self._experts

    def capacity_for(self, count: int) -> int:
        return blocks.columns_for(0) if self.word_slots else super().capacity_for(count)

    def _spaces(self, width: int) -> dict[str, int]:
        _, room, desk = core.directory(width, self._columns, self.budget_in_use, self.word_slots)
        return {"room": room, "desk": desk}

    def _sizes(self) -> tuple[int, ...]:
        return (*super()._sizes(), self.word_slots)

    @property
    def n_words(self) -> int:
        """How many names a model of words holds; 0 in a model that has not changed to words."""
        return int(self.state_record().held) if self.word_slots and self.block is not None else 0

    # when

    def _is_of_words(self, x: Mapping[Any, Any]) -> bool:
        """Whether with this example there are very many names, of which it has few."""
        known, n = self.features.places, len(self.features)
        new = sum(name not in known for name in x)
        if self.word_slots or not new or n + new <= MANY_NAMES:
            return False
        return bool(NAMES_PER_WORD * sum(value != 0.0 for value in x.values()) < n + new)

    def _learn_taken(self, x: dict[Any, Any], target: float, w: float, wanted: bool = False) -> Any:
        if self._is_of_words(x):
            self._change_to_words()
        return super()._learn_taken(x, target, w, wanted)  # type: ignore[misc]

    def _known_rows(self, batch: Batch, features: FeatureIndex) -> Any:
        """The batch as rows; in a model of words as lists with the hashes of names."""
        if not self.word_slots:
            return super()._known_rows(batch, features)
        lists = Lists.of_table(batch.values) if batch.lists is None else batch.lists
        first, last = lists.starts[0], lists.starts[-1]
        columns, hashes = lists.places[first:last], np.zeros(len(batch.names), np.int64)
        used = np.unique(columns)
        hashes[used] = hashes_of([batch.names[column] for column in used.tolist()])
        none = np.full(len(columns), -1)
        return Lists(lists.starts - first, none, lists.values[first:last], keys=hashes[columns])

    def parts_of(self, batch: Batch) -> Iterator[tuple[int, int, Any]]:
        """The same, where names become known with the example that brings them, as one by one."""
        if self.word_slots or (batch.lists is None and self.features.in_place(batch.names)):
            yield from super().parts_of(batch)
            return
        for first, last in self.turns(batch):
            part = batch.part(first, last)
            for start, stop in itertools.pairwise([*self._first_uses(part), len(part)]):
                if not self.word_slots and self._is_of_words(
                    next(part.part(start, start + 1).dicts())
                ):
                    self._change_to_words()
                if self.word_slots:
                    stop = len(part)
                yield first + start, first + stop, self.rows_of(part.part(start, stop))
                if self.word_slots:
                    break

    def _first_uses(self, batch: Batch) -> list[int]:
        """The first example, and all that bring new names."""
        if batch.lists is None:
            return [0]
        known, lists = self.features.places, batch.lists
        new = np.array([name not in known for name in batch.names])
        at, last = lists.starts[0], lists.starts[-1]
        entries = at + np.flatnonzero(new[lists.places[at:last]])
        _, firsts = np.unique(lists.places[entries], return_index=True)
        rows = np.searchsorted(lists.starts, entries[firsts], "right") - 1
        return sorted({0, *rows.tolist()})

    def _change_to_words(self) -> None:
        """Begin with words, in one step, and learn again what the memory holds."""
        twin = self.twin()
        twin._begin_with_words()
        if self.block is not None:
            twin._learn_again(self)
        self.adopt(twin)
        self.forget_prepared()

    def _begin_with_words(self) -> None:
        self.word_slots, self.features = names_core.FIRST_SLOTS, Nameless()
        self.create_block(1)
        self._set_parameters()

    def _set_parameters(self) -> None:
        super()._set_parameters()
        if self.word_slots:
            self.state_record().second_order = -1

    def _learn_again(self, old: Any) -> None:
        """The stored examples of a model of rows, in the order of their arrival."""
        state, before = self.state_record(), old.state_record()
        rows, targets, weights = old._stored_words()
        state.rounds = max(before.rounds - len(targets), 0)
        if len(targets):
            self.run_pass(rows, targets, weights, np.empty((len(targets), self.n_outputs)))
        state = self.state_record()
        for name in KEPT.split():
            state[name] = before[name]
        for name in ("prior", "calibration", "quantiles", "unseen"):
            self._table(name)[:] = old._table(name)

    def _stored_words(self) -> tuple[Lists, Any, Any]:
        """(examples, targets, weights) of the memory. A feature is there where it is beyond its mean, and then its
        value is its usual one."""
        model, room, d = blocks.views(self.block), self._room, len(self.features)
        n = model.head.count
        memory = named_rows(core.MEMORY_ROWS, model.per_vector[:, :n].copy())
        order = np.argsort(memory.arrival, kind="stable")
        mean, variance = room.moments.mean[:d], room.moments.variance[:d]
        signs = room.moments.orientation[:d] * np.sign(mean)
        owners, places = np.nonzero(signs * model.vectors[:d, order].T > 0.0)
        usual = mean + np.maximum(variance, 0.0) / np.where(mean == 0.0, 1.0, mean)
        keys = hashes_of(self.features.in_rows)
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
        none = np.full(len(places), -1)
        lists = Lists(starts.astype(np.int64), none, usual[places], keys=keys[places])
        targets, weights = memory.target[order], memory.weight[order]
        return lists, 2.0 * targets - 1.0 if self._has_two_classes else targets.copy(), weights

    @property
    def _has_two_classes(self) -> bool:
        return hasattr(self, "labels") and self._columns == 1

    def _parts_of_words(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """The part of each name in the scores of the linear models."""
        hashes = hashes_of(x)
        index = self._table("word_index").view(np.int64)
        found = index[_buckets_of(hashes, len(index)), : core.BUCKET] == hashes[:, None]
        slots = core.BUCKET * _buckets_of(hashes, len(index)) + found.argmax(axis=1)
        weights = np.abs(self._table("words")[slots, : 2 * self._columns]).sum(axis=1)
        parts = weights * found.any(axis=1) * np.abs(np.array(list(x.values()), float))
        total = float(parts.sum()) or 1.0
        return dict(zip(x, (parts / total).tolist(), strict=True))

    # tables

    def furnish(self) -> None:
        if not self.word_slots:
            super().furnish()
            return
        entries, _, _ = core.directory(*self._sizes())
        blocks.views(self.block).room[: core.DIRECTORY].view(np.int64)[:] = entries
        self.state_record().slots = self.word_slots

    def own_tables(self) -> dict[str, Any]:
        if not self.word_slots or self.block is None:
            return super().own_tables()
        tables = {name: self._table(name) for name in (*SHARED_TABLES, *core.OF_WORDS)}
        tables["word_index"] = tables["word_index"].view(np.int64)
        return tables

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        if not self.word_slots:
            super().add_features(names, beside)

    def add_slots(self) -> bool:
        """Twice as many, if half of them are taken and there may be more; returns whether that was so."""
        if not self.word_slots or not self._may_grow():
            return False
        if 2 * int(self.state_record().held) < self.word_slots:
            return False
        twin = self.twin()
        twin._with_slots(2 * self.word_slots)
        self.adopt(twin)
        self.forget_prepared()
        return True

    def _may_grow(self) -> bool:
        large = 2 * self.word_slots * self._table("words").shape[1] > names_core.LARGEST_TABLE
        return not large and self.word_slots < names_core.MOST_SLOTS

    def _with_slots(self, slots: int) -> None:
        """Names move to a table of so many slots, or of fewer if its rows have become long."""
        old = {name: self._table(name).copy() for name in (*SHARED_TABLES, *core.OF_WORDS)}
        before = self._sizes()[1]
        shapes = core.shapes_of(core.ROOM_TABLES, 1, self._columns, self.budget_in_use, slots)
        width = shapes["words"][1]
        while slots * width > names_core.LARGEST_TABLE and slots > names_core.FIRST_SLOTS:
            slots //= 2
        self.word_slots = slots
        sizes = {"outputs": self._columns, **self._spaces(1)}
        if self._columns > 1:
            sizes["task"] = Task.MULTICLASS
        self.block = blocks.resized(self.block, **sizes)
        self.furnish()
        for name in (*SHARED_TABLES, "word_totals"):
            self._table(name)[:, : old[name].shape[1]] = old[name]
        rows = self._with_columns(old["words"], before)
        self._table("words")[-1] = rows[-1]
        self._move_names(old["word_index"].view(np.int64), rows)
        self.forget_prepared()

    def _with_columns(self, rows: Any, before: int) -> Any:
        """Rows of the table of words with the present number of columns."""
        columns, classes = self._columns, max(before, 2)
        if columns == before:
            return rows
        wide = np.zeros((len(rows), self._table("words").shape[1]))
        for kind in range(2):
            old, new = rows[:, kind * before :], wide[:, kind * columns :]
            if before == 1:  # one column stands for two classes: the other has its negative
                new[:, 0], new[:, 1] = -old[:, 0], old[:, 0]
            else:
                new[:, :before] = old[:, :before]
        rest = core.WORD_SUMS + classes
        wide[:, 2 * columns :][:, :rest] = rows[:, 2 * before :][:, :rest]
        return wide

    def _move_names(self, index: Any, rows: Any) -> None:
        """Each into its bucket; of too many in one those stay that came last."""
        hashes, seen = (index[:, k : k + core.BUCKET].reshape(-1) for k in (0, core.BUCKET))
        taken = np.flatnonzero(hashes)
        buckets = _buckets_of(hashes[taken], self.word_slots // core.BUCKET)
        order = np.lexsort((-seen[taken], buckets))
        taken, buckets = taken[order], buckets[order]
        places = np.arange(len(taken)) - np.searchsorted(buckets, buckets)
        kept = places < core.BUCKET
        taken, buckets, places = taken[kept], buckets[kept], places[kept]
        new = self._table("word_index").view(np.int64)
        new[buckets, places] = hashes[taken]
        new[buckets, core.BUCKET + places] = seen[taken]
        self._table("words")[core.BUCKET * buckets + places] = rows[taken]
        self.state_record().held = len(taken)

    def _change(self, name: str, value: Any) -> None:
        if self.word_slots and name == "budget":
            self._check_together(**{name: value})
            self.__dict__[name] = value
            blocks.views(self.block).head.budget = self.budget_in_use
        else:
            super()._change(name, value)

    # examples

    def _score_numbers(self, x: dict[Any, Any]) -> Any:
        return self._unchanged(lambda: super(WordTables, self)._score_numbers(x))

    def _score_columns(self, batch: Batch, n_scores: int | None) -> Rows:
        inherited = super()._score_columns
        scores: Rows = self._unchanged(lambda: inherited(batch, n_scores))
        return scores

    def _unchanged(self, score: Callable[[], Any]) -> Any:
        """The scores, computed again if another thread has changed the model to words meanwhile."""
        while True:
            slots, scores = self.word_slots, score()
            if (slots > 0) == (self.word_slots > 0):
                return scores

    def _new_list(self, entries: int) -> PreparedList:
        if not self.word_slots:
            return super()._new_list(entries)
        room = max(NAMES_OF_A_CALL, 2 * entries)
        return PreparedList(self._passes, self.block, room, self.n_outputs, keyed=True)

    # from a file

    def prepare_restored(self, own: Mapping[str, Any]) -> None:
        slots = int(str(own.get("slots", "0")))
        sizes = [names_core.FIRST_SLOTS << k for k in range(20)]
        if slots and (slots not in sizes or slots > names_core.MOST_SLOTS or len(self.features)):
            raise ValueError("its slots are out of range")
        self.word_slots = slots
        if slots:
            self.features = Nameless()

    def check_restored_state(self, count: int) -> None:
        if not self.word_slots:
            super().check_restored_state(count)
            if self.state_record().held:
                raise ValueError("it holds names, and is no model of words")
            return
        state, room = self.state_record(), self._room
        index = self._table("word_index").view(np.int64)
        hashes, seen = index[:, : core.BUCKET], index[:, core.BUCKET :]
        good = (
            count == 0 <= state.rounds
            and (state.second_order, state.features) == (-1, 0)
            and (state.recent_place, state.hard_place) == (0, 0)
            and state.held == np.count_nonzero(hashes)
            and seen.min() >= 0
            and seen.max() <= state.rounds
            and 0.0 <= state.length <= LARGE**2
        )
        sums = [self._table("words")[:, 2 * self._columns :][:, : core.WORD_SUMS + 1], room.prior]
        if hasattr(self, "labels"):
            sums += [self._table("words")[:, 2 * self._columns :], room.word_totals]
        good = good and all((table >= 0.0).all() for table in [*sums, room.calibration.mass])
        tables = [self._table(name) for name in (*SHARED_TABLES, "words", "word_totals")]
        good = good and all((np.abs(table) <= LARGEST_VALUE).all() for table in tables)
        if not good:
            raise ValueError("its names, or what it knows of them, are out of range")
        if np.linalg.eigvalsh(room.mixer.curvature).min() <= 0.0:
            raise ValueError("the curvature of its mixer is not positive")
