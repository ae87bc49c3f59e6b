"""The table of support vectors of a model: it grows with new names, forgets names that no vector uses, and has a bound."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ...core.block import blocks
from ...kernels import Laplacian
from ..base.one_by_one import OneByOne
from ..calls.calls import PreparedList
from ..inputs.features import are_plain
from ..stream_warnings import warn

FREE_SHARE = 0.5  # a table grows if forgetting names leaves fewer free places
LARGEST_TABLE = 2**26  # bytes of the table of vectors
KEPT_SHARE = 0.75  # of the places of a table at its bound, the share that stays in use


class StoredVectors(OneByOne):
    """A model that stores support vectors."""

    _was_bounded = False  # whether the table has reached its bound, which is said once

    def _learn_new(
        self,
        x: dict[Any, Any],
        prepared: PreparedList,
        places: list[int],
        target: float,
        w: float,
        wanted: bool,
    ) -> Any:
        """The same, but new names are only lent places, to be kept if the example becomes a vector: few documents do."""
        features, block, new = self.features, self.block, places.count(-1)
        vacant, arrived = features.vacant, prepared.arrived[0]
        if new > len(vacant) or not are_plain(x):
            return super()._learn_new(x, prepared, places, target, w, wanted)
        lent, left, next_place = vacant[-new:], len(vacant) - new, vacant.pop
        try:
            places = [place if place >= 0 else next_place() for place in places]
            prepared.write(places, target, w)
            return self._learned(prepared, self.free_lists, wanted)
        finally:
            if prepared.arrived[0] == arrived and self.block is block:
                vacant[left:] = lent
            else:
                self._keep_names(x, places)

    def _keep_names(self, x: dict[Any, Any], places: list[int]) -> None:
        """Give the new names of an example that was learned the places that were lent to them.

        Where there is no memory for that, prepared calls give back theirs first.
        """
        self.forget_rows()
        try:
            self.features.keep(zip(x, places, strict=True))
        except MemoryError:
            self.free_lists.clear()
            self.features.keep(zip(x, places, strict=True))

    def make_room(self, new: int, beside: Collection[Any]) -> None:
        """Free places for so many new names: forget names that no vector uses, or make the table wider."""
        width = blocks.width_in(self.block)
        if not self.takes_lists or self._free_places(width) >= new:
            super().make_room(new, beside)
            return
        self._forget_unused(beside)
        if self._free_places(width) >= max(new, FREE_SHARE * width):
            return
        capacity = blocks.views(self.block).head.capacity
        most = max(LARGEST_TABLE // (8 * capacity), len(beside) + new)
        wider = min(int((1.0 + FREE_SHARE) * (width + new)), most)
        if wider > width:
            self.resize_block(width=wider)
        if self._free_places(blocks.width_in(self.block)) < new:
            self._drop_smallest(most, new, beside)

    def take_back(self, names: Collection[Any]) -> None:
        places, vectors = self.features.places, blocks.views(self.block).vectors
        unused = [name for name in names if name in places and not vectors[places[name]].any()]
        self.features.remove(unused)
        self.forget_rows()

    def _free_places(self, width: int) -> int:
        return width - len(self.features)

    def _forget_unused(self, kept: Collection[Any]) -> None:
        """Forget the names that no vector uses."""
        model = blocks.views(self.block)
        numbers = model.vectors.view(np.int64)[:, : model.head.count]
        used = np.bitwise_or.reduce(numbers, axis=1) != 0  # twice as fast as `any` of floats
        if not used.all():
            self.features.forget(used, kept)
            self.forget_rows()

    def _drop_smallest(self, most: int, new: int, kept: Collection[Any]) -> None:
        """Set the features with the smallest numbers in all vectors to 0, and forget their names: the table is full."""
        if not self._was_bounded:
            self._was_bounded = True
            warn(
                self,
                f"the table of support vectors has reached {LARGEST_TABLE >> 20} MB, so the smallest numbers in it are "
                "dropped. Fewer features (feature_extraction.FeatureHasher, rb.FeatureBudget), a smaller budget, removal "
                "instead of merging, or AutoKernel avoid this",
            )
        model = blocks.views(self.block)
        vectors = model.vectors[:, : model.head.count]
        sizes = np.abs(vectors).max(axis=1, initial=0.0)
        places = self.features.places
        sizes[[places[name] for name in kept if name in places]] = np.inf
        room = min(int(KEPT_SHARE * most), most - new)
        dropped = np.argsort(sizes, kind="stable")[: max(len(sizes) - room, 0)]
        vectors[dropped] = 0.0
        lengths = np.abs if isinstance(self.kernel_in_use, Laplacian) else np.square
        model.norms[: model.head.count] = lengths(vectors).sum(axis=0)
        used = np.ones(len(sizes), bool)
        used[dropped] = False
        self.features.forget(used, kept)
        self.forget_rows()
