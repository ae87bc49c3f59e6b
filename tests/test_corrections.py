"""What an audit found wrong stays right."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from inside import plain
from models import MODELS, TRANSFORMERS, one_of_each, stream_for
from optional import sklearn_svm
from oracles.budgeted_sgd import BudgetedSGD
from oracles.nystroem import NOGD
from oracles.perceptrons import BudgetPerceptron, KernelPerceptron
from oracles.sbp import water_level
from river import datasets, metrics, preprocessing
from streams import LABELS, emerging, matrix, smooth

import river_budget as rb
from river_budget.kernels import RBF, Laplacian, Linear
from river_budget.maintenance import Merge, Project, RemoveOldest, RemoveRandom, RemoveSmallest

# The ball


def test_the_ball_is_large_enough_for_the_targets():
    model = rb.BSGDRegressor(l2=0.01)
    for _ in range(3000):
        model.learn_one({"a": 1.0}, 50.0)
    assert model.predict_one({"a": 1.0}) == pytest.approx(49.9, abs=0.05)


def test_the_ball_is_large_enough_for_weights():
    model = rb.BSGDClassifier(l2=1.0, learning_rate=None)
    for _ in range(3000):
        model.learn_one({"a": 1.0}, True, 25.0)
    free = model.clone({"project_to_ball": False})
    for _ in range(3000):
        free.learn_one({"a": 1.0}, True, 25.0)
    assert model.decision_function_one({"a": 1.0}) == pytest.approx(0.999, abs=2e-2)
    assert free.decision_function_one({"a": 1.0}) == pytest.approx(0.999, abs=2e-2)


def test_without_weights_the_ball_of_a_classifier_is_that_of_the_paper():
    model = rb.BSGDClassifier(10, RBF(0.5), l2=0.1)
    for x, y in stream_for(model, 200):
        model.learn_one(x, y)
        assert model.state_record().surplus == 0.0
        assert model.squared_length() <= 10.0 * (1 + 1e-9)


# Assignment


@pytest.mark.parametrize("model", one_of_each(MODELS + TRANSFORMERS))
def test_what_cannot_change_refuses_to(model):
    model = model.clone()
    before = repr(model)
    fixed = set(model.parameters()) - model._mutable_attributes
    for name in fixed:
        with pytest.raises(AttributeError, match=rf"{name} .* cannot change: model.clone.*"):
            setattr(model, name, getattr(model, name))
    assert repr(model) == before
    for name in model._mutable_attributes:
        setattr(model, name, getattr(model, name))
    assert repr(model) == before
    if "kernel" in fixed and model._mutable_attributes:
        with pytest.raises(AttributeError, match="mutate"):
            model.kernel = Linear()


# Projection


def test_the_projectron_does_not_blow_up_in_regression():
    """Old vectors that newcomers made dependent were kept, and coefficients grew to 1e7."""
    model = rb.ProjectronRegressor(100, RBF(), threshold=0.0, learning_rate=0.1)
    pipeline = preprocessing.TargetStandardScaler(preprocessing.StandardScaler() | model)
    error = metrics.MAE()
    for x, y in datasets.ChickWeights():
        error.update(y, pipeline.predict_one(x))
        pipeline.learn_one(x, y)
    inner = pipeline.regressor["ProjectronRegressor"]
    assert error.get() < 21.6
    assert inner.n_repairs == 0
    assert np.abs(inner.coefficient_columns()).max() < 1e5
    assert inner.squared_length() < 20.0


@pytest.mark.parametrize(
    "model",
    [
        rb.BSGDClassifier(100, Linear(), Project()),
        rb.BSGDClassifier(5, Linear(), Project()),
        rb.BPAClassifier(100, Linear(), update="projection"),
        rb.ProjectronClassifier(100, Linear()),
        rb.ProjectronPPClassifier(100, Linear()),
        rb.KernelPerceptronClassifier(Linear(), budget=8, maintenance=Project()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_support_without_full_rank_needs_no_repairs(model):
    pipeline = preprocessing.StandardScaler() | model.clone()
    for x, y in datasets.Phishing():
        pipeline.learn_one(x, y)
    inner = pipeline[type(model).__name__]
    assert inner.n_repairs == 0
    assert inner.n_support_vectors <= 9


# Ties


def test_equal_margins_go_by_age():
    """Two examples that mirror each other have equal margins on paper; rounding must not choose."""
    kernel = RBF(0.3)
    rng = np.random.default_rng(0)
    for seed in range(20):
        rows = rng.normal(size=(7, 2)) * 3.0
        rows = np.vstack([rows, rows[:, ::-1]])  # the kernel is symmetric in the two features
        labels = np.tile(rng.choice([-1, 1], 7), 2)
        model = rb.BudgetPerceptronClassifier(5, kernel, margin=5.0, classes=(-1, 1))
        oracle = BudgetPerceptron(plain(kernel), "binary", budget=5, margin=5.0)
        for row, label in zip(rows, labels.tolist(), strict=True):
            model.learn_one(dict(enumerate(row.tolist())), label)
            oracle.step(row, label)
        found = sorted(map(tuple, model.vector_rows().tolist()))
        assert found == sorted(map(tuple, np.array(oracle.X).tolist())), seed


# Scale


@pytest.mark.parametrize("update", ["simple", "nearest"])
def test_passive_aggressive_learning_is_free_of_scale(update):
    mistakes = []
    for scale in (1.0, 1e-6):
        model = rb.BPAClassifier(10, Linear(), C=1e15, update=update)
        rng, wrong = np.random.default_rng(0), 0
        for row in rng.normal(size=(800, 12)):
            y = bool(row[:4].sum() + 0.5 * rng.normal() > 0)
            x = dict(enumerate((scale * row).tolist()))
            wrong += model.predict_one(x) is not y
            model.learn_one(x, y)
        mistakes.append(wrong)
    assert mistakes[0] == mistakes[1]


# The warning


def unscaled(n, seed=0):
    rng = np.random.default_rng(seed)
    return 1e4 * rng.normal(size=(n, 3)), rng.random(n) > 0.5


def learn_in_a_loop(model, X, *targets):
    for i, x in enumerate(X.tolist()):
        model.learn_one(dict(enumerate(x)), *(target[i] for target in targets))


FAR = [
    rb.BSGDClassifier(),
    rb.KernelOGDClassifier(),
    rb.ForgetronClassifier(20),
    rb.SBPClassifier(30),
    rb.NOGDClassifier(20),
    rb.KernelPerceptronClassifier(Laplacian(1.0)),
    rb.KernelOneClassSVM(),
]


@pytest.mark.parametrize("model", FAR, ids=lambda model: type(model).__name__)
def test_features_that_nobody_scaled_are_mentioned_once(model):
    X, y = unscaled(60)
    targets = (y,) if hasattr(model, "predict_one") else ()
    one, many = model.clone(), model.clone()
    with pytest.warns(UserWarning, match="StandardScaler") as caught:
        many.learn_many(X, *targets)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="StandardScaler") as caught:
        learn_in_a_loop(one, X, *targets)
    assert len(caught) == 1
    assert one.n_support_vectors == many.n_support_vectors > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many.learn_many(X, *targets)


def test_the_warning_can_be_silenced_and_made_an_error():
    X, y = unscaled(60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        rb.BSGDClassifier().learn_many(X, y)
    assert not caught
    model = rb.BSGDClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="StandardScaler"):
            model.learn_many(X, y)
        model.learn_many(X, y)


def test_scaled_features_and_single_outliers_are_not_mentioned():
    X, y = unscaled(500)
    X /= 1e4
    X[::20] *= 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rb.BSGDClassifier().learn_many(X, y)
        rb.BSGDClassifier(kernel=RBF(10.0)).learn_many(X, y)


# A Perceptron with a budget


class OldestPerceptron(KernelPerceptron):
    def store(self, x, coefficients):
        self.add(x, coefficients)
        if len(self.X) > 15:
            self.remove(0)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_perceptron_that_removes_the_oldest_replays_its_reference(seed):
    stream = [(x, y == LABELS[0]) for x, y in emerging(400, seed=seed)]
    model = rb.KernelPerceptronClassifier(RBF(0.5), budget=15)
    oracle = OldestPerceptron(plain(RBF(0.5)), "binary")
    for (x, y), row in zip(stream, matrix(stream), strict=True):
        expected = oracle.step(row, 1 if y else -1)[0]
        assert model.decision_function_one(x) == pytest.approx(expected, abs=1e-9)
        model.learn_one(x, y)
    assert model.n_support_vectors == 15


def test_a_perceptron_that_removes_at_random_is_rbp():
    random = rb.KernelPerceptronClassifier(RBF(0.5), budget=15, maintenance=RemoveRandom(), seed=3)
    rbp = rb.RBPClassifier(15, RBF(0.5), seed=3)
    for x, y in stream_for(rbp, 400):
        assert random.decision_function_one(x) == rbp.decision_function_one(x)
        random.learn_one(x, y)
        rbp.learn_one(x, y)


@pytest.mark.parametrize("strategy", [Merge(), Merge(3), Project(), RemoveSmallest()], ids=repr)
def test_a_perceptron_keeps_its_budget_by_any_maintenance(strategy):
    model = rb.KernelPerceptronClassifier(RBF(0.5), budget=10, maintenance=strategy)
    for x, y in stream_for(model, 200):
        model.learn_one(x, y)
        assert model.n_support_vectors <= 10
    model.mutate({"budget": 4})
    assert model.n_support_vectors <= 4
    with pytest.raises(ValueError, match="Gaussian"):
        rb.KernelPerceptronClassifier(Linear(), budget=5, maintenance=Merge())


# The best vector to project, and what maintenance costs


@pytest.mark.parametrize("choice", ["smallest", "best"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_projection_replays_its_reference(choice, outputs):
    classes = tuple(LABELS[: max(outputs, 2)])
    stream = [pair for pair in emerging(500, seed=2) if pair[1] in classes][:250]
    model = rb.BSGDClassifier(
        15, RBF(0.5), Project(choice), l2=1e-3, learning_rate=None, classes=classes
    )
    oracle = BudgetedSGD(
        plain(RBF(0.5)),
        15,
        "project",
        1e-3,
        "binary" if outputs == 1 else "multiclass",
        outputs,
        choice=choice,
    )
    for (x, y), row in zip(stream, matrix(stream), strict=True):
        place = classes.index(y)
        expected = oracle.step(row, 2 * place - 1 if outputs == 1 else place)
        found = model.decision_function_one(x)
        found = list(found.values()) if outputs > 1 else [found]
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)
        model.learn_one(x, y)
    assert model.gradient_error == pytest.approx(
        sum(oracle.gradient_errors) / len(stream), rel=1e-4
    )


@pytest.mark.parametrize("strategy", ["oldest", "smallest", "merge"])
def test_the_gradient_error_is_that_of_its_reference(strategy):
    strategies = {"oldest": RemoveOldest(), "smallest": RemoveSmallest(), "merge": Merge()}
    stream = [(x, y == LABELS[0]) for x, y in emerging(250, seed=3)]
    model = rb.BSGDClassifier(15, RBF(0.5), strategies[strategy], l2=1e-2, learning_rate=None)
    oracle = BudgetedSGD(plain(RBF(0.5)), 15, strategy, 1e-2, "binary", gamma=0.5)
    for (x, y), row in zip(stream, matrix(stream), strict=True):
        oracle.step(row, 1 if y else -1)
        model.learn_one(x, y)
    expected = sum(oracle.gradient_errors) / len(stream)
    assert model.gradient_error == pytest.approx(
        expected, rel=0.05 if strategy == "merge" else 1e-6
    )
    assert rb.BSGDClassifier().gradient_error == 0.0


def test_better_maintenance_costs_less():
    costs = []
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = X[:, 0] * X[:, 1] > 0
    for strategy in (RemoveSmallest(), Merge(), Project()):
        model = rb.BSGDClassifier(30, RBF(0.5), strategy, l2=1e-3)
        model.learn_many(X, y)
        costs.append(model.gradient_error)
    assert costs[0] > costs[1] > costs[2] > 0.0


# NOGD's own linear step


@pytest.mark.parametrize("eta", [0.05, 1.0])
def test_a_linear_step_of_its_own_replays_its_reference(eta):
    stream = [(x, y == LABELS[0]) for x, y in emerging(400, seed=1)]
    model = rb.NOGDClassifier(15, RBF(0.5), rank=8, learning_rate=0.2, eta_linear=eta)
    oracle = NOGD(plain(RBF(0.5)), "binary", budget=15, rank=8, eta_linear=eta)
    for (x, y), row in zip(stream, matrix(stream), strict=True):
        expected = oracle.step(row, 1 if y else -1)[0]
        assert model.decision_function_one(x) == pytest.approx(expected, abs=1e-8)
        model.learn_one(x, y)
    before = model.decision_function_one(stream[0][0])
    model.mutate({"budget": 14})  # a new basis, and what was learned stays
    assert model.decision_function_one(stream[0][0]) == pytest.approx(before, abs=0.5)
    model.learn_one(*stream[0])
    assert abs(model.decision_function_one(stream[1][0])) > 0.0


def test_a_linear_step_of_its_own_in_regression():
    stream = smooth(300, seed=1)
    model = rb.NOGDRegressor(15, RBF(0.3), learning_rate=0.2, eta_linear=0.1, max_error=None)
    oracle = NOGD(plain(RBF(0.3)), "regression", budget=15, eta_linear=0.1)
    for (x, y), row in zip(stream, matrix(stream), strict=True):
        assert model.predict_one(x) == pytest.approx(oracle.step(row, y)[0], abs=1e-8)
        model.learn_one(x, y)


# The batch Perceptron's measures


def refined(slack=0.05, n=0, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=200) > 0
    model = rb.SBPClassifier(200, RBF(1.0), slack, steps=0, seed=1, **options)
    model.learn_many(X, y)
    model.refine(n)
    return model, X, np.where(y, 1.0, -1.0)


def test_the_margin_is_the_water_level_of_the_window():
    model, X, y = refined(n=500)
    length = np.sqrt(model.squared_length())
    responses = y * model.scores_at(X)[:, 0] / length
    assert model.margin == pytest.approx(water_level(responses, 200 * 0.05))
    assert rb.SBPClassifier().margin == 0.0


def test_the_objective_is_that_of_the_regularised_problem():
    model, X, y = refined(n=500)
    hinge = np.maximum(0, 1 - y * model.scores_at(X)[:, 0]).mean()
    assert model.objective(0.01) == pytest.approx(0.005 * model.squared_length() + hinge)
    assert rb.SBPClassifier().objective(0.01) == 1.0


def test_slack_and_regularisation_lead_to_the_same_model():
    l2 = 0.01
    model, X, y = refined()
    slack = model.slack_for(l2)
    svc = sklearn_svm.SVC(C=1 / (l2 * 200), gamma=1.0).fit(X, y)
    fitted, X, y = refined(slack, n=20_000)
    best = svc.decision_function(X)
    agreement = np.corrcoef(best, fitted.scores_at(X)[:, 0])[0, 1]
    assert agreement > 0.99
    # the optimum, from the exact solution, has no smaller objective
    w2 = float(svc.dual_coef_[0] @ (best - svc.intercept_)[svc.support_])
    exact = 0.5 * l2 * w2 + np.maximum(0, 1 - y * best).mean()
    assert exact * 0.95 <= fitted.objective(l2) <= exact * 1.1


def test_refining_stops_when_the_margin_does_not_grow():
    model, _, _ = refined()
    model.refine(1_000_000, tolerance=0.01)
    stopped = model.state_record().done
    assert 400 <= stopped < 100_000
    rough, _, _ = refined()
    rough.refine(1_000_000, tolerance=0.2)
    assert rough.state_record().done <= stopped
    assert rough.margin > 0.0
    limited, _, _ = refined()
    limited.refine(300, tolerance=0.0)
    assert limited.state_record().done <= 300
    with pytest.raises(ValueError, match="tolerance"):
        model.refine(10, tolerance=-1.0)


def test_the_ball_of_a_sum_is_that_of_its_parts():
    models = [rb.BSGDRegressor(l2=0.01) for _ in range(2)]
    for model, target in zip(models, (5.0, 50.0), strict=True):
        for _ in range(500):
            model.learn_one({"a": 1.0}, target)
    merged = rb.merge(models)
    assert merged.predict_one({"a": 1.0}) == pytest.approx(27.4, abs=0.5)
    merged.learn_one({"a": 1.0}, 27.0)
    assert merged.predict_one({"a": 1.0}) == pytest.approx(27.4, abs=0.5)
    assert rb.merge([rb.BSGDClassifier()] * 2).gradient_error == 0.0
