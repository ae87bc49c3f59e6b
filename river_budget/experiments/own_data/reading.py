"""read: the rows of a file as a stream of dicts, read as `river-budget try` does."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal, overload

from .finding import every_column, plan, preview_of
from .source import opened

__all__ = ["read"]

Kind = Literal["auto", "csv", "parquet", "libsvm"]
Example = dict[str, float]


@overload
def read(
    path: str | os.PathLike[str],
    target: str,
    *,
    text: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    task: Literal["auto", "classification", "regression"] = "auto",
    kind: Kind = "auto",
) -> Iterator[tuple[Example, Any]]: ...


@overload
def read(
    path: str | os.PathLike[str],
    target: None = None,
    *,
    text: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    kind: Kind = "auto",
) -> Iterator[Example]: ...


def read(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    text: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    task: Literal["auto", "classification", "regression"] = "auto",
    kind: Kind = "auto",
) -> Iterator[Any]:
    """The rows of a file of CSV, Parquet or LIBSVM, one after the other, as features for a model.

    Numbers, amounts (`$12,345`) and percentages become numbers; a word becomes a feature of its own
    (`colour_red`); a date its weekday, month, hour, and the days since that of the first row. An
    empty cell leaves its feature out. What the columns are is found out from the first thousand
    rows. The file may be packed (`.gz`, `.bz2`, `.xz`), and is never held whole.

    Not for a frame that you have already: `rb.predict_then_learn_many` takes it through a pipeline.

    Parameters
    ----------
    path
        The file.
    target
        The column to predict. Then the stream is one of (x, y), without the rows that have no
        target. None: of x alone.
    text
        Columns of sentences, whose words become features.
    drop
        Columns to leave out.
    keep
        Columns to take although they look like row numbers or names.
    task
        What the target is. "auto": labels if it holds words, true or false, or few whole numbers.
    kind
        The format. "auto": found out.

    Examples
    --------

    >>> import pathlib, tempfile
    >>> import river_budget as rb

    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "sales.csv"
    >>> rows = ["day,price,colour,sold", "2025-03-01,$1200,red,yes", "2025-03-02,$900,blue,no"]
    >>> _ = path.write_text("".join(f"{row}\\n" for row in rows))
    >>> for x, y in rb.read(path, "sold"):
    ...     print(x["price"], x["colour_red"], x["day_weekday"], y)
    1200.0 1.0 5.0 yes
    900.0 0.0 6.0 no

    References
    ----------
    [^1]: The guide, [data of your own](guide/own_data.md).

    """
    if not pathlib.Path(path).is_file():
        raise FileNotFoundError(f"there is no file {os.fspath(path)}")
    return _rows(os.fspath(path), target, text, drop, keep, task, kind)


def _rows(
    path: str,
    target: str | None,
    text: Sequence[str],
    drop: Sequence[str],
    keep: Sequence[str],
    task: str,
    kind: str,
) -> Iterator[Any]:
    expected = [target] if target else []
    with opened(path, kind, "auto", expected) as source:
        preview = preview_of(source)
        found = None
        if target is None and source.names is not None:
            columns = every_column(source, preview, drop, keep, text)
        else:
            found = plan(source, preview, target, task, drop, keep, text)
            columns = found.columns
        for part in (preview, source.rows):
            if found is not None and target is not None:
                yield from found.examples(iter(part))
            else:
                yield from (columns.features(row, line) for line, row in part if row)
        if source.broken:
            raise RuntimeError(source.broken)
