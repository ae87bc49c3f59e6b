"""From a chunk of the stream to the rows of each shard, and from their answers back to a series.

A chunk is a frame or a list of dicts. This file checks it as a whole, before any of its rows is
learned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...inputs.batches import Batch, batch_of
from ...inputs.features import FeatureIndex
from ...inputs.frames import Frame, as_list
from ...inputs.targets import Targets, array_of, weights
from ...wrappers.nested import is_estimator
from ..dicts import batch_of_dicts
from .keys import address


@dataclasses.dataclass(slots=True)
class ShardRows:
    """The rows of a chunk that one shard is sent, sorted by key. Rows of one key are in the order
    of the stream.
    """

    spans: list[tuple[bytes, int, int]]  # (key, start, stop) of every key
    names: list[Any] | None  # names of the columns of a matrix; None: the examples are dicts
    examples: Any
    targets: Any  # a list or an array, or None: the models learn without
    weights: Any  # an array, or None: all are 1

    def __len__(self) -> int:
        return len(self.examples)


class Chunk:
    """Rows, their keys, their targets and their weights.

    `predicted`: the rows are only scored, and missing values count as 0.
    """

    def __init__(
        self, template: Any, key: Any, X: Any, y: Any, w: Any = 1.0, *, predicted: bool = False
    ):
        if y is None and template._supervised and not predicted:
            raise ValueError("y is missing: this model learns from targets")
        self.numeric, self.template = is_estimator(template), template
        self.frame = None if isinstance(X, (list, tuple)) else Frame(X)
        self.names: list[Any] | None = None
        self.rows: Any = (
            self._dicts(X, key) if self.frame is None else self._features(self.frame, key)
        )
        if self.numeric:
            self._read_numbers(predicted)
        self.name: str | None = None
        self.targets = None if y is None else self._targets(y, template)
        plain = isinstance(w, (int, float)) and w == 1.0
        self.weights = None if plain else weights(w, len(self))

    def __len__(self) -> int:
        return len(self.keys)

    def _features(self, frame: Frame, key: Any) -> Any:
        """The columns of a frame without that of the keys."""
        if key not in frame.names:
            raise ValueError(f"X has no column {key!r}, which is to hold the keys")
        if len(frame.names) == 1:
            raise ValueError(f"X has no column besides {key!r}: there are no features")
        self.keys = frame.seen.get_column(key).to_list()
        features = frame.seen.drop(key)
        return features if self.numeric else features.rows(named=True)

    def _dicts(self, X: Any, key: Any) -> list[dict[Any, Any]]:
        try:
            self.keys = [x[key] for x in X]
        except (KeyError, TypeError):
            raise ValueError(f"every example must be a dict with a key in {key!r}") from None
        return [{name: value for name, value in x.items() if name != key} for x in X]

    def _read_numbers(self, predicted: bool) -> None:
        """Rows of equal features become a matrix; those of others are checked."""
        try:
            batch = self._batch(predicted and not self.template._reads_tables)
        except ValueError:
            if not self.template._reads_tables:
                raise
            batch = None  # models that read text and gaps get the rows as they are
            self.rows = self.rows if self.frame is None else self.rows.rows(named=True)
        if batch is not None:
            self.names, self.rows = batch.names, batch.matrix()
            return
        if self.template._reads_tables:
            for x in self.rows:
                self.template._read(x, predicted)
            return
        index = FeatureIndex()
        for x in self.rows:
            index.checked_copy(index.present(x) if predicted else x)

    def _batch(self, predicted: bool) -> Batch | None:
        """The rows as a matrix, where they have equal features."""
        of_dicts = self.frame is None
        return batch_of_dicts(self.rows, predicted) if of_dicts else batch_of(self.rows, predicted)

    def _targets(self, y: Any, template: Any) -> Any:
        targets = Targets(y, len(self))
        self.name = targets.name
        labels = getattr(template, "_labels", None)
        if self.numeric and labels is None:
            return targets.numbers()
        values = as_list(targets.values)
        if labels is not None:
            for label in set(values):
                labels.check([label])  # each by itself: every key has labels of its own
            if targets.boolean and self.frame is not None:  # such a column makes both labels known
                return targets.values
        return values

    def by_shard(self, shards: int) -> Iterator[tuple[int, Any, ShardRows]]:
        """(shard, the places in the chunk, the rows) for every shard that has rows."""
        by_key: dict[Any, list[int]] = {}
        try:
            for place, key in enumerate(self.keys):
                by_key.setdefault(key, []).append(place)
        except TypeError:
            raise ValueError("a key must be text, bytes, a number or a tuple of these") from None
        owned: list[dict[bytes, list[int]]] = [{} for _ in range(shards)]
        for key, some in by_key.items():
            name, shard = address(key, shards)
            owned[shard][name] = some
        for shard, own in enumerate(owned):
            if not own:
                continue
            spans, listed = [], list[int]()
            for name, some in own.items():
                spans.append((name, len(listed), len(listed) + len(some)))
                listed += some
            places = np.array(listed)
            rows = ShardRows(
                spans=spans,
                names=self.names,
                examples=picked(self.rows, places),
                targets=None if self.targets is None else picked(self.targets, places),
                weights=None if self.weights is None else self.weights[places],
            )
            yield shard, places, rows

    def series(self, values: list[Any]) -> Any:
        """Predictions in the form that the rows came in."""
        return values if self.frame is None else self.frame.series(array_of(values), self.name)


def picked(values: Any, places: Any) -> Any:
    """Some rows of an array, or some elements of a list."""
    if isinstance(values, np.ndarray):
        return values[places]
    return [values[place] for place in places.tolist()]
