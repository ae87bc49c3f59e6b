"""Kernel functions of users, normalised kernels, and widths of single features."""

from __future__ import annotations

import copy
import math
import pickle

import numba
import numpy as np
import pytest
from folders import PATHS
from inside import plain
from models import learn, overlap, same, scores
from processes import output_of
from streams import emerging, smooth

import river_budget as rb
from river_budget.core import custom_kernels
from river_budget.core.memory import views
from river_budget.kernels import RBF, Cosine, Custom, Laplacian, Linear, Normalised, Polynomial
from river_budget.maintenance import Merge, Project, RemoveOldest


def gauss(x, z):
    total = 0.0
    for i in range(len(x)):
        total += (x[i] - z[i]) ** 2
    return math.exp(-0.5 * total)


@numba.njit
def compiled_gauss(x, z):
    return np.exp(-0.5 * np.sum((x - z) ** 2))


def broken(x, z):
    return math.nan if x[0] > 1.0 else 1e200


def complete(n, seed=0):
    """Examples with all of their features from the first one on, and two labels."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    labels = np.where(X[:, 0] * X[:, 1] > 0.0, "blue", "amber").tolist()
    return [(dict(zip("abc", x, strict=True)), y) for x, y in zip(X.tolist(), labels, strict=True)]


# A kernel function does what the same kernel does that is built in

SAME_KERNEL = [
    rb.KernelOGDClassifier(),
    rb.KernelPerceptronClassifier(maintenance=RemoveOldest(), budget=15),
    rb.BSGDClassifier(15, maintenance=Project()),
    rb.ForgetronClassifier(15),
    rb.ProjectronPPClassifier(15),
    rb.BudgetPerceptronClassifier(15, classes=("blue", "amber")),
    rb.BPAClassifier(15, update="projection"),
    rb.BPAClassifier(15, update="nearest"),
    rb.BOGDClassifier(15, seed=1),
    rb.SBPClassifier(25, seed=1, classes=("blue", "amber")),
    rb.NOGDClassifier(15),
    rb.NORMARegressor(15),
    rb.KernelOGDRegressor(),
]


@pytest.mark.parametrize("function", [gauss, compiled_gauss], ids=["plain", "compiled"])
@pytest.mark.parametrize("model", SAME_KERNEL, ids=lambda model: type(model).__name__)
def test_a_kernel_function_is_as_good_as_a_kernel_that_is_built_in(model, function):
    built_in = model.clone({"kernel": RBF(0.5)})
    own = model.clone({"kernel": Custom(function)})
    regression = "Regressor" in type(model).__name__
    for x, y in complete(120):
        y = x["a"] if regression else y
        assert own.decision_function_one(x) == pytest.approx(
            built_in.decision_function_one(x), rel=1e-6, abs=1e-9
        )
        built_in.learn_one(x, y)
        own.learn_one(x, y)
    assert own.n_support_vectors == built_in.n_support_vectors > 10


def test_a_map_of_landmarks_takes_one():
    maps = [rb.Nystroem(10, kernel=kernel) for kernel in (RBF(0.5), Custom(gauss))]
    for x, _ in complete(30):
        for model in maps:
            model.learn_one(x)
    x = complete(31)[-1][0]
    assert maps[1].transform_one(x) == pytest.approx(maps[0].transform_one(x))


@pytest.mark.parametrize(
    "build",
    [
        lambda kernel: rb.BSGDClassifier(10, kernel, Merge()),
        lambda kernel: rb.KernelOneClassSVM(budget=10, kernel=kernel, maintenance=Merge(3)),
        lambda kernel: rb.FOGDClassifier(kernel=kernel),
        lambda kernel: rb.RandomFourier(kernel=kernel),
        lambda kernel: rb.PolynomialCountSketch(kernel=kernel),
    ],
)
def test_what_needs_a_certain_kernel_says_so(build):
    with pytest.raises(ValueError, match=r"(RBF|Polynomial).*Custom\(models\.overlap\)"):
        build(Custom(overlap))


def test_values_that_are_no_numbers_do_not_enter():
    model = rb.KernelOGDClassifier(Custom(broken))
    for i in range(20):
        model.learn_one({"a": float(i % 3), "b": float(i)}, i % 2 == 0)
        score = model.decision_function_one({"a": 2.0, "b": 1.0})
        assert math.isfinite(score)
    assert model.decision_function_one({"a": 2.0}) == 0.0


def test_features_that_were_never_learned_do_not_count():
    model = learn(rb.KernelOGDClassifier(Custom(gauss)), emerging(50, n_labels=2))
    x = emerging(50, n_labels=2)[-1][0]
    assert model.decision_function_one(x | {"new": 9.0}) == model.decision_function_one(x)


# Names

ARGUMENTS = [
    ({"function": 3}, "function must be"),
    ({"function": overlap, "name": ""}, "name must be"),
    ({"function": lambda x, z: undefined(x), "name": "undefined"}, "cannot be compiled"),  # noqa: F821
    ({"function": lambda x, z: "text", "name": "text"}, "cannot be compiled"),
]


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS)
def test_bad_arguments_are_refused(arguments, message):
    if "cannot be" in message and numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    with pytest.raises(ValueError, match=message):
        Custom(**arguments)


def test_two_functions_do_not_share_a_name():
    Custom(overlap, name="taken")
    with pytest.raises(ValueError, match=r"'taken'.*name="):
        Custom(gauss, name="taken")
    again = eval(compile("lambda x, z: x[0] * z[0]", "cell", "eval"))
    for _ in range(2):  # a cell of a notebook that runs twice
        Custom(again, name="cell")
        again = eval(compile("lambda x, z: x[0] * z[0]", "cell", "eval"))
    assert Custom(again, name="cell") == Custom(custom_kernels.known_function("cell"), name="cell")


LOAD = """
import sys
file, pickled, *sys.path[:0] = sys.argv[1:]
import pickle
import river_budget as rb
try:
    rb.load(file)
except rb.SavedModelError as error:
    print(error)
for model in (pickle.load(open(pickled, "rb")), rb.load(file)):  # the pickle names the function
    print(model.decision_function_one({"f0": 1.0}))
"""


def test_files_hold_the_name_and_say_what_is_missing(tmp_path):
    model = learn(rb.BSGDClassifier(10, Custom(overlap), classes=(0, 1)), stream(40))
    rb.save(model, tmp_path / "model")
    (tmp_path / "pickle").write_bytes(pickle.dumps(model))
    found = output_of("-c", LOAD, tmp_path / "model", tmp_path / "pickle", *PATHS)
    message, *scores = found.splitlines()
    assert "'models.overlap'" in message
    assert "rb.kernels.Custom(function)" in message
    expected = model.decision_function_one({"f0": 1.0})
    assert [*map(float, scores)] == pytest.approx([expected, expected])
    assert rb.load(tmp_path / "model").kernel == model.kernel


def stream(n):
    return [(x, int(y > 0.0)) for x, y in smooth(n)]


def test_a_block_whose_function_is_not_known_is_not_run(monkeypatch):
    model = learn(rb.KernelOGDClassifier(Custom(overlap)), stream(10))
    views(model._block).head.custom = 12345
    model._free_rows.clear()
    with pytest.raises(RuntimeError, match="does not know"):
        model.predict_one({"f0": 1.0})


# Normalised kernels


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, "1/d", 0.5), Custom(overlap)], ids=repr)
def test_normalised_kernels_are_1_of_an_example_with_itself(kernel):
    X = np.random.default_rng(0).normal(size=(30, 4))
    maps = [rb.Nystroem(30, kernel=Normalised(kernel)) for _ in range(2)]
    lengths = np.random.default_rng(1).uniform(0.5, 2.0, size=(30, 1))
    for model, rows in zip(maps, (X, X * lengths), strict=True):
        model.learn_many(rows)
    assert maps[0]._gram().diagonal() == pytest.approx(1.0)
    if not hasattr(kernel, "gamma"):
        assert maps[0]._gram() == pytest.approx(plain(Normalised(kernel))(X, X))
    if kernel == Linear():
        assert maps[1]._gram() == pytest.approx(maps[0]._gram())


def test_the_cosine_is_the_normalised_inner_product():
    models = [rb.BSGDClassifier(15, kernel) for kernel in (Cosine(), Normalised(Linear()))]
    for model in models:
        learn(model, emerging(80))
    assert same(*models, emerging(20, seed=2))
    x = emerging(20, seed=2)[-1][0]
    longer = {name: 7.0 * value for name, value in x.items()}
    assert models[0].predict_proba_one(longer) == pytest.approx(models[0].predict_proba_one(x))


@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Cosine(), Normalised(Linear())], ids=repr)
def test_what_is_normalised_is_not_normalised_again(kernel):
    with pytest.raises(ValueError, match="already"):
        Normalised(kernel)


def test_normalised_kernels_are_saved(tmp_path):
    model = learn(rb.ProjectronClassifier(10, Normalised(Polynomial(2))), emerging(60))
    rb.save(model, tmp_path / "model")
    assert same(model, rb.load(tmp_path / "model"), emerging(20))


def test_the_width_of_a_polynomial_may_follow_the_number_of_features():
    a = learn(rb.KernelOGDClassifier(Polynomial(2, "1/d")), stream(40))
    d = len(stream(40)[0][0])
    b = learn(rb.KernelOGDClassifier(Polynomial(2, 1.0 / d)), stream(40))
    assert scores(a, stream(10)) == scores(b, stream(10))


# Widths of single features

SCALES = {"f0": 3.0, "f2": 0.25, "never": 7.0}


def stretched(stream):
    return [({name: SCALES.get(name, 1.0) * v for name, v in x.items()}, y) for x, y in stream]


@pytest.mark.parametrize(
    "build",
    [
        lambda kernel: rb.BSGDClassifier(10, kernel, classes=(0, 1)),
        lambda kernel: rb.BSGDClassifier(10, kernel, Project()),
        lambda kernel: rb.NOGDClassifier(10, kernel),
        lambda kernel: rb.SBPClassifier(20, kernel, seed=1),
        lambda kernel: rb.FOGDClassifier(20, kernel, seed=1),
    ],
    ids=["merge", "project", "NOGD", "SBP", "FOGD"],
)
def test_scales_are_those_of_a_stretched_stream(build, tmp_path):
    model, plain_model = build(RBF(0.5, SCALES)), build(RBF(0.5))
    half, rest = stream(80)[:40], stream(80)[40:]
    learn(model, half)
    learn(plain_model, stretched(half))
    for path, twin in enumerate([model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]):
        rb.save(twin, tmp_path / str(path))
        for each in (twin, rb.load(tmp_path / str(path))):
            reference = copy.deepcopy(plain_model)
            learn(each, rest)
            learn(reference, stretched(rest))
            expected = scores(reference, stretched(stream(20)))
            assert scores(each, stream(20)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_scales_hold_for_frames_unknown_features_and_sums():
    X = np.random.default_rng(1).normal(size=(60, 4))
    y = X[:, 0] * X[:, 1] > 0
    factors = np.array([2.0, 1.0, 0.5, 1.0])
    kernel = RBF(0.3, {0: 2.0, 2: 0.5, 9: 4.0})
    model, reference = rb.BSGDClassifier(10, kernel), rb.BSGDClassifier(10, RBF(0.3))
    assert (
        model.predict_then_learn_many(X, y) == reference.predict_then_learn_many(X * factors, y)
    ).all()
    x = {0: 0.5, 3: 1.0, 9: 0.1}
    scaled = {0: 1.0, 3: 1.0, 9: 0.4}
    assert model.decision_function_one(x) == pytest.approx(reference.decision_function_one(scaled))
    both = rb.merge([model, model.clone()], [1.0, 1.0])
    assert both.decision_function_one(x) == pytest.approx(model.decision_function_one(x))
    vector, other = model.support_vectors()[0], reference.support_vectors()[0]
    assert vector["features"] == pytest.approx(
        {name: value / factors[name] for name, value in other["features"].items()}
    )


@pytest.mark.parametrize("scales", [3, {"a": 0.0}, {"a": "wide"}, {"a": math.inf}, [1.0]])
def test_scales_must_be_positive_numbers(scales):
    with pytest.raises(ValueError, match="scales"):
        RBF(scales=scales)


def test_scales_make_a_kernel_that_can_be_compared_and_not_changed():
    given = {"a": 2.0, "b": 3.0}
    kernel = RBF(1.0, given)
    assert kernel == RBF(1.0, {"b": 3.0, "a": 2.0}) != RBF(1.0)
    assert hash(kernel) == hash(RBF(1.0, {"b": 3.0, "a": 2.0}))
    given["a"] = 5.0
    assert kernel.scales["a"] == 2.0
    assert repr(RBF(1.0)) == "RBF(gamma=1.0)"


def test_a_feature_that_is_not_finite_times_its_scale_is_refused():
    model = rb.KernelOGDClassifier(RBF(0.5, {"f0": 1e10}))
    learn(model, stream(10))
    before = pickle.dumps(model)
    for x in ({"f0": 1e300}, {"f0": 1e300, "f1": 0.0, "f2": 0.0}):
        with pytest.raises(ValueError, match="'f0'"):
            model.learn_one(x, 1)
    with pytest.raises(ValueError, match="feature 0"):
        rb.KernelOGDClassifier(RBF(0.5, {0: 1e10})).learn_many(np.full((2, 2), 1e300), [0, 1])
    assert pickle.dumps(model) == before
