"""The tables of AutoKernel outside the passes: create them, enlarge them, and reduce the memory to a smaller budget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from ...core.block import blocks
from ...core.block.random_numbers import uniforms
from ...core.compiling.named_rows import NamedTables
from ...core.compiling.needs import Need
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import COARSENESS, SUM
from ...core.passes.auto.mixer import MIXER_RIDGE
from ...model.base.one_by_one import OneByOne
from ..features.drawn import key_of

# tables that follow from the seed, the names of features and the memory, and are not in files
DRAWN = {"keys", "slots", "held"}
NO_DRAW = 2.0  # larger than all numbers that are drawn
LEAST_SQUARES = "least squares"
# the experts of rows behind the one that has no features, in the order of the mixer
OF_ROWS = ("linear quick", "linear slow", LEAST_SQUARES, "bins", "vote near", "kernel", "vote far")
BINS = ("the bins",)  # in place of the name of a feature


class AutoTables(OneByOne):
    """A model with tables in the room of its block."""

    shows_kernel = False
    of_words = 0  # 1 in a model of words (words.py)

    without: ClassVar[frozenset[str]] = frozenset()  # experts that a subclass does without
    no_sum = "each has learned distances of its own, and there is no sum of them"
    _expert_names: tuple[str, ...]

    @property
    def budget_in_use(self) -> int:
        return int(self.budget)

    def capacity_for(self, count: int) -> int:
        if self.of_words:  # of a name
            return core.numbers_of_name(self.n_outputs)
        return blocks.columns_for(self.budget_in_use)

    def _first_weight(self, experts: int) -> float:
        """The first weight of each of so many experts."""
        raise NotImplementedError

    def _present(self) -> Any:
        """Which experts there are, in the order of the mixer: least squares is not for many features."""
        few, names = self.state_record().second_order >= 0, self._expert_names
        present = [name not in self.without and (few or name != LEAST_SQUARES) for name in names]
        return np.array(present + [False] * (core.EXPERTS - len(present)))

    @property
    def n_examples(self) -> int:
        """How many examples the model has learned."""
        return 0 if self.block is None else int(self.state_record().rounds)

    @property
    def n_support_vectors(self) -> int:
        """The number of stored examples."""
        return 0 if self.block is None or self.of_words else blocks.views(self.block).head.count

    # the room

    def header_fields(self, n_features: int) -> dict[str, Any]:
        capacity = self.capacity_for(0)
        other = {"needs": Need.EXAMPLES, "count": capacity} if self.of_words else {}
        return super().header_fields(n_features) | {
            "outputs": self.n_outputs,
            "capacity": capacity,
            "budget": self.budget_in_use,
            "per_vector": len(core.MEMORY_ROWS),
            **self._spaces(n_features),
            **other,
        }

    def _directory(self, width: int) -> Any:
        return core.directory(width, self.n_outputs, self.budget_in_use, self.of_words)

    def _spaces(self, width: int) -> dict[str, int]:
        _, room, desk = self._directory(width)
        return {"room": room, "desk": desk}

    def _table(self, name: str) -> Any:
        """All numbers of a table of the room."""
        return core.table_in(blocks.views(self.block).room, name)

    @property
    def _room(self) -> Any:
        """The tables of the room by name, as the passes see them."""
        return NamedTables(core.ROOM_TABLES, self._table)

    def own_tables(self) -> dict[str, Any]:
        if self.block is None:
            return {}
        tables = {name: self._table(name) for name in core.ROOM_TABLES if name not in DRAWN}
        kept = max(int(self.state_record().archived), 0)
        tables["archive"] = tables["archive"][:kept, : len(self.features)]
        tables["links"] = tables["links"][:kept]
        tables["archived"] = tables["archived"][:, :kept]
        return tables

    def furnish(self) -> None:
        """Write the directory and the initial values of tables, also for features and classes that appear later."""
        entries, _, _ = self._directory(blocks.width_in(self.block))
        blocks.views(self.block).room[: core.DIRECTORY].view(np.int64)[:] = entries
        self.state_record().words = self.of_words
        if self.of_words:
            return
        metric = self._room.metric
        metric.weight[:] = 1.0
        metric.square[:] = 1e-3
        self._room.quantiles[:] = core.NORMAL_QUANTILES
        np.fill_diagonal(self._room.covariance, 1.0)
        self._draw_bins()

    def _set_parameters(self) -> None:
        """Set the fields of the record of a new model."""
        n, state, mixer = len(self.features), self.state_record(), self._room.mixer
        state.second_order = n if n <= core.MOST_SQUARED and not self.of_words else -1
        present = self._present()
        mixer.start[:] = mixer.weight[:] = present * self._first_weight(int(present.sum()))
        mixer.curvature[:] = MIXER_RIDGE * np.eye(core.EXPERTS)

    def resize_block(self, **sizes: int) -> None:
        """Resize the tables, which keep their numbers."""
        # A thread that predicts must not find tables without their directory
        twin, width = self.twin(), sizes.get("width", blocks.width_in(self.block))
        super(AutoTables, twin).resize_block(**sizes, **self._spaces(width))
        twin.furnish()
        for name in core.ROOM_TABLES:
            source, target = self._table(name), twin._table(name)
            shape = np.minimum(source.shape, target.shape)
            if name in ("archive", "links"):  # rows that are not written yet take no memory
                shape[0] = min(shape[0], int(self.state_record().archived))
            elif name == "bins" and source.size:  # sums stand behind all columns
                shape[-1] -= 1
                target[..., SUM] = source[..., SUM]
            corner = tuple(map(slice, shape))
            target[corner] = source[corner]
        self.replace(block=twin.block)

    # features and their bins

    def begin_with(self, names: list[Any]) -> None:
        super().begin_with(names)
        self._set_parameters()

    def _write_keys(self, names: Iterable[Any], places: Iterable[int]) -> None:
        """Write the keys of features, from which their bins follow, and the number of features."""
        if self.of_words:
            return
        state, keys = self.state_record(), self._room.keys
        for name, place in zip(names, places, strict=True):
            keys[place] = key_of(name, self.entropy)
        n = 1 + max(places, default=-1)
        squared = min(n, core.MOST_SQUARED) if state.second_order >= 0 else state.second_order
        state.features, state.second_order = n, squared

    def _draw_bins(self) -> None:
        """Draw width, shift and hash of all bins, which depend on the seed only. No slot has a feature yet."""
        slots = self._room.slots
        drawn: Any = uniforms(key_of(BINS, self.entropy), 3 * core.BIN_SLOTS)  # type: ignore[no-untyped-call]
        wide, place, turn = drawn.reshape(3, -1)
        slots.scale[:] = COARSENESS * (0.5 + wide) / 4.0
        slots.shift[:] = place
        slots.turn[:] = turn
        slots.draw[:] = NO_DRAW

    # a smaller or larger memory

    def _after_change(self, name: str) -> None:
        """Give the memory the size that `budget` has now, and keep the newest examples. If there are more places for
        recent ones, hard ones fill them and stay marked as hard."""
        if self.block is None or name != "budget":
            return
        budget, before = self.budget_in_use, blocks.views(self.block)
        if self.of_words:
            before.head.budget = budget
            return
        n_hard, places = budget // 2, budget - budget // 2
        memory = core.memory_of(before)
        order = np.argsort(memory.arrival[: before.head.count])
        older, recent = np.split(order, [max(len(order) - places, 0)])
        hard = older[memory.hard[older] != 0.0]
        hard = hard[max(len(hard) - n_hard, 0) :]
        kept = np.concatenate([recent, hard])
        columns = [t[:, kept] for t in (before.vectors, before.coefficients, before.per_vector)]
        facts = self._table("archived")[:, memory.row[kept].astype(int)]
        numbers = np.arange(len(kept))
        self.resize_block(capacity=self.capacity_for(0), budget=budget)
        model, state = blocks.views(self.block), self.state_record()
        tables = (model.vectors, model.coefficients, model.per_vector)
        for table, rows in zip(tables, columns, strict=True):
            table[:] = 0.0
            table[:, : len(kept)] = rows
        model.head.count, model.head.budget = len(kept), budget
        state.recent_place, state.hard_place = len(recent) % places, len(hard) % max(n_hard, 1)
        # the archive of another budget has another number of rows, and begins with these
        core.memory_of(model).row[: len(kept)] = numbers
        self._table("archive")[: len(kept), : len(model.vectors)] = columns[0].T
        self._table("archived")[:, : len(kept)] = facts
        self._table("links")[: len(kept)] = numbers[:, None]
        state.archived = len(kept)
        self._hold()

    def _hold(self) -> None:
        """Mark the rows of the memory in the archive, which overwrites others."""
        model, held = blocks.views(self.block), self._table("held").view(np.uint8)
        rows = core.memory_of(model).row[: model.head.count]
        bits = np.zeros(8 * held.size, np.uint8)
        bits[rows.astype(int)] = 1
        held[:] = np.packbits(bits, bitorder="little")
