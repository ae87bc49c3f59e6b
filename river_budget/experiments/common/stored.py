"""What is on disk: the files of datasets, and the outcomes of finished runs."""

from __future__ import annotations

import functools
import json
import pathlib
import threading
from typing import Any

from ... import datasets

lock = threading.RLock()  # held while reading: runs in several threads share the arrays


@functools.cache
def _dataset(name: str) -> Any:
    return datasets.load(name)


def dataset(name: str) -> Any:
    """The object of a dataset, always the same one, which holds its arrays."""
    with lock:
        return _dataset(name)


def at_hand(name: str, *parts: str) -> bool:
    """Whether a dataset, and these parts of it, can be read without a download."""
    data = dataset(name)
    if not getattr(data, "at_hand", True):
        return False
    return all(datasets.fetching.find(data.definition.file(part).names) for part in parts)


def first_at_hand(*names: str) -> str:
    """The first of these datasets that can be read without a download; where none can, the first."""
    return next(filter(at_hand, names), names[0])


class Outcomes:
    """The outcomes of finished runs by their keys, in a file with one line of JSON for each.

    Every line also contains `marks`, such as a version; lines with other marks are ignored.
    """

    def __init__(self, path: str | pathlib.Path, **marks: str):
        self.path, self.marks = pathlib.Path(path), marks
        self._outcomes: dict[str, dict[str, Any]] = {}
        text = self.path.read_text() if self.path.is_file() else ""
        self._line_is_open = not text.endswith("\n") and text != ""  # its run was killed
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # it was cut off
                continue
            if marks.items() <= entry.items():
                self._outcomes[entry["key"]] = entry["outcome"]

    def __contains__(self, key: str) -> bool:
        return key in self._outcomes

    def get(self, key: str) -> dict[str, Any] | None:
        """The outcome of a run, if it is finished."""
        return self._outcomes.get(key)

    def add(self, key: str, outcome: dict[str, Any]) -> None:
        """Add an outcome, in memory and on disk."""
        self._outcomes[key] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("\n" if self._line_is_open else "")
            self._line_is_open = False
            file.write(json.dumps({"key": key, **self.marks, "outcome": outcome}) + "\n")
