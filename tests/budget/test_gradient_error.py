"""What maintenance costs: the gradient error is that of the reference, and better maintenance has
less of it.
"""

from __future__ import annotations

import numpy as np
import pytest
from inside import plain
from oracles.budgeted_sgd import BudgetedSGD
from replaying import assert_same, run, run_reference
from streams import LABELS, emerging

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project, RemoveOldest, RemoveSmallest


@pytest.mark.parametrize("choice", ["smallest", "best"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_projection_replays_its_reference(choice, outputs):
    classes = tuple(LABELS[: max(outputs, 2)])
    stream = [pair for pair in emerging(500, seed=2) if pair[1] in classes][:250]
    model = rb.BSGDClassifier(
        15, RBF(0.5), Project(choice), l2=1e-3, learning_rate=None, classes=classes
    )
    task = "binary" if outputs == 1 else "multiclass"
    oracle = BudgetedSGD(plain(RBF(0.5)), task, outputs, 15, "project", 1e-3, choice=choice)
    expected = run_reference(oracle, stream, labels=classes)
    assert_same(run(model, stream), expected, 2e-6)
    assert model.gradient_error == pytest.approx(
        sum(oracle.gradient_errors) / len(stream), rel=1e-4
    )


@pytest.mark.parametrize("strategy", ["oldest", "smallest", "merge"])
def test_the_gradient_error_is_that_of_its_reference(strategy):
    strategies = {"oldest": RemoveOldest(), "smallest": RemoveSmallest(), "merge": Merge()}
    stream = [(x, y == LABELS[0]) for x, y in emerging(250, seed=3)]
    model = rb.BSGDClassifier(15, RBF(0.5), strategies[strategy], l2=1e-2, learning_rate=None)
    oracle = BudgetedSGD(plain(RBF(0.5)), "binary", 1, 15, strategy, 1e-2, gamma=0.5)
    run_reference(oracle, stream, labels=(False, True))
    run(model, stream)
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
