"""Shards that learn apart and are merged: what they give, from whatever streams they come."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from models import MODELS, SUMS, crossed, learn, learned, list_of, one_of_each, same, stream_for
from optional import pandas as pd
from optional import polars as pl
from river import preprocessing, stats, tree
from streams import examples

import river_budget as rb
from river_budget.datasets import Waveform
from river_budget.distributed import train_shards
from river_budget.kernels import RBF

X, Y = Waveform(900, seed=1).arrays()
MODEL = rb.BSGDClassifier(20, RBF(0.05), l2=1e-2, seed=3)
SINGLES = examples(X, Y)


def trained(streams, sync_every=None, model=MODEL, **options):
    return train_shards(model, streams, sync_every, **{"backend": "serial"} | options)


def parts(*lengths):
    """Pairs of rows and targets of these lengths, one after the other."""
    ends = np.cumsum(lengths)
    return [(X[end - n : end], Y[end - n : end]) for n, end in zip(lengths, ends, strict=True)]


def accuracy(model):
    test_X, test_y = Waveform(1000, seed=2).arrays()
    return np.mean(model.predict_many(test_X) == test_y)


# What comes out


@pytest.mark.parametrize(
    ("model", "sync_every"),
    [*crossed(one_of_each(MODELS), [7]), *((MODEL, n) for n in (None, 60, 100))],
)
def test_one_shard_is_ordinary_learning(model, sync_every):
    expected = learned(model.clone({"seed": 3}) if hasattr(model, "seed") else model)
    fresh = expected.clone()
    stream = stream_for(model, 60)
    assert same(trained([stream], sync_every, model=fresh), expected, stream)


def test_the_merged_model_is_the_mean_by_numbers_of_examples():
    shards = parts(100, 300)
    models = [MODEL.clone(), MODEL.clone()]
    for model, (rows, targets) in zip(models, shards, strict=True):
        model.learn_many(rows, targets)
    expected = rb.merge(models, [0.25, 0.75])
    assert pickle.dumps(trained(shards)) == pickle.dumps(expected)


def test_all_go_on_from_the_merged_model():
    shards, models = parts(200, 200), [MODEL.clone(), MODEL.clone()]
    for start in (0, 100):
        for model, (rows, targets) in zip(models, shards, strict=True):
            model.learn_many(rows[start : start + 100], targets[start : start + 100])
        merged = rb.merge(models)
        models = [pickle.loads(pickle.dumps(merged)) for _ in models]
    assert pickle.dumps(trained(shards, 100)) == pickle.dumps(merged)


def test_a_stream_that_is_over_takes_no_part_any_more():
    short, long = parts(100, 300)
    first = trained([short, (long[0][:100], long[1][:100])])
    first.learn_many(long[0][100:], long[1][100:])
    assert pickle.dumps(trained([short, long], 100)) == pickle.dumps(first)
    again = trained([short, [], long], 100)
    assert pickle.dumps(again) == pickle.dumps(first)


def test_what_the_model_knows_is_gone_on_from_and_the_model_is_left():
    model = MODEL.clone()
    model.learn_many(X[:200], Y[:200])
    before = pickle.dumps(model)
    merged = trained(parts(200, 200, 200)[1:], 50, model=model)
    assert pickle.dumps(model) == before
    expected = pickle.loads(before)
    expected.learn_many(X[200:400], Y[200:400])
    assert pickle.dumps(trained(parts(200, 200)[1:], model=model)) == pickle.dumps(expected)
    assert accuracy(merged) > accuracy(trained(parts(20, 20)))


@pytest.mark.parametrize("model", one_of_each(SUMS))
def test_every_model_learns_in_shards(model):
    streams = [stream_for(model, n, seed=n) for n in (50, 31, 50)]
    merged = trained(streams, 20, model=model)
    learn(merged, stream_for(model, 20, seed=9))
    for x, _ in streams[0]:
        assert np.isfinite(list_of(merged.decision_function_one(x))).all()
    if getattr(model, "budget", None) is not None and hasattr(merged, "n_support_vectors"):
        assert merged.n_support_vectors <= model.budget


def test_no_streams_and_empty_streams():
    with pytest.raises(ValueError, match="at least one stream"):
        trained([])
    assert trained([[], []])._block is None


# Streams


FORMS = {
    "singles": lambda: SINGLES[:200],
    "iterator": lambda: iter(SINGLES[:200]),
    "function": lambda: lambda: iter(SINGLES[:200]),
    "function-arrays": lambda: lambda: (X[:200], Y[:200]),
    "dataset": lambda: Waveform(200, seed=1),
    "array": lambda: (X[:200], Y[:200]),
    "list-of-targets": lambda: (X[:200], Y[:200].tolist()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_may_come_in_several_forms(form):
    expected = trained(parts(200, 200), 30)
    streams = [FORMS[form](), (X[200:400], Y[200:400])]
    assert same(trained(streams, 30), expected, SINGLES[:50])


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_give_what_their_rows_give(library):
    names = [f"c{i}" for i in range(X.shape[1])]
    stream = [(dict(zip(names, x.values(), strict=True)), y) for x, y in SINGLES[:200]]
    rows = dict(zip(names, X[:200].T.copy(), strict=True))
    frame, targets = library.DataFrame(rows), library.Series(Y[:200])
    for model in (MODEL, preprocessing.StandardScaler() | MODEL.clone()):
        one, two = (trained([each, each], 30, model=model) for each in (stream, (frame, targets)))
        probe = stream[:20]
        assert [one.predict_proba_one(x) for x, _ in probe] == [
            two.predict_proba_one(x) for x, _ in probe
        ]


def test_a_weight_in_an_example_counts():
    half = [(x, y, {"w": 0.5}) for x, y in SINGLES[:200]]
    model = MODEL.clone()
    for x, y in SINGLES[:200]:
        model.learn_one(x, y, 0.5)
    assert same(trained([half]), model, SINGLES[:50])


def test_a_detector_learns_without_targets():
    model = rb.KernelOneClassSVM(0.2, 15, RBF(0.05))
    merged = trained([SINGLES[:100], (X[100:200], Y[100:200])], 20, model=model)
    assert merged.n_support_vectors == 15


# Pipelines


def test_scalers_know_each_example_once():
    model = preprocessing.StandardScaler() | MODEL.clone()
    streams = [SINGLES[:310], SINGLES[310:500], [({0: 5.0, "new": 2.0}, True)] * 3]
    merged = trained(streams, 50, model=model)["StandardScaler"]
    scaler = preprocessing.StandardScaler()
    for stream in streams:
        for x, _ in stream:
            scaler.learn_one(x)
    assert merged.counts == scaler.counts
    assert merged.means == pytest.approx(scaler.means, abs=1e-12)
    assert merged.vars == pytest.approx(scaler.vars, abs=1e-12)


@pytest.mark.parametrize("kind", [preprocessing.TargetStandardScaler, rb.TargetStandardScaler])
def test_a_scaler_of_targets_knows_each_example_once_and_so_does_the_one_inside(kind):
    model = kind(preprocessing.StandardScaler() | rb.BSGDRegressor(20, RBF(0.05)))
    stream = [(x, float(x[0] + 2.0 * x[3])) for x, _ in SINGLES[:400]]
    merged = trained([stream[:210], stream[210:]], 50, model=model)
    alone = stats.Var()
    for _, y in stream:
        alone.update(y)
    assert merged.var.n == len(stream) == merged.regressor["StandardScaler"].counts[0]
    assert merged.var.get() == pytest.approx(alone.get(), rel=1e-9)


# What goes wrong


def test_models_that_cannot_be_merged_fail_before_the_work():
    read = []

    def counted():
        for example in SINGLES:
            read.append(example)
            yield example

    with pytest.raises(ValueError, match="HoeffdingTreeClassifier"):
        trained([counted, counted], model=tree.HoeffdingTreeClassifier())
    assert len(read) <= len(SINGLES) // 2 + 500


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="sync_every"):
        trained(parts(10), 0)
    with pytest.raises(ValueError, match="backend"):
        trained(parts(10), backend="dask")
    with pytest.raises(ValueError, match="10 examples but 9 targets"):
        trained([(X[:10], Y[:9])])


def test_an_error_of_a_shard_is_raised_as_itself():
    with pytest.raises(ValueError, match="feature 0 must be a finite number"):
        trained([SINGLES[:100], [({0: np.nan}, True)]])


# With Ray


def test_ray_gives_the_same_model_to_the_bit(ray):
    streams = [(X[:400], Y[:400]), lambda: iter(SINGLES[400:700])]
    expected = trained(streams, 100)
    assert pickle.dumps(trained(streams, 100, backend="ray")) == pickle.dumps(expected)
