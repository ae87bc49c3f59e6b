"""Models per key where the disk is full or a checkpoint is damaged."""

from __future__ import annotations

import random
import sqlite3

import numpy as np
import pytest
from keyed import MODEL, chunk_of

import river_budget as rb
from river_budget.distributed import KeyedModels

CHUNK = 200


def keyed(folder, **options):
    options |= {"shards": 2, "backend": "serial", "max_keys": 10, "checkpoint_every": 3 * CHUNK}
    return KeyedModels(MODEL, "key", checkpoint=folder, **options)


def learned_until(folder, stop):
    """The file of the models after so many chunks, from where the folder stands."""
    with keyed(folder) as models:
        for number in range(models.rows_done // CHUNK, stop):
            models.learn_many(*chunk_of(number, CHUNK))
        models.save(folder.parent / f"{folder.name}.file")
    return (folder.parent / f"{folder.name}.file").read_bytes()


ODD = [
    *("", " ", "0", "ü\x00", "\ud800", "x" * 100_000),
    *(b"", b"\x00\xff", b"x" * 100_000),
    *(0, -1, 10**400, 0.5, -1e-300, float("inf"), float("-inf")),
    *((), ("",), ((), ("a", (1, b"b"))), tuple(range(1000))),
]
NO_KEYS = [
    *(None, float("nan"), np.float64("nan"), ("a", float("nan")), ("a", (None,)), 1j),
    *([], {}, {1}, frozenset(), object(), np.datetime64("2026-01-01"), np.ones(1), 10**5000),
]


def rows_of(key, number):
    return [{"key": key, "a": float(number % 3), "b": float(number % 5)}]


@pytest.mark.parametrize("shards", [1, 3])
def test_keys_of_odd_kinds_have_models_that_wait_and_come_back(shards, tmp_path):
    """On disk, in a checkpoint and in a file. What is no key is refused by name, and harms none."""
    expected = {}
    options = {"shards": shards, "max_keys": 4, "checkpoint_every": 30}
    for start in (0, 2):  # the second goes on from the last checkpoint
        with keyed(tmp_path / "folder", **options) as models:
            for number in range(start, start + 2):
                for key in ODD:
                    models.learn_many(rows_of(key, number), [number % 2 == 0])
                    expected.setdefault(key, MODEL.clone()).learn_one(
                        {"a": float(number % 3), "b": float(number % 5)}, number % 2 == 0
                    )
                for key in NO_KEYS:
                    with pytest.raises(ValueError, match=r"key|digits"):
                        models.learn_many(rows_of(key, number), [True])
                    with pytest.raises(ValueError, match=r"key|digits"):
                        models.predict_many(rows_of(key, number))
            models.save(tmp_path / "file")
    with (
        keyed(tmp_path / "folder", **options) as models,
        KeyedModels.load(tmp_path / "file", backend="serial", shards=2) as others,
    ):
        for some in (models, others):
            assert set(some.keys()) == set(ODD)
            for key, model in expected.items():
                found = some.model(key).decision_function_one({"a": 1.0})
                assert found == model.decision_function_one({"a": 1.0})


@pytest.mark.parametrize("damage", ["cut", "garbage", "gone"])
def test_a_damaged_checkpoint_is_refused(damage, tmp_path):
    folder = tmp_path / "folder"
    learned_until(folder, 6)
    databases = sorted(path for path in folder.iterdir() if path.suffix != ".json")
    data = databases[0].read_bytes()
    if damage == "gone":
        databases[0].unlink()
    else:
        databases[0].write_bytes(data[: len(data) // 2] if damage == "cut" else b"x" * len(data))
    with pytest.raises((sqlite3.Error, rb.SavedModelError, ValueError, OSError)):
        learned_until(folder, 12)


def test_a_damaged_note_is_refused(tmp_path):
    folder = tmp_path / "folder"
    learned_until(folder, 6)
    (folder / "keyed_models.json").write_text('{"format": 1')
    with pytest.raises((ValueError, rb.SavedModelError)):
        learned_until(folder, 12)


def test_what_a_delayed_holds_does_not_depend_on_what_is_in_memory(tmp_path):
    """A prediction changes it, so it is written although nothing was learned."""
    found = []
    model = rb.Delayed(rb.BSGDClassifier(9, rb.kernels.RBF(0.5), seed=1))
    for max_keys in (None, 1):
        rng, late, folder = random.Random(0), [], tmp_path / str(max_keys)
        options = {"max_keys": max_keys, "backend": "serial"}
        with KeyedModels(model, "key", 1, folder, **options) as models:
            for t in range(120):
                row = {"key": t % 3, "a": rng.random(), "b": rng.random()}
                models.predict_many([row])
                late.append(row)
                if len(late) > 13:
                    row = late.pop(0)
                    models.learn_many([row], [row["a"] > row["b"]])
            one = models.model(0)
            found.append((one._asked, one._gains, one.predict_proba_one({"a": 0.9, "b": 0.1})))
    assert found[0] == found[1]
    assert found[0][0] > 20
