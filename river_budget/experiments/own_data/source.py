"""Files and standard input as rows of cells, which come one after the other: no file is ever held
whole.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...datasets.reading import UNPACK
from . import csv_text

Row = tuple[int, list[Any]]  # the number of the line, the cells
LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")
LIBSVM_LINE = re.compile(rb"\s*[-+]?[\d.]+(e[-+]?\d+)?[ \t]+(qid:\d+[ \t]+)?\d+:[-+.\de]+(\s|$)")
PARQUET_MAGIC = b"PAR1"
BATCH_ROWS = 2048  # of Parquet
LONGEST_LINE = 1 << 24  # characters; what is longer has no lines
UNREADABLE = (
    OSError,
    EOFError,
    lzma.LZMAError,
    zlib.error,
)  # a packed file that is cut off or damaged
WHAT_IS_READ = "files of CSV, Parquet and LIBSVM are read, also packed as .gz, .bz2 or .xz"


@dataclass
class Source:
    """Rows with the names of their columns; names are None for LIBSVM, whose features have numbers.

    `share` is how much of the file has been read, None where nobody knows. `broken` says why the
    rows ended early.
    """

    how: str  # in words
    names: list[str] | None
    rows: Iterator[Row]
    share: Callable[[], float | None]
    header: bool = True
    decimal_comma: bool = False
    odd: list[int] = field(default_factory=list)  # lines with another number of cells: first, count
    broken: str = ""

    def __post_init__(self) -> None:
        self.rows = self._until_broken(self.rows)

    def _until_broken(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows that can be read: what follows an error is lost, what stands before it is
        not.
        """
        try:
            yield from rows
        except RuntimeError as error:
            self.broken = str(error)


@contextlib.contextmanager
def opened(
    path: str, kind: str = "auto", header: str = "auto", expected: Sequence[str] = ()
) -> Iterator[Source]:
    """A file, or standard input for `-`; a first row with one of the expected names is a header."""
    with contextlib.ExitStack() as stack:
        try:
            raw = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
            packed = UNPACK.get(os.path.splitext(path)[1])
            stream: Any = raw if packed is None else stack.enter_context(packed(raw))
            head = stream.peek(1 << 12)
        except FileNotFoundError:
            raise RuntimeError(f"there is no file {path}") from None
        except UNREADABLE as error:
            raise _unreadable(path, error) from None
        size = 0 if path == "-" else os.fstat(raw.fileno()).st_size

        def share() -> float | None:
            return raw.tell() / size if size else None

        found = _kind(path, head) if kind == "auto" else kind
        if found == "parquet":
            yield Source("Parquet", *_parquet(path, packed is not None))
        elif found == "libsvm":
            yield Source("LIBSVM", None, _libsvm(_lines(stream, path), path), share)
        else:
            encoding = csv_text.encoding_of(_beginning(path, head, stream))
            text = _text(path, head, stream, encoding)
            stack.callback(text.detach)  # or standard input would be closed with it
            lines = _lines(text, path)
            separator, has_header, names, rows, odd = csv_text.opened(lines, path, header, expected)
            top = (
                "a header" if has_header else f"no header: the columns are called 1 to {len(names)}"
            )
            guessed = (
                f"; no UTF-8, so read as latin-1 ({encoding})" if encoding == csv_text.OTHER else ""
            )
            how = f"CSV with {csv_text.SEPARATORS[separator]}, {top}{guessed}"
            yield Source(how, names, rows, share, has_header, separator == ";", odd)


def _unreadable(path: str, error: BaseException) -> RuntimeError:
    """The error of a file that cannot be read, or not to its end."""
    return RuntimeError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")


def _lines(stream: Any, path: str) -> Iterator[Any]:
    """The lines of a stream, of text or bytes, none of them without end."""
    for number in itertools.count(1):
        try:
            line = stream.readline(LONGEST_LINE)
        except UNREADABLE as error:
            raise _unreadable(f"{path}, line {number},", error) from None
        if len(line) == LONGEST_LINE:
            raise RuntimeError(
                f"{path}, line {number} has more than {LONGEST_LINE:,} characters: {WHAT_IS_READ}"
            )
        if not line:
            return
        yield line


def _kind(path: str, head: bytes) -> str:
    """What kind of file this is, by its first bytes, and by its name where they leave it open."""
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    name = path.lower()
    for suffix in UNPACK:
        name = name.removesuffix(suffix)
    if name.endswith(LIBSVM_SUFFIXES) or LIBSVM_LINE.match(head):
        return "libsvm"
    return "csv"


def _beginning(path: str, head: bytes, stream: Any) -> bytes:
    """Enough of a stream to find out its encoding; of standard input only its head."""
    if path == "-":
        return head
    try:
        found: bytes = stream.read(csv_text.SAMPLE_CHARACTERS)
    except UNREADABLE:  # it is cut off; told when its lines are read
        found = head
    stream.seek(0)
    return found


def _text(path: str, head: bytes, stream: Any, encoding: str | None) -> io.TextIOWrapper:
    """The text of a stream that begins with these bytes."""
    if not head:
        raise RuntimeError(f"{'standard input' if path == '-' else path} is empty")
    if encoding is None:
        raise RuntimeError(f"{path} is no text: {WHAT_IS_READ}")
    return io.TextIOWrapper(stream, encoding, errors="backslashreplace", newline="")


def _libsvm(stream: Iterable[bytes], path: str) -> Iterator[Row]:
    """(number of the line, [label, {index: value}]) of each line that is not empty.

    The reader of `rb.datasets` knows the size of its matrix beforehand. Here nobody does.
    """
    for line, content in enumerate(stream, 1):
        text = content.partition(b"#")[0].decode("utf-8", "backslashreplace").split()
        if not text:
            continue
        pairs = text[2:] if len(text) > 1 and text[1].startswith("qid:") else text[1:]
        try:
            values = [pair.split(":") for pair in pairs]
            yield line, [text[0], {index: float(value) for index, value in values}]
        except ValueError:
            raise RuntimeError(
                f"{path}, line {line}: a line of LIBSVM is a label and then index:value, not "
                f"{' '.join(text)[:60]!r}"
            ) from None


def _parquet(
    path: str, packed: bool
) -> tuple[list[str], Iterator[Row], Callable[[], float | None]]:
    """The names of the columns, the rows, a batch at a time, and how much has been read."""
    if path == "-" or packed:
        raise RuntimeError(
            "Parquet has its index at the end: give the name of an unpacked file, not standard "
            "input"
        )
    try:
        from pyarrow import lib  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
    except ImportError:
        raise RuntimeError("Parquet is read by pyarrow: pip install pyarrow") from None
    try:
        file = ParquetFile(path)
    except lib.ArrowException as error:
        raise RuntimeError(f"{path} cannot be read as Parquet: {error}") from None
    count = itertools.count(1)
    last = [0]

    def rows() -> Iterator[Row]:
        try:
            for batch in file.iter_batches(BATCH_ROWS):
                columns = [column.to_pylist() for column in batch.columns]
                for cells in zip(*columns, strict=True):
                    last[0] = next(count)
                    yield last[0], list(cells)
        except (lib.ArrowException, OSError) as error:
            raise RuntimeError(f"{path} cannot be read as Parquet: {error}") from None

    total = max(file.metadata.num_rows, 1)
    return list(file.schema_arrow.names), rows(), lambda: last[0] / total
