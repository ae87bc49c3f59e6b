"""The index of a model of words, which finds names by their hashes."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ...model.inputs.features import FeatureIndex
from ..features.drawn import keys_of


def _hash_of(name: Any) -> int:
    return int(keys_of([name], 0).view(np.int64)[0, 0]) or 1  # 0 stands for no name


# of texts only: ("w", 1) and ("w", True) are one key of a cache, but have hashes of their own
_hash_of_text = functools.lru_cache(2**16)(_hash_of)


def _hashes(names: Iterable[Any]) -> list[int]:
    return [_hash_of_text(name) if type(name) is str else _hash_of(name) for name in names]


def hashes_of(names: Collection[Any]) -> Any:
    """The hashes of names, by which a model of words finds them."""
    return np.array(_hashes(names), np.int64)


class Nameless(FeatureIndex):
    """The index of a model of words: no name has a place, and each is found by its hash."""

    def knows(self, x: Collection[Any]) -> bool:
        return True

    def unknown(self, x: Iterable[Any]) -> list[Any]:
        return []

    def split(self, x: dict[Any, Any]) -> Any:
        return [-1] * len(x), x.values(), _hashes(x)
