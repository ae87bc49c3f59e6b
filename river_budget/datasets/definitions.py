"""Definitions of datasets: files, the papers' preparation, and the orders in which the papers read
them.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

from river.datasets.base import BINARY_CLF, MULTI_CLF, REG

from .fetching import obtain, saved_as, stored_as
from .preparing import Preparation, as_published
from .reading import Floats, Reader, libsvm, matlab_matrix, read

COLLECTION = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
UCI = "https://archive.ics.uci.edu/static/public"
AUTHORS = (
    "https://raw.githubusercontent.com/jingcoco/Online-Kernel-Learning/"
    "fd3d40659c9a7486312bc3936d8e138780465c0a"
)


@dataclass(frozen=True)
class File:
    """One file of a dataset.

    A file `<name>.xz` is always LIBSVM text, as in the project's mirror. `reader` reads the
    published file; `member` is its name inside a zip archive. `authors` is the address of the same
    rows, in the same order, as a matrix of the 2016 paper's authors, which is read where it is at
    hand and the published file is not.
    """

    name: str
    rows: int
    address: str | None
    reader: Reader = libsvm
    member: str = ""
    authors: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the file may be stored."""
        published = saved_as(self.address) if self.address else self.name
        plain = [self.name + end for end in ("", ".bz2", ".gz", ".zip")]
        others = plain if self.reader is libsvm else [self.member]
        matrix = stored_as(self.authors) if self.authors else ()
        return tuple(dict.fromkeys([f"{self.name}.xz", published, *filter(None, others), *matrix]))

    def load(self, n_features: int) -> tuple[Floats, Floats]:
        """The matrix and the targets as they are published."""

        def examine(path: pathlib.Path) -> tuple[Floats, Floats]:
            if path.suffix == ".mat":
                return matlab_matrix(path, self.rows, n_features)
            reader = libsvm if path.name == f"{self.name}.xz" else self.reader
            return read(path, self.member or self.name, reader, self.rows, n_features)

        return obtain(self.names, self.address, examine)


@dataclass(frozen=True)
class Definition:
    """The definition of a dataset: its shape, files, preparation and orders."""

    name: str
    task: str
    n_features: int
    n_classes: int | None  # None for regression
    files: tuple[File, ...]  # joined in this order
    beside: tuple[File, ...] = ()  # published with them, but no part of the set
    prepare: Preparation = as_published
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


def uci(path: str, rows: int, name: str, member: str, reader: Reader, authors: str = "") -> File:
    """A file in an archive of the UCI repository."""
    return File(name, rows, f"{UCI}/{path}", reader, member, authors)


def matlab_file(folder: str, name: str) -> str:
    """The address of the authors' matrix of a set, and of their permutations."""
    return f"{AUTHORS}/{folder}/data/{name}.mat"


def collection(path: str, rows: int, name: str = "", authors: str = "") -> File:
    """A file of the LIBSVM collection."""
    plain = saved_as(path).removesuffix(".bz2")
    return File(name or plain, rows, address=f"{COLLECTION}/{path}", authors=authors)


# The sets of the LIBSVM collection: name, features, classes, files with their rows; after the bar,
# further files such as test sets.
LISTED = """
german           24   2  binary/german.numer 1000
german-scaled    24   2  binary/german.numer_scale 1000
w7a             300   2  binary/w7a 24692 | binary/w7a.t 25057
w8a             300   2  binary/w8a 49749, binary/w8a.t 14951
w8a-train       300   2  binary/w8a 49749
a9a             123   2  binary/a9a 32561, binary/a9a.t 16281
ijcnn1           22   2  binary/ijcnn1.bz2 49990, binary/ijcnn1.t.bz2 91701
codrna            8   2  binary/cod-rna.t 271617 | binary/cod-rna 59535
mushrooms       112   2  binary/mushrooms 8124
phishing         68   2  binary/phishing 11055
skin              3   2  binary/skin_nonskin 245057
dna             180   3  multiclass/dna.scale 2000 | multiclass/dna.scale.t 1186
satimage         36   6  multiclass/satimage.scale 4435 | multiclass/satimage.scale.t 2000
usps            256  10  multiclass/usps.bz2 7291 | multiclass/usps.t.bz2 2007
mnist           780  10  multiclass/mnist.bz2 60000 | multiclass/mnist.t.bz2 10000
mnist-test      780  10  multiclass/mnist.t.bz2 10000
letter           16  26  multiclass/letter.scale 15000 | multiclass/letter.scale.t 5000
acoustic         50   3  multiclass/vehicle/acoustic_scale.bz2 78823 | multiclass/vehicle/acoustic_scale.t.bz2 19705
covtype          54   7  multiclass/covtype.scale01.bz2 581012
poker            10  10  multiclass/poker.bz2 25010
poker-test       10  10  multiclass/poker.t.bz2 1000000
housing          13   -  regression/housing 506
mg                6   -  regression/mg 1385
abalone           8   -  regression/abalone 4177
abalone-scaled    8   -  regression/abalone_scale 4177
cpusmall         12   -  regression/cpusmall 8192
cadata            8   -  regression/cadata 20640
year             90   -  regression/YearPredictionMSD.bz2 463715
"""  # noqa: E501
TASKS = {"binary": BINARY_CLF, "multiclass": MULTI_CLF, "regression": REG}  # by folder


def listed(
    name: str,
    prepare: Preparation = as_published,
    authors: bool = False,
    sparse: bool = False,
) -> Definition:
    """The definition of a set of the list. `authors`: the authors of the 2016 paper publish
    permutations of it.
    """
    (line,) = (line for line in LISTED.splitlines() if line.startswith(f"{name} "))
    _, n_features, n_classes, text = line.split(maxsplit=3)
    folder, (joined, _, beside) = text.partition("/")[0], text.partition(" | ")
    address = matlab_file(folder, name) if authors else ""
    return Definition(
        name,
        TASKS[folder],
        int(n_features),
        int(n_classes) if n_classes.isdigit() else None,
        _files(joined, address),
        _files(beside),
        prepare,
        authors=address or None,
        sparse=sparse,
    )


def _files(text: str, authors: str = "") -> tuple[File, ...]:
    """The files in one part of a line of the list."""
    pairs = [each.split() for each in text.split(", ") if "/" in each]
    return tuple(collection(path, int(rows), authors=authors) for path, rows in pairs)
