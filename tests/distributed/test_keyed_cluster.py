"""A long run of keyed models that loses its shards, on two nodes."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile

import numpy as np
import pytest
from optional import pandas as pd
from processes import KILL

import river_budget as rb
from river_budget.distributed import KeyedModels, WorkerLost
from river_budget.kernels import RBF

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]

MODEL = rb.BSGDClassifier(5, RBF(0.5), seed=1)
N, CHUNK = 50_000, 2_000


def stream():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 5)), columns=[f"f{i}" for i in range(5)])
    y = X["f0"] * X["f1"] > 0
    return X.assign(key=rng.integers(1000, size=N)), y


def predictions_of(models, X, y, deaths=()):
    """All predictions; a shard is killed after each of these chunks, and what it takes back is sent
    again.
    """
    found = {}
    processes = [process for process, _ in places(models)] if deaths else []
    while models.rows_done < N:
        start = models.rows_done
        some = slice(start, start + CHUNK)
        try:
            found[start] = models.predict_then_learn_many(X[some], y[some]).tolist()
        except WorkerLost:
            continue
        if start // CHUNK in deaths and processes:
            os.kill(processes.pop(), KILL)
    return [value for start in sorted(found) for value in found[start]]


def places(models):
    """(process, node) of every shard."""
    import ray

    hosts = [worker.host for worker in models._coordinator.workers]
    place = lambda host: (os.getpid(), ray.get_runtime_context().get_node_id())  # noqa: E731
    return ray.get([host.__ray_call__.remote(place) for host in hosts])


@pytest.fixture
def two_nodes(monkeypatch):
    """A cluster of two nodes, with its files in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="c-")  # short: names of sockets are limited
    monkeypatch.setenv("RAY_TMPDIR", folder)
    import ray
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    nodes.shutdown()
    shutil.rmtree(folder)


def test_the_loss_of_every_shard_on_two_nodes_changes_nothing(two_nodes, tmp_path):
    """Two, killed one after the other, end as one that nobody disturbs. (On one node:
    test_keyed_losses.py.)
    """
    X, y = stream()
    with KeyedModels(MODEL, "key", shards=1, backend="serial") as models:
        expected = predictions_of(models, X, y)
        models.save(tmp_path / "expected")
    for folder in range(20):  # Ray spreads workers that reserve nothing by chance
        options = {"checkpoint": tmp_path / str(folder), "checkpoint_every": 9_000}
        with KeyedModels(MODEL, "key", shards=2, backend="ray", **options) as models:
            if len({node for _, node in places(models)}) == 1:
                continue
            assert predictions_of(models, X, y, deaths=(7, 16)) == expected
            models.save(tmp_path / "found")
            break
    assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()
