"""Save models to files and load them, without pickle: nothing in a file is executed."""

from __future__ import annotations

import os
from typing import Any

from . import archive, files, nodes
from .errors import SavedModelError
from .nodes import register

__all__ = ["SavedModelError", "load", "register", "save"]

LARGEST_FILE = 2**32  # bytes of memory that a file and its models may take by default


def save(model: Any, path: str | os.PathLike[str], predict_only: bool = False) -> None:
    """Write a model to a file.

    The file appears in one step: `save` writes a temporary file in the same folder, forces it to
    the disk, and renames it. If `save` is interrupted, the old file stays; a process that is killed
    may leave the temporary file (`.river_budget-*.tmp`). A model that `load` could not read raises
    `SavedModelError`, and no file is written; a folder, a pipe or a device is never replaced by a
    file.

    Not for models of other packages: unknown classes raise an error (`rb.saving.register` makes
    them known).

    Parameters
    ----------
    model
        Any estimator or transformer of this package, or a pipeline of them and of steps of River;
        the guide lists which.
    path
        The file to write.
    predict_only
        Leave out numbers that only learning needs: a smaller file, of a model that cannot learn.

    Examples
    --------

    >>> import pathlib, tempfile
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.ForgetronClassifier(budget=10)
    >>> for i in range(100):
    ...     model.learn_one({"a": i % 7, "b": i % 3}, i % 7 > 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.rb"
    ...     rb.save(model, path)
    ...     same = rb.load(path)
    >>> same.predict_one({"a": 6, "b": 0}) == model.predict_one({"a": 6, "b": 0})
    True

    References
    ----------
    [^1]: The guide, [saving and serving](guide/saving.md).

    """
    write(model, path, predict_only=predict_only)


def load(
    path: str | os.PathLike[str], predict_only: bool = False, max_bytes: int = LARGEST_FILE
) -> Any:
    """Read a model from a file. It continues to learn exactly as the saved model would have.

    A file that is damaged, cut off, forged or of another format raises `SavedModelError`; one that
    cannot be read at all an `OSError`, as usual.

    Not for files that others may have changed to mislead you: the checks make sure that a file is
    safe, not that its predictions are right.

    Parameters
    ----------
    path
        The file to read.
    predict_only
        Leave out numbers that only learning needs: a smaller model that cannot learn.
    max_bytes
        If the file and the models in it would take more memory, an error is raised, so that a
        forged file cannot fill the memory.

    Examples
    --------

    >>> import pathlib, tempfile
    >>> import river_budget as rb

    >>> model = rb.BSGDClassifier(budget=10)
    >>> for i in range(100):
    ...     model.learn_one({"a": i % 7}, i % 7 > 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.rb"
    ...     rb.save(model, path)
    ...     server = rb.load(path, predict_only=True)
    >>> server.predict_one({"a": 6})
    True
    >>> server.learn_one({"a": 6}, False)
    Traceback (most recent call last):
    ...
    RuntimeError: this model was loaded with predict_only=True: it does not learn or change

    References
    ----------
    [^1]: The guide, [saving and serving](guide/saving.md).

    """
    return opened(files.read(path, max_bytes), path, predict_only, max_bytes)


def opened(
    data: bytes, path: Any = "this", predict_only: bool = False, max_bytes: int = LARGEST_FILE
) -> Any:
    """The model in the bytes of a file."""
    head, source = archive.parsed(data, path, max_bytes, predict_only)
    return nodes.loaded(head.get("model"), source)


def write(
    model: Any,
    path: str | os.PathLike[str],
    beside: dict[str, Any] | None = None,
    predict_only: bool = False,
) -> None:
    """Write a model to a file, and values of JSON beside it."""
    node, arrays = nodes.saved(model, predict_only)
    files.write(path, archive.packed(node, arrays, **(beside or {})))


def read(path: str | os.PathLike[str], max_bytes: int = LARGEST_FILE) -> tuple[Any, dict[str, Any]]:
    """The model in a file, and what is beside it."""
    head, source = archive.parsed(files.read(path, max_bytes), path, max_bytes)
    return nodes.loaded(head.get("model"), source), head
