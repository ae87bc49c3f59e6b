"""The memory of a model: its block, its names and its lock; pickles and copies of it."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from river import base

from ...core.block import blocks
from ..algorithm import Algorithm
from ..inputs.features import FeatureIndex
from ..lock import ModelLock, looks_at_the_model


class Memory(base.Estimator):
    """What a model has learned, which is copied, pickled and replaced as a whole."""

    algorithm: ClassVar[Algorithm]
    features: FeatureIndex
    block: Any  # None before the first example
    lock: ModelLock

    @classmethod
    def stamp(cls) -> int:
        """A hash of the layout of the model's block, to recognise pickles of another version."""
        return blocks.stamp_of(cls.algorithm.state)

    def state_record(self) -> Any:
        """The algorithm's own record in the block."""
        return blocks.state_of(self.block, self.algorithm.state)

    @property
    @looks_at_the_model
    def memory_usage(self) -> int:
        """The memory of the model in bytes: its block and its indexes."""
        indexes = self.features.memory_usage
        if labels := getattr(self, "labels", None):
            indexes += labels.memory_usage
        return (0 if self.block is None else self.block.nbytes) + indexes

    @looks_at_the_model
    def __getstate__(self) -> dict[str, Any]:
        # names of their own: pickle and deepcopy read them later, when another thread may have added some
        block = None if self.block is None else self.block.copy()
        return self._state() | {"block": block, "features": copy.copy(self.features)}

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Any:
        """A model with the same parameters, and with `include_attributes` all that this one has learned."""
        source = self.twin() if include_attributes else self
        return super(Memory, source).clone(new_params, include_attributes)  # type: ignore[misc]

    def _state(self) -> dict[str, Any]:
        return self.__dict__ | {"free_rows": [], "free_lists": [], "lock": ModelLock()}

    @looks_at_the_model
    def twin(self) -> Any:
        """A copy of the model as it is between two examples: to be read for a long time while the model learns on, or to
        be changed and then adopted in one step."""
        twin = object.__new__(type(self))
        twin.__setstate__(self._state())  # copies the block
        return twin

    def adopt(self, twin: Any) -> None:
        """Replace the state of this model by that of its changed copy."""
        self.replace(**vars(twin) | {"lock": self.lock})

    def replace(self, **changed: Any) -> None:
        """Set attributes in one step, as Ctrl-C may interrupt at any time, and drop the calls that were prepared.

        Replacing the dict is one step if it frees no object, whose finalizer could run other code.
        """
        before = self.__dict__
        self.__dict__ = {**before, **changed, "free_rows": [], "free_lists": []}
        del before

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "block" not in state or (
            self.block is not None and blocks.stamp_in(self.block) != self.stamp()
        ):
            raise TypeError(
                f"this pickle of {type(self).__name__} comes from another version of river_budget: pickles are "
                "for one version, rb.save and rb.load for all"
            )
        # a shallow copy of a model would share the index, but not the block
        self.features = copy.copy(state["features"])
        if self.block is not None:
            self.block = blocks.aligned(self.block)
