"""What the papers promise about Forgetron, Projectron and BPA."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from inside import plain
from oracles.projectrons import ProjectronByClass

import river_budget as rb
from river_budget.kernels import RBF, Linear, Polynomial

KERNEL = RBF(0.5)


def noisy(n, seed=0, wrong=0.1):
    """Two classes on a chessboard, some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, (n, 2))
    y = np.where((X.astype(int).sum(1) % 2 == 0) ^ (rng.random(n) < wrong), 1, -1)
    return X, y


# Forgetron.


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
    """Weights times scores would not, and a factor that is no number takes the whole model with
    it.
    """
    rng = random.Random(seed)
    model = rb.ForgetronClassifier(rng.choice([2, 3, 8]), Polynomial(3), tuple("abcd"))
    for _ in range(120):
        names = rng.sample("abcde", rng.randrange(1, 5))
        x = {name: rng.choice([1, -1]) * 10.0 ** rng.choice(POWERS) for name in names}
        model.learn_one(x, rng.choice("abcd"), rng.choice([1.0, 1e-300, 1e8, 1e150]))
        assert all(map(math.isfinite, model.decision_function_one(x).values()))
        own = model._state_record()
        assert 0.0 <= own.factor <= 1.0
        assert math.isfinite(own.damage)


def test_projectron_pp_leaves_a_score_of_exactly_zero_alone_where_it_is_no_mistake():
    model = rb.ProjectronPPClassifier(5, RBF(1.0), 0.5, classes=(-1, 1))
    model.learn_one({"a": 0.0}, -1)
    before = model.support_vectors()
    model.learn_one({"a": 1000.0}, 1)  # so far away that the kernel is 0
    assert model.support_vectors() == before


class Leaving(ProjectronByClass):
    """Counts the vectors that leave a class, as a newcomer makes them dependent on others of it."""

    left = 0

    def give_up(self, i, c):
        super().give_up(i, c)
        self.left += 1


def near_pairs(seed, n=60):
    """Pairs of examples that are just far enough apart to be stored both, among others; labels are
    noise.
    """
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
    before = model._scores_at(X)
    errors = []
    for budget in (39, 30, 15):
        model.mutate({"budget": budget})
        assert model.n_support_vectors == budget
        errors.append(np.abs(model._scores_at(X) - before).mean())
    assert errors == sorted(errors)
    assert errors[0] < 0.1 * np.abs(before).mean()


def test_a_threshold_of_2016_has_no_span_for_each_class():
    with pytest.raises(ValueError, match="threshold must be a number where span is 'class'"):
        rb.ProjectronPPClassifier(20, span="class")


# BPA.


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
