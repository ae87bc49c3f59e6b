"""Read a matrix and its targets from the bytes of a file.

A reader takes blocks of whole lines, so that the text of a large file is never in memory at once.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import pathlib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Reader = Callable[[Iterator[bytes], int, int], tuple[Floats, Floats]]
"""Blocks, the number of rows and the number of features: the matrix and the targets."""

UNPACK: dict[str, Callable[..., Any]] = {
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".gz": gzip.open,
}
READ_AT_ONCE = 1 << 22  # bytes: numpy takes most of the time; little beside a matrix


def read(
    path: pathlib.Path, member: str, reader: Reader, rows: int, n_features: int
) -> tuple[Floats, Floats]:
    """The matrix and the targets in a file, packed or not."""
    with unpacked(path, member) as stream:
        return reader(blocks(stream), rows, n_features)


# files


@contextlib.contextmanager
def unpacked(path: pathlib.Path, member: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked according to its suffix; of a zip archive, the bytes of
    `member`.
    """
    with contextlib.ExitStack() as opened:
        if path.suffix == ".zip":
            stream = _in_archive(opened.enter_context(zipfile.ZipFile(path)), member)
            if stream is None:
                raise ValueError(f"there is no {member} in the archive")
            yield opened.enter_context(stream)
        else:
            unpack = UNPACK.get(path.suffix, open)
            yield opened.enter_context(unpack(path, "rb"))


def _in_archive(archive: zipfile.ZipFile, member: str) -> IO[bytes] | None:
    """A file in any folder of an archive, or of an archive inside it, as UCI has them."""
    for name in archive.namelist():
        if pathlib.PurePosixPath(name).name == member:
            return archive.open(name)
        if name.endswith(".zip"):
            inner = _in_archive(zipfile.ZipFile(io.BytesIO(archive.read(name))), member)
            if inner is not None:
                return inner
    return None


def blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream in pieces that end with a line."""
    rest = b""
    while piece := stream.read(READ_AT_ONCE):
        lines, end, rest = (rest + piece).rpartition(b"\n")
        if end:
            yield lines + end
    if rest.strip():
        yield rest + b"\n"


def matlab(path: pathlib.Path) -> dict[str, Any]:
    """The variables in a file of Matlab."""
    from scipy import io  # imported here: it takes long to load, and most sets have no such file

    try:
        content: dict[str, Any] = io.loadmat(path)
    except Exception as error:  # a damaged file may raise errors of many kinds
        raise ValueError(f"it is not a file of Matlab: {error}") from error
    return content


def matlab_matrix(path: pathlib.Path, rows: int, n_features: int) -> tuple[Floats, Floats]:
    """The matrix `data` of a file of Matlab, whose first column is the target."""
    data = matlab(path)["data"].astype(float)
    if data.shape != (rows, n_features + 1):
        raise ValueError(f"its matrix is {data.shape}, not {(rows, n_features + 1)}")
    return np.ascontiguousarray(data[:, 1:]), data[:, 0].copy()


# text


def _numbers(text: bytes, expected: int) -> Floats:
    """The numbers in a text that contains only numbers and white space."""
    values: Floats = np.fromstring(text, sep=" ")  # type: ignore[call-overload]
    if len(values) != expected or not np.isfinite(values).all():
        raise ValueError("something in it is not a number")
    return values


class _Rows:
    """A matrix to which rows are added block by block."""

    def __init__(self, rows: int, n_features: int):
        self.X, self.y = np.zeros((rows, n_features)), np.zeros(rows)
        self.filled = 0

    def take(self, n: int) -> tuple[Floats, Floats]:
        """A view of the next n rows, for the caller to fill."""
        start, self.filled = self.filled, self.filled + n
        if self.filled > len(self.y):
            raise ValueError(f"it has more than {len(self.y):,} rows")
        return self.X[start : self.filled], self.y[start : self.filled]

    def full(self) -> tuple[Floats, Floats]:
        if self.filled < len(self.y):
            raise ValueError(f"it has {self.filled:,} rows instead of {len(self.y):,}")
        return self.X, self.y


def libsvm(lines: Iterator[bytes], rows: int, n_features: int) -> tuple[Floats, Floats]:
    """Text in the form `label index:value index:value`, with indices from 1."""
    matrix = _Rows(rows, n_features)
    for block in lines:
        signs = np.frombuffer(block, np.uint8)
        ends, colons = np.flatnonzero(signs == ord("\n")), np.flatnonzero(signs == ord(":"))
        pairs = np.diff(np.searchsorted(colons, ends), prepend=0)  # number of pairs in each row
        values = _numbers(block.replace(b":", b" "), len(ends) + 2 * len(colons))
        labels = np.arange(len(ends)) + 2 * (np.cumsum(pairs) - pairs)
        X, y = matrix.take(len(ends))
        y[:] = values[labels]
        values = np.delete(values, labels)
        columns = values[::2].astype(np.intp) - 1
        if (columns + 1 != values[::2]).any() or not _between(columns, 0, n_features):
            raise ValueError(f"an index is not a whole number from 1 to {n_features}")
        X[np.repeat(np.arange(len(ends)), pairs), columns] = values[1::2]
    return matrix.full()


def _between(values: npt.NDArray[np.intp], least: int, end: int) -> bool:
    return len(values) == 0 or bool(values.min() >= least and values.max() < end)


def letters(lines: Iterator[bytes], rows: int, n_features: int) -> tuple[Floats, Floats]:
    """letter.scale as LIBSVM text, scaled back to the integers 0..15 that it was made of."""
    X, y = libsvm(lines, rows, n_features)
    return np.rint((X + 1.0) * 7.5), y


@dataclass(frozen=True)
class Csv:
    """Numbers between commas: features, the target, and dropped columns."""

    target: int
    drop: tuple[int, ...] = ()
    header: bool = False
    words: tuple[tuple[bytes, bytes], ...] = ()  # (word, the number it stands for)

    def __call__(self, lines: Iterator[bytes], rows: int, n_features: int) -> tuple[Floats, Floats]:
        matrix = _Rows(rows, n_features)
        unused = {self.target, *self.drop}
        width = n_features + len(unused)
        used = [i for i in range(width) if i not in unused]
        for block in self._without_header(lines):
            n = block.count(b"\n")
            X, y = matrix.take(n)
            table = _numbers(block.replace(b",", b" "), n * width).reshape(n, width)
            X[:], y[:] = table[:, used], table[:, self.target]
        return matrix.full()

    def _without_header(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        if self.header:
            first = next(lines, b"").partition(b"\n")[2]
            lines = itertools.chain([first], lines)
        for block in lines:
            for word, number in self.words:
                block = block.replace(word, number)
            yield block


KDD_WORDS = (1, 2, 3)  # protocol, service, flag
KDD_NUMBERS = (0, *range(4, 41))
KDD_COLUMNS = 42  # the last one is the kind of connection


def kdd(lines: Iterator[bytes], rows: int, n_features: int) -> tuple[Floats, Floats]:
    """The connection records of the KDD Cup 1999.

    First the numeric columns in their order, then one column for each protocol, each service and
    each flag, in alphabetical order. The target is 1 for an attack and -1 otherwise.
    """
    matrix = _Rows(rows, n_features)
    codes = np.zeros((rows, len(KDD_WORDS)), np.intp)
    known: list[dict[bytes, int]] = [{} for _ in KDD_WORDS]
    for block in lines:
        table = [line.split(b",") for line in block.split()]
        columns: list[Any] = list(zip(*table, strict=True))
        if len(columns) != KDD_COLUMNS:
            raise ValueError(f"its rows have {len(columns)} columns instead of {KDD_COLUMNS}")
        start = matrix.filled
        X, y = matrix.take(len(table))
        X[:, : len(KDD_NUMBERS)] = np.array([columns[i] for i in KDD_NUMBERS]).astype(float).T
        y[:] = np.where(np.array(columns[-1]) == b"normal.", -1, 1)
        for place, (column, code) in enumerate(zip(KDD_WORDS, known, strict=True)):
            words = [code.setdefault(word, len(code)) for word in columns[column]]
            codes[start : matrix.filled, place] = words
    X, y = matrix.full()
    _one_hot(X, codes, known)
    return X, y


def _one_hot(X: Floats, codes: npt.NDArray[np.intp], known: Sequence[dict[bytes, int]]) -> None:
    """Write the one-hot columns behind the numeric ones: words have codes by appearance, columns
    are alphabetical.
    """
    start = len(KDD_NUMBERS)
    if start + sum(map(len, known)) != X.shape[1]:
        raise ValueError(f"its columns become {start + sum(map(len, known))} features")
    for place, code in enumerate(known):
        rank = np.argsort(np.argsort(list(code)))
        X[np.arange(len(X)), start + rank[codes[:, place]]] = 1
        start += len(code)
