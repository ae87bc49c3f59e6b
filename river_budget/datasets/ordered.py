"""The examples of a dataset in another order, as a River dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy.typing as npt
from river.datasets import base

from .orders import Order
from .reading import Floats

Arrays = tuple[Floats, npt.NDArray[Any]]


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


class InOrder(base.Dataset):
    """The result of `in_order`: the same examples in the order of one repetition of an experiment."""

    def __init__(self, dataset: Any, k: int, order: Order):
        super().__init__(  # type: ignore[no-untyped-call]
            task=dataset.task,
            n_features=dataset.n_features,
            n_samples=dataset.n_samples,
            n_classes=dataset.n_classes,
            n_outputs=dataset.n_outputs,
            sparse=dataset.sparse,
        )
        self.dataset, self.k, self.order = dataset, k, order

    def arrays(self) -> Arrays:
        """All rows and targets in this order."""
        X, y = self.dataset.arrays()
        return X[self.order], y[self.order]

    def __iter__(self) -> Iterator[tuple[dict[int, float], Any]]:
        X, y = self.dataset.arrays()
        return examples(X, y, self.order.tolist(), self.sparse)

    @property
    def _repr_content(self) -> dict[str, str]:
        content: dict[str, str] = super()._repr_content
        content["Name"] = type(self.dataset).__name__
        content["Order"] = str(self.k)
        return content
