"""Outcomes of the settings of a sweep, and the file that stores them."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any

BEGINNING = '{"key": "'  # the beginning of every line of a checkpoint


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one setting.

    Not for making by hand: `sweep` does.

    Parameters
    ----------
    number
        The place of the setting in the grid, from 0 on.
    name
        The setting as text.
    setting
        The setting, which `model.clone` takes.
    value
        The value of the metric; None if the setting failed.
    examples
        How many examples were predicted and learned.
    memory
        Bytes of the model in the end; None if the model does not say.
    error
        Why the setting failed, or None.
    seconds
        How long the setting took. Two outcomes may differ in this and still be equal.

    Examples
    --------

    >>> from river_budget.distributed import Outcome

    >>> outcome = Outcome(0, "budget=10", {"budget": 10}).measured(value=0.9, examples=100)
    >>> outcome.name, outcome.value, outcome.error
    ('budget=10', 0.9, None)

    References
    ----------
    [^1]: The guide, [many models](guide/many_models.md).

    """

    number: int
    name: str
    setting: dict[str, Any] = dataclasses.field(compare=False)
    value: float | None = None
    examples: int = 0
    memory: int | None = None
    error: str | None = None
    seconds: float = dataclasses.field(default=0.0, compare=False)

    def measured(self, **numbers: Any) -> Outcome:
        """The same setting with these measurements."""
        return dataclasses.replace(self, **numbers)

    def failed(self, error: Exception) -> Outcome:
        """The same setting with its error."""
        return dataclasses.replace(self, error=f"{type(error).__name__}: {error}")

    def numbers(self) -> dict[str, Any]:
        """The measurements, by name."""
        names = ("value", "examples", "memory", "seconds")
        return {name: getattr(self, name) for name in names}


class Journal:
    """A file with one line for each outcome, written to the disk before the next outcome.

    A line that was cut off is removed. A file with other content is not changed.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)
        self.found: dict[str, dict[str, Any]] = {}
        content = self.path.read_bytes() if self.path.exists() else b""
        whole, _, rest = content.rpartition(b"\n")
        for line in whole.splitlines():
            key, numbers = self._parsed(line)
            self.found[key] = numbers
        if rest:
            self._drop(rest, len(content) - len(rest))

    def _parsed(self, line: bytes) -> tuple[str, dict[str, Any]]:
        try:
            record = json.loads(line)
            names = ("value", "examples", "memory", "seconds")
            return record["key"], {name: record[name] for name in names}
        except (ValueError, TypeError, KeyError):
            raise self._foreign() from None

    def _drop(self, rest: bytes, length: int) -> None:
        beginning = BEGINNING.encode()
        if rest[: len(beginning)] != beginning[: len(rest)]:
            raise self._foreign()
        os.truncate(self.path, length)

    def _foreign(self) -> ValueError:
        return ValueError(
            f"checkpoint: {str(self.path)!r} is not the checkpoint of a sweep, name another file"
        )

    def add(self, key: str, outcome: Outcome) -> None:
        """Write one line."""
        record = {"key": key, "setting": outcome.name, **outcome.numbers()}
        with open(self.path, "ab", buffering=0) as file:
            file.write(json.dumps(record).encode() + b"\n")
            os.fsync(file.fileno())
