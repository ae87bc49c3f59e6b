"""Checkpoint: a model and its place in a stream, in one file, now and then."""

from __future__ import annotations

import contextlib
import os
import pathlib
import warnings
from typing import Any

from .. import saving
from ..parameters import whole
from . import LARGEST_FILE, SavedModelError, files, plain

__all__ = ["Checkpoint"]

KEY = "checkpoint"  # beside the model in a file: {"examples": n, "position": ...}
SUFFIX = ".rb"


class Checkpoint:
    """Saves a model with its position in a stream every so many examples, and finds both again
    after a restart.

    Model and position are in one file, which appears completely or not at all, so they always fit
    together: an example is in the model if and only if it lies before the position. What the
    program does beside learning, such as sending predictions, happens again for the examples since
    the last file: at least once.

    Each file is one of `rb.save`, and `rb.load` reads the model in it. Its name is the number of
    examples that were learned so far. Files older than the last `keep` are deleted.

    Not for two processes that write to one folder.

    Parameters
    ----------
    folder
        Where the files are. It is made if it does not exist.
    every
        The number of examples from one file to the next.
    keep
        How many files to keep.

    Examples
    --------

    >>> import tempfile
    >>> import river_budget as rb

    >>> stream = [({"a": t % 7, "b": t % 3}, t % 7 > 3) for t in range(2500)]
    >>> folder = tempfile.TemporaryDirectory()

    >>> def follow(last):
    ...     checkpoint = rb.Checkpoint(folder.name, every=1000)
    ...     model, position = checkpoint.restore(rb.BSGDClassifier())
    ...     for t in range(position or 0, last):
    ...         model.learn_one(*stream[t])
    ...         checkpoint.learned(model, position=t + 1)
    ...     return model, position

    >>> _ = follow(2200)  # dies here: the last 200 examples are in no file
    >>> model, position = follow(2500)
    >>> position, model.n_examples
    (2000, 2500)

    References
    ----------
    [^1]: The guide, [a loop over Kafka](guide/kafka.md).

    """

    def __init__(self, folder: str | os.PathLike[str], every: int = 1000, keep: int = 3):
        whole(1)("every", every)
        whole(1)("keep", keep)
        self.folder = pathlib.Path(folder)
        self.every, self.keep = every, keep
        self.folder.mkdir(parents=True, exist_ok=True)
        self.examples = 0  # learned so far, those before a restart included
        self._saved = -1  # examples of the last file

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.folder)!r}, every={self.every}, keep={self.keep})"

    def restore(self, model: Any, max_bytes: int = LARGEST_FILE) -> tuple[Any, Any]:
        """(model, position) of the newest file that can be read; without one, the given model and
        None.

        A file that is damaged is passed over with a warning. `max_bytes` is as in `rb.load`.
        """
        for draft in self.folder.glob(f"{files.DRAFT_PREFIX}*.tmp"):  # of a process that was killed
            with contextlib.suppress(OSError):
                draft.unlink()
        found = self._files()
        # a file that is passed over keeps its number, and later ones get higher numbers
        self.examples = max(found, default=0)
        self._saved = -1
        for number in sorted(found, reverse=True):
            try:
                found_model, beside = saving.read(found[number], max_bytes)
                position = plain.decoded(beside[KEY]["position"])
            except (SavedModelError, KeyError, TypeError, OSError) as error:
                warnings.warn(f"{found[number]} is passed over: {error}", stacklevel=2)
            else:
                self._saved = number
                return found_model, position
        return model, None

    def learned(self, model: Any, position: Any = None) -> bool:
        """Count an example that the model has learned; every so many, `save`. Returns whether it
        was saved.

        `position` is where to go on after a restart, such as the offset of the example plus one:
        text, a number, a tuple, or a dict of these, such as {partition: offset}.
        """
        self.examples += 1
        return self.examples % self.every == 0 and self.save(model, position)

    def save(self, model: Any, position: Any = None) -> bool:
        """Write a file now, if something was learned since the last one, and delete the oldest.
        Returns whether.

        For the end of a program, and for quiet moments of a stream.
        """
        if self.examples == self._saved:
            return False
        known = {"position": plain.encoded(position)}
        saving.write(model, self.folder / f"{self.examples:015}{SUFFIX}", {KEY: known})
        self._saved = self.examples
        found = self._files()
        for number in sorted(found)[: -self.keep]:
            with contextlib.suppress(OSError):  # somebody reads it, or has deleted it
                found[number].unlink()
        return True

    def _files(self) -> dict[int, pathlib.Path]:
        """{examples: path} of the files."""
        names = self.folder.glob(f"*{SUFFIX}")
        return {int(path.stem): path for path in names if path.stem.isdecimal()}
