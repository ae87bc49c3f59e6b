"""The outcomes of a sweep, the file that stores them, and texts that identify settings in another
session.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import os
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from river import base, compose

from ...parameters import Value

BEGINNING = b'{"key": "'  # the beginning of every line of a checkpoint
MEASURED = ("value", "examples", "memory", "seconds")


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
        Bytes of the model in the end.
    error
        Why the setting failed, or None.
    seconds
        How long the setting took. Two outcomes may differ in this and still be equal.

    Examples
    --------

    >>> from river_budget.distributed import Outcome

    >>> outcome = Outcome(0, "budget=10", {"budget": 10}, value=0.9, examples=100)
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
    memory: int = 0
    error: str | None = None
    seconds: float = dataclasses.field(default=0.0, compare=False)


class Journal:
    """A file with one line for each outcome, written to the disk before the next outcome.

    A line that was cut off is removed. A file with other content is not changed.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)
        self.found: dict[str, dict[str, Any]] = {}
        content = self.path.read_bytes() if self.path.exists() else b""
        whole, _, rest = content.rpartition(b"\n")
        try:
            for line in whole.splitlines():
                record = json.loads(line)
                self.found[record["key"]] = {name: record[name] for name in MEASURED}
            if rest[: len(BEGINNING)] != BEGINNING[: len(rest)]:
                raise ValueError
        except (ValueError, TypeError, KeyError):
            raise ValueError(
                f"checkpoint: {str(path)!r} is not the checkpoint of a sweep, name another file"
            ) from None
        if rest:
            os.truncate(self.path, len(content) - len(rest))

    def add(self, key: str, outcome: Outcome) -> None:
        numbers = {name: getattr(outcome, name) for name in MEASURED}
        record = {"key": key, "setting": outcome.name} | numbers
        with open(self.path, "ab", buffering=0) as file:
            file.write(json.dumps(record).encode() + b"\n")
            os.fsync(file.fileno())


def chosen(model: Any, grid: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the parameters of a grid have in a model."""
    setting = {}
    for name, inside in grid.items():
        value = (
            model[name]
            if isinstance(model, (compose.Pipeline, compose.TransformerUnion))
            else getattr(model, name)
        )
        setting[name] = chosen(value, inside) if isinstance(inside, Mapping) else value
    return setting


def described(value: Any) -> str:
    """A value as text, with all parameters. The text is the same in another session."""
    if isinstance(value, Value):
        return repr(value)  # which contains the parameters that are set
    if isinstance(value, base.Base):
        return f"{type(value).__name__}({described(value._get_params())})"
    if isinstance(value, dict):
        return ", ".join(
            f"{name}({described(each)})" if isinstance(each, dict) else f"{name}={described(each)}"
            for name, each in value.items()
        )
    if isinstance(value, tuple) and len(value) == 2 and inspect.isclass(value[0]):
        if issubclass(value[0], Value):
            return described(value[0](**value[1]))
        return f"{value[0].__name__}({described(value[1])})"  # as River writes an object
    if inspect.isroutine(value) or inspect.isclass(value):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)


def fingerprint(*texts: str) -> str:
    """A short text that identifies these texts."""
    for text in texts:
        if unnamed := re.search(r"\S*(<lambda>| at 0x[0-9a-f]+)", text):
            raise ValueError(
                f"checkpoint: {unnamed[0]} cannot be recognised in a later session, use a function "
                "with a name or an object whose repr tells its content"
            )
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
