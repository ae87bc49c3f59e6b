"""What a worker, a program or a disk takes with it when it fails is sent again, and nothing else is
lost.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
import sqlite3

import numpy as np
import pytest
from folders import SUPPORT
from keyed import (
    MODEL,
    N,
    chunks,
    content_of,
    keyed,
    processes_of,
    progressive,
    rows,
    shards_of,
    values_of,
)
from optional import pandas as pd
from processes import KILL, ended

from river_budget.distributed import KeyedModels, WorkerLost
from river_budget.distributed.keyed.storage import ShardDatabase
from river_budget.distributed.workers.serial import Host

X, Y = rows()


def lose(models, place):
    """The process of a shard is gone, and an empty one has taken its place."""
    worker = models._coordinator.workers[place]
    worker.host.close()
    worker.host = Host()


def learn(models, stop, size=20):
    """Learn the rows from where the models are."""
    for some in chunks(stop - models.rows_done, size):
        first = models.rows_done
        models.learn_many(
            X[first : first + some.stop - some.start], Y[first:][: some.stop - some.start]
        )


@pytest.fixture
def expected(file):
    """expected(n): the file of undisturbed models after n rows."""

    def content(n):
        with keyed() as models:
            models.learn_many(X[:n], Y[:n])
            return content_of(models, file)

    return content


def at_row(number):
    return pytest.raises(WorkerLost, match=f"gone.*again, from row {number} on")


CALLS = {
    "learn": lambda models: learn(models, 400),
    "predict_then_learn": lambda models: models.predict_then_learn_many(X[300:], Y[300:]),
    "chunks": lambda models: list(models.predict_then_learn_chunks([(X[300:], Y[300:])])),
    "predict": lambda models: models.predict_many(X),
    "flush": lambda models: [models.learn_many(X[300:], Y[300:]), models.flush()],
    "keys": lambda models: models.keys(),
    "model": lambda models: [models.model(key) for key in sorted(set(X["key"]))],
    "write_checkpoint": lambda models: models.write_checkpoint(),
    "save": lambda models: models.save(models._coordinator.folder.path / "file"),
}


@pytest.mark.parametrize(
    ("call", "max_keys"),
    [
        ("learn", None),
        ("predict_then_learn", 6),
        ("write_checkpoint", 6),
        *(
            pytest.param(call, 6, marks=pytest.mark.slow)
            for call in CALLS
            if call not in ("predict_then_learn", "write_checkpoint")
        ),
    ],
)
def test_all_shards_go_back_to_the_checkpoint_and_the_error_names_the_row(
    call, max_keys, expected, tmp_path
):
    with keyed(checkpoint=tmp_path / "c", max_keys=max_keys) as models:
        learn(models, 200)
        models.write_checkpoint()
        learn(models, 300)
        lose(models, 1)
        with at_row(200):
            CALLS[call](models)
        assert models.rows_done == models.rows_saved == 200
        assert content_of(models, tmp_path / "found") == expected(200)
        learn(models, N)
        assert content_of(models, tmp_path / "found") == expected(N)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_whatever_is_lost_whenever_nothing_is_learned_twice_or_left_out(seed, expected, tmp_path):
    draw, named = random.Random(seed), []
    with keyed() as whole:
        predictions = progressive(whole, X, Y, 20)
    options = {"shards": 3, "checkpoint_every": 60, "max_keys": 9}
    with keyed(checkpoint=tmp_path / "c", **options) as models:
        while models.rows_done < N:
            some = slice(models.rows_done, models.rows_done + draw.randrange(1, 40))
            if draw.random() < 0.2:
                for place in range(draw.randrange(1, 4)):
                    lose(models, place)
            try:
                found = models.predict_then_learn_many(X[some], Y[some])
                assert values_of(found) == predictions[some]
            except WorkerLost as loss:
                named.append(f"from row {models.rows_done} on" in str(loss))
                assert models.rows_done <= some.start
        assert len(named) > 2
        assert all(named)
        assert content_of(models, tmp_path / "found") == expected(N)


def test_without_a_checkpoint_a_loss_is_the_end():
    models = keyed()
    learn(models, 100)
    lose(models, 0)
    for call in (lambda: models.predict_many(X), models.close):
        with pytest.raises(WorkerLost, match="with checkpoint=folder"):
            call()


def test_an_answer_that_is_asked_for_after_a_loss_takes_nothing_back(tmp_path):
    """A stream of chunks that began before: its messages are of no use, and what came since is."""
    with keyed(checkpoint=tmp_path / "c") as models:
        stream = models.predict_then_learn_chunks((X[:50], Y[:50]) for _ in range(3))
        next(stream)
        lose(models, 0)
        next(stream)  # was answered before; the last chunk is sent, to nobody
        with at_row(0):
            models.predict_many(X)
        learn(models, 300)
        with at_row(300):
            next(stream)
        assert models.rows_done == 300


# a full disk


def fill(shard):
    """The database cannot grow any more."""
    (pages,) = shard.database.connection.execute("PRAGMA page_count").fetchone()
    shard.database.connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_database_is_of_no_more_use_after_an_error(tmp_path):
    """It does not write a checkpoint of what is left."""
    database = ShardDatabase(tmp_path / "c", 0)
    database.write(b"a", b"state")
    database.seal(1)
    database.connection.execute("PRAGMA max_page_count = 5")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        database.write(b"b", bytes(10**6))
    database.connection.execute("PRAGMA max_page_count = 5000")
    for call in (lambda: database.seal(2), lambda: database.state(b"a"), database.keys):
        with pytest.raises(sqlite3.OperationalError, match="full"):
            call()
    database.close()
    assert ShardDatabase(tmp_path / "c", 1).state(b"a") == b"state"


@pytest.mark.parametrize(("place", "max_keys"), [(0, None), (1, 6)])
def test_where_the_disk_is_full_all_go_back_and_nothing_is_lost(
    place, max_keys, expected, tmp_path
):
    """The models that wait there, and those that a checkpoint writes."""
    with keyed(checkpoint=tmp_path / "c", max_keys=max_keys, checkpoint_every=100) as models:
        learn(models, 100)
        models.write_checkpoint()
        fill(shards_of(models)[place])
        message = rf"shard-{place}.*full.*from row 100 on"
        with pytest.raises(sqlite3.OperationalError, match=message):  # noqa: PT012
            learn(models, N)
            models.flush()
        assert content_of(models, tmp_path / "found") == expected(100)
        learn(models, N)
        assert content_of(models, tmp_path / "found") == expected(N)


def test_where_a_checkpoint_cannot_be_noted_the_one_before_counts(expected, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    with keyed(checkpoint=tmp_path / "c", max_keys=6) as models:
        learn(models, 100)
        models.write_checkpoint()
        learn(models, 200)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", full)
            with pytest.raises(OSError, match=r"No space left.*from row 100 on") as error:
                models.write_checkpoint()
        assert error.value.errno == errno.ENOSPC
        assert models.rows_done == models.rows_saved == 100
        assert content_of(models, tmp_path / "found") == expected(100)
        learn(models, N)
        assert content_of(models, tmp_path / "found") == expected(N)


# a program


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "stop", [200, *(pytest.param(stop, marks=pytest.mark.slow) for stop in (180, 220))]
)
def test_a_killed_program_goes_on_from_its_last_checkpoint(stop, expected, tmp_path):
    options = {"checkpoint": tmp_path / "c", "checkpoint_every": 100, "max_keys": 6}
    child = os.fork()
    if child == 0:
        with keyed(**options) as models:
            learn(models, stop)
            os.kill(os.getpid(), KILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -KILL
    with keyed(**options) as models:
        assert models.rows_done == (100 if stop < 200 else 200)
        learn(models, N)
        assert content_of(models, tmp_path / "found") == expected(N)


# with Ray


@pytest.mark.slow
def test_shards_that_are_killed_go_back_and_only_those_are_replaced(ray, expected, tmp_path):
    with KeyedModels(MODEL, "key", checkpoint=tmp_path / "c", max_keys=12) as models:
        learn(models, 200)
        models.write_checkpoint()
        processes = processes_of(models)
        learn(models, 300)
        os.kill(processes[0], KILL)
        with at_row(200):
            learn(models, N)
            models.flush()
        assert models.rows_done == 200
        learn(models, N)
        assert content_of(models, tmp_path / "found") == expected(N)
        first, second = processes_of(models)
        assert (first, second) != tuple(processes)
        assert second == processes[1]


# a hundred thousand keys, and all of it in one run

MANY, CHUNK = 100_000, 10_000
SEVERAL = {"shards": 2, "checkpoint_every": 4 * CHUNK, "max_keys": MANY * 4 // 5}


def many(models, stop):
    """Learn the rows from where the models are: every key twice, in another order."""
    for first in range(models.rows_done, stop, CHUNK):
        rng = np.random.default_rng(first)
        X = pd.DataFrame(rng.normal(size=(CHUNK, 3)), columns=list("abc"))
        order = np.random.default_rng(first // MANY).permutation(MANY)
        models.learn_many(X.assign(key=order[first % MANY :][:CHUNK]), X["a"] > 0.0)


def limit_files_of(ray, models, size):
    """Let no file of a shard grow beyond so many bytes, as on a full disk; None: no limit any
    more.
    """

    def limit(host):
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size or most, most))

    ray.get(models._coordinator.workers[0].host.__ray_call__.remote(limit))


KILLED = """
import os, sys
sys.path[:0] = sys.argv[2:]
from keyed import keyed
from processes import KILL
from test_keyed_losses import CHUNK, SEVERAL, many
with keyed(checkpoint=sys.argv[1], **SEVERAL) as models:
    many(models, 7 * CHUNK)
    models.flush()
    os.kill(os.getpid(), KILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_many_keys_outlive_a_killed_program_a_killed_worker_and_a_full_disk(ray, file, tmp_path):
    """Each goes back to the last checkpoint, and in the end the models are those of an undisturbed
    run.
    """
    folder, paths = tmp_path / "folder", (SUPPORT, SUPPORT.parent, SUPPORT.parent / "distributed")
    code, _, errors = ended(KILLED, folder, *paths, limit=3600)
    assert code == -KILL, errors
    with KeyedModels(MODEL, "key", checkpoint=folder, **SEVERAL) as models:
        assert models.rows_done == 4 * CHUNK
        many(models, 14 * CHUNK)
        os.kill(processes_of(models)[1], KILL)
        with pytest.raises(WorkerLost, match="again, from row"):  # noqa: PT012
            many(models, 16 * CHUNK)
            models.flush()
        saved = models.rows_done
        assert saved in (8 * CHUNK, 12 * CHUNK)  # the third one may not have been complete
        many(models, 17 * CHUNK)
        models.write_checkpoint()
        limit_files_of(ray, models, 2**20)
        with pytest.raises(sqlite3.Error, match=f"from row {17 * CHUNK} on"):  # noqa: PT012
            many(models, 2 * MANY)
            models.write_checkpoint()
        limit_files_of(ray, models, None)
        # where going back needed room too, it is done now
        with contextlib.suppress(sqlite3.Error, WorkerLost):
            models.flush()
            models.keys()
        assert models.rows_done == 17 * CHUNK
        many(models, 2 * MANY)
        assert len(models) == MANY
        models.save(file)
    with keyed() as undisturbed:
        many(undisturbed, 2 * MANY)
        assert file.read_bytes() == content_of(undisturbed, tmp_path / "expected")
