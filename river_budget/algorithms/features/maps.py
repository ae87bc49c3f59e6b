"""Feature maps: transformers whose features make a linear model a kernel machine."""

from __future__ import annotations

import functools
from typing import Any

from river import base

from ...core import memory
from ...inputs.batches import batch_of
from ...model.calls import Matrix
from ...model.one_by_one import OneByOne


@functools.lru_cache(64)
def numbered(prefix: str, n: int) -> list[str]:
    """Names of n new features."""
    return [f"{prefix}_{j}" for j in range(n)]


class Transformer(OneByOne, base.MiniBatchTransformer):
    """The base class of transformers, which learn without targets."""

    def _count(self, n: int) -> None:
        """Add n to the number of examples learned."""
        block = self._block
        if block is not None:
            memory.field_of(block, "n_examples")[0] += n

    def _feature_names(self) -> list[str]:
        """The names of the new features."""
        raise NotImplementedError

    def _named(self, scores: Matrix) -> None:
        """Landmarks have no coefficients."""

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        features = self._score_row(x)
        # strict=False: a thread that learns may have added a feature since
        return dict(zip(self._feature_names(), features, strict=False))

    def transform_many(self, X: Any) -> Any:
        """The new features of many examples: a frame of the same kind, or for an array an array."""
        batch = batch_of(X, predicted=True)
        features = self._score_batch(batch)
        if batch.frame is None:
            return features
        return batch.table(dict(zip(self._feature_names(), features.T, strict=False)))
