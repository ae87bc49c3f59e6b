"""What a shard is sent of a chunk of the stream: the rows of its keys, sorted by key."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any


@dataclasses.dataclass(slots=True)
class Part:
    """Rows of several keys. Those of one key follow each other, in the order of the stream."""

    keys: list[bytes]
    stops: list[int]  # where the rows of each key end
    names: list[Any] | None  # of the columns of a matrix of rows, or None: the rows are dicts
    rows: Any
    targets: Any  # a list or an array, or None: the models learn without
    weights: Any  # an array, or None: all are 1

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[bytes, int, int]]:
        """(key, start, stop) of every key."""
        start = 0
        for key, stop in zip(self.keys, self.stops, strict=True):
            yield key, start, stop
            start = stop
