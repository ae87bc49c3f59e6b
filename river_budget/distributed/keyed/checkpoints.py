"""The folder of a checkpoint: a database per shard, and a note that says which checkpoint is complete."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from ...saving import container

NOTE = "keyed_models.json"
FORMAT = 1


class Folder:
    """Where the checkpoints of one KeyedModels are."""

    def __init__(self, path: str | os.PathLike[str], model: Any, key: Any, shards: int):
        self.path = pathlib.Path(path).absolute()
        self.path.mkdir(parents=True, exist_ok=True)
        self.made_for = {"model": repr(model), "key": repr(key), "shards": shards}
        self.checkpoint = self.rows = 0
        note = self.path / NOTE
        if note.exists():
            self._read(note)

    def _read(self, note: pathlib.Path) -> None:
        content = json.loads(note.read_text())
        if content["format"] > FORMAT:
            raise ValueError(f"{note} comes from a later version of river_budget")
        for name, value in self.made_for.items():
            if content[name] != value:
                raise ValueError(
                    f"{self.path} holds checkpoints of a KeyedModels with {name}={content[name]}, not "
                    f"{name}={value}: give the same or another folder"
                )
        self.checkpoint, self.rows = content["checkpoint"], content["rows"]

    def shard(self, place: int) -> pathlib.Path:
        """The database of a shard."""
        return self.path / f"shard-{place}.sqlite"

    def complete(self, checkpoint: int, rows: int) -> None:
        """All shards have written this checkpoint, which contains so many rows."""
        content = {"format": FORMAT, "checkpoint": checkpoint, "rows": rows} | self.made_for
        container.write(self.path / NOTE, [json.dumps(content, indent=1).encode()])
        self.checkpoint, self.rows = checkpoint, rows
