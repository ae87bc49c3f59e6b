"""Rows with keys, and the predictions of models that learn them."""

from __future__ import annotations

import functools
import os
import random

import numpy as np
from optional import pandas as pd
from optional import pyarrow as pa
from river import base
from streams import LABELS

import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.distributed.workers.serial import Worker
from river_budget.kernels import RBF

N, KEYS, NAMES = 600, 30, [f"f{i}" for i in range(5)]
MODEL = rb.BSGDClassifier(5, RBF(0.5), seed=1)


def keyed(model=MODEL, key="key", **options):
    return KeyedModels(model, key, backend="serial", **options)


def rows(n=N, seed=0):
    """(frame with keys, labels)"""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, len(NAMES))), columns=NAMES)
    X["key"] = [f"k{i}" for i in rng.integers(KEYS, size=n)]
    labels = [LABELS[i] for i in (X["f0"] * X["f1"] > 0).astype(int) + 2 * (X["f2"] > 1.2)]
    return X, labels


def chunk_of(number, n):
    """Chunk `number` of a stream, n rows: (frame with keys, targets)."""
    rng = np.random.default_rng(number)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return X.assign(key=rng.integers(60, size=n)), X["a"] > 0.0


def with_keys(stream, seed=0):
    """A stream whose examples have keys: (dicts, targets)."""
    rng = random.Random(seed)
    return [{"key": rng.randrange(KEYS)} | x for x, _ in stream], [y for _, y in stream]


def chunks(n, size):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def progressive(models, X, y, size=100, **weights):
    """All predictions of a stream that is learned in chunks."""
    found = []
    for some in chunks(len(y), size):
        w = {name: value[some] for name, value in weights.items()}
        found += values_of(models.predict_then_learn_many(X[some], y[some], **w))
    return found


def values_of(result):
    """Predictions as a list, with None for missing values of a pandas series."""
    if isinstance(result, pd.Series):
        return [None if pd.isna(value) else value for value in result.tolist()]
    if isinstance(result, pa.ChunkedArray):
        return result.to_pylist()
    if isinstance(result, np.ndarray):
        return result.tolist()
    return result if isinstance(result, list) else result.to_list()


def one_by_one(model, X, y, w=None):
    """(predictions of a dict of models, one for each key; the dict)"""
    models, found = {}, []
    for i, (row, target) in enumerate(zip(X, y, strict=True)):
        x = {name: value for name, value in row.items() if name != "key"}
        own = models.setdefault(row["key"], model.clone())
        detects = isinstance(own, base.AnomalyDetector)
        found.append(own.score_one(x) if detects else own.predict_one(x))
        arguments = (x,) if target is None else (x, target)
        own.learn_one(*arguments, **({} if w is None else {"w": w[i]}))
    return found, models


def processes_of(models):
    """The processes of the shards, with Ray."""
    import ray

    hosts = [worker.host for worker in models._coordinator.workers]
    return ray.get([host.__ray_call__.remote(lambda host: os.getpid()) for host in hosts])


def shards_of(models):
    """The shards, without Ray."""
    return [worker.host.held for worker in models._coordinator.workers]


def content_of(models, path):
    models.save(path)
    return path.read_bytes()


class Later:
    """The answer to a call that is made when somebody asks for it, after those before it."""

    def __init__(self, queue, call):
        self.queue, self.call, self.answer = queue, call, None
        queue.append(self)

    def done(self):
        return self.answer is not None

    def result(self):
        while self.answer is None:
            first = self.queue.pop(0)
            first.answer = first.call()
        return self.answer.result()


def be_late(monkeypatch):
    """Have workers of this process answer when they are asked only."""
    submit = Worker.submit

    def submit_later(worker, method, *arguments):
        queue = vars(worker).setdefault("queue", [])
        return Later(queue, functools.partial(submit, worker, method, *arguments))

    monkeypatch.setattr(Worker, "submit", submit_later)
