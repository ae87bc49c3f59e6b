"""Definitions of datasets: files, the papers' preparation, and the orders in which the papers read them."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

from .fetching import obtain, saved_as
from .preparing import Preparation, as_published
from .reading import Floats, Reader, libsvm, read

COLLECTION = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
UCI = "https://archive.ics.uci.edu/static/public"
AUTHORS = (
    "https://raw.githubusercontent.com/jingcoco/Online-Kernel-Learning/"
    "fd3d40659c9a7486312bc3936d8e138780465c0a"
)


@dataclass(frozen=True)
class File:
    """One file of a dataset.

    A file `<name>.xz` is always LIBSVM text, as in the project's mirror. The published one is what
    `reader` says, and `member` names it inside a zip archive.
    """

    name: str
    rows: int
    address: str | None
    reader: Reader = libsvm
    member: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which it is looked for."""
        published = saved_as(self.address) if self.address else self.name
        plain = [self.name + end for end in ("", ".bz2", ".gz", ".zip")]
        others = plain if self.reader is libsvm else [self.member]
        return tuple(dict.fromkeys([f"{self.name}.xz", published, *filter(None, others)]))

    def load(self, n_features: int) -> tuple[Floats, Floats]:
        """The matrix and the targets as they are published."""

        def examine(path: pathlib.Path) -> tuple[Floats, Floats]:
            reader = libsvm if path.name == f"{self.name}.xz" else self.reader
            return read(path, self.member or self.name, reader, self.rows, n_features)

        return obtain(self.names, self.address, examine)


@dataclass(frozen=True)
class Definition:
    """All that distinguishes one dataset from another."""

    name: str
    task: str
    n_features: int
    n_classes: int | None  # None for regression
    files: tuple[File, ...]  # joined in this order
    beside: tuple[File, ...] = ()  # published with them, and not a part
    prepare: Preparation = as_published
    positive: float = 1.0  # the label that is True, of a binary set
    authors: str | None = None  # the address of the authors' matrix and permutations
    time_order: bool = False
    sparse: bool = False

    @property
    def n_samples(self) -> int:
        return sum(file.rows for file in self.files)

    def file(self, name: str) -> File:
        for file in (*self.files, *self.beside):
            if file.name == name:
                return file
        parts = ", ".join(file.name for file in (*self.files, *self.beside))
        raise ValueError(f"{self.name} has no part {name!r}: its parts are {parts}")


def collection(path: str, rows: int, name: str | None = None) -> File:
    """A file of the LIBSVM collection."""
    return File(
        name or saved_as(path).removesuffix(".bz2"), rows=rows, address=f"{COLLECTION}/{path}"
    )


def matlab_file(folder: str, name: str) -> str:
    """The address of the authors' matrix of a set, and of their permutations."""
    return f"{AUTHORS}/{folder}/data/{name}.mat"


def uci(path: str, rows: int, name: str, member: str, reader: Reader) -> File:
    """A file in an archive of the UCI repository."""
    return File(name, rows, f"{UCI}/{path}", reader, member)
