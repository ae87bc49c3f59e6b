"""Measurements on disk. They are written as soon as a task is finished."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from ...core.compiling.jit import stamp

Measurement = dict[str, Any]  # "at", "values" and "seconds": lists of equal length


class Store:
    """One line of JSON for every finished task. Lines of another version of core are ignored."""

    def __init__(self, folder: str | pathlib.Path):
        self.path = pathlib.Path(folder) / "outcomes.jsonl"
        self._measurements: dict[str, Measurement] = {}
        self._line_is_open = False  # whether the last line was cut off, as when a run is killed
        if self.path.is_file():
            text = self.path.read_text()
            self._line_is_open = not text.endswith("\n")
            for line in text.splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        """Read one line, unless it was cut off or belongs to another version of core."""
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            return
        if entry.get("core") == stamp():
            self._measurements[entry["key"]] = entry["outcome"]

    def __contains__(self, key: str) -> bool:
        return key in self._measurements

    def get(self, key: str) -> Measurement | None:
        """The measurement of a task, if it is finished."""
        return self._measurements.get(key)

    def add(self, key: str, measurement: Measurement) -> None:
        """Add a measurement, in memory and on disk."""
        self._measurements[key] = measurement
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("\n" if self._line_is_open else "")
            self._line_is_open = False
            file.write(json.dumps({"key": key, "core": stamp(), "outcome": measurement}) + "\n")
