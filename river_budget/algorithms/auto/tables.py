"""The tables of AutoKernel outside the passes: create them, enlarge them, and reduce the memory to a smaller budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from ...core.block import blocks
from ...core.block.random_numbers import uniforms
from ...core.compiling.named_rows import NamedTables, named_rows
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import COARSENESS, SUM, rejoin
from ...core.passes.auto.mixer import MIXER_RIDGE
from ...core.passes.auto.scaling import LARGEST_VALUE
from ...core.passes.auto.squared_loss import LONGEST_STRETCH
from ...model.calls.calls import Call
from ...model.inputs.features import in_order
from ...parameters import COUNT, FINITE
from ..features.drawn import key_of
from .checks import IN_FILES, LARGE, Checked

HARD_ROW = list(core.MEMORY_ROWS).index("hard")
RANGES = {
    "residual": (0.0, 1.0),
    "average": (-LARGEST_VALUE, LARGEST_VALUE),
    "variance": (0.0, LARGE**2),
    "last": (-LARGEST_VALUE, LARGEST_VALUE),
    "squared_error": (0.0, LARGE**2),
    "absolute_error": (0.0, LARGE),
    "lowest": (-LARGEST_VALUE, LARGEST_VALUE),
    "highest": (-LARGEST_VALUE, LARGEST_VALUE),
    "latest_error": (0.0, LARGE**2),
    "stretch": (-LONGEST_STRETCH, LONGEST_STRETCH),
}
NO_DRAW = 2.0  # larger than all numbers that are drawn
LEAST_SQUARES = "least squares"
BINS = ("the bins",)  # in place of the name of a feature


class AutoTables(Checked):
    """A model with tables in the room of its block."""

    shows_kernel = False
    takes_lists = False
    of_words = 0  # 1 in a model of words (words.py)

    without: ClassVar[frozenset[str]] = frozenset()  # experts that a subclass does without
    _expert_names: tuple[str, ...]

    @property
    def budget_in_use(self) -> int:
        return int(self.budget)

    def capacity_for(self, count: int) -> int:
        return blocks.columns_for(self.budget_in_use)

    @property
    def _columns(self) -> int:
        """The number of columns of coefficients."""
        return 1

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
        return super().header_fields(n_features) | {
            "outputs": self._columns,
            "capacity": self.capacity_for(0),
            "budget": self.budget_in_use,
            "per_vector": len(core.MEMORY_ROWS),
            **self._spaces(n_features),
        }

    def _spaces(self, width: int) -> dict[str, int]:
        _, room, desk = core.directory(width, self._columns, self.budget_in_use, self.of_words)
        return {"room": room, "desk": desk}

    def _sizes(self) -> tuple[int, ...]:
        """(width, columns, budget, whether of words)"""
        head = blocks.views(self.block).head
        return head.width, head.outputs, head.budget, self.of_words

    def _squared(self) -> int:
        """Rows of the covariance that are used."""
        return min(self._sizes()[0], core.MOST_SQUARED) + 1

    def _table(self, name: str) -> Any:
        """All numbers of a table of the room."""
        return self._finder()(name)

    def _finder(self) -> Callable[[str], Any]:
        """A function that finds tables of the present block by their names."""
        sizes, room = self._sizes(), blocks.views(self.block).room

        def find(name: str) -> Any:
            first, rows, columns = core.place_in(name, *sizes)
            numbers = room[first:].view(core.TYPES[name])
            return numbers[: rows * columns].reshape(rows, columns)

        return find

    @property
    def _room(self) -> Any:
        """The tables of the room by name, as the passes see them."""
        return NamedTables(core.ROOM_TABLES, self._finder())

    def own_tables(self) -> dict[str, Any]:
        if self.block is None:
            return {}
        tables = {name: self._table(name) for name in IN_FILES}
        width, squared = self._sizes()[0] + 1, self._squared()
        filled_up = {"linear_weights": width, "linear_sums": width, "least_squares": squared}
        for name, length in filled_up.items():
            tables[name] = tables[name][:, :length]
        tables["covariance"] = tables["covariance"][:squared, :squared]
        state = self.state_record()
        kept = min(max(int(state.archived), 0), len(tables["archive"]))
        features = min(max(int(state.features), 0), width - 1)
        tables["archive"] = tables["archive"][:kept, :features]
        tables["links"] = tables["links"][:kept]
        tables["archived"] = tables["archived"][:, :kept]
        return tables

    def furnish(self) -> None:
        """Write the directory and the initial values of tables, also for features and classes that appear later."""
        self._write_directory()
        metric = self._room.metric
        metric.weight[:] = 1.0
        metric.square[:] = 1e-3
        self._room.quantiles[:] = core.NORMAL_QUANTILES
        np.fill_diagonal(self._table("covariance")[: self._squared()], 1.0)
        self._draw_bins()

    def _write_directory(self) -> None:
        entries, _, _ = core.directory(*self._sizes())
        blocks.views(self.block).room[: core.DIRECTORY].view(np.int64)[:] = entries

    def _set_parameters(self) -> None:
        """Set the fields of the record of a new model."""
        n, state, mixer = len(self.features), self.state_record(), self._room.mixer
        state.second_order = n if n <= core.MOST_SQUARED else -1
        present = self._present()
        mixer.start[:] = mixer.weight[:] = present * self._first_weight(int(present.sum()))
        mixer.curvature[:] = MIXER_RIDGE * np.eye(core.EXPERTS)

    def resize_block(self, **sizes: int) -> None:
        """Resize the tables, which keep their numbers."""
        old, width, state = self._finder(), self._sizes()[0], self.state_record()
        # A thread that predicts must not find tables without their directory
        twin = self.twin()
        super(AutoTables, twin).resize_block(**sizes, **self._spaces(sizes.get("width", width)))
        twin.furnish()
        new = twin._finder()
        for name in core.ROOM_TABLES:
            source, target = old(name), new(name)
            if not source.size:
                continue
            shape = np.minimum(source.shape, target.shape)
            if name in ("archive", "links"):  # rows that are not written yet take no memory
                shape[0] = min(shape[0], int(state.archived))
            elif name == "covariance":  # the diagonal of what is new is not 0
                shape[:] = min(self._squared(), twin._squared())
            elif name == "bins":  # sums stand behind all columns
                shape[-1] = min(self._sizes()[1], twin._sizes()[1])
                target[..., SUM] = source[..., SUM]
            corner = tuple(map(slice, shape))
            target[corner] = source[corner]
        self.use_block(twin.block)

    # features and their bins

    def begin_with(self, names: list[Any]) -> None:
        super().begin_with(names)
        self._set_parameters()
        self._write_keys(names, range(len(names)), len(names))

    def before_new_names(self, names: Collection[Any]) -> None:
        """Features are used as soon as they vary."""
        places = self.features.next_places(len(names))
        self._write_keys(in_order(names), places, len(self.features) + len(names))

    def _write_keys(self, names: Iterable[Any], places: Iterable[int], n: int) -> None:
        """Write the keys of features, from which their bins follow, and the number of features."""
        state, keys = self.state_record(), self._room.keys
        for name, place in zip(names, places, strict=True):
            keys[place] = key_of(name, self.entropy)
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

    def _change(self, name: str, value: Any) -> None:
        before = self.__dict__.get("budget", 0)
        super()._change(name, value)
        if name == "budget" and self.block is not None:
            recent, hard = self._in_order(before)
            self.resize_block(capacity=self.capacity_for(0), budget=self.budget_in_use)
            self._rearrange(recent, hard)

    def _in_order(self, budget: int) -> tuple[Any, Any]:
        """Copies of the stored examples, recent and hard ones, oldest first: columns of three tables."""
        model, state = blocks.views(self.block), self.state_record()
        room = budget - budget // 2
        n_recent = min(model.head.count, room)
        n_hard = model.head.count - n_recent
        recent = (int(state.recent_place) + np.arange(n_recent)) % max(n_recent, 1)
        hard = room + (int(state.hard_place) + np.arange(n_hard)) % max(n_hard, 1)
        facts = np.zeros((2, model.per_vector.shape[1]))
        rows = self._memory_rows()
        facts[:, : len(rows)] = self._table("archived")[:, rows]
        together = np.vstack([model.vectors, model.coefficients, model.per_vector, facts])
        return together[:, recent], together[:, hard]

    def _memory_rows(self) -> Any:
        """The numbers in the archive of all rows of the memory."""
        model = blocks.views(self.block)
        memory = named_rows(core.MEMORY_ROWS, model.per_vector)
        return memory.row[: model.head.count].astype(int)

    def _hold(self) -> None:
        """Mark the rows of the memory in the archive, which overwrites others."""
        held = self._table("held").view(np.uint8)
        bits = np.zeros(8 * held.size, np.uint8)
        bits[self._memory_rows()] = 1
        held[:] = np.packbits(bits, bitorder="little")

    def _rearrange(self, recent: Any, hard: Any) -> None:
        """Keep the newest examples. If there are more places for recent ones, hard ones fill them and stay marked as hard."""
        model, state = blocks.views(self.block), self.state_record()
        places = self.budget_in_use - self.budget_in_use // 2
        columns = np.hstack([hard, recent])
        cut = max(columns.shape[1] - places, 0)
        d, outputs = model.vectors.shape[0], model.coefficients.shape[0]
        row_of_hard = d + outputs + HARD_ROW
        older = columns[:, :cut]
        older = older[:, older[row_of_hard] != 0.0]
        older = older[:, max(older.shape[1] - self.budget_in_use // 2, 0) :]
        kept = np.hstack([columns[:, cut:], older])
        n_recent, n = columns.shape[1] - cut, kept.shape[1]
        end = d + outputs + len(core.MEMORY_ROWS)
        for table, rows in (
            (model.vectors, kept[:d]),
            (model.coefficients, kept[d : d + outputs]),
            (model.per_vector, kept[d + outputs : end]),
        ):
            table[:] = 0.0
            table[:, :n] = rows
        model.head.count, model.head.budget = n, self.budget_in_use
        state.recent_place = n_recent % places
        state.hard_place = (n - n_recent) % max(self.budget_in_use // 2, 1)
        # the archive of another budget has another number of rows, and begins with these
        numbers = np.arange(n)
        named_rows(core.MEMORY_ROWS, model.per_vector).row[:n] = numbers
        self._table("archive")[:n, :d] = kept[:d].T
        self._table("archived")[:, :n] = kept[end:]
        self._table("links")[:n] = numbers[:, None]
        state.archived = n
        self._hold()

    # from a file

    no_sum = "each has learned distances of its own, and there is no sum of them"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
        **RANGES,
        **dict.fromkeys(("rounds", "features", "recent_place", "hard_place", "archived"), COUNT),
        "second_order": (-1, core.MOST_SQUARED),
        "per_vector": FINITE,
    }

    def check_restored_state(self, count: int) -> None:
        state, recent = self.state_record(), self.budget_in_use - self.budget_in_use // 2
        squared = min(len(self.features), core.MOST_SQUARED)
        if state.second_order not in (-1, squared):
            raise ValueError("its linear model is out of range")
        n_recent = min(count, recent)
        n_hard = count - n_recent
        if state.recent_place != (state.recent_place % recent if n_recent == recent else n_recent):
            raise ValueError("the next place of its memory is out of range")
        hard = self.budget_in_use // 2
        if state.hard_place != (state.hard_place % hard if n_hard == hard > 0 else n_hard):
            raise ValueError("the next place of its memory is out of range")
        self._check_memory(count, min(state.archived, len(self._table("links"))))
        self._check_tables()
        self._check_archive()
        self._hold()
        names = self.features.in_rows
        self._write_keys(names, range(len(names)), len(names))
        bins = self._table("bins").copy()
        Call(self.block).run(rejoin)
        self._table("bins")[:] = bins
