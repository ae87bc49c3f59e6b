"""What the guide shows runs, and its recipes do what they promise, with stand-ins for Kafka and
Spark.
"""

from __future__ import annotations

import doctest
import json
import re
import types

import numpy as np
import pytest
from folders import EXAMPLES
from optional import pandas as pd
from scripts import load

import river_budget as rb
from river_budget.distributed import KeyedModels

GUIDE = (EXAMPLES / "beyond_one_machine.md").read_text()
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", GUIDE, flags=re.M)[1:]}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(title):
    """Run a section as a reader would, and return what it defines."""
    if "import pandas" in SECTIONS[title]:
        pytest.importorskip("pandas", reason="pandas is not installed")
    names = {}
    test = doctest.DocTestParser().get_doctest(SECTIONS[title], names, title, None, 0)
    results = doctest.DocTestRunner(optionflags=OPTIONS).run(test, clear_globs=False)
    assert results.failed == 0
    assert results.attempted > 0
    return test.globs


@pytest.mark.parametrize(
    "title", ["A model for each key", "Which parameters", "One model from several streams"]
)
def test_a_section_runs_without_ray(title):
    run(title)


@pytest.mark.slow  # Ray Data takes 5 seconds to load
def test_the_section_on_ray_data_runs(ray):
    run("A data set of Ray Data")


# Its scripts


def test_settings_one_by_one_are_settings_at_once(capsys):
    load("sweep").main(200, 1, ("serial", "serial"))
    out = capsys.readouterr().out
    assert len(re.findall(r"best BSGDClassifier\(budget=", out)) == 2
    assert "equal tables: True" in out


@pytest.mark.slow
def test_merging_often_makes_up_for_parts_that_differ(capsys):
    load("shards").main(10_000, 4, "serial")
    out = capsys.readouterr().out
    found = [float(share) for share in re.findall(r"^  .+? {2,}([\d.]+)%", out, re.M)]
    board, strips, waves = found[:4], found[4:8], found[8:]
    assert board[0] == strips[0]
    assert strips[1] < strips[3] - 3
    assert strips[3] > board[0] - 3
    assert min(waves) > 80


def test_keys_are_timed_with_and_without_ray(capsys):
    pytest.importorskip("pandas", reason="pandas is not installed")
    load("keyed_models").main(4000, 2000, 5, ("serial", "serial"))
    out = capsys.readouterr().out
    assert (
        len(re.findall(r"^(BSGD|Perceptron), \d+, .*_(many|chunks) .*\d\.\d\d$", out, re.M)) == 12
    )


# Kafka


class Broker:
    """A topic of two partitions, and the offsets that were committed."""

    def __init__(self, rows):
        self.partitions = {0: [], 1: []}
        for row in rows:
            self.partitions[row["machine"] % 2].append(json.dumps(row))
        self.committed = {0: 0, 1: 0}


class Consumer:
    """Reads a topic as confluent_kafka's consumer does. Dies when so many batches have been
    read.
    """

    def __init__(self, broker, batches=1000):
        self.broker, self.batches = broker, batches
        self.at = {0: 0, 1: 0}

    def seek(self, place):
        self.at[place.partition] = place.offset

    def consume(self, count, timeout):
        self.batches -= 1
        if self.batches < 0:
            raise KeyboardInterrupt
        found = []
        for partition, messages in self.broker.partitions.items():
            start = self.at[partition]
            some = messages[start : start + count // 2]
            found += [message(partition, start + i, value) for i, value in enumerate(some)]
            self.at[partition] = start + len(some)
        return found

    def commit(self, offsets):
        self.broker.committed |= {place.partition: place.offset for place in offsets}


def message(partition, offset, value):
    return types.SimpleNamespace(
        partition=lambda: partition, offset=lambda: offset, value=lambda: value
    )


def place(partition, offset):
    return types.SimpleNamespace(partition=partition, offset=offset)


def readings(n):
    rng = np.random.default_rng(1)
    rows = [
        {"machine": int(m), "load": float(x)}
        for m, x in zip(rng.integers(9, size=n), rng.random(n), strict=True)
    ]
    return [row | {"y": row["load"] > row["machine"] / 9} for row in rows]


MODEL = rb.BSGDClassifier(10, rb.kernels.RBF(10.0), seed=1)


def keyed(folder):
    return KeyedModels(
        MODEL, key="machine", checkpoint=folder, checkpoint_every=300, backend="serial"
    )


def test_a_consumer_that_dies_learns_every_message_once(tmp_path):
    learn_topic = run("A topic of Kafka")["learn_topic"]
    broker, log = Broker(readings(2000)), tmp_path / "log.jsonl"
    with keyed(tmp_path / "undisturbed") as models:
        learn_topic(Consumer(broker), models, tmp_path / "other.jsonl", place, batch=100)
        models.save(tmp_path / "expected")
    broker.committed = {0: 0, 1: 0}
    for batches in (5, 1, 0, 8):
        with pytest.raises(KeyboardInterrupt), keyed(tmp_path / "models") as models:
            learn_topic(Consumer(broker, batches), models, log, place, batch=100)
        assert sum(broker.committed.values()) <= models.rows_saved <= models.rows_done
    assert models.rows_saved < models.rows_done  # so there is something to learn again
    with keyed(tmp_path / "models") as models:
        assert models.rows_done > 0
        learn_topic(Consumer(broker), models, log, place, batch=100)
        models.save(tmp_path / "found")
    assert models.rows_done == 2000
    assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()


# Spark


class State:
    """Spark's GroupState: a row, or nothing yet."""

    exists = False

    def update(self, row):
        self.exists, self.get = True, row


def test_a_state_of_spark_is_a_model_that_learns_on():
    learn_key = run("Spark's streams")["learn_key"]
    rows = pd.DataFrame(readings(400)).rename(columns={"y": "failed"})
    rows = rows[rows["machine"] == 4].assign(time=lambda frame: range(len(frame)))
    state, found = State(), []
    for start in range(0, len(rows), 10):
        batch = rows[start : start + 10]
        found += learn_key((4,), iter([batch[5:], batch[:5]]), state)
    model = rb.BSGDClassifier(budget=50, kernel=rb.kernels.RBF(10.0), seed=1)
    expected = model.predict_then_learn_many(rows[["load"]], rows["failed"])
    assert pd.concat(found)["predicted"].tolist() == expected.tolist()
