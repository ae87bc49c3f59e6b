"""The error for files that contain no usable model."""

from __future__ import annotations


class SavedModelError(ValueError):
    """A file that is no saved model, or is damaged, or comes from a later version.

    Not for files that cannot be read at all: they raise `OSError`.

    Examples
    --------

    >>> import pathlib, tempfile
    >>> import river_budget as rb

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.rb"
    ...     _ = path.write_bytes(b"no model")
    ...     rb.load(path)
    Traceback (most recent call last):
    ...
    river_budget.saving.errors.SavedModelError: ...

    References
    ----------
    [^1]: The guide, [saving and serving](guide/saving.md).

    """


def damaged(reason: str) -> SavedModelError:
    return SavedModelError(f"the file is damaged: {reason}")
