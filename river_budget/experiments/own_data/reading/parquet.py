"""Parquet through pyarrow, if that is installed, a batch of rows at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

MAGIC = b"PAR1"
BATCH_ROWS = 2048


def opened(
    path: str, packed: bool
) -> tuple[list[str], Iterator[tuple[int, list[Any]]], Callable[[], float | None]]:
    """The names of the columns, the rows, and how much has been read."""
    if path == "-" or packed:
        raise RuntimeError(
            "Parquet has its index at the end: give the name of an unpacked file, not standard input"
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

    def rows() -> Iterator[tuple[int, list[Any]]]:
        for batch in file.iter_batches(BATCH_ROWS):
            columns = [column.to_pylist() for column in batch.columns]
            for cells in zip(*columns, strict=True):
                last[0] = next(count)
                yield last[0], list(cells)

    total = max(file.metadata.num_rows, 1)
    return list(file.schema_arrow.names), rows(), lambda: last[0] / total
