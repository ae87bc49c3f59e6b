"""The outcomes of finished runs, in a file."""

from __future__ import annotations

import json
import lzma
import pathlib
from collections.abc import Mapping
from typing import Any


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

    @classmethod
    def read(cls, path: str | pathlib.Path) -> Outcomes:
        """The outcomes that `write` has written; they are not written anew by `add`."""
        found = cls("")
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            found._outcomes = dict(json.loads(line) for line in lines)
        return found

    @staticmethod
    def write(path: str | pathlib.Path, outcomes: Mapping[str, dict[str, Any]]) -> None:
        """Write outcomes into one compressed file, the same bytes for the same outcomes."""
        text = "".join(json.dumps(pair) + "\n" for pair in outcomes.items())
        pathlib.Path(path).write_bytes(lzma.compress(text.encode(), preset=9))
