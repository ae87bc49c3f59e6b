"""The streams of `river-budget speed`: arrays with two classes, or artificial ones of the same shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import datasets


@dataclass(frozen=True)
class Stream:
    """Rows and labels. Sparse ones have zeros that can be skipped."""

    name: str
    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.bool_]
    sparse: bool = False

    def __len__(self) -> int:
        return len(self.y)


def waveform(n: int) -> Stream:
    """The first class of Waveform against the others."""
    X, y = datasets.Waveform(n, seed=0).arrays()
    return Stream("waveform, d=21", X, y == 0)


def a9a(n: int) -> Stream:
    """Adult, features -1, 0 and 1."""
    X, y = _rows(datasets.A9a(), n, 14)
    return Stream("a9a, d=123", np.sign(X), y, sparse=True)


def cod_rna(n: int) -> Stream:
    """Every feature with mean 0 and standard deviation 1."""
    X, y = _rows(datasets.CodRNA(), n, 8)
    return Stream("cod-rna, d=8", (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12), y)


def mnist(n: int) -> Stream:
    """The even digits against the odd ones."""
    X, y = _rows(datasets.MnistTest(), n, 151)
    return Stream("mnist, d=780", X, y % 2 == 0, sparse=True)


STREAMS: dict[str, tuple[Callable[[int], Stream], Any]] = {
    "waveform": (waveform, None),
    "a9a": (a9a, datasets.A9a),
    "cod-rna": (cod_rna, datasets.CodRNA),
    "mnist": (mnist, datasets.MnistTest),
}


def streams(names: list[str], n: int) -> Iterator[Stream]:
    """The named streams, or all."""
    for name in names or STREAMS:
        yield STREAMS[name][0](n)


def missing(names: list[str]) -> list[str]:
    """The streams that are artificial here, as their files are missing."""
    return [
        name
        for name in names or STREAMS
        if (kind := STREAMS[name][1]) is not None and not kind().at_hand
    ]


def _rows(dataset: Any, n: int, present: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """n random rows; if the file is missing, artificial ones with `present` numbers per row."""
    rng = np.random.default_rng(0)
    if dataset.at_hand:
        X, y = dataset.arrays()
        chosen = rng.permutation(len(y))[:n]
        return np.ascontiguousarray(X[chosen]), y[chosen]
    d = dataset.n_features
    X = rng.random((n, d)) * (rng.random((n, d)) < present / d)
    slopes = rng.normal(size=(2, d)) / np.sqrt(present)
    a, b = 4.0 * slopes @ X.T
    return X, a * b > np.median(a * b)
