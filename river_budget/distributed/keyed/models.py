"""A model per key, spread over processes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from river import base

from ...parameters import one_of, optional, whole
from ...saving import SavedModelError, files
from ...saving import opened as model_in
from ..workers import BACKENDS
from .chunks import Chunk
from .coordinator import Coordinator
from .keys import packed, shard_of, unpacked
from .storage import PICKLED, Folder, Reader, States, write


class KeyedModels:
    """One clone of a model for every key, learning side by side in several processes.

    A chunk of the stream is a frame or a list of dicts, and one of its columns or entries holds the
    key of a row. Every key has a model of its own, which starts as a clone of `model` and learns
    the rows of its key in the order of the stream. The result does not depend on the backend, on
    the number of shards or on how the stream is cut into chunks.

    Keys are text, bytes, numbers or tuples of these. Keys that are equal in Python are one key: 1,
    1.0 and True. The column of keys is not a feature.

    A classifier of this package predicts None for a key until it has learned a label for it; a
    boolean column of targets stands for both labels.

    With a folder for checkpoints, nothing is lost that a checkpoint holds. If a worker is lost, all
    of them go back to the last checkpoint, and `WorkerLost` says from which row the stream must be
    sent again: `rows_done`, the number of rows that the models have learned. The same holds for an
    error of the disk, such as a full one, and for a new KeyedModels with the same folder after the
    program has ended.

    Clones of a model with `seed=None` have different random numbers: for reproducible results, give
    the model a seed.

    Not for few keys or rows: every chunk is a message to each process. Nor for keys that should
    learn from each other.

    Parameters
    ----------
    model
        Any River model: one of this package, another one, or a pipeline.
    key
        The name of the column that holds the keys.
    shards
        The number of workers.
    checkpoint
        A folder for checkpoints, on a disk that all workers see. None: no checkpoints are written,
        and the loss of a worker ends the run. Models that `river_budget.save` does not know are
        pickled there: do not continue from a folder that others may have written.
    checkpoint_every
        A checkpoint is written after the chunk that completes so many rows since the last one.
    max_keys
        The largest number of models in memory, in all shards together. The least recently used
        models are moved to `checkpoint`. None: no limit.
    backend
        "ray": each shard is a process of the Ray that runs. "serial": all shards are in this
        process, with the same results.

    Examples
    --------

    >>> import pandas as pd
    >>> import river_budget as rb
    >>> from river_budget.distributed import KeyedModels

    >>> X = pd.DataFrame({"user": ["ann", "bob"] * 100, "x": [i % 7 for i in range(200)]})
    >>> y = (X["x"] > 3) == (X["user"] == "ann")
    >>> model = rb.BSGDClassifier(budget=10, seed=1)
    >>> with KeyedModels(model, key="user", shards=2, backend="serial") as models:
    ...     predictions = models.predict_then_learn_many(X, y)
    ...     ann = models.model("ann")
    >>> predictions[-4:].tolist() == y[-4:].tolist()
    True
    >>> ann.predict_one({"x": 6}), ann.predict_one({"x": 0})
    (True, False)

    References
    ----------
    [^1]: The guide, [many models](guide/many_models.md).

    """

    def __init__(
        self,
        model: base.Estimator,
        key: str | int,
        shards: int = 2,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100_000,
        max_keys: int | None = None,
        backend: Literal["ray", "serial"] = "ray",
    ):
        if not isinstance(model, base.Estimator):
            raise ValueError(f"model must be a River model, not {model!r}")
        if not isinstance(key, (str, int)):
            raise ValueError(f"key must be the name of a column, not {key!r}")
        whole(1)("shards", shards)
        whole(1)("checkpoint_every", checkpoint_every)
        optional(whole(1))("max_keys", max_keys)
        one_of(*BACKENDS)("backend", backend)
        if max_keys is not None and checkpoint is None:
            raise ValueError("max_keys needs checkpoint: a folder for the models that wait")
        self.key, self.shards = key, shards
        self._template: Any = model.clone()
        self._states = States(self._template)
        self._coordinator = Coordinator(
            self._template,
            backend,
            shards,
            capacity=None if max_keys is None else max(1, max_keys // shards),
            folder=None if checkpoint is None else Folder(checkpoint, model, key, shards),
            checkpoint_every=checkpoint_every,
        )

    @property
    def _shards(self) -> Coordinator:
        """The coordinator of the shards, if they have not ended."""
        if not self._coordinator.workers:
            raise RuntimeError("this KeyedModels is closed")
        return self._coordinator

    @property
    def rows_done(self) -> int:
        """How many rows have been learned, by this KeyedModels and those before with the same
        folder.
        """
        return self._coordinator.rows_done

    @property
    def rows_saved(self) -> int:
        """How many of them the last complete checkpoint contains."""
        return self._coordinator.rows_saved

    # learning and predicting

    def learn_many(self, X: Any, y: Any = None, w: Any = 1.0) -> None:
        """Learn the rows of a chunk, each with the model of its key.

        Returns before the rows are learned, and only waits for shards that lag behind and for
        checkpoints. An invalid chunk raises at once, and none of its rows is learned. If a model
        refuses a row, such as a third class for a binary model, one of the next calls raises the
        error: the rows before this one are learned.

        Parameters
        ----------
        X
            A frame or a list of dicts, with a column or an entry that holds the keys.
        y
            The targets; None for models that learn without.
        w
            A weight for each row, or one for all. Not all of River's models take weights.

        """
        self._shards.learn(Chunk(self._template, self.key, X, y, w), predict=False)

    def predict_then_learn_many(self, X: Any, y: Any = None, w: Any = 1.0) -> Any:
        """Learn the rows of a chunk, and return the prediction for each one before it was learned.

        The predictions have the form of X: a series of the same kind, or a list. Anomaly detectors
        give their scores.
        """
        chunk = Chunk(self._template, self.key, X, y, w)
        return self._shards.gather(self._shards.learn(chunk, predict=True))

    def predict_then_learn_chunks(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """Learn a stream of chunks (X, y) or (X, y, w), and give the predictions for each one in
        turn.

        They are the same as those of `predict_then_learn_many`, which waits for every chunk. This
        method reads and sends the next chunk while the shards learn the one before, so that they
        never wait.

        Examples
        --------

        >>> import river_budget as rb
        >>> from river_budget.distributed import KeyedModels

        >>> stream = ([{"user": i % 2, "x": i}] for i in range(4)), ([True], [False], [True], [False])
        >>> model = rb.BSGDClassifier(budget=10, seed=1)
        >>> with KeyedModels(model, key="user", shards=2, backend="serial") as models:
        ...     list(models.predict_then_learn_chunks(zip(*stream)))
        [[None], [None], [True], [False]]

        """  # noqa: E501
        last = None
        for given in chunks:
            sent = self._shards.learn(Chunk(self._template, self.key, *given), predict=True)
            if last is not None:
                yield self._shards.gather(last)
            last = sent
        if last is not None:
            yield self._shards.gather(last)

    def predict_many(self, X: Any) -> Any:
        """Predict rows. Keys without a model get the prediction of an untrained model.

        Missing values (None, NaN, an infinity) count as absent in models of this package.
        """
        chunk = Chunk(self._template, self.key, X, None, predicted=True)
        return self._shards.gather(self._shards.send(chunk, learn=False, predict=True))

    def flush(self) -> None:
        """Wait until all rows that were sent are learned. Raise the error of a shard, if there is
        one.
        """
        self._shards.drain()

    def write_checkpoint(self) -> None:
        """Write a checkpoint now, and wait until it is complete."""
        if self._shards.folder is None:
            raise ValueError("checkpoint is None: there is no folder for checkpoints")
        self._shards.checkpoint()

    # models

    def model(self, key: Any) -> Any:
        """A copy of the model of a key, which does not change with the original."""
        name = packed(key)
        (state,) = self._shards.ask(shard_of(name, self.shards), "states_of", [name])
        if state is None:
            raise KeyError(f"no row of the key {key!r} has been learned")
        return self._states.model(state)

    def keys(self) -> list[Any]:
        """All keys, in an order that does not depend on the stream."""
        return list(map(unpacked, self._shards.names()))

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._shards.names())

    @property
    def memory_usage(self) -> int:
        """Bytes of the models in memory, and of the dicts that find them by their keys."""
        return sum(self._shards.ask_all("memory_usage"))

    @property
    def n_resident(self) -> int:
        """How many models are in memory."""
        return sum(self._shards.ask_all("resident"))

    # files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all models to one file, whose bytes do not depend on backend, shards or chunks.

        The file appears in one step, as in `rb.save`.
        """
        self.flush()
        about = {"form": self._states.form, "key": self.key, "rows": self.rows_done}
        write(path, about, self._states.of(self._template), self._shards.models())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        shards: int = 2,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100_000,
        max_keys: int | None = None,
        backend: Literal["ray", "serial"] = "ray",
        allow_pickle: bool = False,
    ) -> KeyedModels:
        """Read all models from a file. They continue to learn as they would have.

        Parameters
        ----------
        path
            A file that `save` has written.
        shards, checkpoint, checkpoint_every, max_keys, backend
            As for a new `KeyedModels`. They may differ from those before. A folder for checkpoints
            must be new.
        allow_pickle
            Whether to read a file with pickled models, that is, of classes that `river_budget.save`
            does not know. Reading such a file can execute any code: do so only if you trust its
            author.

        """
        options = (checkpoint, checkpoint_every, max_keys, backend)
        with files.opened(path) as opened:
            file = Reader(opened, path)
            pickled = file.form == PICKLED
            if pickled and not allow_pickle:
                raise SavedModelError(
                    f"{path} holds pickled models: it is read with allow_pickle=True"
                )
            template = pickle.loads(file.template) if pickled else model_in(file.template, path)
            if States(template).form != file.form:
                raise SavedModelError(f"{path} is damaged: its model could not have been saved")
            models = cls(template, file.key, shards, *options)
            try:
                models._coordinator.adopt(file.models(), file.rows)
            except BaseException:
                models._coordinator.stop()
                raise
        return models

    # the end

    def close(self) -> None:
        """Wait until all rows are learned, write a last checkpoint if there is a folder, and end
        all workers.
        """
        if not self._coordinator.workers:
            return
        try:
            self._coordinator.checkpoint()
        finally:
            self._coordinator.stop()

    def __enter__(self) -> KeyedModels:
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        """After an error, rows that were learned since the last checkpoint are lost."""
        if kind is None:
            self.close()
        else:
            self._coordinator.stop()
