"""A sweep gives for each setting what River's progressive validation gives, once, whatever
happens.
"""

from __future__ import annotations

import copy
import io
import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent import futures

import pytest
from models import MODELS, crossed, one_of_each, stream_for
from processes import KILL
from river import (
    anomaly,
    base,
    datasets,
    dummy,
    evaluate,
    linear_model,
    metrics,
    optim,
    preprocessing,
)
from streams import emerging

import river_budget as rb
from river_budget.datasets import Waveform
from river_budget.distributed import sweep
from river_budget.distributed.sweeps import evaluating
from river_budget.distributed.sweeps.evaluating import Examples
from river_budget.distributed.sweeps.outcomes import Journal, Outcome, described
from river_budget.kernels import RBF

MODEL = rb.BSGDClassifier(10, RBF(0.05))
GRID = {"budget": [5, 10, 20], "l2": [1e-4, 1e-2]}
STREAM = list(Waveform(300, seed=1))


def quiet(*arguments, **options):
    """A sweep in this process that writes nothing."""
    return sweep(*arguments, **{"backend": "serial", "progress": False} | options)


def validated(model, stream, metric):
    return evaluate.progressive_val_score(stream, model.clone(), metric.clone()).get()


def complete(model):
    """A stream of the model's kind in which all examples have all features."""
    stream = stream_for(model, 150)
    names = sorted({name for x, _ in stream for name in x})
    return [({name: x.get(name, 0.0) for name in names}, y) for x, y in stream]


# The value of the metric


@pytest.mark.parametrize(
    ("model", "whole"), [*crossed(one_of_each(MODELS), [True]), (MODEL, False)]
)
def test_the_value_is_that_of_progressive_validation_to_the_bit(model, whole):
    stream = complete(model) if whole else stream_for(model, 150)
    metric = metrics.MAE() if isinstance(model, base.Regressor) else metrics.Accuracy()
    model = model.clone({"seed": 3}) if hasattr(model, "seed") else model
    parameter = "kernel" if "kernel" in model._parameters() else "budget"
    (outcome,) = quiet(model, {parameter: [getattr(model, parameter)]}, stream, metric)
    twin = model.clone()
    assert outcome.error is None
    assert outcome.value == evaluate.progressive_val_score(stream, twin, metric.clone()).get()
    assert outcome.examples == len(stream)
    assert abs(outcome.memory - twin.memory_usage) < 200  # lists have room in reserve


@pytest.mark.parametrize("metric", [metrics.LogLoss(), metrics.ROCAUC()], ids=repr)
def test_metrics_of_probabilities_are_those_of_progressive_validation(metric):
    outcomes = quiet(MODEL, GRID, STREAM, metric).table()
    for outcome in outcomes:
        assert outcome.value == validated(MODEL.clone(outcome.setting), STREAM, metric)


def test_any_model_of_river_can_be_swept():
    grid = {"LinearRegression": {"optimizer": [(optim.SGD, {"lr": [0.1, 0.01]}), optim.Adam()]}}
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    stream = list(datasets.TrumpApproval().take(100))
    outcomes = quiet(model, grid, stream, metrics.MAE()).table()
    assert len(outcomes) == 3
    for outcome in outcomes:
        assert outcome.value == validated(model.clone(outcome.setting), stream, metrics.MAE())
        assert outcome.memory > 0


def test_detectors_are_swept_by_their_scores():
    model = preprocessing.MinMaxScaler() | anomaly.HalfSpaceTrees(seed=1)
    grid = {"HalfSpaceTrees": {"height": [2, 6]}}
    stream = [(x, int(y == "blue")) for x, y in emerging(100)]
    for outcome in quiet(model, grid, stream, metrics.ROCAUC()):
        assert outcome.value == validated(model.clone(outcome.setting), stream, metrics.ROCAUC())


def test_a_weight_counts_for_every_setting():
    stream = [(x, y, {"w": 0.0 if t % 3 else 1.0}) for t, (x, y) in enumerate(STREAM)]
    expected = validated(MODEL, copy.deepcopy(stream), metrics.Accuracy())
    for outcome in quiet(MODEL, {"l2": [MODEL.l2, MODEL.l2]}, stream, metrics.Accuracy()):
        assert outcome.value == expected != validated(MODEL, STREAM, metrics.Accuracy())


def test_examples_that_are_no_numbers_are_not_made_to_be():
    assert Examples(STREAM).batch is not None
    for odd in ("red", None, math.nan, math.inf, [1.0], 10**400):
        assert Examples([({"a": odd}, 1)]).batch is None
    assert Examples(emerging(20)).batch is None
    assert Examples([]).batch is None


# The grid and the stream


def test_settings_are_those_of_river_in_its_order():
    outcomes = quiet(MODEL, GRID, STREAM, metrics.Accuracy()).table()
    assert [outcome.number for outcome in outcomes] == list(range(6))
    assert [outcome.setting for outcome in outcomes] == [
        {"budget": budget, "l2": l2} for budget in GRID["budget"] for l2 in GRID["l2"]
    ]
    assert outcomes[3].name == "budget=10, l2=0.01"


def test_outcomes_come_one_by_one():
    found = quiet(MODEL, GRID, STREAM, metrics.Accuracy())
    assert next(found).number == 0
    assert next(found).number == 1
    assert len(found) == len(found.table()) == 6
    assert not list(found)


def test_the_best_outcome_is_the_largest_accuracy_or_the_smallest_error():
    found = quiet(MODEL, GRID, STREAM, metrics.Accuracy())
    assert found.best().value == max(outcome.value for outcome in found.table())
    found = quiet(MODEL, GRID, STREAM, metrics.LogLoss())
    assert found.best().value == min(outcome.value for outcome in found.table())
    twice = quiet(MODEL, {"budget": [5, 5]}, STREAM, metrics.Accuracy())
    assert twice.best().number == 0


def test_model_metric_and_stream_are_left_as_they_are():
    metric, before = metrics.Accuracy(), copy.deepcopy(STREAM)
    quiet(MODEL, GRID, STREAM, metric).table()
    assert MODEL._block is None
    assert metric.cm.n_samples == 0
    assert before == STREAM


@pytest.mark.parametrize(
    "stream",
    [iter(STREAM), Waveform(300, seed=1), lambda: iter(STREAM), lambda: Waveform(300, seed=1)],
    ids=["iterator", "dataset", "function-iterator", "function-dataset"],
)
def test_a_stream_may_come_in_several_forms(stream):
    expected = quiet(MODEL, GRID, STREAM, metrics.Accuracy()).table()
    assert quiet(MODEL, GRID, stream, metrics.Accuracy()).table() == expected


# What goes wrong


class Fragile(dummy.NoChangeClassifier):
    """Fails at an example."""

    def __init__(self, at=0):
        super().__init__()
        self.at, self.count = at, 0

    def learn_one(self, x, y):
        self.count += 1
        if self.count == self.at:
            raise ArithmeticError("too much")
        super().learn_one(x, y)


def test_a_setting_that_fails_is_an_outcome_with_its_error():
    good, bad = quiet(Fragile(), {"at": [1000, 100]}, STREAM, metrics.Accuracy()).table()
    assert good.error is None
    assert bad.value is None
    assert bad.error == "ArithmeticError: too much"


def test_the_best_of_nothing_but_errors_is_an_error():
    with pytest.raises(ValueError, match="no setting has a value"):
        quiet(Fragile(), {"at": [1, 2]}, STREAM, metrics.Accuracy()).best()


def test_a_stream_that_fails_ends_the_sweep():
    def broken():
        yield from STREAM
        raise OSError("disk on fire")

    found = quiet(MODEL, GRID, broken, metrics.Accuracy())
    with pytest.raises(RuntimeError, match="the stream ends with OSError: disk on fire"):
        next(found)
    with pytest.raises(RuntimeError, match="ended after 0 of 6 settings"):
        found.table()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="backend"):
        sweep(MODEL, GRID, STREAM, metrics.Accuracy(), backend="dask")
    with pytest.raises(ValueError, match="workers"):
        sweep(MODEL, GRID, STREAM, metrics.Accuracy(), workers=0)
    for metric in (metrics.ConfusionMatrix(), metrics.Accuracy() + metrics.F1(), "accuracy"):
        with pytest.raises(ValueError, match="metric"):
            sweep(MODEL, GRID, STREAM, metric)
    with pytest.raises(ValueError, match="MAE does not work with this model"):
        sweep(MODEL, GRID, STREAM, metrics.MAE())
    with pytest.raises(TypeError, match="budgett"):
        sweep(MODEL, {"budgett": [1]}, STREAM, metrics.Accuracy())


# Executors


class Pairs(futures.Executor):
    """Runs two functions when both have come, the second one first. Breaks after so many."""

    def __init__(self, most=10**9):
        self.waiting, self.count, self.most = [], 0, most

    def submit(self, function, /, *arguments):
        if self.count == self.most:
            raise futures.BrokenExecutor("out of order")
        self.count += 1
        self.waiting.append((futures.Future(), function, arguments))
        future, *_ = self.waiting[-1]
        if len(self.waiting) == 2:
            for each, function, arguments in reversed(self.waiting):
                each.set_result(function(*arguments))
            self.waiting = []
        return future


def processes():
    return futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


@pytest.mark.parametrize(
    "make",
    [processes, lambda: futures.ThreadPoolExecutor(2), Pairs],
    ids=["processes", "threads", "pairs"],
)
def test_any_executor_gives_the_same_table(make):
    expected = quiet(MODEL, GRID, STREAM, metrics.Accuracy()).table()
    with make() as executor:
        for metric in (metrics.Accuracy(), metrics.LogLoss()):
            expected = quiet(MODEL, GRID, STREAM, metric).table()
            found = quiet(MODEL, GRID, STREAM, metric, backend=executor, workers=2)
            assert found.table() == expected
        bad = quiet(
            Fragile(), {"at": [1000, 100]}, STREAM, metrics.Accuracy(), backend=executor, workers=2
        )
        assert [each.error for each in bad.table()] == [None, "ArithmeticError: too much"]
        assert executor.submit(abs, -1) is not None  # it is not shut down


def test_an_executor_is_given_as_many_settings_as_there_are_workers():
    executor = Pairs()
    found = quiet(MODEL, GRID, STREAM, metrics.Accuracy(), backend=executor, workers=2)
    assert executor.count == 0
    assert {next(found).number, next(found).number} == {0, 1}
    assert executor.count == 2
    next(found)
    assert executor.count == 4


def test_an_executor_that_breaks_ends_the_sweep_and_the_next_one_does_the_rest(tmp_path, runs):
    given = (MODEL, GRID, STREAM, metrics.Accuracy())
    options = {"workers": 2, "checkpoint": tmp_path / "sweep.jsonl"}
    with pytest.raises(futures.BrokenExecutor, match="out of order"):
        quiet(*given, backend=Pairs(most=4), **options).table()
    runs.clear()
    assert quiet(*given, backend=Pairs(), **options).table() == quiet(*given).table()
    assert sorted(runs[:2]) == [4, 5]


def test_a_process_reads_a_stream_once_however_often_it_comes():
    first, second, other = Examples(STREAM), Examples(STREAM[:5]), Examples(lambda: STREAM)
    data = pickle.dumps(first)
    read = pickle.loads(data)
    assert list(read) == STREAM
    assert pickle.loads(pickle.dumps(first)) is read
    assert len(list(pickle.loads(pickle.dumps(second)))) == 5
    assert pickle.loads(data) is not read  # one stream is held
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(other)


# The checkpoint


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.jsonl"


@pytest.fixture
def runs(monkeypatch):
    """The settings that were run."""
    numbers = []
    run = evaluating.run

    def counted(outcome, *rest):
        numbers.append(outcome.number)
        return run(outcome, *rest)

    monkeypatch.setattr(evaluating, "run", counted)
    return numbers


def test_a_sweep_that_was_left_finishes_the_rest_only(path, runs):
    expected = quiet(MODEL, GRID, STREAM, metrics.Accuracy()).table()
    with quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path) as left:
        next(left), next(left)
    runs.clear()
    again = quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path)
    assert again.table() == expected
    assert runs == [2, 3, 4, 5]
    assert [each.seconds for each in again.table()[:2]] == [
        json.loads(line)["seconds"] for line in path.read_text().splitlines()[:2]
    ]


def test_a_line_that_was_cut_off_is_run_again(path, runs):
    expected = quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path).table()
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    for cut in (1, 9, 40, len(lines[-1]) - 1):
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][:cut])
        runs.clear()
        assert quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path).table() == expected
        assert runs == [5]
        assert len(path.read_bytes().splitlines()) == 6


def test_a_larger_grid_goes_on_from_the_smaller_one(path, runs):
    quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path).table()
    runs.clear()
    larger = GRID | {"budget": [5, 7, 10, 20]}
    assert len(quiet(MODEL, larger, STREAM, metrics.Accuracy(), checkpoint=path).table()) == 8
    assert runs == [2, 3]


@pytest.mark.parametrize(
    ("model", "stream", "metric"),
    [
        (rb.BSGDClassifier(10, RBF(0.06)), STREAM, metrics.Accuracy()),
        (MODEL, STREAM[:-1], metrics.Accuracy()),
        (MODEL, STREAM[::-1], metrics.Accuracy()),
        (MODEL, STREAM, metrics.F1()),
        (MODEL, STREAM, metrics.FBeta(0.5)),
    ],
    ids=["model", "shorter", "reversed", "metric", "metric-parameter"],
)
def test_outcomes_of_another_sweep_are_not_taken(path, runs, model, stream, metric):
    quiet(MODEL, GRID, STREAM, metrics.FBeta(2.0), checkpoint=path).table()
    quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path).table()
    runs.clear()
    quiet(model, GRID, stream, metric, checkpoint=path).table()
    assert len(runs) == 6


def test_settings_that_failed_are_tried_again(path, runs):
    for _ in range(2):
        runs.clear()
        quiet(Fragile(), {"at": [1000, 5]}, STREAM, metrics.Accuracy(), checkpoint=path).table()
    assert runs == [1]


@pytest.mark.parametrize("content", [b"my notes", b"my notes\n", b'{"a": 1}\n', b"[]\n", b"\n\n"])
def test_a_file_that_is_something_else_is_refused_and_left(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not the checkpoint of a sweep"):
        quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path)
    assert path.read_bytes() == content


def test_what_cannot_be_recognised_later_is_refused(path):
    model = (lambda x: x) | MODEL.clone()
    grid = {"BSGDClassifier": {"budget": [5]}}
    assert quiet(model, grid, STREAM, metrics.Accuracy()).best()
    with pytest.raises(ValueError, match="<lambda> cannot be recognised"):
        next(quiet(model, grid, STREAM, metrics.Accuracy(), checkpoint=path))


def test_models_with_other_parameters_are_described_otherwise():
    def scaled(with_std, l2):
        return preprocessing.StandardScaler(with_std) | rb.BSGDClassifier(10, RBF(0.05), l2=l2)

    texts = {described(scaled(a, b)) for a in (True, False) for b in (0.1, 0.1 + 1e-16, 0.2)}
    assert len(texts) == 6
    assert described(scaled(True, 0.1)) == described(scaled(True, 0.1).clone())


# With Ray


def test_ray_gives_the_same_table(ray):
    expected = quiet(MODEL, GRID, STREAM, metrics.Accuracy()).table()
    found = quiet(MODEL, GRID, STREAM, metrics.Accuracy(), backend="ray", workers=2)
    assert found.table() == expected


def deadly(marker, times):
    """A stream that kills its process so many times."""
    parent = os.getpid()

    def stream():
        for t, example in enumerate(STREAM):
            if t == 150 and os.getpid() != parent and len(marker.read_text()) < times:
                with marker.open("a") as file:
                    file.write("x")
                os.kill(os.getpid(), KILL)
            yield example

    marker.touch()
    return stream


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_setting_of_a_killed_process_runs_again_three_times_at_most(ray, times, tmp_path):
    model, grid = preprocessing.StandardScaler() | MODEL.clone(), {"BSGDClassifier": GRID}
    expected = quiet(model, grid, lambda: STREAM, metrics.LogLoss()).table()
    stream = deadly(tmp_path / "deaths", times)
    found = quiet(model, grid, stream, metrics.LogLoss(), backend="ray", workers=1).table()
    assert (tmp_path / "deaths").read_text() == times * "x"
    assert found[1:] == expected[1:]
    if times == 3:
        assert found[0].error.startswith("WorkerLost: a worker is gone")
    else:
        assert found[0] == expected[0]


# The bar, and being killed


def test_a_bar_counts_the_settings(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    quiet(MODEL, GRID, STREAM, metrics.Accuracy(), progress=True).table()
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("sweep 0/6")
    assert lines[-1].startswith("sweep 6/6")


KILLED = """
import os, sys
from river import metrics
import river_budget as rb
from river_budget.datasets import Waveform
from river_budget.distributed import sweep

model = rb.BSGDClassifier(10, rb.kernels.RBF(0.05))
grid = {"budget": [5, 10, 20], "l2": [1e-4, 1e-2]}
stream = list(Waveform(300, seed=1))
found = sweep(model, grid, stream, metrics.Accuracy(), backend="serial", checkpoint=sys.argv[1])
for count, outcome in enumerate(found, start=1):
    if count == 3:
        os.kill(os.getpid(), int(sys.argv[2]))
"""


def test_a_killed_sweep_finishes_the_rest_only(path, runs):
    command = [sys.executable, "-c", KILLED, path, str(int(KILL))]
    ended = subprocess.run(command, check=False, capture_output=True)
    assert abs(ended.returncode) == KILL
    found = quiet(MODEL, GRID, STREAM, metrics.Accuracy(), checkpoint=path).table()
    assert runs == [3, 4, 5]
    assert found == quiet(MODEL, GRID, STREAM, metrics.Accuracy()).table()


def test_an_outcome_is_on_the_disk_before_the_next_one_comes(tmp_path, monkeypatch):
    """What the file holds at the moments when it is forced to the disk."""
    path, found, force = tmp_path / "journal", [], os.fsync

    def fsync(handle):
        found.append(path.read_bytes().count(b"\n"))
        force(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    journal = Journal(path)
    for number in range(3):
        journal.add(f"key {number}", Outcome(number, "setting", {}, 0.5))
    assert found == [1, 2, 3]
    assert list(Journal(path).found) == ["key 0", "key 1", "key 2"]
