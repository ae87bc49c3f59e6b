"""Bad input is refused with an error that names the culprit, and the model stays as it was."""

from __future__ import annotations

import contextlib
import copy
import datetime
import functools
import math
import pickle
import re

import numpy as np
import pytest
from models import (
    CLASSIFIERS,
    KERNELS,
    MODELS,
    REGRESSORS,
    crossed,
    having,
    learned,
    one_of_each,
    stream_for,
    variant,
)
from optional import Missing
from optional import pandas as pd
from optional import polars as pl
from river import evaluate, metrics
from scipy import sparse
from streams import matrix

import river_budget as rb
from river_budget.core import memory
from river_budget.kernels import RBF, Laplacian, Polynomial
from river_budget.maintenance import Merge, Project

# One for each way in which models read examples. (All models, with few values:
# safety/test_threads.py, and a batch.)
READERS = ("BSGD", "BSGD-scales", "BSGD-R", "FOGD", "NOGD", "AutoKernel", "AutoKernel-R")
EACH = [entry for entry in MODELS if entry.id in READERS]
PANDAS = [] if isinstance(pd, Missing) else [pd.NA, pd.NaT]
MISSING = [None, math.nan, math.inf, -math.inf, *PANDAS[:1]]  # absent in what is predicted
NO_NUMBERS = [
    *(*MISSING, "text", "1.5", b"1", 10**400, [1.0], (1.0, 2.0), {"a": 1}, 1j, float),
    *(np.array([1.0, 2.0]), np.datetime64("2024-01-01")),
    *(np.complex128(1 + 2j), np.complex64(1), np.array(1 + 2j)),
]
NO_LABELS = [None, math.nan, np.float64("nan"), [1], {"a": 1}, np.array([1, 2]), *PANDAS]
BAD_WEIGHTS = [-1.0, -1e-300, math.nan, math.inf, None, "a", [1.0], 1j, 10**400]

BATCHES = ("learn_many", "predict_then_learn_many")
BEHIND_ONE = ("learn_one", "predict_then_learn_one", "predict_one", "predict_proba_one")
BEHIND_ONE += ("decision_function_one",)
BEHIND_MANY = (*BATCHES, "predict_many", "predict_proba_many")


def short(value):
    return repr(value)[:30]


def states(models):
    """Each model, fresh and after some examples, and a target that suits it."""
    for entry in models:
        (model,) = entry.values
        found, y = states_of(model)
        yield from ((copy.deepcopy(state), y) for state in found)


@functools.cache
def states_of(model):
    return [variant(model, seed=1), learned(model, 10)], stream_for(model, 1)[0][1]


@contextlib.contextmanager
def refused(model, *culprits):
    """ValueError that mentions all culprits, and not a byte of the model has changed."""
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=".*".join(re.escape(str(c)) for c in culprits)):
        yield
    assert pickle.dumps(model) == before


def call(model, method, x, y, **further):
    further = {"y": y} | further if "learn" in method else further
    getattr(model, method)(x, **further)


def is_cell(value):
    """Whether it is text or a gap, which models that read tables take."""
    return isinstance(value, (str, bytes)) or repr(value) in map(repr, MISSING)


def methods_of(model, names, value="none that is missing"):
    """Those of a model; only those that learn refuse what is missing."""
    found = [name for name in names if hasattr(model, name)]
    if getattr(model, "_reads_tables", False) and is_cell(value):
        return []
    missing = repr(value) in map(repr, MISSING)
    return [name for name in found if "learn" in name] if missing else found


# features


@pytest.mark.parametrize("value", NO_NUMBERS, ids=short)
def test_a_feature_that_is_no_finite_number_is_refused(value):
    for model, y in states(EACH):
        examples = [(name, {"f0": 1.0, "f1": 0.5} | {name: value}) for name in ("f0", "unknown")]
        if model._features:  # all of them are read as a row
            whole = dict.fromkeys(model._features, 0.5)
            model.learn_one(whole, y)
            examples.append(("f0", whole | {"f0": value}))
        for name, x in examples:
            for method in methods_of(model, BEHIND_ONE, value):
                with refused(model, repr(name), "finite number", repr(value)[:50]):
                    call(model, method, x, y)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(10))
def test_a_number_that_is_not_finite_is_found_among_zeros(value, place):
    """What is 0 is passed over by eights; of ten features the last two stand alone."""
    names = list("abcdefghij")
    model = rb.BSGDClassifier(5, RBF(0.5))
    for number in (1.0, 2.0):  # now a row is at hand, whose numbers the pass itself checks
        model.learn_one(dict.fromkeys(names, number), True)
    before = pickle.dumps(model)
    x = dict.fromkeys(names, 0.0) | {names[place]: value}
    with pytest.raises(ValueError, match=f"feature '{names[place]}' "):
        model.learn_one(x, False)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("value", NO_NUMBERS, ids=short)
def test_a_value_in_a_frame_that_is_no_finite_number_is_refused(value):
    bad = pd.Series([0.5, value, 0.5], dtype=object)
    X = pd.DataFrame({"f0": [1.0, 2.0, 3.0], "bad": bad})
    for model, y in states(EACH):
        for method in methods_of(model, BEHIND_MANY, value):
            with refused(model, "'bad'", "finite number"):
                call(model, method, X, [y] * 3)


@pytest.mark.parametrize("kind", [object, None])
@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "text", None, 1j], ids=short)
def test_a_value_in_an_array_that_is_no_finite_number_is_refused(value, kind):
    X = np.array([[0.0, 1.0], [0.0, value]], kind)
    for model, y in states(EACH):
        for method in methods_of(model, BEHIND_MANY, value):
            with refused(model, "number"):
                call(model, method, X, [y] * 2)


COMPLEX = np.array([[1 + 2j, 2.0 + 1j], [3.0, 4.0j]])
FORMS = {
    "objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X),
    "one column": lambda X: pd.DataFrame({0: X[:, 0].real, 1: X[:, 1]}),
    "polars": lambda X: pl.DataFrame({"0": X[:, 0].tolist()}, schema={"0": pl.Object}),
    "csr": sparse.csr_matrix,
}


@pytest.mark.parametrize("form", FORMS)
def test_complex_numbers_are_refused_in_every_form(form):
    model = learned(rb.BSGDClassifier(5))
    for method in BEHIND_MANY:
        with refused(model, "must be a finite number"):
            call(model, method, FORMS[form](COMPLEX), ["blue", "amber"])


@pytest.mark.parametrize("model", one_of_each(having("learn_many")))
def test_a_batch_is_learned_as_a_whole_or_not_at_all(model):
    """It is checked before its first row, with its new features and labels."""
    stream = stream_for(model, 90)
    rows, targets = matrix(stream), [y for _, y in stream]
    last = rows.shape[1] - 1
    fresh, ready = model.clone(), model.clone()
    ready.learn_many(rows[:20, :-1], targets[:20])
    for state in (fresh, ready):
        first = math.inf if model._reads_tables else math.nan
        for place, value in ((0, first), (50, math.inf), (89, -math.inf)):
            spoilt = rows.copy()
            spoilt[place, last] = value
            for method in methods_of(state, BATCHES):
                with refused(state, f"feature {last} ", repr(value)):
                    call(state, method, spoilt, targets)


def test_a_batch_that_is_not_finite_times_its_scales_is_not_learned_at_all():
    model, rows = rb.BSGDClassifier(15, RBF(0.5, {1: 2.0})), np.ones((5, 3))
    rows[3, 1] = 1.7e308
    for _ in range(2):
        with refused(model, "feature 1 ", "finite times its scale"):
            model.learn_many(rows, [True] * 5)
        model.learn_many(np.ones((5, 2)), [True] * 5)


@pytest.mark.parametrize(("model", "place"), crossed(having("predict_many"), [2, 39]))
def test_in_a_batch_to_be_predicted_what_is_not_finite_counts_as_absent(model, place):
    stream = stream_for(model, 60)
    rows, targets = matrix(stream), [y for _, y in stream]
    model = model.clone()
    model.learn_many(rows[:20], targets[:20])
    spoilt, absent = rows[20:].copy(), rows[20:].copy()
    missing = math.inf if getattr(model, "_reads_tables", False) else math.nan
    spoilt[place, 1:3], spoilt[-1, 0] = (missing, math.inf), -math.inf
    absent[place, 1:3], absent[-1, 0] = 0.0, 0.0

    assert list(model.predict_many(spoilt)) == list(model.predict_many(absent))


@pytest.mark.parametrize("value", MISSING, ids=short)
def test_what_is_missing_in_an_example_to_be_predicted_counts_as_absent(value):
    for model, _ in states(EACH):
        if getattr(model, "_reads_tables", False) and repr(value) not in ("inf", "-inf"):
            continue  # there a gap counts as the mean
        before = pickle.dumps(model)
        for name in ("f0", "unknown"):
            x = {"f0": 1.0, "f1": 0.5} | {name: value}
            rest = {other: number for other, number in x.items() if other != name}
            assert model.decision_function_one(x) == model.decision_function_one(rest)
            assert model.predict_one(x) == model.predict_one(rest)
            frames = [pd.DataFrame({k: pd.Series([v], dtype=object) for k, v in x.items()})]
            frames += [pd.DataFrame([x])] if isinstance(value, float) else []
            for X in frames:
                expected = model.predict_many(pd.DataFrame([rest])).tolist()
                assert model.predict_many(X).tolist() == expected
        assert pickle.dumps(model) == before


KINDS = ("complex128", "datetime64[D]", "datetime64[ns]", "timedelta64[D]", "U5")


@pytest.mark.parametrize(
    "X",
    [
        *(np.zeros((2, 2)).astype(kind) for kind in KINDS),
        np.ma.array([[1.0, 2.0], [0.0, 0.0]], mask=[[False, True], [False, False]]),
    ],
    ids=[*KINDS, "masked"],
)
def test_an_array_of_something_else_than_numbers_is_refused(X):
    model = learned(rb.BSGDClassifier(5))
    with refused(model, "number"):
        model.learn_many(X, ["blue", "amber"])


def test_a_masked_value_to_be_predicted_counts_as_absent():
    model = learned(rb.BSGDClassifier(5))
    X = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert list(model.predict_proba_many(X)["blue"]) == list(
        model.predict_proba_many(np.array([[1.0, 0.0], [3.0, 4.0]]))["blue"]
    )


@pytest.mark.parametrize("shape", [(3,), (3, 1, 1), ()])
def test_an_array_that_is_no_matrix_is_refused(shape):
    model = learned(rb.BSGDClassifier(5))
    for method in BEHIND_MANY:
        with refused(model, "2 dimensions"):
            call(model, method, np.zeros(shape), ["blue"] * 3)


# targets


TARGETS = [(REGRESSORS, "finite number", value) for value in NO_NUMBERS]
TARGETS += [(CLASSIFIERS, "label", value) for value in NO_LABELS]


@pytest.mark.parametrize(("models", "needed", "value"), TARGETS, ids=short)
def test_a_target_that_is_no_finite_number_or_no_label_is_refused(models, needed, value):
    x = {"f0": 1.0, "unknown": 2.0}
    for model, y in states([entry for entry in models if entry in EACH]):
        with refused(model, "target", needed, repr(value)):
            model.learn_one(x, value)
        columns = [[y, value]]
        if isinstance(value, complex):  # a number of numpy too
            columns.append(np.array([y, value]))
        for method in BATCHES:
            for targets in columns:
                with refused(model, "target", needed):
                    call(model, method, pd.DataFrame([x, x]), targets)


@pytest.mark.parametrize("classes", [("a", "b"), ("a", "b", "c"), (False, True)])
@pytest.mark.parametrize("value", ["z", 7, None])
def test_a_label_outside_classes_is_refused(classes, value):
    x = {"f0": 1.0, "unknown": 2.0}
    fresh, model = rb.BSGDClassifier(5, classes=classes), rb.BSGDClassifier(5, classes=classes)
    model.learn_one({"f0": 0.5}, classes[1])
    for state in (fresh, model):
        with refused(state, "target", repr(value)):
            state.learn_one(x, value)
        for method in BATCHES:
            with refused(state, "target", repr(value)):
                call(state, method, pd.DataFrame([x, x]), [classes[0], value])


@pytest.mark.parametrize("targets", [[], [1], [1] * 4, np.ones((1, 3)), np.ones((3, 1))], ids=short)
def test_a_wrong_number_of_targets_or_a_matrix_of_them_is_refused(targets):
    for model, _ in states(EACH):
        for method in BATCHES:
            with refused(model, "targets", "one column, not" if np.ndim(targets) > 1 else ""):
                call(model, method, np.zeros((3, 2)), targets)


# weights


@pytest.mark.parametrize("w", BAD_WEIGHTS, ids=short)
def test_a_weight_that_is_negative_or_not_finite_is_refused(w):
    """Of an example, in a column, or of a batch."""
    column = [1.0, w]
    columns = column, np.array(column, object), pd.Series(column, dtype=object)
    columns += (np.array(column),) if isinstance(w, complex) else ()
    for model, y in states(EACH):
        for x in ({"f0": 1.0}, {"f0": 1.0, "unknown": 2.0}):
            for method in BEHIND_ONE[:2]:
                with refused(model, "w must be"):
                    call(model, method, x, y, w=w)
        for weights in columns if isinstance(w, list) else (*columns, w):
            for method in BATCHES:
                with refused(model, "w must be"):
                    call(model, method, np.zeros((2, 2)), [y, y], w=weights)


def test_a_wrong_number_of_weights_is_refused():
    model = rb.BSGDClassifier(5)
    for weights in ([], [1.0], np.ones(4), np.eye(3)):
        with refused(model, "weights", "one column, not" if np.ndim(weights) > 1 else ""):
            model.learn_many(np.zeros((3, 2)), [True, False, True], w=weights)


# parameters

PARAMETERS = {
    "budget": [0, -1, 10**30, 1.5, "10", True],
    "kernel": ["rbf", RBF, Merge()],
    "maintenance": ["merge", Merge, RBF()],
    "l2": [-1e-4, math.inf, None, "small"],
    "project_to_ball": [None, "yes"],
    "seed": [-1, 0.5, "1"],
    "classes": [
        *(("a",), (), ("a", "a"), ("a", "b", "a"), (0, False), ("a", None), ("a", math.nan)),
        *(["a", "b"], "ab", 2, ([1], [2])),
    ],
    "epsilon": [-0.1, math.nan, None],
    "average": [0, 1, 1.0, -5, "yes", None, math.nan],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, bad in PARAMETERS.items() for value in bad],
    ids=short,
)
def test_a_parameter_out_of_range_is_refused(name, value):
    for estimator in (rb.BSGDClassifier, rb.BSGDRegressor):
        if name in estimator._parameters():
            with pytest.raises(ValueError, match=name):
                estimator(**{name: value})


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("gamma", lambda: RBF(-1)),
        ("gamma", lambda: RBF(0)),
        ("gamma", lambda: RBF("scale")),
        ("gamma", lambda: RBF(None)),
        ("gamma", lambda: RBF(math.nan)),
        ("gamma", lambda: RBF(10**400)),
        ("gamma", lambda: Laplacian(-1)),
        ("gamma", lambda: Polynomial(gamma=0)),
        ("sigma", lambda: RBF.from_width(0)),
        ("sigma", lambda: RBF.from_width(1e-200)),
        ("sigma", lambda: RBF.from_width(1e200)),
        ("degree", lambda: Polynomial(0)),
        ("degree", lambda: Polynomial(2.5)),
        ("coef0", lambda: Polynomial(coef0=math.nan)),
        ("arity", lambda: Merge(1)),
        ("arity", lambda: Merge(2.5)),
        ("arity", lambda: Merge(3, objective="eq21")),
        ("method", lambda: Merge(method="best")),
        ("method", lambda: Merge(method=None)),
        ("objective", lambda: Merge(objective="loss")),
    ],
)
def test_a_parameter_of_a_kernel_or_maintenance_out_of_range_is_refused(name, build):
    with pytest.raises(ValueError, match=name):
        build()


@pytest.mark.parametrize(
    "build", [rb.NORMAClassifier, rb.NORMARegressor, rb.KernelOneClassSVM], ids=lambda k: k.__name__
)
def test_a_share_may_be_all(build):
    assert build(nu=1.0).nu == 1.0
    for nu in (0.0, 1.0 + 1e-12):
        with pytest.raises(ValueError, match="nu"):
            build(nu=nu)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, RBF)], ids=repr)
@pytest.mark.parametrize("maintenance", [Merge(), Merge(3)])
def test_merging_needs_a_gaussian_kernel(kernel, maintenance):
    for estimator in (rb.BSGDClassifier, rb.BSGDRegressor):
        with pytest.raises(ValueError, match=r"Merge.*Gaussian.*kernel"):
            estimator(kernel=kernel, maintenance=maintenance)


# misspelt arguments


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_misspelt_argument_is_not_swallowed(model):
    model, (x, y) = model.clone(), stream_for(model, 1)[0]
    methods = [model.predict_one, getattr(model, "predict_proba_one", model.predict_one)]
    for call in (*methods, lambda x, **more: model.learn_one(x, y, **more)):
        with pytest.raises(TypeError, match="wieght"):
            call(x, wieght=2.0)


@pytest.mark.parametrize(
    ("kind", "metric"), [(rb.BSGDClassifier, metrics.Accuracy()), (rb.BSGDRegressor, metrics.MAE())]
)
def test_weights_that_rivers_evaluation_hands_on_reach_the_model(kind, metric):
    judged, alone = kind(5), kind(5)
    stream = [({"a": float(i)}, i % 2, {"w": 2.5}) for i in range(20)]
    evaluate.progressive_val_score([(x, y, dict(w)) for x, y, w in stream], judged, metric)
    for x, y, w in stream:
        alone.learn_one(x, y, **w)
    assert judged.support_vectors() == alone.support_vectors()


@pytest.mark.parametrize(
    ("model", "ask"),
    [
        (rb.AutoKernelClassifier(20, seed=1), lambda model, x: model.explain_one(x)),
        (rb.AutoKernelRegressor(20, seed=1), lambda model, x: model.explain_one(x)),
        (
            rb.AutoKernelRegressor(20, seed=1),
            lambda model, x: repr(model.predict_one(x, with_dist=True)),
        ),
        (rb.BSGDClassifier(5, average=True), lambda model, x: model.last_iterate_one(x)),
        (rb.FOGDRegressor(5, average=True, seed=1), lambda model, x: model.last_iterate_one(x)),
        (rb.NOGDClassifier(5, average=True), lambda model, x: model.last_iterate_one(x)),
    ],
)
def test_what_is_missing_counts_as_absent_in_every_question(model, ask):
    for known in (model.clone(), learned(model)):
        x, _ = stream_for(model, 1)[0]
        absent = dict(list(x.items())[1:])
        gaps = [] if getattr(model, "_reads_tables", False) else [math.nan, None]
        for missing in (*gaps, math.inf):
            assert ask(known, x | {next(iter(x)): missing}) == ask(known, absent)


# what to write instead


@pytest.mark.parametrize(
    ("parameters", "advice"),
    [
        ({"kernel": "rbf"}, "rb.kernels.RBF()"),
        ({"kernel": rb.kernels.Laplacian}, "rb.kernels.Laplacian()"),
        ({"kernel": 2.0}, "rb.kernels.RBF()"),
        ({"maintenance": "removeoldest"}, "rb.maintenance.RemoveOldest()"),
        ({"maintenance": "smo"}, "rb.maintenance.Merge()"),
    ],
)
def test_the_error_says_what_to_write(parameters, advice):
    with pytest.raises(ValueError, match=f"such as {re.escape(advice)}, not"):
        rb.BSGDClassifier(**parameters)
    assert eval(advice, {"rb": rb}) is not None


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        *(
            ("red", "OneHotEncoder"),
            (b"red", "OneHotEncoder"),
            (None, "Guard"),
            (math.nan, "imputer"),
        ),
        *((datetime.date(2025, 1, 1), "weekday"), (np.datetime64("2025-01-01"), "weekday")),
        *(
            (datetime.time(9), "weekday"),
            ([1.0], "each of its items"),
            ({"b": 1}, "each of its items"),
        ),
    ],
)
def test_the_error_about_a_feature_says_what_helps(value, advice):
    with pytest.raises(ValueError, match=advice):
        rb.BSGDClassifier().learn_one({"a": value}, True)


@pytest.mark.parametrize("gap", [None, math.nan])
def test_the_error_about_a_missing_target_says_what_helps(gap):
    for model in (rb.BSGDClassifier(), rb.BSGDRegressor()):
        with pytest.raises(ValueError, match="leave out examples without one"):
            model.learn_one({"a": 1.0}, gap)
    with pytest.raises(ValueError, match=r"must be a finite number, not inf$"):
        rb.BSGDRegressor().learn_one({"a": 1.0}, math.inf)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (rb.BSGDClassifier(None), "a smaller budget limits it"),
        (
            rb.BSGDClassifier(5000, maintenance=Project()),
            "a table of their number squared: a smaller budget",
        ),
    ],
)
def test_a_model_that_memory_has_no_room_for_says_what_it_needs_and_stays_as_it_was(
    model, says, monkeypatch
):
    def full(*arguments, **sizes):
        raise MemoryError

    model, X = model.clone(), np.random.default_rng(0).normal(size=(2000, 2)) * 50.0
    monkeypatch.setattr(memory, "resized", full)
    with pytest.raises(MemoryError) as caught:
        model.learn_many(X, X[:, 0] > X[:, 1])
    assert any(says in note for note in caught.value.__notes__)
    monkeypatch.undo()
    model.learn_one({0: 1.0, 1: 0.0}, True)
    assert model.n_support_vectors > 50
