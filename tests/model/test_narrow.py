"""Models in float32: the references of float64 on rounded numbers, within what is promised; and what they refuse."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from oracles.kernels import rbf
from replayed_cases import CASES, REGRESSION, pair
from replaying import (
    assert_close,
    assert_same,
    classifier,
    reference,
    regression_reference,
    regressor,
    run,
    run_reference,
    run_regression,
)
from scipy import sparse
from streams import emerging, examples, smooth

import river_budget as rb
from river_budget.core.block import blocks
from river_budget.core.block.limits import CANCELS_NARROW
from river_budget.core.expansion.scoring import kernel_rows
from river_budget.core.vectors.table32 import LARGEST_STORED, SMALLEST_STORED
from river_budget.kernels import RBF, Laplacian, Polynomial
from river_budget.maintenance import Merge, Project, RemoveOldest
from river_budget.model.calls.calls import Call
from river_budget.saving import states

CLOSE = 3e-5  # of the largest score: kernel values are off by about 1e-6
KINDS = [getattr(rb, name) for name in rb.__all__ if name != "merge"]
NARROW = [kind for kind in KINDS if "dtype" in getattr(kind, "parameters", tuple)()]
FAMILY = [name for name, (kind, *_) in CASES.items() if kind in NARROW]
SEVERAL = [name for name in FAMILY if name != "NORMA"]  # which separates two classes


def rounded(stream):
    return [({name: float(np.float32(v)) for name, v in x.items()}, y) for x, y in stream]


def holding(V, gamma):
    """A narrow model with these vectors."""
    model = rb.KernelOGDClassifier(RBF(gamma), 1e-9, classes=(False, True), dtype="float32")
    model.learn_many(V, np.arange(len(V)) % 2 == 0)
    assert model.n_support_vectors == len(V)
    return model


def kernel_values(model, X):
    values = np.empty((len(X), model.n_support_vectors))
    Call(model.block, np.ascontiguousarray(X), scores=values).run(kernel_rows)
    return values


# kernel values


@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 17, 65, 130])
@pytest.mark.parametrize("d", [1, 5, 100])
def test_kernel_values_are_as_close_as_promised(n, d):
    rng = np.random.default_rng(n)
    V = rng.normal(size=(n, d))
    X = np.vstack([V[:9], V[:9] + 0.1 * rng.normal(size=V[:9].shape), rng.normal(size=(9, d))])
    X[:, ::3] *= rng.random((len(X), len(range(0, d, 3)))) < 0.5  # zeros
    expected = rbf(1.0 / d)(X, V)
    np.testing.assert_allclose(kernel_values(holding(V, 1.0 / d), X), expected, rtol=0, atol=4e-6)


@pytest.mark.parametrize("size", [0.5, 3.0, 30.0, 1e4])
@pytest.mark.parametrize("d", [1, 20])
def test_far_from_the_origin_they_are_those_of_rounded_numbers(size, d):
    """Products cancel there; and where that would show, they are not used."""
    rng = np.random.default_rng(0)
    V = (size + rng.normal(size=(40, d)) / np.sqrt(d)).astype(np.float32).astype(float)
    X = (V + 0.3 * rng.normal(size=V.shape) / np.sqrt(d)).astype(np.float32).astype(float)
    error = np.abs(kernel_values(holding(V, 1.0), X) - rbf(1.0)(X, V)).max()
    assert error < (1e-10 if max(size - 2.0, 0.0) ** 2 * d > CANCELS_NARROW else 4e-5)


def test_far_from_the_origin_an_example_is_where_its_vector_is():
    """As both are rounded."""
    V = 1e5 + np.random.default_rng(0).normal(size=(30, 7))
    assert (np.diag(kernel_values(holding(V, 1.0), V)) == 1.0).all()


@pytest.mark.parametrize("size", [10.0, 1e3, 1e6, 1e9])
def test_a_feature_that_is_far_away_leaves_the_others_what_they_are(size):
    V = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32).astype(float)
    V[:, 0] = size
    expected = rbf(0.5)(V, V)
    np.testing.assert_allclose(kernel_values(holding(V, 0.5), V), expected, rtol=0, atol=1e-9)


def test_strangers_far_from_the_origin_count():
    V = 8.0 + np.random.default_rng(0).normal(size=(20, 2))
    model = holding(V, 1.0)
    x = dict(enumerate(V[3].tolist()))
    values = [model.decision_function_one(x | {"never seen": 1.5}), model.decision_function_one(x)]
    assert values[0] == pytest.approx(values[1] * np.exp(-(1.5**2)), rel=1e-9)


def test_a_small_kernel_value_is_0_before_it_is_denormal():
    V = np.sqrt(np.arange(80.0, 90.0, 0.01))[:, None]  # exp(-87.33) is the least normal number
    values = kernel_values(holding(V, 1.0), np.zeros((1, 1)))[0]
    assert ((values == 0.0) | (values >= np.finfo(np.float32).tiny)).all()
    assert 0.73 < np.mean(values > 0.0) < 0.74
    assert values[:700] == pytest.approx(np.exp(-(V[:700, 0] ** 2)), rel=1e-5)


def saved(model, folder):
    rb.save(model, folder / "model.rb")
    return folder / "model.rb"


def as_stored(X):
    rounded = np.clip(X, -LARGEST_STORED, LARGEST_STORED).astype(np.float32).astype(float)
    return np.where(np.abs(X) < SMALLEST_STORED, 0.0, rounded)


@pytest.mark.parametrize("power", [-300, -160, -45, -39, -20, -10, 10, 18, 38, 39, 77, 160, 300])
@pytest.mark.parametrize("kind", [rb.BSGDClassifier, rb.RBPClassifier])
def test_numbers_of_any_size_leave_a_model_that_works(power, kind, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)) * 10.0**power, rng.random(80) < 0.5
    for gamma in (1e-300, 1.0, 1e300):
        model = kind(10, RBF(gamma), dtype="float32", seed=1)
        one_by_one = model.clone()
        model.learn_many(X, y)
        for x, label in examples(X, y):
            one_by_one.learn_one(x, label)
        table = blocks.table_of(blocks.views(model.block))
        rows = np.vstack([X, rng.normal(size=(20, 3))])
        stored = table[:, : model.n_support_vectors].T
        expected = rbf(gamma)(as_stored(rows), stored)
        np.testing.assert_allclose(kernel_values(model, rows), expected, rtol=0, atol=4e-5)
        assert ((table == 0.0) | (np.abs(table) >= np.float32(SMALLEST_STORED))).all()
        assert (np.abs(table.astype(float)) <= LARGEST_STORED).all()
        assert rb.load(saved(model, tmp_path)).support_vectors() == model.support_vectors()
        xs = [x for x, _ in examples(X, y)]
        assert [model.decision_function_one(x) for x in xs] == [
            one_by_one.decision_function_one(x) for x in xs
        ]


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_refused(bad):
    model = holding(np.eye(3), 1.0)
    before = pickle.dumps(model.support_vectors())
    with pytest.raises(ValueError, match="1"):
        model.learn_one({0: 1.0, 1: bad, 2: 0.0}, True)
    with pytest.raises(ValueError, match="1"):
        model.learn_many(np.array([[0.0, bad, 0.0]]), [True])
    assert pickle.dumps(model.support_vectors()) == before


# learning


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_family_follows_its_references(name, seed):
    stream = rounded(emerging(400, seed=seed))
    model, oracle = pair(CASES[name], "binary", RBF(0.5), dtype="float32")
    assert_same(run(model, stream), run_reference(oracle, stream), CLOSE)


@pytest.mark.parametrize("name", [n for n, (kind, *_) in REGRESSION.items() if kind in NARROW])
def test_regression_follows_its_references(name):
    stream = rounded(smooth(400))
    model, oracle = pair(REGRESSION[name], "regression", RBF(0.3), dtype="float32")
    expected = run_regression(oracle, stream)
    assert_close(run(model, stream)[1][:, 0], np.asarray(expected), CLOSE)


@pytest.mark.parametrize("strategy", ["oldest", "random", "smallest"])
def test_budgeted_sgd_follows_its_reference(strategy):
    stream = rounded(emerging(400))
    computed = run(classifier(strategy, dtype="float32"), stream)
    assert_same(computed, run_reference(reference(strategy), stream), CLOSE)
    stream = rounded(smooth(300))
    expected = run_regression(regression_reference(strategy), stream)
    assert_close(run(regressor(strategy, dtype="float32"), stream)[1][:, 0], expected, CLOSE)


@pytest.mark.parametrize("name", FAMILY)
def test_real_data_are_learned_as_by_the_reference(name, data):
    """german.numer has whole numbers of all sizes, so that many distances come from differences."""
    stream = examples(*data("german.numer"))
    model, oracle = pair(CASES[name], "binary", RBF(1 / 128), classes=(-1, 1), dtype="float32")
    assert_same(run(model, stream), run_reference(oracle, stream, labels=(-1, 1)), CLOSE)


@pytest.mark.parametrize("arity", [2, 3])
@pytest.mark.parametrize("kind", [rb.BSGDClassifier, rb.BSGDRegressor])
def test_every_merging_step_is_nearly_that_of_float64(kind, arity):
    """The models start from the same vectors at every step, as choices among equals would tell them apart."""
    model = kind(20, RBF(0.4), Merge(arity), dtype="float32")
    rng, merged = np.random.default_rng(3), 0
    X = rng.normal(size=(250, 4)).astype(np.float32).astype(float)
    target = np.sin(2.0 * X[:, 0]) + X[:, 1]
    y = (target > 0.0).tolist() if kind is rb.BSGDClassifier else target.tolist()
    wide = model.clone({"dtype": "float64"})
    probes = rng.normal(size=(50, 4))
    for x, label in zip(X, y, strict=True):
        wide.learn_one(dict(enumerate(x.tolist())), label)
        model.learn_one(dict(enumerate(x.tolist())), label)
        own, other = blocks.views(model.block), blocks.views(wide.block)
        size = max(np.abs(other.coefficients).max() * other.head.scale, 1e-9)
        off = np.abs(model.scores_at(probes) - wide.scores_at(probes)).max()
        assert off < 1e-3 * size  # the place of a pair is found to the root of what it gains
        merged += own.head.count == 20
        copy(own, other)
    assert merged > 100


def copy(own, other):
    n = own.head.count
    other.head.count = n
    other.vectors[:, :n] = own.narrow_vectors[:, :n]
    for table in ("coefficients", "norms", "arrivals"):
        getattr(other, table)[..., :] = 0
        getattr(other, table)[..., :n] = getattr(own, table)[..., :n]
    for name in ("arrived", "scale"):
        setattr(other.head, name, getattr(own.head, name))


@pytest.mark.parametrize("d", [8, 40])
@pytest.mark.parametrize("zeros", [0.0, 0.5])
@pytest.mark.parametrize(
    "model",
    [
        rb.RBPClassifier(110, RBF("1/d"), seed=1, dtype="float32"),
        rb.BSGDClassifier(110, RBF("1/d"), dtype="float32"),
        rb.BSGDClassifier(90, RBF("1/d"), Merge(3), average=True, dtype="float32"),
        rb.KernelOGDClassifier(RBF("1/d"), dtype="float32"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_many_rows_are_learned_and_scored_to_the_bit(model, d, zeros):
    """Also where products with several examples are computed together, and some of them again."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(500, d)) * (rng.random((500, d)) >= zeros)
    y = (X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=500) > 0.0).tolist()
    models = [model.clone() for _ in range(3)]
    for x, label in zip(X.tolist(), y, strict=True):
        models[0].learn_one(dict(enumerate(x)), label)
    models[1].learn_many(X, y)
    for start in range(0, 500, 7):
        models[2].learn_many(X[start : start + 7], y[start : start + 7])
    assert models[1].support_vectors() == models[0].support_vectors()
    assert models[2].support_vectors() == models[0].support_vectors()
    one_by_one = [models[0].decision_function_one(dict(enumerate(x))) for x in X.tolist()]
    assert models[1].scores_at(X)[:, 0].tolist() == models[0].scores_at(X)[:, 0].tolist()
    if not getattr(model, "average", False):
        assert models[0].scores_at(X)[:, 0].tolist() == one_by_one


def test_it_makes_nearly_the_mistakes_of_float64(data):
    X, y = data("german.numer")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for kind in (rb.BSGDClassifier, rb.RBPClassifier):
        runs = [
            kind(50, seed=1, dtype=dtype).predict_then_learn_many(X, y)
            for dtype in ("float32", "float64")
        ]
        mistakes = [np.mean(np.asarray(found) != y) for found in runs]
        assert abs(mistakes[0] - mistakes[1]) < 0.02


# how vectors are stored


def test_a_table_takes_half_the_memory():
    X, y = np.random.default_rng(0).normal(size=(500, 120)), np.arange(500) % 2 == 0
    narrow, wide = (
        rb.RBPClassifier(200, RBF(0.01), seed=1, dtype=dtype) for dtype in ("float32", "float64")
    )
    narrow.learn_many(X, y)
    wide.learn_many(X, y)
    assert blocks.table_of(blocks.views(narrow.block)).dtype == np.float32
    assert narrow.memory_usage < 0.6 * wide.memory_usage


@pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")
def test_names_without_end_stay_in_a_table():
    rng = np.random.default_rng(0)
    stream = [
        ({f"f{int(i)}": 1.0 for i in rng.integers(0, 3000, 5)}, bool(rng.random() < 0.5))
        for _ in range(150)
    ]
    model = rb.BSGDClassifier(20, RBF(0.1), dtype="float32")
    wide = model.clone({"dtype": "float64"})
    for x, y in stream:
        model.learn_one(x, y)
        wide.learn_one(x, y)
    assert wide.features.loose
    assert not model.features.loose
    scores = [[m.decision_function_one(x) for x, _ in stream] for m in (model, wide)]
    assert np.abs(np.subtract(*scores)).max() < 1e-4


def test_a_table_that_becomes_thin_stays_one():
    rng, model = np.random.default_rng(0), rb.RBPClassifier(5, RBF(0.1), seed=1, dtype="float32")
    names = [f"f{i}" for i in range(200)]
    model.learn_one(dict.fromkeys(names, 1.0), True)
    for _ in range(400):
        model.learn_one({names[i]: 1.0 for i in rng.integers(0, 200, 2)}, bool(rng.random() < 0.5))
    assert not model.features.loose
    again = model.clone()
    again.learn_many(sparse.csr_matrix(np.eye(200, 5000)), np.arange(200) % 2 == 0)
    assert not again.features.loose
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        united = rb.merge([model, model], [0.5, 0.5])
    assert not united.features.loose
    assert united.decision_function_one({"f0": 1.0}) == model.decision_function_one({"f0": 1.0})


def test_a_model_says_once_that_names_keep_coming():
    def learned(model, first):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for i in range(first, first + 800):
                model.learn_one({f"f{2 * i}": 1.0, f"f{2 * i + 1}": 1.0}, i % 3 == 0)
        return [str(warning.message) for warning in found]

    model = rb.RBPClassifier(20, RBF(0.1), seed=1, dtype="float32")
    (said,) = learned(model, 0)
    assert "dtype='float64' keeps lists" in said
    assert not learned(model, 800)
    assert not learned(rb.RBPClassifier(20, RBF(0.1), seed=1), 0)


@pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")
def test_long_vectors_are_not_heavy():
    rng, models = np.random.default_rng(0), []
    stream = [
        ({f"f{i}": 1.0 for i in rng.integers(0, 2000, 8)}, bool(rng.random() < 0.5))
        for _ in range(600)
    ]
    for dtype in ("float32", "float64"):
        model = rb.BSGDClassifier(8, RBF(0.01), dtype=dtype)
        for x, y in stream:
            model.learn_one(x, y)
        models.append(blocks.views(model.block).head.heavy)
    assert models == [0, 1]


@pytest.mark.parametrize("kind", NARROW)
def test_it_is_a_parameter_like_others(kind):
    model = kind(dtype="float32")
    assert model.clone().dtype == "float32"
    assert 'dtype="float32"' in repr(model)
    assert kind().dtype == "float64"
    assert kind(dtype="float32", kernel=RBF(1.0, {"f0": 2.0})).narrow
    with pytest.raises(AttributeError, match="dtype"):
        model.dtype = "float64"


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("kernel", [Laplacian(), Polynomial()])
def test_other_kernels_need_float64(kind, kernel):
    with pytest.raises(ValueError, match=r"dtype='float32' needs a Gaussian kernel"):
        kind(kernel=kernel, dtype="float32")


@pytest.mark.parametrize("dtype", ["float16", "double", None, np.float32, 32])
def test_other_types_are_refused(dtype):
    with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32'"):
        rb.BSGDClassifier(dtype=dtype)


def test_projection_needs_float64():
    for kind in (rb.BSGDClassifier, rb.BSGDRegressor, rb.KernelOneClassSVM):
        with pytest.raises(ValueError, match=r"dtype='float32' does not go with .*Project"):
            kind(maintenance=Project(), dtype="float32")
    rb.BSGDClassifier(maintenance=RemoveOldest(), dtype="float32")


def test_models_of_both_kinds_cannot_be_united():
    stream = smooth(50)
    models = [rb.BSGDRegressor(20, RBF(0.5), dtype=d) for d in ("float32", "float64")]
    for model in models:
        for x, y in stream:
            model.learn_one(x, y)
    with pytest.raises(ValueError, match="dtype"):
        rb.merge(models)


def test_a_forged_file_with_numbers_beyond_float32_is_refused(tmp_path, monkeypatch):
    rb.save(holding(np.eye(3), 1.0), tmp_path / "model.rb")
    rb.load(tmp_path / "model.rb")
    monkeypatch.setattr(states, "LARGEST_STORED", 0.5)
    with pytest.raises(rb.SavedModelError, match="vectors are too large"):
        rb.load(tmp_path / "model.rb")
