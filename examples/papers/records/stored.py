"""Datasets whose files are on disk."""

from __future__ import annotations

import functools
import threading
from typing import Any

from river_budget import datasets

lock = threading.RLock()  # held while reading: runs in several threads share the arrays


@functools.cache
def _dataset(name: str) -> Any:
    return datasets.load(name)


def dataset(name: str) -> Any:
    """The object of a dataset, always the same one, which holds its arrays."""
    with lock:
        return _dataset(name)


def at_hand(name: str, *parts: str) -> bool:
    """Whether a dataset, and these parts of it, can be read without a download."""
    data = dataset(name)
    if not getattr(data, "at_hand", True):
        return False
    return all(datasets.fetching.find(data.definition.file(part).names) for part in parts)
