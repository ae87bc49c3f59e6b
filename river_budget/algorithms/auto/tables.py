"""The tables of the automatic kernel learners, outside the passes: made, grown, and brought into a smaller memory."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from ...core.block import blocks, layout
from ...core.block.random_numbers import uniforms
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import COARSENESS, SUM
from ...core.passes.auto.heavy_tails import CLIP, LARGEST_VALUE
from ...core.passes.auto.mixer import RIDGE
from ...core.passes.auto.regress import LONGEST_STRETCH
from ...core.passes.auto.scaling import rejoin_bins
from ...model.base.base import StreamModel
from ...model.calls.calls import Call
from ...model.inputs.features import FeatureIndex
from ...parameters import Mutable, whole
from ..features.drawn import key_of

PER_EXAMPLE = 5  # rows of further numbers that belong to a stored example
IN_FILES = {
    "moments": core.MOMENTS,
    "metric": core.METRIC,
    "prior": core.PRIOR,
    "mixer": core.MIXER,
    "calibration": core.CALIBRATION,
    "linear_weights": core.LINEAR,
    "linear_sums": core.LINEAR_SUMS,
    "least_squares": core.LEAST_SQUARES,
    "covariance": core.COVARIANCE,
    "tails": core.TAIL,
    "bins": core.CELL,
}
# Tables of earlier versions, which held weights and, for each column, sums of squares: what they are today
IN_OLDER = {
    "linear": ("linear_weights", "linear_sums"),
    "cells": ("bins",),
}
LARGE = 1e153  # of sums and weights, whose squares are finite
RANGES = {
    "log_distance": (-100.0, 100.0),
    "residual": (0.0, 1.0),
    "average": (-LARGEST_VALUE, LARGEST_VALUE),
    "variance": (0.0, LARGE**2),
    "fast": (-LARGEST_VALUE, LARGEST_VALUE),
    "last": (-LARGEST_VALUE, LARGEST_VALUE),
    "squared_error": (0.0, LARGE**2),
    "absolute_error": (0.0, LARGE),
    "lowest": (-LARGEST_VALUE, LARGEST_VALUE),
    "highest": (-LARGEST_VALUE, LARGEST_VALUE),
    "latest_error": (0.0, LARGE**2),
    "stretch": (-LONGEST_STRETCH, LONGEST_STRETCH),
}
NO_DRAW = 2.0  # above all that are drawn
BINS = ("the bins",)  # in place of the name of a feature


class AutoTables(StreamModel):
    """A model with tables in the room of its block."""

    state_type = core.STATE
    scores_with_per_vector = True
    younger_tables = frozenset({"tails"})
    older_tables = IN_OLDER
    shows_kernel = False
    takes_lists = False

    budget = Mutable(whole(1))

    @property
    def budget_in_use(self) -> int:
        return int(self.budget)

    def capacity_for(self, count: int) -> int:
        return blocks.columns_for(self.budget_in_use)

    @property
    def _columns(self) -> int:
        """Of coefficients, for each width."""
        return 1

    def _first_weight(self, experts: int) -> float:
        """Of every expert, before anything is learned."""
        raise NotImplementedError

    @property
    def n_examples(self) -> int:
        """How many examples the model has learned."""
        return 0 if self.block is None else int(self.state_record().rounds)

    @property
    def n_support_vectors(self) -> int:
        """How many examples the model holds."""
        return 0 if self.block is None else int(blocks.views(self.block).head.count)

    # the room

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {
            "outputs": core.WIDTHS * self._columns,
            "capacity": self.capacity_for(0),
            "budget": self.budget_in_use,
            "per_vector": PER_EXAMPLE,
            **self._spaces(n_features),
        }

    def _spaces(self, width: int) -> dict[str, int]:
        _, room, desk = core.directory(width, self._columns)
        return {"room": room, "desk": desk}

    def _sizes(self) -> tuple[int, int]:
        head = blocks.views(self.block).head
        return int(head.width), int(head.outputs) // core.WIDTHS

    def _squared(self) -> int:
        """Rows of the covariance that are used."""
        return min(self._sizes()[0], core.MOST_SQUARED) + 1

    def _table(self, name: Any) -> Any:
        """A table of the room in its full shape."""
        sizes, room = self._sizes(), layout.table_in(self.block, "room")
        entries, _, _ = core.directory(*sizes)
        first, shape = int(entries[name, 0]), core.room_shapes(*sizes)[name]
        return room[first : first + math.prod(shape)].reshape(shape)

    def own_tables(self) -> dict[str, Any]:
        if self.block is None:
            return {}
        tables = {name: self._table(table) for name, table in IN_FILES.items()}
        width, squared = self._sizes()[0] + 1, self._squared()
        filled_up = {"linear_weights": width, "linear_sums": width, "least_squares": squared}
        for name, length in filled_up.items():
            tables[name] = tables[name][:, :length]
        tables["covariance"] = tables["covariance"][:squared, :squared]
        tables["bins"] = tables["bins"].reshape(-1, tables["bins"].shape[-1])
        return tables

    def furnish(self) -> None:
        """The directory, and what tables begin with that features and classes to come will find."""
        entries, _, _ = core.directory(*self._sizes())
        room = layout.table_in(self.block, "room")
        room[: core.DIRECTORY].view(np.int64)[:] = entries.ravel()
        self._table(core.METRIC)[core.METRIC_WEIGHT] = 1.0
        self._table(core.METRIC)[core.METRIC_SQUARES] = 1e-3
        np.fill_diagonal(self._table(core.COVARIANCE)[: self._squared()], 1.0)
        self._draw_bins()

    def _set_parameters(self) -> None:
        """What holds for a model of its first features."""
        n, state, mixer = len(self.features), self.state_record(), self._table(core.MIXER)
        state.second_order = n if n <= core.MOST_SQUARED else -1
        experts = core.EXPERTS - (state.second_order < 0)
        mixer[core.MIXER_WEIGHT, :experts] = self._first_weight(experts)
        mixer[core.MIXER_CURVATURE :] = RIDGE * np.eye(core.STRIDE)

    def resize_block(self, **sizes: int) -> None:
        """Tables of another width or with more columns keep what they hold."""
        old = {name: self._table(name).copy() for name in core.room_shapes(1, 1)}
        width, _ = self._sizes()
        twin = self.twin()  # a thread that predicts must not find tables without their directory
        super(AutoTables, twin).resize_block(**sizes, **self._spaces(sizes.get("width", width)))
        twin.furnish()
        for name, source in old.items():
            target = twin._table(name)
            shape = np.minimum(source.shape, target.shape)
            if name == core.COVARIANCE:  # the diagonal of what is new is not 0
                shape[:] = min(self._squared(), twin._squared())
            elif name == core.CELL:  # sums stand behind all columns
                shape[-1] = min(self._sizes()[1], twin._sizes()[1])
                target[..., SUM] = source[..., SUM]
            corner = tuple(map(slice, shape))
            target[corner] = source[corner]
        self.use_block(twin.block)

    # features and their bins

    def begin_with(self, names: list[Any]) -> None:
        super().begin_with(names)
        self._set_parameters()
        self.know(names, self.features)

    def know(self, names: Collection[Any], features: FeatureIndex) -> None:
        """They take part, as soon as they vary: their keys are there before they are known, their number after."""
        state, n = self.state_record(), len(features)
        keys = self._table(core.KEY)[0].view(np.uint64)
        for name in names:
            keys[features.places[name]] = key_of(name, self.entropy)
        squared = min(n, core.MOST_SQUARED) if state.second_order >= 0 else state.second_order
        super().know(names, features)
        state.features, state.second_order = n, squared

    def _draw_bins(self) -> None:
        """Width, place and hash of all bins, which depend on the seed only; no slot looks at a feature yet."""
        slots = self._table(core.SLOT)
        drawn: Any = uniforms(key_of(BINS, self.entropy), 3 * core.SLOTS)  # type: ignore[no-untyped-call]
        wide, place, turn = drawn.reshape(3, -1)
        bins = np.repeat(COARSENESS, [core.TABLES * depth for depth in core.DEPTHS])
        slots[core.SLOT_SCALE] = bins * (0.5 + wide) / 4.0
        slots[core.SLOT_SHIFT] = place
        slots[core.SLOT_TURN] = turn
        slots[core.SLOT_DRAW] = NO_DRAW

    # a smaller or larger memory

    def _change(self, name: str, value: Any) -> None:
        before = self.__dict__.get("budget", 0)
        super()._change(name, value)
        if name == "budget" and self.block is not None:
            recent, hard = self._in_order(before)
            self.resize_block(capacity=self.capacity_for(0))
            self._rearrange(recent, hard)

    def _in_order(self, budget: int) -> tuple[Any, Any]:
        """Copies of the stored examples, recent and hard ones, oldest first: columns of three tables."""
        model, state = blocks.views(self.block), self.state_record()
        room = budget - budget // 2
        n_recent = min(int(model.head.count), room)
        n_hard = int(model.head.count) - n_recent
        recent = (int(state.recent_place) + np.arange(n_recent)) % max(n_recent, 1)
        hard = room + (int(state.hard_place) + np.arange(n_hard)) % max(n_hard, 1)
        together = np.vstack([model.vectors, model.coefficients, model.per_vector])
        return together[:, recent], together[:, hard]

    def _rearrange(self, recent: Any, hard: Any) -> None:
        """The newest stay. Hard ones fill a larger room for recent ones, and go on to be hard when they leave it."""
        model, state = blocks.views(self.block), self.state_record()
        places = self.budget_in_use - self.budget_in_use // 2
        columns = np.hstack([hard, recent])
        cut = max(columns.shape[1] - places, 0)
        row_of_hard = len(columns) - PER_EXAMPLE + core.HARD
        older = columns[:, :cut]
        older = older[:, older[row_of_hard] != 0.0]
        older = older[:, max(older.shape[1] - self.budget_in_use // 2, 0) :]
        kept = np.hstack([columns[:, cut:], older])
        n_recent, n = columns.shape[1] - cut, kept.shape[1]
        d, outputs = model.vectors.shape[0], model.coefficients.shape[0]
        for table, rows in (
            (model.vectors, kept[:d]),
            (model.coefficients, kept[d : d + outputs]),
            (model.per_vector, kept[d + outputs :]),
        ):
            table[:] = 0.0
            table[:, :n] = rows
        model.head.count, model.head.budget = n, self.budget_in_use
        state.recent_place = n_recent % places
        state.hard_place = (n - n_recent) % max(self.budget_in_use // 2, 1)

    # from a file

    def older_shape(self, name: str) -> tuple[int, int]:
        if name == "linear":
            return 4 * self._columns, self._sizes()[0] + 1
        return 2 * core.TABLES * len(core.DEPTHS) * core.CELLS_EACH, self._columns

    def take_older(self, name: str, table: Any) -> None:
        if name == "linear":
            parts = table.reshape(self._columns, 2, 2, -1)
            own = self.own_tables()
            own["linear_weights"][:] = parts[:, :, 0].reshape(-1, table.shape[1])
            own["linear_sums"][:] = parts[:, :, 1].mean(axis=0)
        else:
            cells = self._table(core.CELL)
            parts = table.reshape(*cells.shape[:2], 2, -1)
            cells[..., : self._columns] = parts[:, :, 0]
            cells[..., SUM] = parts[:, :, 1].mean(axis=-1)

    no_sum = "each has learned distances of its own, and there is no sum of them"
    checked_fields = ("rounds", "features", "second_order", "recent_place", "hard_place")

    def check_restored_rows(self, count: int) -> None:
        """They are looked at with the rest of the memory, in check_restored_state."""

    def check_restored_state(self, count: int) -> None:
        state, recent = self.state_record(), self.budget_in_use - self.budget_in_use // 2
        squared = min(len(self.features), core.MOST_SQUARED)
        if not (state.rounds >= 0 and state.second_order in (-1, squared)):
            raise ValueError("its rounds or its linear model are out of range")
        n_recent = min(count, recent)
        n_hard = count - n_recent
        if state.recent_place != (state.recent_place % recent if n_recent == recent else n_recent):
            raise ValueError("the next place of its memory is out of range")
        hard = self.budget_in_use // 2
        if state.hard_place != (state.hard_place % hard if n_hard == hard > 0 else n_hard):
            raise ValueError("the next place of its memory is out of range")
        for name, (least, most) in RANGES.items():
            if not least <= state[name] <= most:
                raise ValueError(f"its {name} is out of range")
        self._check_memory(count)
        self._check_tables()
        self.know(list(self.features), self.features)
        cells = self._table(core.CELL).copy()
        Call(self.block).run(rejoin_bins)
        self._table(core.CELL)[:] = cells

    def _check_memory(self, count: int) -> None:
        model = blocks.views(self.block)
        rows = model.per_vector[:, :count]
        if not (rows[[core.WEIGHT, core.SQUARED_ERROR]] >= 0.0).all():
            raise ValueError("weights or squared errors of its examples are negative")
        if not self._may_be_targets(rows[core.TARGET]):
            raise ValueError("the targets of its examples are out of range")
        if (np.abs(model.vectors) > CLIP).any() or (np.abs(model.coefficients) > LARGE).any():
            raise ValueError("its examples are out of range")

    def _may_be_targets(self, targets: Any) -> bool:
        return bool((np.abs(targets) <= LARGEST_VALUE).all())

    def _check_tables(self) -> None:
        """Raise for numbers of which compiled code would take a root or a logarithm, or that overflow."""
        tables = {name: self._table(name) for name in IN_FILES.values()}
        bounds = {core.MOMENTS: LARGE**2, core.COVARIANCE: 1e6, core.METRIC: 1e9}
        for name, table in tables.items():
            if (np.abs(table) > bounds.get(name, LARGE)).any():
                raise ValueError("some of its weights are out of range")
        metric, mixer = tables[core.METRIC], tables[core.MIXER]
        sums = [
            metric[core.METRIC_WEIGHT],
            metric[core.METRIC_SQUARES],
            tables[core.PRIOR],
            tables[core.LINEAR_SUMS],
            tables[core.CELL][..., SUM],
            tables[core.CALIBRATION][core.MASS],
            tables[core.TAIL][[core.BENT, core.TIES]],
        ]
        if any((table < 0.0).any() for table in sums):
            raise ValueError("some of its weights or sums of squares are negative")
        if np.abs(tables[core.MOMENTS][core.MEAN]).max(initial=0.0) > LARGEST_VALUE:
            raise ValueError("means of its features are out of range")
        if (np.diff(tables[core.TAIL][core.KNOT :], axis=0) < 0.0).any():
            raise ValueError("the knots of its features are not in order")
        curvature = mixer[core.MIXER_CURVATURE :]
        if np.linalg.eigvalsh(curvature).min() <= 0.0:
            raise ValueError("the curvature of its mixer is not positive")
