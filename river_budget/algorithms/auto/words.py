"""AutoKernel on words: when names seem to have no end, a model changes to experts that need no
dense rows.
"""

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
MOST_NUMBERS, MOST_WORDS = 2**22, 2**18
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
    def _takes_lists(self) -> bool:  # type: ignore[override]
        return bool(self._of_words)

    @property
    def _learning_pass(self) -> Any:
        return self._word_passes.learn if self._of_words else super()._learning_pass

    @property
    def _scoring_pass(self) -> Any:
        return self._learning_pass  # which only scores examples of weight 0

    @property
    def _expert_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._word_experts if self._of_words else self._experts

    @property
    def n_words(self) -> int:
        """How many names a model of words has learned; 0 in a model that has not changed to
        words.
        """
        return int(self._state_record().held) if self._of_words and self._block is not None else 0

    # when

    def _is_of_words(self, x: Mapping[Any, Any]) -> bool:
        """Whether with this example there are very many names, of which it has few."""
        new = 0 if self._of_words else len(self._features.unknown(x))
        n = len(self._features) + new
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

    def _rows_in(self, part: Batch, wanted: bool) -> Iterator[Part]:
        """The same, where names become known with the example that brings them, as one by one.

        Of a sparse batch whose names cannot make it a model of words all are known at once, as if
        it were dense.
        """
        if not self._of_words and part.listed and self._has_room_for(part.names):
            part = Batch.of(part.names, part.matrix())
        for start, stop in itertools.pairwise([*self._first_uses(part), len(part)]):
            before = self._scores_before(part.part(start, start + 1)) if wanted else None
            if not self._of_words and self._is_of_words(part.example(start)):
                self._change_to_words()
            # a model of words takes all names of a part at once
            some = part.part(start, len(part) if self._of_words else stop)
            yield Part(start, some, self._rows_of(some), before)
            if self._of_words:
                return

    def _scores_before(self, one: Batch) -> Any:
        """The scores of a batch of one example if it brings new names, before they are known."""
        new = self._block is None or self._features.unknown(one.names_in_use())
        return self._score_batch(one)[0] if new else None

    def _has_room_for(self, names: list[Any]) -> bool:
        """Whether with these names there are not so many that the model may change to words."""
        return (
            len(names) <= MANY_NAMES
            and len(self._features) + len(self._features.unknown(names)) <= MANY_NAMES
        )

    def _first_uses(self, batch: Batch) -> list[int]:
        """The first example, and all that bring new names."""
        if self._of_words or not batch.listed:
            return [0]
        known, lists = self._features.places, batch.rows
        new = np.array([name not in known for name in batch.names])
        some = lists.entries
        entries = some.start + np.flatnonzero(new[lists.places[some]])
        _, firsts = np.unique(lists.places[entries], return_index=True)
        rows = np.searchsorted(lists.starts, entries[firsts], "right") - 1
        return sorted({0, *rows.tolist()})

    def _change_to_words(self) -> None:
        """Begin with words, in one step, and learn again what the memory holds."""
        changed, names = self._snapshot(), list(self._features)
        changed._of_words, changed._n_means, changed._watches = 1, 0, 0
        changed._begin_with(in_order(names))
        if self._block is not None:
            changed._learn_again(self)
        self._swap_in(changed)

    def _learn_again(self, old: Any) -> None:
        """The stored examples of a model of rows, in the order of their arrival."""
        state, before = self._state_record(), old._state_record()
        rows, targets, weights = old._stored_words(self._features.places)
        state.rounds = max(before.rounds - len(targets), 0)
        self._run_pass(rows, targets, weights, np.empty((len(targets), self._n_outputs)))
        for name in KEPT.split():
            state[name] = before[name]
        for name in ("prior", "calibration", "quantiles", "unseen"):
            self._table(name)[:] = old._table(name)

    def _stored_words(self, places: Mapping[Any, int]) -> tuple[Lists, Any, Any]:
        """(examples, targets, weights) of the memory. A feature is there where it is beyond its
        mean, and then its value is its usual one.
        """
        model, first = memory.views(self._block), self._n_means
        moments, vectors = self._table("moments")[:, first:], model.vectors[first:]
        d, n = len(self._features), model.head.count
        stored = model.per_vector
        order = np.argsort(stored[core.ARRIVAL, :n], kind="stable")
        mean, variance = moments[core.MEAN, :d], moments[core.VARIANCE, :d]
        signs = moments[core.ORIENTATION, :d] * np.sign(mean)
        owners, columns = np.nonzero(signs * vectors[:d, order].T > 0.0)
        usual = mean + np.maximum(variance, 0.0) / np.where(mean == 0.0, 1.0, mean)
        new = np.array([places[name] for name in self._features.in_rows])
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
        lists = Lists(starts.astype(np.int64), new[columns], usual[columns])
        targets, weights = self._table("archived")[:, stored[core.IN_ARCHIVE, order].astype(int)]
        if hasattr(self, "_labels") and self._n_outputs == 1:
            targets = 2.0 * targets - 1.0
        return lists, targets, weights

    # names

    def _add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        """In one step: Ctrl-C leaves the names known or not. In a model of words names have nothing
        but their places.
        """
        if self._of_words:
            super()._add_features(names, beside)
            return
        changed = self._snapshot()
        super(WordTables, changed)._add_features(names, beside)
        self._swap_in(changed)

    @property
    def _most_words(self) -> int:
        return min(MOST_NUMBERS // self._capacity_for(0), MOST_WORDS)

    def _forget_oldest(self, n: int, kept: Collection[Any]) -> None:
        """Forget the n names that were not seen for longest, but none of `kept`."""
        table, places = memory.views(self._block).vectors, self._features.places
        seen, goes = table[:, core.SEEN].copy(), np.zeros(len(table), bool)
        seen[[places[name] for name in kept if name in places]] = np.inf
        taken = np.array(list(places.values()))
        goes[taken[np.argsort(seen[taken], kind="stable")[:n]]] = True
        goes &= np.isfinite(seen)
        self._state_record().held -= np.count_nonzero(table[goes, core.SEEN])
        table[goes] = 0.0
        self._change_names(self._features.forget, ~goes, ())

    def _promote_names(self, before: int) -> None:
        """Further columns in the row of every name, and fewer names if there are too many for such
        rows.
        """
        excess = len(self._features) - self._most_words
        if excess > 0:
            self._forget_oldest(excess, ())
        names = memory.views(self._block).vectors[sorted(self._features.places.values())]
        rows = self._with_columns(np.vstack([self._table("word_bias"), names]), before)
        self._features.move_to(range(len(names)))
        self._resize_block(
            outputs=self._n_outputs,
            task=Task.MULTICLASS,
            width=max(len(names), 1),
            capacity=self._capacity_for(0),
            count=self._capacity_for(0),
        )
        table = memory.views(self._block).vectors
        self._table("word_bias")[:], table[: len(names)] = rows[:1], rows[1:]

    def _with_columns(self, rows: Any, before: int) -> Any:
        """Rows of names with the present number of columns."""
        first, wide = core.WEIGHTS, np.zeros((len(rows), self._capacity_for(0)))
        wide[:, :first] = rows[:, :first]
        ends = np.cumsum([before, before, max(before, 2)])  # of two linear models, and of counts
        for k, part in enumerate(np.split(rows[:, first:], ends, axis=1)[:3]):
            if part.shape[1] == 1:  # one column stands for two classes: the other has its negative
                part = np.hstack([-part, part])
            wide[:, first + k * self._n_outputs :][:, : part.shape[1]] = part
        return wide

    def _parts_of_words(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """The part of each name in the scores of the linear models."""
        table, places = memory.views(self._block).vectors, self._features.places
        weights = table[:, core.WEIGHTS : core.WEIGHTS + 2 * self._n_outputs]
        parts = {
            name: float(abs(value) * np.abs(weights[places[name]]).sum()) if name in places else 0.0
            for name, value in x.items()
        }
        total = sum(parts.values()) or 1.0
        return {name: part / total for name, part in parts.items()}
