"""`river-budget speed`: the comparisons and their tables."""

from __future__ import annotations

import io
import platform
import sys

import numpy as np
import pytest

from river_budget.experiments.speed import compiling, speed, speed_cases, timing
from river_budget.experiments.speed.speed_cases import STREAMS, missing
from river_budget.experiments.speed.timing import Comparison


def test_a_ratio_is_the_median_over_turns_and_has_a_spread(monkeypatch):
    times = {"ours": iter([9.0, 1.0, 2.0, 6.0]), "theirs": iter([9.0, 20.0, 20.0, 30.0])}
    held = Comparison("some", examples=1_000_000)
    held.against(
        "theirs",
        lambda: next(times["theirs"]),
        {"ours": lambda: next(times["ours"])},  # the first round does not count
    )
    held.against("not installed", None, {"ours": lambda: 0.0})
    monkeypatch.setattr(timing, "seconds", lambda run: run())
    assert held.rows(3) == [["ours", "some", "2.00", "20.0", "0.10", "0.05-0.20", "theirs"]]


@pytest.mark.parametrize("lines", [None, "processor : 0\nCPU part : 0xd0c\n"])
def test_a_processor_without_a_name_has_a_kind(lines, monkeypatch):
    """macOS and Windows have no /proc; Linux on ARM has, but it names no model."""

    def open_instead(path):
        if lines is None:
            raise FileNotFoundError(path)
        return io.StringIO(lines)

    monkeypatch.setattr(speed, "open", open_instead, raising=False)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert speed.processor() == "arm64"
    assert "AVX" not in speed.described()


def test_streams_are_made_up_where_no_file_is_at_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))
    monkeypatch.setenv("RIVER_DATA", str(tmp_path))
    assert missing([]) == ["a9a", "cod-rna", "mnist"]
    for stream in (make(300) for make, _ in STREAMS.values()):
        assert f"d={stream.X.shape[1]}" in stream.name
        assert len(stream) == 300
        assert 0.2 < stream.y.mean() < 0.8
        share = np.mean(stream.X != 0.0)
        assert share < 0.25 if stream.X.shape[1] > 100 else share > 0.9


def test_contests_do_without_what_is_not_installed(monkeypatch):
    for name in ("sklearn", "sklearn.linear_model", "sklearn.metrics.pairwise", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    stream = STREAMS["waveform"][0](200)
    held = [*speed_cases.comparisons(stream, False), *speed_cases.large_products(False)]
    against = {theirs for one in held for _, theirs in one.pairs}
    assert against == {speed_cases.LOGISTIC, speed_cases.SAMPLER, "one model"}


def test_compiling_ahead_uses_every_pass_of_a_class():
    for kind in compiling.families()["BSGD"]:
        models = list(compiling.models_of(kind))
        assert {model._learning_pass for model in models} == set(kind.algorithm.learn.values())
        assert len({model._scoring_pass for model in models}) == 2


@pytest.mark.slow
def test_a_first_call_takes_its_time():
    assert "FOGDClassifier" in speed.estimators()
    assert speed.first_call("PolynomialCountSketch") > 0.1
