"""One shard: the models of some keys, in memory and on disk."""

from __future__ import annotations

import os
from typing import Any

from ...wrappers.nested import holds_predictions, is_estimator, memory_of
from .chunks import ShardRows
from .learners import Clones, Lesson, OurClones, OurLesson
from .storage import ShardDatabase, States


class Shard:
    """The object of a worker: models by key."""

    def __init__(
        self, template: Any, path: str | os.PathLike[str], checkpoint: int, capacity: int | None
    ):
        self.states, self.capacity = States(template), capacity
        ours = is_estimator(template)
        self.clones = OurClones(template) if ours else Clones(template)
        self.lesson = OurLesson if ours else Lesson
        self.holds_predictions = holds_predictions(template)
        self.models: dict[bytes, Any] = {}  # in the order of their last use
        self.changed: set[bytes] = set()  # keys whose models have changed and are not written yet
        self.database = ShardDatabase(path, checkpoint)

    # learning

    def run(self, rows: ShardRows, learn: bool, predict: bool) -> list[Any] | None:
        """Predict each row, or None, and then learn it. An unknown key has an untrained model."""
        lesson, found = self.lesson(self.clones, rows, learn, predict), []
        for key, start, stop in rows.spans:
            known = self._known(key)
            model = self.clones.clone() if known is None else known
            if learn or known is not None:
                self._keep(key, model, changed=learn or self.holds_predictions)
            found += lesson.run(model, start, stop)
        return found if predict else None

    # models

    def _known(self, key: bytes) -> Any:
        """The model of a key, or None."""
        if key in self.models:
            return self.models[key]
        state = self.database.state(key)
        return None if state is None else self._read(state)

    def _read(self, state: bytes) -> Any:
        model = self.states.model(state)
        self.clones.share(model)
        return model

    def _keep(self, key: bytes, model: Any, changed: bool = True) -> None:
        """Make a model the most recently used one. Moves the least recently used one to disk if
        there are too many.
        """
        if self.capacity is not None:
            self.models.pop(key, None)
            if len(self.models) >= self.capacity:
                self._write(oldest := next(iter(self.models)))
                del self.models[oldest]
        self.models[key] = model
        if changed:
            self.changed.add(key)

    def _write(self, key: bytes) -> None:
        """Write a model to disk, if it has changed."""
        if key in self.changed:
            self.database.write(key, self.states.of(self.models[key]))
            self.changed.discard(key)

    def seal(self, checkpoint: int, complete: int) -> None:
        """Write all models that have changed since the last checkpoint. `complete` is an earlier
        checkpoint that all shards have written.
        """
        self.database.complete = complete
        for key in sorted(self.changed):
            self._write(key)
        self.database.seal(checkpoint)

    def close(self) -> None:
        """Close the database without writing: changes since the last checkpoint are lost."""
        self.models.clear()
        self.database.close()

    # inspection

    def keys(self) -> list[bytes]:
        """All keys in order, whether their models are in memory or not."""
        return sorted(self.database.keys().union(self.models))

    def resident(self) -> int:
        """How many models are in memory."""
        return len(self.models)

    def states_of(self, keys: list[bytes]) -> list[bytes | None]:
        """The states of keys. No model enters or leaves memory."""
        models = self.models
        return [
            self.states.of(models[key]) if key in models else self.database.state(key)
            for key in keys
        ]

    def adopt(self, pairs: list[tuple[bytes, bytes]]) -> None:
        """Take models from a file."""
        for key, state in pairs:
            self._keep(key, self._read(state))

    def memory_usage(self) -> int:
        """Bytes of the models in memory and of the dict that finds them."""
        index = self.models.__sizeof__() + sum(map(bytes.__sizeof__, self.models))
        return index + sum(map(memory_of, self.models.values()))
