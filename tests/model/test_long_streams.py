"""A long stream leaves memory flat and what is kept up to date exact.

The environment says how many examples: RIVER_BUDGET_SOAK=10000000 is the full run.
"""

from __future__ import annotations

import gc
import math
import os
import time

import numpy as np
import pytest
from inside import plain
from long_runs import resident

import river_budget as rb
from river_budget.core.memory import views
from river_budget.core.passes.window import sbp
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project

pytestmark = pytest.mark.slow

SOAK = int(os.environ.get("RIVER_BUDGET_SOAK", "300000"))
CHUNK = 10_000
EXACT = 1e-6
SOAKING = {
    "BSGD-merge": rb.BSGDClassifier(40, RBF(0.5), Merge()),
    "BSGD-strong-l2": rb.BSGDClassifier(40, RBF(0.5), Project(), l2=0.1),
    "BSGD-project": rb.BSGDClassifier(40, RBF(0.5), Project()),
    "Projectron": rb.ProjectronClassifier(40, RBF(0.5)),
    "Forgetron": rb.ForgetronClassifier(40, RBF(0.5)),
    "NOGD": rb.NOGDClassifier(40, RBF(0.5)),
    "SBP": rb.SBPClassifier(40, RBF(0.5), seed=1),
    "SBP-bias": rb.SBPClassifier(40, RBF(0.5), fit_bias=True, eviction="oldest", seed=1),
}


def drifting(number):
    """Chunk `number` of a stream whose clusters wander and whose classes change places."""
    rng = np.random.default_rng(number)
    t = (number + np.arange(CHUNK) / CHUNK) / 10.0
    side = rng.random(CHUNK) < 0.5
    rows = rng.normal(size=(CHUNK, 4))
    rows[:, 0] += np.where(side, 1.5, -1.5) * np.cos(t)
    rows[:, 1] += np.where(side, 1.5, -1.5) * np.sin(t)
    return rows, side ^ (rng.random(CHUNK) < 0.05)


@pytest.mark.parametrize("name", SOAKING)
def test_a_long_stream_leaves_memory_flat_and_the_model_exact(name, no_hang):
    model = SOAKING[name].clone()
    flat, start, right, errors = 0, time.time(), 0, {}
    chunks = max(SOAK // CHUNK, 12)
    for number in range(chunks):
        rows, targets = drifting(number)
        right += int(np.sum(model.predict_then_learn_many(rows, targets) == targets))
        if number == 9:
            gc.collect()
            flat = resident()
        block = views(model._block)
        assert np.isfinite(block.coefficients).all()
        assert block.head.count <= 40
        if number % 10 == 9 or number == chunks - 1:
            now = errors_of(model)
            errors = {name: max(errors.get(name, 0.0), error) for name, error in now.items()}
    gc.collect()
    grown = resident() - flat
    print(
        f"{name}: {chunks * CHUNK} examples in {time.time() - start:.0f} s, "
        f"{right / chunks / CHUNK:.3f} right, "
        f"memory {grown / 1e6:+.2f} MB, errors {errors}"
    )
    assert grown < 4e6
    assert model._n_repairs == 0
    assert all(math.isfinite(model.decision_function_one(dict(enumerate(row)))) for row in rows[:9])
    assert all(error <= EXACT for error in errors.values())


def errors_of(model):
    """Maintained quantities against their recomputation, relative to their size where that is above
    1.
    """
    block, own = views(model._block), model._state_record()
    n = int(block.head.count)
    X, a = block.vectors[: len(model._features), :n].T, block.coefficients[0, :n]
    weights = block.head.scale * a
    gram = plain(model.kernel)(X, X)
    norm2 = float(weights @ gram @ weights)
    errors = {"norms": off(block.norms[:n], np.sum(X**2, axis=1))}
    names = own.dtype.names
    if "norm2" in names and not ("bounded" in names and own.bounded):
        errors["norm2"] = off(own.norm2, norm2)
    elif "norm2" in names:  # a bound from above
        errors["bound"] = max(0.0, 1.0 - own.norm2 / norm2)
    if isinstance(model, rb.SBPClassifier):
        labels = block.per_vector[sbp.LABELS, :n]
        errors["table"] = off(block.factor[:n, :n], gram)
        errors["responses"] = off(block.per_vector[sbp.RESPONSES, :n], labels * (gram @ a))
        errors["positives"] = abs(own.positives - np.sum(labels > 0))
    elif block.head.factored:
        factor = np.tril(block.factor[:n, :n])
        errors["factor"] = off(factor @ gram @ factor.T, np.eye(n))
    if "kept" in names:
        basis = block.per_vector[: own.kept, :n]
        errors["basis"] = off(basis @ gram @ basis.T, np.eye(int(own.kept)))
    if "damage" in names:
        errors["allowance"] = max(0.0, own.damage / own.mistakes - 15.0 / 32.0)
    return {name: float(f"{error:.1e}") for name, error in errors.items()}


def off(found, expected):
    return float(np.max(np.abs(found - expected)) / max(1.0, np.max(np.abs(expected))))
