"""One shard: the models of some keys, in memory and on disk."""

from __future__ import annotations

import pathlib
from typing import Any

from ...nested import is_bare, memory_of
from .chunks import ShardRows
from .learners import Learner, OurLearner
from .storage import ShardDatabase, States


class Shard:
    """The object of a worker: models by key."""

    def __init__(
        self, template: Any, path: pathlib.Path | None, checkpoint: int, capacity: int | None
    ):
        self.states, self.capacity = States(template), capacity
        self.learner = (OurLearner if is_bare(template) else Learner)(template)
        self.models: dict[bytes, Any] = {}  # in the order of their last use
        self.changed: set[bytes] = set()  # keys whose models have changed and are not written yet
        self.database = None if path is None else ShardDatabase(path, checkpoint)

    # learning

    def run(self, rows: ShardRows, learn: bool, predict: bool) -> Any:
        """Predict each row, or None, and then learn it. An unknown key has an untrained model."""
        self.learner.begin(rows, learn, predict)
        for key, start, stop in rows:
            known = self._known(key)
            model = self.learner.clone() if known is None else known
            if learn or known is not None:
                self._keep(key, model, changed=learn)
            self.learner.one(model, start, stop)
        return self.learner.end()

    # models

    def _known(self, key: bytes) -> Any:
        """The model of a key, or None."""
        model = self.models.get(key)
        if model is None and self.database is not None:
            state = self.database.state(key)
            if state is not None:
                model = self.states.model(state)
                self.learner.share(model)
        return model

    def _keep(self, key: bytes, model: Any, changed: bool = True) -> None:
        """Make a model the most recently used one. Moves the least recently used one to disk if there are too many."""
        if self.capacity is not None:
            self.models.pop(key, None)
            if len(self.models) >= self.capacity:
                self._spill(next(iter(self.models)))
        self.models[key] = model
        if changed and self.database is not None:
            self.changed.add(key)

    def _spill(self, key: bytes) -> None:
        if key in self.changed:
            self._write(key, self.models[key])
            self.changed.discard(key)
        del self.models[key]

    def _write(self, key: bytes, model: Any) -> None:
        assert self.database is not None
        self.database.write(key, self.states.of(model))

    def seal(self, checkpoint: int, complete: int) -> None:
        """Write all models that have changed since the last checkpoint. `complete` is an earlier checkpoint that
        all shards have written."""
        assert self.database is not None
        self.database.complete = complete
        for key in sorted(self.changed):
            self._write(key, self.models[key])
        self.changed.clear()
        self.database.seal(checkpoint)

    def close(self) -> None:
        """Close the database without writing: changes since the last checkpoint are lost."""
        self.models.clear()
        if self.database is not None:
            self.database.close()

    # inspection

    def keys(self) -> list[bytes]:
        """All keys in order, whether their models are in memory or not."""
        stored = set() if self.database is None else self.database.keys()
        return sorted(stored.union(self.models))

    def resident(self) -> int:
        """How many models are in memory."""
        return len(self.models)

    def states_of(self, keys: list[bytes]) -> list[bytes | None]:
        """The states of keys. No model enters or leaves memory."""
        return [self._state_of(key) for key in keys]

    def _state_of(self, key: bytes) -> bytes | None:
        if key in self.models:
            return self.states.of(self.models[key])
        return None if self.database is None else self.database.state(key)

    def adopt(self, pairs: list[tuple[bytes, bytes]]) -> None:
        """Take models from a file."""
        for key, state in pairs:
            model = self.states.model(state)
            self.learner.share(model)
            self._keep(key, model)

    def memory_usage(self) -> int:
        """Bytes of the models in memory and of the dict that finds them."""
        index = self.models.__sizeof__() + sum(map(bytes.__sizeof__, self.models))
        return index + sum(map(memory_of, self.models.values()))
