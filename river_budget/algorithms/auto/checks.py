"""What compiled code relies on in a model that comes from a file: that places, links and sums are in their ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.block import blocks
from ...core.compiling.named_rows import named_rows
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import SUM
from ...core.passes.auto.scaling import CLIP, LARGEST_VALUE
from ...core.passes.auto.squared_loss import OUTERMOST_QUANTILE
from ...model.base.one_by_one import OneByOne

# tables that follow from the seed, the names of features and the memory
DRAWN = {"keys", "slots", "held"}
IN_FILES = [name for name in core.ROOM_TABLES if name not in {*DRAWN, *core.OF_WORDS}]
LARGE = 1e153  # of sums and weights, whose squares are finite


class Checked(OneByOne):
    """Checks of the tables of AutoKernel after a file was read."""

    _room: Any
    _table: Any

    def _check_archive(self) -> None:
        """Raise for rows of the archive, or links to rows, that cannot be."""
        tables = self.own_tables()
        targets, weights = tables["archived"]
        links, kept = tables["links"], len(tables["links"])
        if not ((links >= 0) & (links < kept)).all():
            raise ValueError("the links of its archive are out of range")
        if not (weights > 0.0).all() or not self._may_be_targets(targets):
            raise ValueError("the targets or weights of its archive are out of range")
        if (np.abs(tables["archive"]) > CLIP).any():
            raise ValueError("the rows of its archive are out of range")

    def _check_memory(self, count: int, archived: int) -> None:
        model = blocks.views(self.block)
        memory = named_rows(core.MEMORY_ROWS, model.per_vector)
        rows = memory.row[:count]
        if not (np.isin(rows, np.arange(archived)).all() and len(np.unique(rows)) == count):
            raise ValueError("its examples are not in its archive")
        if not (memory.squared_error[:count] >= 0.0).all():
            raise ValueError("squared errors of its examples are negative")
        if (np.abs(model.vectors) > CLIP).any() or (np.abs(model.coefficients) > LARGE).any():
            raise ValueError("its examples are out of range")

    def _may_be_targets(self, targets: Any) -> bool:
        return bool((np.abs(targets) <= LARGEST_VALUE).all())

    def _check_tables(self) -> None:
        """Raise for numbers of which compiled code would take a root or a logarithm, or that overflow."""
        bounds = {"moments": LARGE**2, "covariance": 1e6, "metric": 1e9}
        for name in IN_FILES:
            if float(np.abs(self._table(name)).max(initial=0)) > bounds.get(name, LARGE):
                raise ValueError("some of its weights are out of range")
        room = self._room
        sums = [
            room.metric.weight,
            room.metric.square,
            room.prior,
            room.linear_sums,
            room.bins[:, SUM],
            room.calibration.mass,
        ]
        if any((table < 0.0).any() for table in sums):
            raise ValueError("some of its weights or sums of squares are negative")
        if np.abs(room.moments.mean).max(initial=0.0) > LARGEST_VALUE:
            raise ValueError("means of its features are out of range")
        most = OUTERMOST_QUANTILE
        if (np.diff(room.quantiles, prepend=-most, append=most) < 0.0).any():
            raise ValueError("the quantiles of its errors are out of range")
        if not np.isin(room.unseen, (0.0, 1.0)).all():
            raise ValueError("the classes that it has not seen are no classes")
        if np.linalg.eigvalsh(room.mixer.curvature).min() <= 0.0:
            raise ValueError("the curvature of its mixer is not positive")
