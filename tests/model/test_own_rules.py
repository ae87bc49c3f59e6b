"""Rules that keep a budget, in classes from outside: each against the reference of budgeted SGD, or
against a rule in plain Python.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from folders import TESTS
from optional import needs_compiler
from oracles.budgeted_sgd import BudgetedSGD
from oracles.kernels import polynomial, rbf
from oracles.randoms import SplitMix
from processes import output_of

import river_budget as rb
from river_budget import extending as ext
from river_budget.core.budget.projection import TINY

GAMMA, SEED = 0.5, 7
K = rb.kernels.RBF(GAMMA)
SHORT = (
    "stoptron_stops_at_its_budget",
    "tighter_perceptron_keeps_those_without_which_most_would_be_wrong",
)
STEP = {"learning_rate": 0.3, "l2": 0.05}


@ext.compiled
def insensitive(f, y):
    """The loss of support vector regression with a tube of 0.1."""
    if abs(y - f) <= 0.1:
        return 0.0, 0.0
    return abs(y - f) - 0.1, -1.0 if y > f else 1.0


@ext.compiled
def size_of_score(m, state, j):
    """|f| at vector j; the newcomer stays."""
    if j == m.head[0].count - 1:
        return math.inf
    ext.row_of_vector(m, j)
    f = 0.0
    for i in range(m.head[0].count):
        f += m.coefficients[0, i] * m.row[i]
    return abs(f)


@ext.compiled
def latest_label(m, state, own, j):
    """The label of vector j, but the newcomer stays."""
    return own.labels[j] if j < m.head[0].count - 1 else math.inf


@ext.compiled
def undefined(m, state, j):
    return math.nan


class Descent(ext.Regressor):
    """Its subclasses have rules."""

    algorithm = ext.algorithm(ext.descent_on(insensitive), "learning_rate l2", ext.remove_oldest)

    def __init__(self, budget=12, kernel=K, seed=SEED, learning_rate=0.3, l2=0.05):
        super().__init__(locals())


def with_rule(keep, add=None):
    algorithm = ext.algorithm(ext.descent_on(insensitive, add), "learning_rate l2", keep)
    return type("WithRule", (Descent,), {"algorithm": algorithm})


class ByScore(BudgetedSGD):
    """Removes the old vector at which |f| is smallest."""

    def _score(self):
        sizes = np.abs(self.gram() @ self.A)[:-1, 0]
        self._delete([int(np.argmin(sizes))])


def targets(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


def assert_replays(model, rule, kernel=None, kind=BudgetedSGD, close=1e-9):
    """Before each example the scores of the model are those of the reference."""
    oracle = kind(
        kernel or rbf(GAMMA),
        "regression",
        budget=12,
        maintenance=rule,
        project_to_ball=False,
        gamma=GAMMA,
        choose=SplitMix(SEED).below,
        min_residual=TINY,
        epsilon=0.1,
        **STEP,
    )
    X, y = targets()
    found = [oracle.step(x, target)[0] for x, target in zip(X, y, strict=True)]
    scores = []
    for x, target in zip(X, y, strict=True):
        scores.append(model.predict_one(dict(enumerate(x))))
        model.learn_one(dict(enumerate(x)), target)
    assert model.n_support_vectors == min(12, len(oracle.X))
    np.testing.assert_allclose(scores, found, rtol=0, atol=close * np.abs(found).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keep", "name", "close"),
    [
        (ext.remove_oldest, "oldest", 1e-9),
        (ext.remove_random, "random", 1e-9),
        (ext.remove_smallest, "smallest", 1e-9),
        (ext.merge_pair, "merge", 1e-4),  # the reference searches h on a grid, then by bisection
    ],
)
def test_a_ready_rule_does_what_the_reference_does(keep, name, close):
    assert_replays(with_rule(keep)(), name, close=close)


def test_projecting_does_what_the_reference_does():
    model = with_rule(ext.project_smallest, ext.add_or_project)()
    assert_replays(model, "project", close=1e-6)


@pytest.mark.slow
def test_projecting_with_another_kernel():
    model = with_rule(ext.project_smallest, ext.add_or_project)(
        kernel=rb.kernels.Polynomial(3, 0.5, 1.0)
    )
    assert_replays(model, "project", polynomial(3, 0.5, 1.0), close=1e-6)


@pytest.mark.slow
def test_models_that_project_are_united_and_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(rb.saving.nodes, "_registered", {})
    kind = with_rule(ext.project_smallest, ext.add_or_project)
    models = [rb.saving.register(kind)(), kind()]
    for seed, model in enumerate(models):
        model.learn_many(*targets(seed=seed))
    united = rb.merge(models, budget=24)
    x = {0: 0.3, 1: -0.4}
    mean = np.mean([model.predict_one(x) for model in models])
    assert united.predict_one(x) == pytest.approx(mean, rel=1e-6)
    rb.save(united, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    for model in (united, again):
        model.learn_many(*targets(seed=3))
        model.mutate({"budget": 5})
    assert united.n_support_vectors == 5
    assert united.predict_one(x) == again.predict_one(x)


def test_a_criterion_of_ones_own():
    assert_replays(with_rule(ext.removal_by(size_of_score))(), "score", kind=ByScore)


@ext.compiled
def labelling(m, state, own, x, norm, f, y, w):
    j = ext.insert(m, x, norm)
    own.labels[j] = y
    ext.add_to(m, j, 0, -1, w * 0.1 * y)


@pytest.mark.slow
def test_a_criterion_of_own_tables_and_of_equal_ones_the_oldest():
    class Labelled(Descent):
        algorithm = ext.algorithm(
            labelling, keep=ext.removal_by(latest_label), own={"labels": ("B",)}
        )

    model = Labelled(3)
    for i, y in enumerate([2.0, 1.0, 1.0, 3.0, 0.0, 4.0]):
        model.learn_one({0: float(i)}, y)
    # 1 (of two: the older), then the other 1, then 0
    assert [vector["arrival"] for vector in model.support_vectors()] == [0, 3, 5]


@pytest.mark.slow
@needs_compiler
def test_all_of_this_without_a_compiler():
    """To compile each of these classes takes a second or more, so most of the tests are slow
    ones. The short examples of the guide are tested in the same process.
    """
    chosen = ("-m", "slow or not slow", "-k", "not without_a_compiler", "-p", "no:xdist")
    short = [f"{TESTS / 'texts' / 'test_extending.py'}::test_the_{name}" for name in SHORT]
    found = output_of("-m", "pytest", "-q", *chosen, __file__, *short, NUMBA_DISABLE_JIT="1")
    assert re.search(r"^16 passed", found, re.M), found


# What is refused


@pytest.mark.slow
def test_a_criterion_that_is_no_number():
    model = with_rule(ext.removal_by(undefined))()
    with pytest.raises(RuntimeError, match="the criterion of a removal is NaN"):
        model.learn_many(*targets(50))


@pytest.mark.slow
def test_a_vector_that_the_factor_does_not_know():
    model = with_rule(ext.project_smallest)()
    with pytest.raises(RuntimeError, match="store by add_or_project"):
        model.learn_many(*targets(50))


@pytest.mark.slow
def test_merging_needs_a_gaussian_kernel():
    with pytest.raises(ValueError, match=r"needs a Gaussian kernel \(RBF\), not kernel=Polynomial"):
        with_rule(ext.merge_pair)(kernel=rb.kernels.Polynomial())


@ext.compiled
def merging(m, state, x, norm, f, y, w):
    """A round that keeps its budget itself."""
    ext.add_to(m, ext.insert(m, x, norm), 0, -1, 0.1 * w * y)
    if m.head[0].count > m.head[0].budget:
        ext.merge_pair(m, state)


@ext.compiled
def merging_labels(m, state, own, x, norm, f, y, w):
    merging(m, state, x, norm, f, y, w)


@pytest.mark.slow
def test_a_round_may_call_a_rule():
    class Merging(Descent):
        algorithm = ext.algorithm(merging, needs_rbf=True)

    with pytest.raises(ValueError, match="merging needs a Gaussian kernel"):
        Merging(kernel=rb.kernels.Linear())
    model = Merging(5)
    model.learn_many(*targets(50))
    assert model.n_support_vectors == 5


@pytest.mark.slow
def test_a_round_that_merges_where_it_must_not():
    class Undeclared(Descent):
        algorithm = ext.algorithm(merging)

    with pytest.raises(RuntimeError, match=r"needs_rbf=True"):
        Undeclared(5, rb.kernels.Polynomial(2, 0.5, 1.0)).learn_many(*targets(50))

    class Labelled(Descent):
        algorithm = ext.algorithm(merging_labels, own={"labels": ("B",)})

    with pytest.raises(RuntimeError, match="a vector for which nobody computes own tables"):
        Labelled(5).learn_many(*targets(50))
