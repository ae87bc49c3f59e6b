"""The orders in which the papers read a dataset, and its examples in such an order.

The authors of the 2016 paper publish 20 permutations for some sets, in files of Matlab: a matrix
`data`, whose first column is the label or the target, and `ID_all` or `ID_list`, with row numbers
from 1.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .fetching import obtain, stored_as
from .reading import Floats, matlab

Order = npt.NDArray[np.int64]
Arrays = tuple[Floats, npt.NDArray[Any]]

FIRST_SEED = 100
AGREEMENT = 1e-6  # texts of the LIBSVM collection print about six digits


def ours(n: int, repeat: int) -> Order:
    return np.random.default_rng(FIRST_SEED + repeat).permutation(n)


def authors(address: str, X: Floats, y: npt.NDArray[Any]) -> list[Order]:
    """The published permutations, after a check that they belong to these rows in this order."""

    def examine(path: pathlib.Path) -> list[Order]:
        content = matlab(path)
        if not _same_rows(content["data"].astype(float), X, y):
            raise ValueError("its rows are not those of this dataset")
        orders = content["ID_all" if "ID_all" in content else "ID_list"].astype(np.int64) - 1
        if not (np.sort(orders) == np.arange(len(X))).all():
            raise ValueError("it holds a row that is not a permutation")
        return list(orders)

    return obtain(stored_as(address), address, examine)


def _same_rows(data: Floats, X: Floats, y: npt.NDArray[Any]) -> bool:
    if data.shape != (X.shape[0], X.shape[1] + 1):
        return False
    targets = data[:, 0] > 0 if y.dtype == bool else data[:, 0]
    same_targets = np.allclose(targets, y, rtol=0, atol=AGREEMENT)
    return same_targets and np.allclose(data[:, 1:], X, rtol=0, atol=AGREEMENT)


def examples(
    X: Floats, y: npt.NDArray[Any], order: Iterable[int], sparse: bool
) -> Iterator[tuple[dict[int, float], Any]]:
    """Examples as dicts from column numbers to values; those of a sparse set leave out zeros."""
    targets = y.tolist()
    for i in order:
        row = X[i]
        if sparse:
            columns = row.nonzero()[0]
            yield dict(zip(columns.tolist(), row[columns].tolist(), strict=True)), targets[i]
        else:
            yield dict(enumerate(row.tolist())), targets[i]
