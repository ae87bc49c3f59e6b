"""From a chunk of the stream to the rows of each shard, and from their answers back to a series.

A chunk is a frame or a list of dicts. This file checks it as a whole, before any of its rows is learned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...model.inputs.batches import batch_of
from ...model.inputs.features import FeatureIndex
from ...model.inputs.frames import Frame
from ...model.inputs.targets import Targets, array_of, weights
from ...nested import is_bare
from ...parameters import is_missing, number
from .keys import address


@dataclasses.dataclass(slots=True)
class ShardRows:
    """The rows of a chunk that one shard is sent, sorted by key. Rows of one key are in the order of the stream."""

    keys: list[bytes]
    stops: list[int]  # where the rows of each key end
    names: list[Any] | None  # names of the columns of a matrix; None: the examples are dicts
    examples: Any
    targets: Any  # a list or an array, or None: the models learn without
    weights: Any  # an array, or None: all are 1

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[tuple[bytes, int, int]]:
        """(key, start, stop) of every key."""
        start = 0
        for key, stop in zip(self.keys, self.stops, strict=True):
            yield key, start, stop
            start = stop


class Chunk:
    """Rows, their keys, their targets and their weights.

    `predicted`: the rows are only scored, and missing values count as 0.
    """

    def __init__(self, X: Any, y: Any, w: Any, key: Any, template: Any, predicted: bool = False):
        self.numeric, self.predicted = is_bare(template), predicted
        self.frame: Frame | None = None
        self.names: list[Any] | None = None
        self.rows: Any = None
        if isinstance(X, (list, tuple)):
            self._take_dicts(X, key)
        else:
            self._take_frame(Frame(X), key)
        self.name: str | None = None
        self.targets = None if y is None else self._targets(y, template)
        plain = isinstance(w, (int, float)) and w == 1.0
        self.weights = None if plain else weights(w, len(self))

    def __len__(self) -> int:
        return len(self.keys)

    # rows

    def _take_frame(self, frame: Frame, key: Any) -> None:
        names = frame.names
        if key not in names:
            raise ValueError(f"X has no column {key!r}, which is to hold the keys")
        if len(names) == 1:
            raise ValueError(f"X has no column besides {key!r}: there are no features")
        self.frame = frame
        self.keys = frame.seen.get_column(key).to_list()
        features = frame.seen.drop(key)
        if self.numeric:
            batch = batch_of(features, self.predicted)
            self.names, self.rows = batch.names, batch.matrix()
        else:
            self.rows = features.rows(named=True)

    def _take_dicts(self, X: Any, key: Any) -> None:
        try:
            self.keys = [x[key] for x in X]
        except (KeyError, TypeError):
            raise ValueError(f"every example must be a dict with a key in {key!r}") from None
        self.rows = [{name: value for name, value in x.items() if name != key} for x in X]
        if not self.numeric:
            return
        if X and all(x.keys() == self.rows[0].keys() for x in self.rows):
            self.names = list(self.rows[0])
            self.rows = matrix(self.rows, self.names, self.predicted)
        else:
            index = FeatureIndex()
            for x in self.rows:
                if self.predicted:
                    index.present(x)
                else:
                    index.reject(x)

    # targets

    def _targets(self, y: Any, template: Any) -> Any:
        targets = Targets(y, len(self))
        self.name = targets.name
        if self.numeric and not hasattr(template, "labels"):
            return targets.numbers()
        values = targets.values
        if isinstance(values, np.ndarray):
            values = values.tolist()
        if hasattr(template, "labels"):
            for label in set(values):
                template.labels.check(label)
            # a boolean column of a frame makes both labels known
            if targets.boolean and self.frame is not None:
                return targets.values
        return values

    # rows of shards

    def by_shard(self, shards: int) -> Iterator[tuple[int, Any, ShardRows]]:
        """(shard, the places in the chunk, the rows) for every shard that has rows."""
        codes, distinct = coded(self.keys)
        addresses = [address(key, shards) for key in distinct]
        names, owners = [name for name, _ in addresses], [owner for _, owner in addresses]
        owner = np.array(owners, np.intp)[codes]
        order = np.argsort(codes, kind="stable")
        for shard in sorted(set(owners)):
            places = order[owner[order] == shard]
            yield shard, places, self._shard_rows(places, codes[places], names)

    def _shard_rows(self, places: Any, codes: Any, names: list[bytes]) -> ShardRows:
        """The rows at these places. They are sorted by code."""
        ends = np.flatnonzero(np.append(codes[1:] != codes[:-1], True))
        return ShardRows(
            keys=[names[code] for code in codes[ends].tolist()],
            stops=(ends + 1).tolist(),
            names=self.names,
            examples=picked(self.rows, places),
            targets=None if self.targets is None else picked(self.targets, places),
            weights=None if self.weights is None else self.weights[places],
        )

    def series(self, values: list[Any]) -> Any:
        """Predictions in the form that the rows came in."""
        return values if self.frame is None else self.frame.series(array_of(values), self.name)


def coded(keys: Sequence[Any]) -> tuple[Any, Iterable[Any]]:
    """A number for every key, in order of first appearance, and the distinct keys."""
    try:
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    except TypeError:
        raise ValueError("a key must be text, bytes, a number or a tuple of these") from None
    codes = np.fromiter(map(numbers.__getitem__, keys), np.intp, len(keys))
    return codes, numbers


def picked(values: Any, places: Any) -> Any:
    """Some rows of an array, or some elements of a list."""
    if isinstance(values, np.ndarray):
        return values[places]
    return [values[place] for place in places.tolist()]


def number_or_zero(feature: Any, value: Any) -> float:
    """The value of a feature as a float; 0 for a missing one."""
    return 0.0 if is_missing(value) else number(feature, value)


def matrix(rows: list[dict[Any, Any]], names: list[Any], predicted: bool = False) -> Any:
    """Examples of the same features as a matrix of finite numbers."""
    values = np.array([[x[name] for name in names] for x in rows])
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        read = number_or_zero if predicted else number
        values = np.array([[read(name, x[name]) for name in names] for x in rows])
    return np.require(values, np.float64, ["C", "A", "W"]).reshape(len(rows), len(names))
