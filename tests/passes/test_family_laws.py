"""What the papers promise about Forgetron, Projectron and BPA."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from inside import plain, row, support
from oracles.projectrons import ProjectronByClass
from streams import examples

import river_budget as rb
from river_budget.core.passes.perceptrons import forgetron as core
from river_budget.kernels import RBF, Linear, Polynomial

KERNEL = RBF(0.5)


def noisy(n, seed=0, wrong=0.1):
    """Two classes on a chessboard, some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, (n, 2))
    y = np.where((X.astype(int).sum(1) % 2 == 0) ^ (rng.random(n) < wrong), 1, -1)
    return X, y


# Forgetron.


def test_the_forgetron_stays_within_its_allowance_at_every_step():
    model = rb.ForgetronClassifier(30, RBF(2.0), classes=(-1, 1))
    removals = 0
    for x, y in examples(*noisy(3000)):
        model.learn_one(x, y)
        own = model.state_record()
        assert own.damage <= 15.0 / 32.0 * own.mistakes + 1e-9
        if model.n_support_vectors == 30 and own.mistakes > 30:
            assert 0.0 < own.factor <= 1.0
            removals += 1
    assert removals > 500


def test_the_shrinking_factor_is_the_largest_that_is_allowed():
    largest = getattr(core.largest_factor, "py_func", core.largest_factor)
    damage = getattr(core.damage, "py_func", core.damage)
    rng, grid = np.random.default_rng(0), np.linspace(0.0, 1.0, 20_001)[1:]
    for _ in range(1000):
        weight, margin = rng.random(), rng.normal(scale=3.0)
        mistakes = int(rng.integers(1, 100))
        spent = 15.0 / 32.0 * (mistakes - 1) * rng.random()
        phi = largest(weight, margin, spent, mistakes)
        allowed = grid[damage(weight, grid, margin) + spent <= 15.0 / 32.0 * mistakes]
        assert 0.0 < phi <= 1.0
        assert damage(weight, phi, margin) + spent <= 15.0 / 32.0 * mistakes * (1.0 + 1e-12)
        assert phi >= allowed.max()
        assert phi - allowed.max() <= 1.01 * (grid[1] - grid[0])


@pytest.mark.parametrize("budget", [83, 200])
def test_the_forgetron_keeps_the_bound_of_theorem_2(budget):
    """M <= 2 |g|^2 + 4 sum of the hinge losses of g, for every g with |g| <= U."""
    limit = 0.25 * np.sqrt((budget + 1) / np.log(budget + 1))
    X, y = noisy(4000, wrong=0.0)
    model = rb.ForgetronClassifier(budget, RBF(2.0), classes=(-1, 1))
    predicted = model.predict_then_learn_many(X, y)
    centres = np.array([(i + 0.5, j + 0.5) for i in range(4) for j in range(4)])
    signs = np.where(centres.astype(int).sum(1) % 2 == 0, 1.0, -1.0)
    k = plain(RBF(2.0))
    for share in (0.25, 1.0):
        a = signs * share * limit / np.sqrt(signs @ k(centres, centres) @ signs)
        norm2 = a @ k(centres, centres) @ a
        assert norm2 <= limit**2 * (1 + 1e-9)
        losses = np.maximum(0.0, 1.0 - y * (k(X, centres) @ a)).sum()
        assert np.sum(predicted != y) <= 2.0 * norm2 + 4.0 * losses


# Projectron.


POWERS = [-300, -30, 0, 0, 0, 8, 30, 33, 60, 150]  # of ten


@pytest.mark.parametrize("seed", range(40))
def test_the_forgetron_stays_finite_where_kernel_values_have_no_bound(seed):
    """Weights times scores would not, and a factor that is no number takes the whole model with it."""
    rng = random.Random(seed)
    model = rb.ForgetronClassifier(rng.choice([2, 3, 8]), Polynomial(3), tuple("abcd"))
    for _ in range(120):
        names = rng.sample("abcde", rng.randrange(1, 5))
        x = {name: rng.choice([1, -1]) * 10.0 ** rng.choice(POWERS) for name in names}
        model.learn_one(x, rng.choice("abcd"), rng.choice([1.0, 1e-300, 1e8, 1e150]))
        assert all(map(math.isfinite, model.decision_function_one(x).values()))
        own = model.state_record()
        assert 0.0 <= own.factor <= 1.0
        assert math.isfinite(own.damage)


def test_projectron_pp_leaves_a_score_of_exactly_zero_alone_where_it_is_no_mistake():
    model = rb.ProjectronPPClassifier(5, RBF(1.0), 0.5, classes=(-1, 1))
    model.learn_one({"a": 0.0}, -1)
    before = model.support_vectors()
    model.learn_one({"a": 1000.0}, 1)  # so far away that the kernel is 0
    assert model.support_vectors() == before


@pytest.mark.parametrize("estimator", [rb.ProjectronClassifier, rb.ProjectronPPClassifier])
def test_what_a_projection_leaves_out_is_orthogonal_to_the_support(estimator):
    model = estimator(15, KERNEL, classes=(-1, 1))
    projections = 0
    for x, y in examples(*noisy(400)):
        X, A, _ = support(model) if model.n_support_vectors else (np.zeros((0, 2)), None, None)
        wrong = model.predict_one(x) != y
        model.learn_one(x, y)
        if len(X) == 15 and wrong:
            after = support(model)
            np.testing.assert_array_equal(after.X, X)
            change = plain(KERNEL)(X, X) @ (after.A - A)[:, 0]
            kernel_row = plain(KERNEL)(X, row(model, x)[None])[:, 0]
            np.testing.assert_allclose(change, y * kernel_row, atol=1e-6)
            projections += 1
    assert projections > 30


class Leaving(ProjectronByClass):
    """Counts the vectors that leave a class, as a newcomer makes them dependent on others of it."""

    left = 0

    def keep_class_apart(self, c):
        before = len(self.of_class(c))
        super().keep_class_apart(c)
        self.left += before - len(self.of_class(c))


def near_pairs(seed, n=60):
    """Pairs of examples that are just far enough apart to be stored both, among others; labels are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    twins = X + rng.normal(size=X.shape) * 1.5e-5
    return np.hstack([X, twins]).reshape(-1, 2), rng.integers(0, 3, 2 * n)


def test_vectors_that_a_newcomer_makes_dependent_leave_their_class():
    left = 0
    for seed in range(8):
        model = rb.ProjectronClassifier(None, RBF(1.0), span="class", classes=(0, 1, 2))
        oracle = Leaving(plain(RBF(1.0)), "multiclass", 3)
        for x, y in zip(*near_pairs(seed), strict=True):
            example = dict(enumerate(x.tolist()))
            expected = oracle.step(x, int(y))
            found = list(model.decision_function_one(example).values())
            # of the two vectors of a pair, rounding decides which one leaves
            np.testing.assert_allclose(found, expected, atol=1e-4)
            model.learn_one(example, int(y))
        left += oracle.left
    assert left > 10


def test_a_smaller_budget_projects_within_the_classes():
    model = rb.ProjectronPPClassifier(40, KERNEL, 0.01, "class", classes=(0, 1, 2))
    X, y = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 3
    model.learn_many(X, y)
    assert model.n_support_vectors == 40
    before = model.scores_at(X)
    errors = []
    for budget in (39, 30, 15):
        model.mutate({"budget": budget})
        assert model.n_support_vectors == budget
        errors.append(np.abs(model.scores_at(X) - before).mean())
    assert errors == sorted(errors)
    assert errors[0] < 0.1 * np.abs(before).mean()


@pytest.mark.parametrize("estimator", [rb.ProjectronClassifier, rb.ProjectronPPClassifier])
def test_two_classes_have_one_span(estimator):
    X, y = noisy(400)
    models = [estimator(None, KERNEL, 0.1, span, classes=(-1, 1)) for span in ("all", "class")]
    for model in models:
        model.learn_many(X, y)
    np.testing.assert_array_equal(*(model.scores_at(X) for model in models))


def test_a_threshold_of_2016_has_no_span_for_each_class():
    with pytest.raises(ValueError, match="threshold must be a number where span is 'class'"):
        rb.ProjectronPPClassifier(20, span="class")


# BPA.


def squared_distance(a, b, kernel):
    """|f - g|^2 of two expansions (X, A)."""
    X, A = np.vstack([a[0], b[0]]), np.vstack([a[1], -b[1]])
    return float(np.sum(A * (plain(kernel)(X, X) @ A)))


@pytest.mark.parametrize("seed", range(5))
def test_the_more_heirs_the_less_is_lost(seed):
    X, y = noisy(300, seed)
    lost = {}
    for update in ("simple", "nearest", "projection"):
        model = rb.BPAClassifier(20, RBF(2.0), 1.0, update=update, classes=(-1, 1))
        for x, label in examples(X, y):
            score = model.decision_function_one(x)
            full = model.n_support_vectors == 20
            before = support(model) if full else None
            model.learn_one(x, label)
            if full and label * score < 1.0:
                step = np.array([[label * min(1.0, 1.0 - label * score)]])
                wanted = np.vstack([before.X, row(model, x)]), np.vstack([before.A, step])
                lost[update] = squared_distance(wanted, support(model)[:2], RBF(2.0))
                assert model.decision_function_one(x) == pytest.approx(score + step[0, 0])
                break
    assert lost["simple"] >= lost["nearest"] - 1e-12 >= lost["projection"] - 2e-12


@pytest.mark.parametrize("update", ["simple", "nearest"])
def test_passive_aggressive_learning_is_free_of_scale(update):
    mistakes = []
    for scale in (1.0, 1e-6):
        model = rb.BPAClassifier(10, Linear(), C=1e15, update=update)
        rng, wrong = np.random.default_rng(0), 0
        for point in rng.normal(size=(800, 12)):
            y = bool(point[:4].sum() + 0.5 * rng.normal() > 0)
            x = dict(enumerate((scale * point).tolist()))
            wrong += model.predict_one(x) is not y
            model.learn_one(x, y)
        mistakes.append(wrong)
    assert mistakes[0] == mistakes[1]
