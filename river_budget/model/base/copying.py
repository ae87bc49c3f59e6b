"""Copies of models: pickles, and twins that are changed before they take the place of the model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

from ...core.block import blocks
from ..calls.calls import FreeRows
from ..calls.fast_path import AtOnce
from ..inputs.batches import LARGE, Batch, NotFinite
from ..inputs.features import FeatureIndex
from ..one_writer import Turn, looks_at_the_model

Result = TypeVar("Result")
MUCH = 4  # times


class Copied:
    """How the models of this package are copied."""

    block: Any
    features: FeatureIndex
    stamp: Callable[[], int]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = self._snapshot()
        return state

    @looks_at_the_model
    def _snapshot(self) -> dict[str, Any]:
        return self._state()

    def _state(self) -> dict[str, Any]:
        block = None if self.block is None else self.block.copy()
        own = {"free_rows": FreeRows(), "free_lists": FreeRows(), "turn": Turn()}
        return self.__dict__ | {"block": block, "at_once": AtOnce(), **own}

    def still(self) -> Any:
        """A copy of the model between two examples, for whoever looks at it for long."""
        still = object.__new__(type(self))
        still.__setstate__(self._snapshot())
        return still

    def twin(self) -> Any:
        """A copy, for whoever has the turn: changed first, it then takes the place of the model at once."""
        twin = object.__new__(type(self))
        twin.__setstate__(self._state())
        return twin

    def become(self, twin: Any) -> None:
        """Take the place of a model by its changed copy."""
        self._take(**{name: value for name, value in vars(twin).items() if name != "turn"})

    def all_or_nothing(self, batch: Batch, learn: Callable[[], Result]) -> Result:
        """Let a function learn a batch, or nothing of it if something in it is not finite.

        Mostly that is looked for before. To read all of a batch once more that is much larger than the model takes up
        to a sixth of the time: rather keep what the model was, and leave it to the pass to look. So it is where numbers
        may be finite and not times their scales.
        """
        kept = 0 if self.block is None else self.block.nbytes
        large = not batch.checked and batch.given.nbytes >= max(LARGE, MUCH * kept)
        if not (large or self.features.scaled):
            batch.check()
            return learn()
        before = self.twin()
        try:
            return learn()
        except (NotFinite, ValueError):
            self.become(before)
            batch.check()
            raise

    def _take(self, **changed: Any) -> None:
        """Change all of this in one step, for threads that predict and for Ctrl-C: the update of a dict by a dict,
        during which nothing is freed, as that might let others go on."""
        before = dict(self.__dict__)
        self.__dict__.update(changed)
        del before

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "block" not in state or not self._block_fits():
            raise TypeError(
                f"this pickle of {type(self).__name__} comes from another version of river_budget: pickles are "
                "for one version, rb.save and rb.load for all"
            )
        # a shallow copy would share it, but not the block
        self.features = copy.copy(state["features"])
        if self.block is not None:
            self.block = blocks.aligned(self.block)

    def _block_fits(self) -> bool:
        return self.block is None or blocks.stamp_in(self.block) == self.stamp()
