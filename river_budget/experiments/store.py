"""Outcomes on disk: what is finished is kept, whatever happens next."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from ..core.jit import stamp

Outcome = dict[str, Any]


class Store:
    """One line of JSON for every finished task. Those of another version of the core are not used."""

    def __init__(self, folder: str | pathlib.Path):
        self.path = pathlib.Path(folder) / "outcomes.jsonl"
        self._outcomes: dict[str, Outcome] = {}
        self._line_is_open = False  # the last one was cut off when a run was killed
        if self.path.is_file():
            text = self.path.read_text()
            self._line_is_open = not text.endswith("\n")
            for line in text.splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            return
        if entry.get("core") == stamp():
            self._outcomes[entry["key"]] = entry["outcome"]

    def __contains__(self, key: str) -> bool:
        return key in self._outcomes

    def get(self, key: str) -> Outcome | None:
        return self._outcomes.get(key)

    def add(self, key: str, outcome: Outcome) -> None:
        self._outcomes[key] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("\n" if self._line_is_open else "")
            self._line_is_open = False
            file.write(json.dumps({"key": key, "core": stamp(), "outcome": outcome}) + "\n")
