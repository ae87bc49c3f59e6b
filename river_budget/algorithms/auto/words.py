"""AutoKernel on words: when names seem to have no end, a model changes to experts that need no dense rows."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ...core import memory
from ...core.codes import Task
from ...core.passes.auto import tables as core
from ...inputs.batches import Batch
from ...inputs.features import in_order
from ...inputs.lists import Lists
from ...model.batch_passes import Part
from .tables import AutoTables

# More names than this, of which an example has fewer than one in so many: more will come
MANY_NAMES, NAMES_PER_WORD = 1024, 8
# numbers of the table of names, and names, unless an example has more
LARGEST_TABLE, MOST_WORDS = 2**22, 2**18
# The same in both kinds of model: targets, errors, intervals
KEPT = (
    "rounds average variance last squared_error absolute_error lowest highest stretch latest_error"
)


class WordTables(AutoTables):
    """A model that may change to words, and then stays there."""

    _experts: ClassVar[tuple[str, ...]]  # their names, in the order of the mixer
    _word_experts: ClassVar[tuple[str, ...]]  # the same in a model of words
    _word_passes: ClassVar[Any]  # a class whose `learn` is the pass of a model of words

    @property
    def takes_lists(self) -> bool:  # type: ignore[override]
        return bool(self.of_words)

    @property
    def learning_pass(self) -> Any:
        return self._word_passes.learn if self.of_words else super().learning_pass

    @property
    def scoring_pass(self) -> Any:
        return self.learning_pass  # which only scores examples of weight 0

    @property
    def _expert_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._word_experts if self.of_words else self._experts

    @property
    def n_words(self) -> int:
        """How many names a model of words has learned; 0 in a model that has not changed to words."""
        return int(self.state_record().held) if self.of_words and self.block is not None else 0

    # when

    def _is_of_words(self, x: Mapping[Any, Any]) -> bool:
        """Whether with this example there are very many names, of which it has few."""
        new = 0 if self.of_words else len(self.features.unknown(x))
        n = len(self.features) + new
        if not new or n <= MANY_NAMES:
            return False
        return bool(NAMES_PER_WORD * sum(value != 0.0 for value in x.values()) < n)

    def _learn_call(self, call: Any, target: float, w: float, wanted: bool = False) -> Any:
        # scores depend on how many names are known: those from before the example brings some
        before = (
            self._score_batch(Batch.of_one(call.x))[0].tolist() if wanted and call.new else None
        )
        if call.new and self._is_of_words(call.x):
            self._change_to_words()
        scores = super()._learn_call(call, target, w, wanted)
        return scores if before is None else before

    def rows_in(self, part: Batch, wanted: bool) -> Iterator[Part]:
        """The same, where names become known with the example that brings them, as one by one.

        Of a sparse batch whose names cannot make it a model of words all are known at once, as if it were dense.
        """
        if not self.of_words and part.listed and self._has_room_for(part.names):
            part = Batch.of(part.names, part.matrix())
        for start, stop in itertools.pairwise([*self._first_uses(part), len(part)]):
            before = self._scores_before(part.part(start, start + 1)) if wanted else None
            if not self.of_words and self._is_of_words(part.example(start)):
                self._change_to_words()
            # a model of words takes all names of a part at once
            some = part.part(start, len(part) if self.of_words else stop)
            yield Part(start, some, self.rows_of(some), before)
            if self.of_words:
                return

    def _scores_before(self, one: Batch) -> Any:
        """The scores of a batch of one example if it brings new names, before they are known."""
        new = self.block is None or self.features.unknown(one.names_in_use())
        return self._score_batch(one)[0] if new else None

    def _has_room_for(self, names: list[Any]) -> bool:
        """Whether with these names there are not so many that the model may change to words."""
        return (
            len(names) <= MANY_NAMES
            and len(self.features) + len(self.features.unknown(names)) <= MANY_NAMES
        )

    def _first_uses(self, batch: Batch) -> list[int]:
        """The first example, and all that bring new names."""
        if self.of_words or not batch.listed:
            return [0]
        known, lists = self.features.places, batch.rows
        new = np.array([name not in known for name in batch.names])
        some = lists.entries
        entries = some.start + np.flatnonzero(new[lists.places[some]])
        _, firsts = np.unique(lists.places[entries], return_index=True)
        rows = np.searchsorted(lists.starts, entries[firsts], "right") - 1
        return sorted({0, *rows.tolist()})

    def _change_to_words(self) -> None:
        """Begin with words, in one step, and learn again what the memory holds."""
        twin, names = self.twin(), list(self.features)
        twin.of_words, twin.n_means, twin.watches = 1, 0, 0
        twin.begin_with(in_order(names))
        if self.block is not None:
            twin._learn_again(self)
        self.adopt(twin)

    def _learn_again(self, old: Any) -> None:
        """The stored examples of a model of rows, in the order of their arrival."""
        state, before = self.state_record(), old.state_record()
        rows, targets, weights = old._stored_words(self.features.places)
        state.rounds = max(before.rounds - len(targets), 0)
        self.run_pass(rows, targets, weights, np.empty((len(targets), self.n_outputs)))
        for name in KEPT.split():
            state[name] = before[name]
        for name in ("prior", "calibration", "quantiles", "unseen"):
            self._table(name)[:] = old._table(name)

    def _stored_words(self, places: Mapping[Any, int]) -> tuple[Lists, Any, Any]:
        """(examples, targets, weights) of the memory. A feature is there where it is beyond its mean, and then its
        value is its usual one."""
        model, first = memory.views(self.block), self.n_means
        moments, vectors = self._table("moments")[:, first:], model.vectors[first:]
        d, n = len(self.features), model.head.count
        stored = model.per_vector
        order = np.argsort(stored[core.ARRIVAL, :n], kind="stable")
        mean, variance = moments[core.MEAN, :d], moments[core.VARIANCE, :d]
        signs = moments[core.ORIENTATION, :d] * np.sign(mean)
        owners, columns = np.nonzero(signs * vectors[:d, order].T > 0.0)
        usual = mean + np.maximum(variance, 0.0) / np.where(mean == 0.0, 1.0, mean)
        new = np.array([places[name] for name in self.features.in_rows])
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
        lists = Lists(starts.astype(np.int64), new[columns], usual[columns])
        targets, weights = self._table("archived")[:, stored[core.IN_ARCHIVE, order].astype(int)]
        if hasattr(self, "labels") and self.n_outputs == 1:
            targets = 2.0 * targets - 1.0
        return lists, targets, weights

    # names

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        """In one step: Ctrl-C leaves the names known or not. In a model of words names have nothing but their places."""
        if self.of_words:
            super().add_features(names, beside)
            return
        twin = self.twin()
        super(WordTables, twin).add_features(names, beside)
        self.adopt(twin)

    @property
    def _most_words(self) -> int:
        return min(LARGEST_TABLE // self.capacity_for(0), MOST_WORDS)

    def _forget_oldest(self, n: int, kept: Collection[Any]) -> None:
        """Forget the n names that were not seen for longest, but none of `kept`."""
        table, places = memory.views(self.block).vectors, self.features.places
        seen, goes = table[:, core.SEEN].copy(), np.zeros(len(table), bool)
        seen[[places[name] for name in kept if name in places]] = np.inf
        taken = np.array(list(places.values()))
        goes[taken[np.argsort(seen[taken], kind="stable")[:n]]] = True
        goes &= np.isfinite(seen)
        self.state_record().held -= np.count_nonzero(table[goes, core.SEEN])
        table[goes] = 0.0
        self.change_names(self.features.forget, ~goes, ())

    def _promote_names(self, before: int) -> None:
        """Further columns in the row of every name, and fewer names if there are too many for such rows."""
        excess = len(self.features) - self._most_words
        if excess > 0:
            self._forget_oldest(excess, ())
        names = memory.views(self.block).vectors[sorted(self.features.places.values())]
        rows = self._with_columns(np.vstack([self._table("word_bias"), names]), before)
        self.features.move_to(range(len(names)))
        self.resize_block(
            outputs=self.n_outputs,
            task=Task.MULTICLASS,
            width=max(len(names), 1),
            capacity=self.capacity_for(0),
            count=self.capacity_for(0),
        )
        table = memory.views(self.block).vectors
        self._table("word_bias")[:], table[: len(names)] = rows[:1], rows[1:]

    def _with_columns(self, rows: Any, before: int) -> Any:
        """Rows of names with the present number of columns."""
        first, wide = core.WEIGHTS, np.zeros((len(rows), self.capacity_for(0)))
        wide[:, :first] = rows[:, :first]
        ends = np.cumsum([before, before, max(before, 2)])  # of two linear models, and of counts
        for k, part in enumerate(np.split(rows[:, first:], ends, axis=1)[:3]):
            if part.shape[1] == 1:  # one column stands for two classes: the other has its negative
                part = np.hstack([-part, part])
            wide[:, first + k * self.n_outputs :][:, : part.shape[1]] = part
        return wide

    def _parts_of_words(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """The part of each name in the scores of the linear models."""
        table, places = memory.views(self.block).vectors, self.features.places
        weights = table[:, core.WEIGHTS : core.WEIGHTS + 2 * self.n_outputs]
        parts = {
            name: float(abs(value) * np.abs(weights[places[name]]).sum()) if name in places else 0.0
            for name, value in x.items()
        }
        total = sum(parts.values()) or 1.0
        return {name: part / total for name, part in parts.items()}
