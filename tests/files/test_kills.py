"""Processes that are killed at any moment, over and over: nothing is lost, and nothing is left.

`RIVER_BUDGET_KILLS=500 pytest -m slow -s tests/files/test_kills.py` is the full run.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import time

import numpy as np
import pytest
from keyed import MODEL, chunk_of
from saved_models import file_of

import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.kernels import RBF

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

KILLS = int(os.environ.get("RIVER_BUDGET_KILLS", "20"))


def killed_within(seconds, work):
    """A child begins with this work, and is killed before so many seconds have passed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


# Who saves

STEP = 100  # examples between two files


def some_examples(start):
    """The STEP examples from number `start` on."""
    rows = np.random.default_rng(start).normal(size=(STEP, 3))
    return rows, np.sin(rows[:, 0]) + rows[:, 1] > 0.0


def learn_and_save(path):
    model = rb.load(path)
    while True:
        model.learn_many(*some_examples(rounds(model)))
        rb.save(model, path)


def rounds(model):
    return int(model._state_record().rounds)


def test_a_saver_that_is_killed_leaves_the_old_file_or_the_new(tmp_path):
    """And beside it at most a draft, which nobody takes for a model."""
    rng, path = random.Random(0), tmp_path / "model.rb"
    expected = rb.BSGDClassifier(20, RBF(0.5))
    expected.learn_many(*some_examples(0))
    rb.save(expected, path)
    drafts = 0
    for _ in range(KILLS):
        killed_within(rng.uniform(0.0, 0.1), lambda: learn_and_save(path))
        found = rb.load(path)
        while rounds(expected) < rounds(found):
            expected.learn_many(*some_examples(rounds(expected)))
        assert file_of(found) == file_of(expected)
        left = set(tmp_path.glob(".river_budget-*.tmp"))
        assert set(tmp_path.iterdir()) == {path} | left
        assert len(left) <= 1
        for draft in left:
            draft.unlink()
        drafts += len(left)
    print(f"{KILLS} kills of savers, {rounds(expected)} examples; {drafts} drafts left")
    assert rounds(expected) > 50 * KILLS


# Who drives models per key

CHUNK = 50


def keyed(folder, **options):
    options = {"shards": 2, "max_keys": 10, "checkpoint_every": 2 * CHUNK} | options
    return KeyedModels(MODEL, "key", checkpoint=folder, **options)


def learn_chunks(folder, backend="serial"):
    with keyed(folder, backend=backend) as models:
        for number in range(models.rows_done // CHUNK, 10**9):
            models.learn_many(*chunk_of(number, CHUNK))


def content_at(folder, rows, **options):
    """The file of the models after so many rows at least, from where the folder stands."""
    file = folder.parent / "content"
    with keyed(folder, **options) as models:
        assert models.rows_done <= rows
        for number in range(models.rows_done // CHUNK, rows // CHUNK):
            models.learn_many(*chunk_of(number, CHUNK))
        models.save(file)
    return file.read_bytes()


def rows_saved(folder):
    with keyed(folder, backend="serial") as models:
        return models.rows_done


def check_folder(folder):
    """Nothing but what belongs there; a journal that a killed process has left is gone after the
    next checkpoint.
    """
    names = {"keyed_models.json", "shard-0.sqlite", "shard-1.sqlite"}
    found = {path.name for path in folder.iterdir()} - {
        path.name for path in folder.glob(".river_budget-*.tmp")
    }
    assert found == names


def test_a_driver_that_is_killed_goes_on_from_its_last_checkpoint(tmp_path):
    rng, folder = random.Random(0), tmp_path / "folder"
    rows = 0
    content_at(folder, CHUNK, backend="serial")  # compiled
    for kills in itertools.count(1):
        killed_within(rng.uniform(0.02, 0.3), lambda: learn_chunks(folder))
        before, rows = rows, rows_saved(folder)
        assert rows >= before
        assert rows % CHUNK == 0
        if kills >= KILLS and rows > CHUNK * KILLS / 10:  # a busy machine needs more
            break
    expected = content_at(tmp_path / "undisturbed", rows + CHUNK, backend="serial")
    assert content_at(folder, rows + CHUNK, backend="serial") == expected
    check_folder(folder)
    print(f"{kills} kills of drivers, {rows} rows")
