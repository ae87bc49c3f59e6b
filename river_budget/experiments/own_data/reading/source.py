"""Files and standard input as rows of cells, which come one after the other: no file is ever held whole."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from . import csv_text, libsvm, parquet

Row = tuple[int, list[Any]]  # the number of the line, the cells
KINDS = ("csv", "parquet", "libsvm")
UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")
LIBSVM_LINE = re.compile(rb"\s*[-+]?[\d.]+(e[-+]?\d+)?[ \t]+(qid:\d+[ \t]+)?\d+:[-+.\de]+(\s|$)")
WHAT_IS_READ = "files of CSV, Parquet and LIBSVM are read, also packed as .gz, .bz2 or .xz"


@dataclass
class Source:
    """Rows with the names of their columns; names are None for LIBSVM, whose features have numbers.

    `share` is how much of the file has been read, None where nobody knows.
    """

    kind: str
    how: str  # in words
    names: list[str] | None
    rows: Iterator[Row]
    share: Callable[[], float | None]
    header: bool = True
    decimal_comma: bool = False
    odd: list[int] = field(default_factory=list)  # lines with another number of cells: first, count


@contextlib.contextmanager
def opened(
    path: str, kind: str = "auto", header: str = "auto", expected: Sequence[str] = ()
) -> Iterator[Source]:
    """A file, or standard input for `-`; a first row with one of the expected names is a header."""
    with contextlib.ExitStack() as stack:
        try:
            raw = _raw(path, stack)
            packed = UNPACK.get(os.path.splitext(path)[1])
            stream: Any = raw if packed is None else stack.enter_context(packed(raw))
            head = stream.peek(1 << 12)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise RuntimeError(_refusal(path, error)) from None
        share = _share(raw, path)
        found = _kind(path, head) if kind == "auto" else kind
        if found == "parquet":
            yield Source(found, "Parquet", *parquet.opened(path, packed is not None))
        elif found == "libsvm":
            yield Source(found, "LIBSVM", None, libsvm.rows(stream, path), share)
        else:
            text = _text(path, head, stream)
            stack.callback(text.detach)  # or standard input would be closed with it
            yield _csv(path, text, share, header, expected)


def _raw(path: str, stack: contextlib.ExitStack) -> Any:
    """The bytes of a file or of standard input."""
    if path != "-":
        return stack.enter_context(open(path, "rb"))
    stream = sys.stdin.buffer
    return stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]


def _refusal(path: str, error: BaseException) -> str:
    """Why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return f"there is no file {path}"
    return f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"


def _share(raw: IO[bytes], path: str) -> Callable[[], float | None]:
    """How much of a file has been read, by its bytes."""
    size = 0 if path == "-" else os.fstat(raw.fileno()).st_size
    return lambda: raw.tell() / size if size else None


def _kind(path: str, head: bytes) -> str:
    """What kind of file this is, by its first bytes, and by its name where they leave it open."""
    if head.startswith(parquet.MAGIC):
        return "parquet"
    name = path.lower()
    for suffix in UNPACK:
        name = name.removesuffix(suffix)
    if name.endswith(LIBSVM_SUFFIXES) or LIBSVM_LINE.match(head):
        return "libsvm"
    return "csv"


def _text(path: str, head: bytes, stream: Any) -> io.TextIOWrapper:
    """The text of a stream that begins with these bytes."""
    if not head:
        raise RuntimeError(f"{'standard input' if path == '-' else path} is empty")
    encoding = csv_text.encoding_of(head)
    if encoding is None:
        raise RuntimeError(f"{path} is no text: {WHAT_IS_READ}")
    return io.TextIOWrapper(stream, encoding, errors="backslashreplace", newline="")


def _csv(
    path: str,
    text: io.TextIOWrapper,
    share: Callable[[], float | None],
    header: str,
    expected: Sequence[str],
) -> Source:
    """A file of separated values."""
    separator, has_header, names, rows, odd = csv_text.opened(text, path, header, expected)
    called = "a header" if has_header else f"no header: the columns are called 1 to {len(names)}"
    how = f"CSV with {csv_text.SEPARATORS[separator]}, {called}"
    return Source("csv", how, names, rows, share, has_header, separator == ";", odd)
