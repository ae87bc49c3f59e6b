"""The River shell of transformers: examples in, features out."""

from __future__ import annotations

from typing import Any

import numpy as np
from river import base

from .features import Batch
from .stream import StreamModel


class Transformer(StreamModel, base.MiniBatchTransformer):
    """Transformers that learn without targets."""

    def _feature_names(self) -> list[str]:
        """The names of the features that come out."""
        raise NotImplementedError

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        return dict(zip(self._feature_names(), self._score_row(x), strict=True))

    def transform_many(self, X: Any) -> Any:
        """The features of many examples: a frame of the same kind, or of an array an array."""
        batch = Batch(X)
        features = self._score_batch(batch)
        if batch.frame is None:
            return features
        return batch.table(dict(zip(self._feature_names(), features.T, strict=True)))

    def _gather(self, batch: Batch) -> None:
        """The pass over a batch that has no targets."""
        if len(batch):
            nothing, ones = np.zeros(len(batch)), np.ones(len(batch))
            scores = np.empty((len(batch), 0))
            self._run(self._enter(batch), nothing, ones, scores)
