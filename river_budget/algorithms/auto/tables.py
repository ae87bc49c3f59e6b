"""The tables of AutoKernel outside the passes: create them, enlarge them, and reduce the memory to
a smaller budget.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...core import memory
from ...core.codes import Task
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import SUM
from ...core.passes.auto.mixer import MIXER_RIDGE
from ...model.one_by_one import OneByOne

LEAST_SQUARES = "least squares"
# the experts of rows behind the one that has no features, in the order of the mixer
OF_ROWS = ("linear quick", "linear slow", LEAST_SQUARES, "bins", "vote near", "kernel", "vote far")


class AutoTables(OneByOne):
    """A model with tables in the room of its block."""

    _of_words = 0  # 1 in a model of words (words.py)
    _n_means = 0  # columns of target means, before those of features (categories.py)
    _watches = 0  # whether the first rows are kept, from which these columns follow

    _without: ClassVar[frozenset[str]] = frozenset()  # experts that a subclass does without
    _unmergeable_because = "each has learned distances of its own, and there is no sum of them"
    _expert_names: tuple[str, ...]

    @property
    def _budget_in_use(self) -> int:
        return int(self.budget)

    def _capacity_for(self, count: int) -> int:
        if self._of_words:  # of a name
            return core.numbers_of_name(self._n_outputs)
        return memory.columns_for(self._budget_in_use)

    def _first_weight(self, experts: int) -> float:
        """The first weight of each of so many experts."""
        raise NotImplementedError

    def _present(self) -> Any:
        """Which experts there are, in the order of the mixer: least squares is not for many
        features.
        """
        few, names = self._state_record().second_order >= 0, self._expert_names
        present = [name not in self._without and (few or name != LEAST_SQUARES) for name in names]
        return np.array(present + [False] * (core.EXPERTS - len(present)))

    @property
    def n_examples(self) -> int:
        """How many examples the model has learned."""
        return 0 if self._block is None else int(self._state_record().rounds)

    @property
    def n_support_vectors(self) -> int:
        """The number of stored examples."""
        return 0 if self._block is None or self._of_words else memory.views(self._block).head.count

    # the room

    def _room_size(self, width: int) -> int:
        task = Task.BINARY if hasattr(self, "_labels") else Task.REGRESSION
        kind = self._of_words, task, self._n_means, self._watches
        return core.room_size(width, self._n_outputs, self._budget_in_use, *kind)

    @property
    def _tables(self) -> dict[str, Any]:
        """The tables of the room by name, as matrices."""
        return core.tables_of(self._block)

    def _table(self, name: str) -> Any:
        """One of them."""
        return self._tables[name]

    def _set_parameters(self) -> None:
        """Set the fields of the record of a new model."""
        n, state, mixer = len(self._features), self._state_record(), self._table("mixer")
        few = n <= core.MOST_SQUARED and not self._of_words
        state.second_order = self._n_means + n if few else -1
        present = self._present()
        mixer[core.START] = mixer[core.WEIGHT] = present * self._first_weight(int(present.sum()))
        mixer[core.CURVATURE :] = MIXER_RIDGE * np.eye(core.EXPERTS)

    def _resize_block(self, **sizes: int) -> None:
        """Resize the tables, which keep their numbers."""
        # A thread that predicts must not find empty tables
        changed, width = self._snapshot(), sizes.get("width", memory.head_of(self._block).width)
        super(AutoTables, changed)._resize_block(**sizes, room=self._room_size(width))
        self.algorithm.columns.lay_out(changed)
        targets = changed._tables
        for name, source in self._tables.items():
            target = targets[name]
            shape = np.minimum(source.shape, target.shape)
            if name in ("archive", "links"):  # rows that are not written yet take no memory
                shape[0] = min(shape[0], int(self._state_record().archived))
            elif name == "bins" and source.size:  # sums stand behind all columns
                shape[-1] -= 1
                target[..., SUM] = source[..., SUM]
            corner = tuple(map(slice, shape))
            target[corner] = source[corner]
        self._replace(_block=changed._block)

    # a smaller or larger memory

    def _after_change(self, name: str) -> None:
        """Give the memory the size that `budget` has now, and keep the newest examples. If there
        are more places for recent ones, hard ones fill them and stay marked as hard.
        """
        if self._block is None or name != "budget":
            return
        budget, before = self._budget_in_use, memory.views(self._block)
        if self._of_words:
            before.head.budget = budget
            return
        n_hard, places = budget // 2, budget - budget // 2
        stored = before.per_vector
        order = np.argsort(stored[core.ARRIVAL, : before.head.count])
        older, recent = np.split(order, [max(len(order) - places, 0)])
        hard = older[stored[core.HARD, older] != 0.0]
        hard = hard[max(len(hard) - n_hard, 0) :]
        kept = np.concatenate([recent, hard])
        columns = [t[:, kept] for t in (before.vectors, before.coefficients, before.per_vector)]
        facts = self._table("archived")[:, stored[core.IN_ARCHIVE, kept].astype(int)]
        numbers = np.arange(len(kept))
        self._resize_block(capacity=self._capacity_for(0), budget=budget)
        model, state = memory.views(self._block), self._state_record()
        tables = (model.vectors, model.coefficients, model.per_vector)
        for table, rows in zip(tables, columns, strict=True):
            table[:] = 0.0
            table[:, : len(kept)] = rows
        model.head.count, model.head.budget = len(kept), budget
        state.recent_place, state.hard_place = len(recent) % places, len(hard) % max(n_hard, 1)
        # the archive of another budget has another number of rows, and begins with these
        model.per_vector[core.IN_ARCHIVE, : len(kept)] = numbers
        self._table("archive")[: len(kept), : len(model.vectors)] = columns[0].T
        self._table("archived")[:, : len(kept)] = facts
        self._table("links")[: len(kept)] = numbers[:, None]
        state.archived = len(kept)
        self._hold()

    def _hold(self) -> None:
        """Mark the rows of the memory in the archive, which overwrites others."""
        model, held = memory.views(self._block), self._table("held").view(np.uint8)
        rows = model.per_vector[core.IN_ARCHIVE, : model.head.count]
        bits = np.zeros(8 * held.size, np.uint8)
        bits[rows.astype(int)] = 1
        held[:] = np.packbits(bits, bitorder="little")
