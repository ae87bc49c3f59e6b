"""The race and its progress bar."""

from __future__ import annotations

import io
import itertools
import re
from typing import ClassVar

import numpy as np
import pytest
from commands import Terminal
from river import base, compose, multiclass, preprocessing

import river_budget as rb
from river_budget.experiments.common.results import CURVE_POINTS, Result
from river_budget.experiments.race.race import (
    MODELS,
    PLOTTED_MODELS,
    RIVERS,
    STREAMS,
    build,
    examples_of,
    panels,
    race,
    rows,
)
from river_budget.messages import progress
from river_budget.messages.progress import Progress
from river_budget.plots.panels import Panel
from river_budget.plots.running import memory, warm_up

SOME = ["LogisticRegression", "KNN", "BSGD-merge", "RBP"]


def invented(data, model, error):
    return Result(data, model, False, 100, error, 0.1, 0.1, 12.5, 20_000, (50, 100), (0.5, error))


# the race


def test_the_race_counts_what_a_loop_counts():
    found = race(models=SOME, examples=200)
    assert [(r.data, r.model) for r in found] == list(itertools.product(STREAMS, SOME))
    for result in found:
        model, wrong = build(result.model, result.data, 1), []
        for x, y in examples_of(result.data, 200, 1):
            wrong.append(model.predict_one(x) != y)
            model.learn_one(x, y)
        assert (result.error, result.examples) == (np.mean(wrong), 200)
        assert result.errors == tuple(np.mean(wrong[:n]) for n in result.at)


def test_every_model_of_the_race_runs_on_every_stream():
    results = race(examples=60)
    assert [(r.data, r.model) for r in results] == list(itertools.product(STREAMS, MODELS))
    for result in results:
        assert result.examples == 60
        assert result.microseconds > 0
        assert result.bytes > 1000
        assert len(result.at) == len(result.errors) == CURVE_POINTS
        assert (result.at[-1], result.errors[-1]) == (60, result.error)
        assert np.all(np.diff(result.at) > 0)
        assert 0 < result.error < 1


def test_short_streams_have_short_curves():
    (result,) = race(["drift"], models=["RBP"], examples=3)
    assert result.at == (1, 2, 3)


# models


def parts(model):
    """The estimators of a pipeline, and those within them."""
    for step in model.steps.values():
        yield type(step)
        if isinstance(step, multiclass.OneVsRestClassifier):
            yield type(step.classifier)


def test_every_public_classifier_is_in_the_race():
    running = {part for model in MODELS for part in parts(build(model, "bananas", 1))}
    public = {getattr(rb, name) for name in rb.__all__}
    classifiers = {
        one for one in public if isinstance(one, type) and issubclass(one, base.Classifier)
    }
    assert len(classifiers) > 12
    assert (classifiers - {rb.Delayed}) | {rb.RandomFourier, rb.Nystroem} <= running


@pytest.mark.parametrize("model", MODELS)
def test_contestants_are_made_for_the_classes_of_their_stream(model):
    assert build(model, "image-segments", 1)._multiclass


# streams


def drawn(name, examples=None, seed=1):
    return examples_of.__wrapped__(name, examples, seed)


@pytest.mark.parametrize("name", STREAMS)
def test_streams_are_long_and_have_their_classes(name):
    stream = drawn(name)
    labels = {y for _, y in stream}
    assert len(labels) == (7 if name == "image-segments" else 2)
    assert len(stream) >= 1000
    assert drawn(name, 10)[:5] == stream[:5]
    if len(labels) == 2:
        assert labels == {False, True}


def test_labels_change_sides_in_the_middle_of_the_drifting_stream():
    stream = drawn("drift")
    right = [(x[0] < 0.5 + 0.3 * np.sin(3 * np.pi * x[1])) == y for x, y in stream]
    assert stream != drawn("drift", seed=2)
    assert all(right[:2000])
    assert not any(right[2000:])


# memory


def test_memory_counts_the_numbers_of_an_array_once():
    numbers = np.zeros(1000)
    assert 8000 < memory([numbers]) < 8300
    assert 8000 < memory([numbers, numbers[3:], numbers.reshape(10, 100)]) < 8800


def test_memory_holds_at_least_what_the_model_says():
    model = rb.BSGDClassifier(budget=50)
    for x, y in drawn("bananas", 100):
        model.learn_one(x, y)
    # and the call that it keeps for the next single example: scratch space, a row, and where they
    # stand
    assert model.memory_usage < memory(model) < model.memory_usage + 20_000


# what is shown


RESULTS = [
    invented("bananas", "KNN", 0.125),
    invented("bananas", "RBP", 0.25),
    invented("drift", "KNN", 0.3),
    invented("drift", "RBP", 0.075),
]


def test_the_table_has_a_row_per_model_and_marks_the_best_of_each_stream():
    header, lines = rows(RESULTS)
    assert header == ["model", "bananas", "drift", "µs/example", "kB"]
    assert lines == [
        ["KNN", "*12.50", "30.00", "12.5", "20"],
        ["RBP", "25.00", "*7.50", "12.5", "20"],
    ]


def test_the_mean_time_counts_examples_and_the_memory_is_the_largest():
    results = [
        Result("bananas", "KNN", False, 300, 0.1, 0.1, 0.1, 10.0, 5000),
        Result("drift", "KNN", False, 100, 0.1, 0.1, 0.1, 50.0, 9000),
    ]
    assert rows(results)[1] == [["KNN", "*10.00", "*10.00", "20.0", "9"]]


def test_the_plot_has_a_panel_per_stream():
    first, second = panels(RESULTS)
    assert isinstance(first, Panel)
    assert (first.title, second.title) == ("bananas", "drift")
    assert [line.name for line in first.lines] == ["KNN", "RBP"]
    assert (first.lines[0].x, first.lines[0].y) == ((50, 100), (0.5, 0.125))


def test_the_plot_shows_rivers_models_and_the_best_of_ours():
    results = [
        invented(data, model, 0.01 * place)
        for data in ("bananas", "drift")
        for place, model in enumerate(reversed(MODELS), start=1)
    ]
    for panel in panels(results):
        names = [line.name for line in panel.lines]
        assert set(RIVERS) < set(names)
        assert set(names) - set(RIVERS) == set(list(reversed(MODELS))[:PLOTTED_MODELS])


# the progress bar


class Clock:
    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_a_terminal_has_one_line_that_is_written_again(clock):
    terminal = Terminal()
    with Progress(4, "race", terminal) as bar:
        for name in ("apples", "pears"):
            clock.now += 30
            bar.advance(name)
    assert terminal.lines() == [
        "race [....................] 0/4, 0:00 passed",
        "race [#####...............] 1/4, 0:30 passed, 1:30 to go: apples",
        "race [##########..........] 2/4, 1:00 passed, 1:00 to go: pears",
        "race [##########..........] 2/4, 1:00 passed, 1:00 to go",
    ]
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().endswith("\n")


def test_lines_fit_the_terminal(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    terminal = Terminal()
    with Progress(2, "race", terminal) as bar:
        clock.now += 1
        bar.advance("a name that is much too long for so few columns")
    assert max(map(len, terminal.lines())) == 49


def test_a_file_has_a_plain_line_now_and_then(clock):
    file = io.StringIO()
    with Progress(60, "race", file) as bar:
        for i in range(60):
            clock.now += 1
            bar.advance(f"part {i}")
    lines = file.getvalue().splitlines()
    assert lines[0] == "race 0/60, 0:00 passed"
    assert lines[1] == "race 10/60, 0:10 passed, 0:50 to go: part 9"
    assert lines[-1] == "race 60/60, 1:00 passed"
    assert len(lines) == 8
    assert "\r" not in file.getvalue()


def test_programs_without_a_console_run_without_a_bar(monkeypatch):
    monkeypatch.setattr(progress.sys, "stderr", None)
    with Progress(1, "race") as bar:
        bar.advance("one")


def test_the_line_is_left_when_an_error_ends_the_work():
    terminal = Terminal()
    with pytest.raises(KeyboardInterrupt), Progress(2, "race", terminal):
        raise KeyboardInterrupt
    assert terminal.getvalue().endswith("\n")


def test_the_race_shows_its_progress_on_the_error_stream(capsys):
    race(["drift"], models=["RBP"], examples=20)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"race 0/1, .*\nrace 1/1, .*\n", err)


class Counting(base.Classifier):
    """Notes what is asked of it and of its clones."""

    calls: ClassVar[list[str]] = []

    def learn_one(self, x, y):
        self.calls.append("learn")

    def predict_one(self, x):
        self.calls.append("predict")
        return True


@pytest.mark.parametrize("first", [[], [preprocessing.StandardScaler()]], ids=["bare", "pipeline"])
def test_what_clocks_measure_has_been_compiled_before(first):
    model = compose.Pipeline(*first, Counting()) if first else Counting()
    Counting.calls.clear()
    warm_up(model, [({"a": 1.0}, True)] * 3)
    assert Counting.calls == ["predict", "learn"] * 3
