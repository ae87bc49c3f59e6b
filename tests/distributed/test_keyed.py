"""A model per key: the same as a dict of models, however the keys are spread and the stream is
cut.
"""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest
from keyed import (
    KEYS,
    MODEL,
    NAMES,
    N,
    be_late,
    chunks,
    content_of,
    keyed,
    one_by_one,
    progressive,
    rows,
    shards_of,
    values_of,
    with_keys,
)
from optional import pandas as pd
from optional import polars as pl
from optional import pyarrow as pa
from river import anomaly, base, compose, linear_model, naive_bayes, preprocessing
from streams import LABELS, emerging, smooth

import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.distributed.keyed.coordinator import WINDOW
from river_budget.distributed.keyed.keys import packed, shard_of, unpacked
from river_budget.kernels import RBF, Laplacian
from river_budget.maintenance import RemoveRandom

CLASSIFIERS = [
    MODEL,
    rb.BSGDClassifier(5, RBF(0.5), RemoveRandom(), classes=LABELS, seed=3),
    rb.ForgetronClassifier(5, RBF(0.5)),
    rb.FOGDClassifier(7, Laplacian(0.5), seed=3),
    rb.NOGDClassifier(4, RBF(0.5)),
    rb.AutoKernelClassifier(5, seed=1),
    rb.KernelOGDClassifier(RBF(0.5)),
    preprocessing.StandardScaler() | MODEL,
    rb.RandomFourier(7, seed=1) | linear_model.SoftmaxRegression(),
    naive_bayes.GaussianNB(),
]
REGRESSORS = [
    rb.BSGDRegressor(5, RBF(0.5), seed=1),
    rb.NORMARegressor(None, RBF(0.5)),
    preprocessing.StandardScaler() | rb.FOGDRegressor(7, seed=1),
    linear_model.LinearRegression(),
]
DETECTORS = [
    rb.KernelOneClassSVM(0.2, 5, RBF(0.5), seed=1),
    anomaly.HalfSpaceTrees(3, 2, 5, seed=1),
]


# what is learned


def numbers_close(expected, model):
    """Numbers to 1e-12, as the lengths of examples with new features are summed in another order;
    labels as they are.
    """
    regresses = isinstance(model, base.Regressor)
    return pytest.approx(expected, rel=0.0, abs=1e-12) if regresses else expected


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=repr)
def test_a_model_per_key_is_a_dict_of_models(model):
    X, y = with_keys(smooth(N)) if model in REGRESSORS else rows()
    examples = X if model in REGRESSORS else X.to_dict("records")
    expected, alone = one_by_one(model, examples, y)
    with keyed(model) as models:
        assert progressive(models, X, y) == numbers_close(expected, model)
        assert models.keys() == sorted(alone, key=packed)
        again = [
            alone[x["key"]].predict_one({name: x[name] for name in x if name != "key"})
            for x in examples[-50:]
        ]
        assert models.predict_many(examples[-50:]) == numbers_close(again, model)


@pytest.mark.parametrize("model", DETECTORS, ids=repr)
def test_detectors_learn_without_targets_and_predict_scores(model):
    X, _ = rows()
    expected, _ = one_by_one(model, X.to_dict("records"), [None] * N)
    with keyed(model) as models:
        found = [
            value for part in (X[:300], X[300:]) for value in models.predict_then_learn_many(part)
        ]
    assert found == expected


@pytest.mark.parametrize("model", [MODEL, preprocessing.StandardScaler() | MODEL], ids=repr)
def test_features_and_labels_may_appear_at_any_time(model, file):
    X, y = with_keys(emerging(N))
    expected, alone = one_by_one(model, X, y)
    contents = set()
    for size in (1, 7, N):
        with keyed(model) as models:
            assert progressive(models, X, y, size) == expected
            contents.add(content_of(models, file))
            for key, own in alone.items():
                x = {"f0": 1.0, "f5": -2.0}
                assert models.model(key).predict_one(x) == own.predict_one(x)
    assert len(contents) == 1


def test_each_key_has_its_own_two_classes():
    X, _ = rows()
    y = [f"{('below', 'above')[t % 2]} {key}" for t, key in enumerate(X["key"])]
    model = rb.NORMAClassifier(5, RBF(0.5))
    expected, _ = one_by_one(model, X.to_dict("records"), y)
    with keyed(model) as models:
        assert progressive(models, X, y) == expected
        with pytest.raises(ValueError, match="the target must be a label, not None"):
            models.learn_many(X[:2], ["known", None])


def test_a_column_that_comes_later_is_a_new_feature():
    X, y = rows()
    with keyed() as models, keyed() as dicts:
        for columns in (["f0", "f3"], NAMES, ["f4", "f2"]):
            part = X[[*columns, "key"]]
            expected = dicts.predict_then_learn_many(part.to_dict("records"), y)
            assert values_of(models.predict_then_learn_many(part, y)) == expected


@pytest.mark.parametrize("model", [MODEL, REGRESSORS[0], linear_model.LinearRegression()], ids=repr)
def test_weights_go_with_their_rows(model):
    X, y = with_keys(emerging(N) if model is MODEL else smooth(N))
    w = np.random.default_rng(0).choice([0.5, 1.0, 2.0], N)
    expected, _ = one_by_one(model, X, y, w.tolist())
    with keyed(model) as models:
        assert progressive(models, X, y, w=w) == numbers_close(expected, model)
    with keyed(model) as models:
        assert progressive(models, X, y) != expected


def test_learn_many_is_the_same_without_predictions(file, tmp_path):
    X, y = rows()
    with keyed() as models, keyed() as silent:
        progressive(models, X, y)
        for some in chunks(N, 70):
            silent.learn_many(X[some], y[some])
        assert content_of(models, file) == content_of(silent, tmp_path / "other")


def test_the_model_of_a_key_is_a_copy_that_goes_on_alone():
    X, y = rows()
    with keyed() as models:
        models.learn_many(X, y)
        before = models.predict_many(X).tolist()
        own = models.model("k3")
        for _ in range(50):
            own.learn_one(dict.fromkeys(NAMES, 1.0), "new")
        assert own.predict_one(dict.fromkeys(NAMES, 1.0)) == "new"
        assert models.predict_many(X).tolist() == before
        with pytest.raises(KeyError, match="'nobody'"):
            models.model("nobody")


@pytest.mark.parametrize("kind", ["pandas", "dicts"])
def test_what_is_missing_in_a_row_to_be_predicted_counts_as_absent(kind):
    X, y = rows(200)
    gaps = X.copy()
    gaps.loc[::3, "f1"], gaps.loc[::5, "f2"] = np.nan, np.inf
    zeros = X.copy()
    zeros.loc[::3, "f1"], zeros.loc[::5, "f2"] = 0.0, 0.0
    with keyed() as models:
        models.learn_many(X, y)
        predictions = models.predict_many(FRAMES[kind](gaps))
        assert list(predictions) == list(models.predict_many(zeros))
        lacking = FRAMES["dicts"](gaps)[:9]
        for i, x in enumerate(lacking):
            x["f0"] = None
            x |= {f"new {i}": float("nan")}
        zeros["f0"] = 0.0
        assert models.predict_many(lacking) == list(models.predict_many(zeros[:9]))
        with pytest.raises(ValueError, match="f3"):
            models.predict_many([{"key": "k1", "f3": "text"}])
        with pytest.raises(ValueError, match="f1"):
            models.learn_many(gaps, y)


def test_a_key_that_is_not_known_is_predicted_by_a_model_that_has_learned_nothing():
    with keyed() as models, keyed(REGRESSORS[0]) as numbers:
        assert models.predict_many([{"key": 1, "a": 2.0}]) == [None]
        assert numbers.predict_many([{"key": 1, "a": 2.0}]) == [0.0]
        assert models.keys() == numbers.keys() == []


# forms


FRAMES = {
    "pandas": lambda X: X.set_index(np.arange(len(X)) * 3),
    "polars": lambda X: pl.DataFrame(X.to_dict("list")),
    "pyarrow": pa.Table.from_pandas,
    "dicts": lambda X: X.to_dict("records"),
}


@pytest.mark.parametrize("model", [MODEL, preprocessing.StandardScaler() | MODEL], ids=repr)
def test_the_form_the_chunks_and_the_shards_do_not_matter(model, file):
    X, y = rows()
    found = []
    for form, shards, size in [
        *(("pandas", 1, N), ("pandas", 3, 50), ("polars", 2, 77), ("pyarrow", 2, 200)),
        ("dicts", 5, 1),
    ]:
        with keyed(model, shards=shards) as models:
            predictions, frame = [], FRAMES[form](X)
            for some in chunks(N, size):
                piece = frame.slice(some.start, size) if form == "pyarrow" else frame[some]
                predictions += values_of(models.predict_then_learn_many(piece, y[some]))
            found.append((predictions, content_of(models, file), models.rows_done))
    assert all(each == found[0] for each in found)


def test_predictions_have_the_form_of_the_rows():
    X, y = rows()
    target = pd.Series(y, X.index * 3, name="colour")
    with keyed() as models:
        series = models.predict_then_learn_many(FRAMES["pandas"](X), target)
        assert series.index.tolist() == target.index.tolist()
        assert series.name == "colour"
        assert isinstance(models.predict_many(FRAMES["polars"](X)), pl.Series)
        assert isinstance(models.predict_many(FRAMES["dicts"](X)), list)
        assert models.predict_many(FRAMES["polars"](X)).dtype == pl.String


def test_integers_and_text_reach_models_of_others_as_they_are():
    seen = []
    model = compose.FuncTransformer(lambda x: seen.append(dict(x)) or {"a": 1.0})
    with keyed(model | naive_bayes.GaussianNB()) as models:
        models.learn_many(pd.DataFrame({"key": [1], "n": [7], "t": ["x"], "b": [True]}), [1])
    assert seen[-1] == {"n": 7, "t": "x", "b": True}
    assert [type(value) for value in seen[-1].values()] == [int, str, bool]


def test_an_empty_chunk_changes_nothing():
    X, y = rows()
    with keyed() as models:
        assert len(models.predict_then_learn_many(X[:0], y[:0])) == 0
        assert models.predict_then_learn_many([], []) == []
        assert len(models.predict_many(X[:0])) == 0
        assert len(models) == models.rows_done == 0


# keys

KINDS = ["a", "", "ü", "\ud800", b"a", 0, -5, 10**30, 0.5, -1e300, float("inf")]
KINDS += [(), ("a", 1), ((1, b""), "b")]


def test_keys_come_back_from_their_bytes_which_are_different():
    contents = [packed(key) for key in KINDS]
    assert [unpacked(content) for content in contents] == KINDS
    assert len(set(contents)) == len(KINDS)


def test_keys_that_are_equal_are_one_key():
    equal = [1, 1.0, True, np.int8(1), np.float32(1.0), np.True_]
    assert len({packed(key) for key in equal}) == 1
    assert packed(np.str_("a")) == packed("a") != packed(b"a")
    with keyed() as models:
        for key in (True, 1, 1.0):
            models.learn_many([{"key": key, "a": 1.0}] * 2, ["x", "y"])
        assert models.keys() == [1]


def test_a_key_belongs_to_the_same_shard_everywhere():
    names = ("ann", 17, 0.5, ("a", 1))
    assert [shard_of(packed(key), 7) for key in names] == [4, 5, 4, 1]


def test_keys_are_spread_evenly():
    for names in ([f"user-{i}" for i in range(3000)], range(3000), np.arange(3000) * 64):
        for shards in (2, 3, 8):
            counts = np.bincount([shard_of(packed(key), shards) for key in names])
            assert counts.min() > 0.8 * 3000 / shards


# errors


def test_what_is_wrong_with_a_chunk_is_found_before_anything_is_learned():
    X, y = rows(20)
    bad = X.copy()
    bad.loc[17, "f3"] = np.nan
    records = bad.to_dict("records")
    ragged = [*records[:5], {"key": 1, "f3": "text"}]
    lists = [[{"key": 1, "f0": 1.0, "f3": value}] for value in ([1.0], [1.0, 2.0])]
    with keyed() as models:
        for examples, targets, message in [
            *(
                (bad, y, "feature 'f3'"),
                (records, y, "feature 'f3'"),
                (ragged, y[:6], "feature 'f3'"),
                *((examples, y[:1], "feature 'f3'") for examples in lists),
            ),
            *((X.drop(columns="key"), y, "no column 'key'"), ([{"a": 1.0}], ["x"], "'key'")),
            *((X[["key"]], y, "no features"), (X.rename(columns={"key": "f9"}), y, "no column")),
            *((X, y[:-1], "19 targets"), (X, [None, *y[1:]], "label"), (X, None, "y is missing")),
        ]:
            with pytest.raises(ValueError, match=message):
                models.predict_then_learn_many(examples, targets)
        for w in (-1.0, [1.0] * 19, np.nan):
            with pytest.raises(ValueError, match=r"\bw\b"):
                models.learn_many(X, y, w=w)
        assert models.keys() == []
        models.learn_many(X, y)


def test_an_error_of_a_model_is_raised_once_by_who_asked_or_by_one_of_the_next_calls():
    bad = [{"key": 1, "a": 1.0}] * 3, ["x", "y", "z"]
    with keyed(rb.SBPClassifier(5, RBF(0.5))) as models:
        models.learn_many(*bad)
        with pytest.raises(ValueError, match="third class"):
            models.flush()
        with pytest.raises(ValueError, match="third class"):
            models.predict_then_learn_many(*bad)
        models.learn_many([{"key": 1, "a": 1.0}] * 2, ["x", "y"])
        models.flush()


def test_no_more_chunks_wait_to_be_learned_than_the_window_allows(monkeypatch):
    be_late(monkeypatch)
    X, y = rows(20)
    with keyed() as models:
        for i in range(20):
            models.learn_many(X[i : i + 1], y[i : i + 1])
            assert len(models._coordinator.waiting) == min(i + 1, WINDOW)


def test_a_closed_one_says_so():
    models = keyed()
    models.close()
    models.close()
    for call in (models.flush, models.keys, lambda: models.learn_many(*rows(5))):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    assert models.rows_done == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shards": 0}, "shards"),
        ({"checkpoint_every": 0}, "checkpoint_every"),
        ({"max_keys": 5}, "max_keys needs checkpoint"),
        ({"max_keys": 0}, "max_keys"),
        ({"model": "model"}, "model must be"),
        ({"key": len}, "key must be"),
    ],
)
def test_parameters_out_of_range_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        keyed(**options)


# memory


def test_a_model_costs_little_more_than_it_says():
    rng, n = np.random.default_rng(0), 300
    model = rb.BSGDClassifier(50, RBF(0.5), seed=1)

    def learn(models, first):
        X = pd.DataFrame(rng.normal(size=(10 * n, 10)), columns=[f"f{i}" for i in range(10)])
        X["key"] = np.arange(10 * n) % n + first
        models.learn_many(X, X["f0"] > 0)
        models.flush()

    with keyed(model, shards=1) as models:
        learn(models, 0)
        one = models.model(0).memory_usage
        tracemalloc.start()
        try:
            learn(models, n)
            gc.collect()
            first, _ = tracemalloc.get_traced_memory()
            learn(models, n)
            gc.collect()
            second, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert first / n < 1.3 * one
        assert second - first < 0.05 * first
        assert n * one < models.memory_usage / 2 < 1.1 * n * one


def test_dicts_cost_no_more(tmp_path):
    X, y = with_keys(emerging(N, n_labels=2))
    with keyed(shards=1) as models, keyed(shards=1) as frames:
        for _ in range(2):
            models.learn_many(X, y)
            frames.learn_many(pd.DataFrame(X).fillna(0.0), y)
        (shard,) = shards_of(models)
        assert not any(model._free_rows for model in shard.models.values())
        assert len({id(model._features) for model in shard.models.values()}) < KEYS / 2
        assert models.memory_usage == pytest.approx(frames.memory_usage, rel=0.3)


# a stream of chunks


def cut(X, y, w=None, size=30):
    """(X, y) or (X, y, w), chunk by chunk."""
    for some in chunks(len(y), size):
        yield (X[some], y[some]) if w is None else (X[some], y[some], w[some])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_of_chunks_is_predicted_as_chunk_by_chunk(weighted, file, tmp_path):
    X, y = rows()
    w = np.linspace(0.5, 2.0, N) if weighted else None
    with keyed() as one, keyed(shards=3) as all_at_once:
        weights = {"w": w} if weighted else {}
        expected = progressive(one, X, y, 30, **weights)
        found = list(all_at_once.predict_then_learn_chunks(cut(X, y, w)))
        assert [len(part) for part in found] == [30] * (N // 30) + [N % 30] * (N % 30 > 0)
        assert [value for part in found for value in values_of(part)] == expected
        assert content_of(all_at_once, file) == content_of(one, tmp_path / "other")


def test_a_stream_is_read_one_chunk_ahead():
    X, y = rows(90)
    read = []

    def stream():
        for number, chunk in enumerate(cut(X, y)):
            read.append(number)
            yield chunk

    with keyed() as models:
        predictions = models.predict_then_learn_chunks(stream())
        assert read == []
        next(predictions)
        assert read == [0, 1]
        assert len(list(predictions)) == 2


def test_a_bad_chunk_ends_a_stream_and_the_chunks_before_are_learned():
    X, y = rows(60)
    bad = X[30:].assign(f0="strange")
    with keyed() as models:
        with pytest.raises(ValueError, match="f0"):
            list(models.predict_then_learn_chunks([(X[:30], y[:30]), (bad, y[30:])]))
        assert models.rows_done == 30


# With Ray


def test_ray_gives_the_same_predictions_and_the_same_models(ray, file, tmp_path):
    X, y = rows()
    with keyed() as serial, KeyedModels(MODEL, "key") as models:
        expected = progressive(serial, X, y)
        assert progressive(models, pl.DataFrame(X.to_dict("list")), y, 70) == expected
        assert content_of(models, file) == content_of(serial, tmp_path / "other")
        assert models.predict_many(X).tolist() == serial.predict_many(X).tolist()
        assert models.memory_usage == pytest.approx(serial.memory_usage, rel=0.05)
        again = list(models.predict_then_learn_chunks(cut(X, y, size=70)))
        assert [value for part in again for value in values_of(part)] == progressive(serial, X, y)
        bad = [*X.to_dict("records")[:3], {"key": "k1", "f0": frozenset()}]
        with pytest.raises(ValueError, match="f0"):
            models.learn_many(bad, y[:4])
