"""The models of one shard on disk: an SQLite database.

Every state carries the number of the checkpoint that it belongs to, and the one with the largest number
counts. What is written between two checkpoints belongs to the next one and is one transaction with it: a
process that dies in between leaves the last checkpoint. A checkpoint is complete when all shards have
written theirs, and the last complete one is kept until the next is.

The transaction begins at once and locks the database, so no two shards ever write the same one.
"""

from __future__ import annotations

import pathlib
import sqlite3

TABLE = "CREATE TABLE IF NOT EXISTS models (key BLOB, checkpoint INTEGER, state BLOB, UNIQUE (key, checkpoint))"
LATEST = "SELECT state FROM models WHERE key = ? ORDER BY checkpoint DESC LIMIT 1"
WRITE = "INSERT OR REPLACE INTO models VALUES (?, ?, ?)"
OUTDATED = """DELETE FROM models WHERE key = ?1 AND checkpoint <
    (SELECT max(checkpoint) FROM models WHERE key = ?1 AND checkpoint <= ?2)"""
PATIENCE = 10  # seconds for a process that has just been killed to let go of the database


class Store:
    """Keys and states, as of a checkpoint and since."""

    def __init__(self, path: pathlib.Path, checkpoint: int):
        self.checkpoint = self.complete = checkpoint
        # opened in one thread of the worker and used in another, never in two at once
        self.database = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            self.database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise RuntimeError(f"{path} is in use by another KeyedModels ({error})") from None
        self.database.execute(TABLE)
        self.database.execute("DELETE FROM models WHERE checkpoint > ?", (checkpoint,))
        self._commit()

    def _commit(self) -> None:
        self.database.execute("COMMIT")
        self.database.execute("BEGIN IMMEDIATE")

    def state(self, key: bytes) -> bytes | None:
        """The latest state of a key."""
        row = self.database.execute(LATEST, (key,)).fetchone()
        return None if row is None else row[0]

    def write(self, key: bytes, state: bytes) -> None:
        """A state that belongs to the next checkpoint."""
        self.database.execute(WRITE, (key, self.checkpoint + 1, state))
        self.database.execute(OUTDATED, (key, self.complete))

    def seal(self, checkpoint: int) -> None:
        """All that has been written is a checkpoint of this number."""
        self._commit()
        self.checkpoint = checkpoint

    def keys(self) -> set[bytes]:
        """All keys that have a state."""
        return {key for (key,) in self.database.execute("SELECT DISTINCT key FROM models")}

    def close(self) -> None:
        """What came after the last checkpoint is forgotten."""
        self.database.close()
