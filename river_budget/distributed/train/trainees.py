"""What a worker of `train_shards` does: it learns its stream, some examples at a time."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard

import numpy as np
from river.utils import dataframe

from ...model.shells import Classifier, Regressor
from ...model.targets import Targets

PIECE = 10_000  # rows that are made numbers at once
Pair = tuple[Any, Any]  # rows and targets
Stream = Iterable[Any] | Pair | Callable[[], Iterable[Any] | Pair]


def is_pair(stream: Stream) -> TypeGuard[Pair]:
    """Whether a stream is rows and targets, and no sequence of examples."""
    return isinstance(stream, tuple) and len(stream) == 2 and hasattr(stream[0], "shape")


def sendable(stream: Stream) -> Stream:
    """A stream that can be read more than once, and in another process."""
    return list(stream) if isinstance(stream, Iterator) else stream


class Trainee:
    """A worker. It knows where it is in its stream."""

    def __init__(self, stream: Stream):
        stream = stream() if callable(stream) else stream
        self.source = Rows(*stream) if is_pair(stream) else Singles(iter(stream))

    def learn(self, model: Any, most: int | None) -> tuple[int, Any]:
        """A copy of the model learns the next examples, all if `most` is None. Returns how many they were."""
        model = copy.deepcopy(model)
        return self.source.teach(model, most), model


class Singles:
    """Examples one by one."""

    def __init__(self, examples: Iterator[Any]):
        self.examples = examples

    def teach(self, model: Any, most: int | None) -> int:
        count = 0
        for x, y, *more in itertools.islice(self.examples, most):
            further = more[0] if more else {}
            if model._supervised:
                model.learn_one(x, y, **further)
            else:
                model.learn_one(x, **further)
            count += 1
        return count


class Rows:
    """A matrix or a frame, and targets. Models that learn many rows exactly as single ones get many."""

    def __init__(self, X: Any, y: Any):
        self.X = X if isinstance(X, np.ndarray) else dataframe.into_frame(X)
        self.y = Targets(y, len(self.X)).values
        self.at = 0

    def teach(self, model: Any, most: int | None) -> int:
        start = self.at
        end = len(self.X) if most is None else min(len(self.X), start + most)
        while self.at < end:
            rows = slice(self.at, min(end, self.at + PIECE))
            self._teach(model, self.X[rows], self.y[rows])
            self.at = rows.stop
        return end - start

    def _teach(self, model: Any, X: Any, y: Any) -> None:
        if issubclass(type(model), (Classifier, Regressor)):  # to isinstance, a pipeline is one
            model.learn_many(X if isinstance(X, np.ndarray) else X.to_native(), y)
        else:
            Singles(zip(dicts(X), y, strict=True)).teach(model, None)


def dicts(X: Any) -> Iterator[dict[Any, Any]]:
    """The rows of a matrix or a frame, one by one."""
    if isinstance(X, np.ndarray):
        return (dict(enumerate(row)) for row in X.tolist())
    return iter(X.iter_rows(named=True))
