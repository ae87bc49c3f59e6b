"""Models on disk: as bytes, in the database of a shard, in a folder of checkpoints, and all in one
file.

A checkpoint is a folder with an SQLite database per shard, and a note that says which checkpoint is
complete.

In a database, every state carries the number of the checkpoint that it belongs to, and the one with
the largest number counts. All writes between two checkpoints belong to the next one, in one
transaction: if a process dies before it ends, the last checkpoint remains. A checkpoint is complete
when all shards have written theirs; the last complete one is kept until the next one is complete.

The transaction begins at once and locks the database, so no two shards ever write the same one.

The file of all models is a zip archive of three parts:

    model.json      as in saving/archive.py: format, river_budget, form of the states, key, rows
    template        the state of the model that all are clones of
    models          key and state of every model, in the order of the keys, each preceded by its
                    length in 8 bytes, little endian

A state is a file of `rb.save`, or a pickle. The bytes do not depend on how the models were spread
over shards.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
import pickle
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

from ...saving import LARGEST_FILE, SavedModelError, archive, files, nodes
from ...saving.errors import damaged
from .keys import unpacked

NOTE = "keyed_models.json"
FORMAT = 1  # version of the note

TABLE = "CREATE TABLE models (key BLOB, checkpoint INTEGER, state BLOB, UNIQUE (key, checkpoint))"
SCHEMA = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
LATEST = "SELECT state FROM models WHERE key = ? ORDER BY checkpoint DESC LIMIT 1"
WRITE = "INSERT OR REPLACE INTO models VALUES (?, ?, ?)"
OUTDATED = """DELETE FROM models WHERE key = ?1 AND checkpoint <
    (SELECT max(checkpoint) FROM models WHERE key = ?1 AND checkpoint <= ?2)"""
PATIENCE = 10  # seconds to wait for the lock of a process that has just been killed

TEMPLATE, MODELS = "template", "models"
FILE_PARTS = [archive.HEAD, TEMPLATE, MODELS]
SAVED, PICKLED = "saved", "pickled"  # the forms; only reading pickled ones can execute code


class States:
    """The clones of one model as bytes, and back: as `river_budget.save` writes them if it can,
    else pickled.
    """

    def __init__(self, template: Any):
        self.settings: str | None = None
        with contextlib.suppress(SavedModelError):
            self.settings = nodes.settings(nodes.encoded(template.clone())[0])
        self.form = PICKLED if self.settings is None else SAVED

    def of(self, model: Any) -> bytes:
        if self.form == PICKLED:
            return pickle.dumps(model, protocol=5)
        return archive.packed(*nodes.saved(model))  # which raises for what could not be read again

    def model(self, state: bytes) -> Any:
        """The model of these bytes. Compiled code takes for granted that the models of a shard are
        clones.
        """
        if self.form == PICKLED:
            return pickle.loads(state)
        head, source = archive.parsed(state, "the state of a model", LARGEST_FILE)
        model = nodes.loaded(head.get("model"), source)
        if nodes.settings(head["model"]) != self.settings:
            raise SavedModelError("the state of a model has another class or other parameters")
        return model


class Folder:
    """The folder with the checkpoints of one KeyedModels."""

    def __init__(self, path: str | os.PathLike[str], model: Any, key: Any, shards: int):
        self.path = pathlib.Path(path).absolute()
        self.path.mkdir(parents=True, exist_ok=True)
        self.made_for = {"model": repr(model), "key": repr(key), "shards": shards}
        self.checkpoint = self.rows = 0
        note = self.path / NOTE
        if not note.exists():
            return
        content = json.loads(note.read_text())
        if content["format"] != FORMAT:
            raise ValueError(f"{note} comes from another version of river_budget")
        for name, value in self.made_for.items():
            if content[name] != value:
                raise ValueError(
                    f"{self.path} holds checkpoints of a KeyedModels with {name}={content[name]}, "
                    "not "
                    f"{name}={value}: give the same or another folder"
                )
        gone = [path for path in map(self.shard, range(content["shards"])) if not path.exists()]
        if gone:  # without this check it would silently begin without models
            raise ValueError(
                f"{gone[0]} is gone, which held a part of the checkpoint in {self.path}"
            )
        self.checkpoint, self.rows = content["checkpoint"], content["rows"]

    def shard(self, place: int) -> pathlib.Path:
        return self.path / f"shard-{place}.sqlite"

    def complete(self, checkpoint: int, rows: int) -> None:
        """Note that all shards have written this checkpoint, which contains so many rows."""
        content = {"format": FORMAT, "checkpoint": checkpoint, "rows": rows} | self.made_for
        files.write(self.path / NOTE, json.dumps(content, indent=1).encode())
        self.checkpoint, self.rows = checkpoint, rows


class ShardDatabase:
    """Keys and states: those of the last checkpoint, and changes since.

    After an error, such as that of a full disk, it is of no more use: what SQLite has undone is not
    known.
    """

    def __init__(self, path: str | os.PathLike[str], checkpoint: int):
        self.path = path
        self.failure: sqlite3.Error | None = None
        self.checkpoint = self.complete = checkpoint
        # opened in one thread of the worker and used in another, never in two at once
        self.connection = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise RuntimeError(f"{path} is in use by another KeyedModels ({error})") from None
            raise type(error)(f"{path}: {error}") from None  # what is left of a full disk
        found = [text for (text,) in self._execute(SCHEMA)]
        if not found:
            self._execute(TABLE)
        elif found != [TABLE]:  # triggers and views would run as part of what is asked here
            raise SavedModelError(f"{path} is no database of models")
        self._execute("DELETE FROM models WHERE checkpoint > ?", checkpoint)
        self.seal(checkpoint)

    def _execute(self, statement: str, *parameters: Any) -> list[Any]:
        """The rows of the result of a statement."""
        if self.failure is None:
            try:
                return self.connection.execute(statement, parameters).fetchall()
            except sqlite3.Error as error:
                self.failure = type(error)(f"{self.path}: {error}")
        raise self.failure

    def state(self, key: bytes) -> bytes | None:
        """The latest state of a key."""
        rows = self._execute(LATEST, key)
        if rows and type(rows[0][0]) is not bytes:
            raise SavedModelError("a state in a checkpoint is no model")
        return rows[0][0] if rows else None

    def write(self, key: bytes, state: bytes) -> None:
        """Write a state that belongs to the next checkpoint."""
        self._execute(WRITE, key, self.checkpoint + 1, state)
        self._execute(OUTDATED, key, self.complete)

    def seal(self, checkpoint: int) -> None:
        """Make everything written so far the checkpoint of this number."""
        self._execute("COMMIT")
        self._execute("BEGIN IMMEDIATE")
        self.checkpoint = checkpoint

    def keys(self) -> set[bytes]:
        """All keys that have a state."""
        found = {key for (key,) in self._execute("SELECT DISTINCT key FROM models")}
        for key in found:
            unpacked(key)
        return found

    def close(self) -> None:
        """Close the database. Writes since the last checkpoint are undone."""
        self.connection.close()


def write(
    path: str | os.PathLike[str],
    about: dict[str, Any],
    template: bytes,
    models: Iterable[tuple[bytes, bytes]],
) -> None:
    """Write a file in one step (as saving/files.py does)."""
    with files.created(path) as file, zipfile.ZipFile(file, "w") as parts:
        parts.writestr(zipfile.ZipInfo(archive.HEAD), archive.head(**about))
        parts.writestr(zipfile.ZipInfo(TEMPLATE), template)
        with parts.open(zipfile.ZipInfo(MODELS), "w", force_zip64=True) as stream:
            for part in itertools.chain.from_iterable(models):
                stream.write(len(part).to_bytes(8, "little"))
                stream.write(part)


class Reader:
    """Reads a file that is open, whose checksums are checked first."""

    def __init__(self, file: IO[bytes], path: str | os.PathLike[str]):
        try:
            self.parts = zipfile.ZipFile(file)
            archive.check_stored(self.parts.infolist())
            if self.parts.namelist() != FILE_PARTS or self.parts.testzip() is not None:
                raise damaged("its parts are others")
            self.template = self.parts.read(TEMPLATE)
            self.form, self.key, self.rows = self._header()
        except archive.BROKEN as error:
            reason = f"{path} was not saved by KeyedModels, or is damaged: {error}"
            raise SavedModelError(reason) from None

    def _header(self) -> tuple[str, Any, int]:
        about = archive.head_of(
            self.parts.read(archive.HEAD), archive.Source({}, room=LARGEST_FILE)
        )
        match about:
            case {
                "form": "saved" | "pickled" as form,
                "key": str() | int() as key,
                "rows": int(rows),
            }:
                if rows >= 0:
                    return form, key, rows
        raise damaged("it names no key, rows or form of models")

    def models(self) -> Iterator[tuple[bytes, bytes]]:
        """Key and state of every model."""
        last = b""
        with self.parts.open(MODELS) as stream:
            while start := stream.read(8):
                name, state = self._part(stream, start), self._part(stream, stream.read(8))
                unpacked(name)
                if name <= last:
                    raise damaged("its keys are not in order")
                last = name
                yield name, state

    def _part(self, stream: IO[bytes], length: bytes) -> bytes:
        n = int.from_bytes(length, "little")
        part = stream.read(n) if n <= self.parts.getinfo(MODELS).file_size else b""
        if len(length) < 8 or len(part) < n:
            raise damaged("a part of it is longer than the file")
        return part
