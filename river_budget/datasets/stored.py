"""A dataset in files, as a River dataset."""

from __future__ import annotations

import copy
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from river.datasets import base

from ..parameters import whole
from .definitions import Definition, File
from .fetching import DatasetUnavailable, cache_folder, find, saved_as
from .orders import Arrays, Order, authors, examples, ours
from .reading import Floats


class StoredDataset(base.FileDataset):
    """The common part of all datasets in files: arrays, dicts, orders.

    Reads and downloads files only when they are needed.
    """

    definition: ClassVar[Definition]
    order: Order | None = None  # of the rows, as `in_order` sets it; None: that of the files
    repetition: int | None = None

    def __init__(self) -> None:
        made = self.definition
        first = made.files[0]
        super().__init__(  # type: ignore[no-untyped-call]
            filename=saved_as(first.address) if first.address else first.name,
            task=made.task,
            n_features=made.n_features,
            n_samples=made.n_samples,
            n_classes=made.n_classes,
            sparse=made.sparse,
        )
        self._loaded: dict[str, Arrays] = {}  # those of the set, and of files beside it by name
        self._authors: list[Order] | None = None

    # where the files are

    @property
    def path(self) -> pathlib.Path:
        """The path of the first file, or where it would be stored."""
        return find(self.definition.files[0].names) or cache_folder() / self.filename

    @property
    def at_hand(self) -> bool:
        """Whether all files are in the mirror or in the cache, so that no download is needed."""
        return all(find(file.names) for file in self.definition.files)

    @property
    def time_order(self) -> bool:
        """Whether the rows are in the order of time. Then they are never shuffled."""
        return self.definition.time_order

    @property
    def _repr_content(self) -> dict[str, str]:
        content: dict[str, str] = super()._repr_content
        content["At hand"] = str(self.at_hand)
        if self.time_order:
            content["Order"] = "time"
        elif self.repetition is not None:
            content["Order"] = str(self.repetition)
        return content

    # the data

    def arrays(self) -> Arrays:
        """All rows and targets after the papers' preparation, read-only.

        Targets are bool for two classes (True is the label +1), whole numbers for more, and float64
        for regression.
        """
        X, y = self._whole()
        return (X, y) if self.order is None else (X[self.order], y[self.order])

    def _whole(self) -> Arrays:
        """The set in the order of the files."""
        if "" not in self._loaded:
            loaded = [file.load(self.n_features) for file in self.definition.files]
            X, y = (
                np.concatenate(each) if len(each) > 1 else each[0]
                for each in zip(*loaded, strict=True)
            )
            self._loaded[""] = self._prepared(X, y)
        return self._loaded[""]

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the set's files, and of test files published with it."""
        return tuple(file.name for file in (*self.definition.files, *self.definition.beside))

    def part(self, name: str) -> Arrays:
        """The rows and targets of one file, prepared as `arrays` prepares them."""
        file = self.definition.file(name)
        if file in self.definition.files:
            X, y = self._whole()
            rows = self._rows_of(file)
            return X[rows], y[rows]
        if name not in self._loaded:
            self._loaded[name] = self._prepared(*file.load(self.n_features))
        return self._loaded[name]

    def _rows_of(self, file: File) -> slice:
        files = self.definition.files
        start = sum(other.rows for other in files[: files.index(file)])
        return slice(start, start + file.rows)

    def _prepared(self, X: Floats, y: Floats) -> Arrays:
        self.definition.prepare(X, y)
        targets = self._targets(y)
        for array in (X, targets):
            array.setflags(write=False)  # all callers share one copy
        return X, targets

    def _targets(self, y: Floats) -> npt.NDArray[Any]:
        if self.task == base.REG:
            return y
        if self.task == base.BINARY_CLF:
            return np.equal(y, 1.0)
        return y.astype(np.int64)

    def __iter__(self) -> Iterator[tuple[dict[int, float], Any]]:
        order = range(self.n_samples) if self.order is None else self.order.tolist()
        return examples(*self._whole(), order, self.sparse)

    # the orders

    def orders(self, repeats: int = 20) -> list[Order]:
        """Row numbers in the order of each repetition of an experiment.

        The authors' permutations, if they are published and available. Otherwise, and beyond the
        authors' 20, repetition i is `numpy.random.default_rng(100 + i).permutation(n)`. A stream in
        the order of time only has this order.
        """
        whole(1)("repeats", repeats)
        return [self._order(k) for k in range(1 if self.time_order else repeats)]

    def in_order(self, k: int) -> Self:
        """The same dataset with its examples in the order of repetition k, counted from 0.

        For River's own evaluation, which then gives the numbers of the tables. See `orders`.
        """
        whole(0)("k", k)
        if self.time_order and k > 0:
            raise ValueError(
                f"{self.definition.name} is a stream in time, with order 0 only, not {k}"
            )
        found = copy.copy(self)  # which shares what was loaded
        found.order, found.repetition = self._order(k), k
        return found

    def _order(self, k: int) -> Order:
        n = self.definition.n_samples
        if self.time_order:
            return np.arange(n)
        published = self._published_orders()
        return published[k] if k < len(published) else ours(n, k)

    @property
    def authors_orders(self) -> bool:
        """Whether `orders` begins with the authors' permutations. May fetch them, as `orders`
        does.
        """
        return bool(self._published_orders())

    def _published_orders(self) -> list[Order]:
        address = self.definition.authors
        if self._authors is None:
            self._authors = []
            if address:
                try:
                    self._authors = authors(address, *self._whole())
                except DatasetUnavailable as error:
                    warnings.warn(f"Permutations of our own instead: {error}", stacklevel=3)
        return self._authors
