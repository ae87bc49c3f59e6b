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
Example = dict[str, Any]  # numbers, words, and None for what is missing


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
    one_hot: bool = False,
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
    one_hot: bool = False,
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
    one_hot: bool = False,
) -> Iterator[Any]:
    """The rows of a file of CSV, Parquet or LIBSVM, one after the other, as examples for a model.

    Numbers, amounts (`$12,345`) and percentages become numbers; a date becomes its weekday, month,
    hour, and the days since that of the first row. A word stays a word, and an empty cell is None:
    `AutoKernelClassifier` and `AutoKernelRegressor` take both. For all other models put an encoder
    in front, or ask for `one_hot`. What the columns are is found out from the first thousand rows.
    The file may be packed (`.gz`, `.bz2`, `.xz`), and is never held whole.

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
    one_hot
        Whether each of at most 100 words of a column becomes a feature of its own (`colour_red`),
        and a missing value leaves its feature out.
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
    ...     print(x["price"], x["colour"], x["day_weekday"], y)
    1200.0 red 5.0 yes
    900.0 blue 6.0 no

    References
    ----------
    [^1]: The guide, [data of your own](guide/own_data.md).

    """
    if not pathlib.Path(path).is_file():
        raise FileNotFoundError(f"there is no file {os.fspath(path)}")
    return _rows(os.fspath(path), target, text, drop, keep, task, kind, one_hot)


def _rows(
    path: str,
    target: str | None,
    text: Sequence[str],
    drop: Sequence[str],
    keep: Sequence[str],
    task: str,
    kind: str,
    one_hot: bool,
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
                for x, y in found.examples(iter(part)):
                    yield (columns.encoded(x) if one_hot else x), y
            else:
                for line, row in part:
                    if row:
                        x = columns.features(row, line)
                        yield columns.encoded(x) if one_hot else x
        if source.broken:
            raise RuntimeError(source.broken)
