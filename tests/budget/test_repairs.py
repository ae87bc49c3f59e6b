"""What is kept up to date is checked now and then; what has drifted is computed anew and
counted.
"""

from __future__ import annotations

import numpy as np
import pytest
from inside import error_of_factor, plain, squared_length, support
from models import having, learned
from saved_models import file_of

import river_budget as rb
from river_budget.core.budget.projection import EVERY
from river_budget.core.memory import views
from river_budget.core.passes.gradient import bsgd
from river_budget.core.passes.window import sbp
from river_budget.kernels import RBF, Polynomial
from river_budget.maintenance import Merge, Project, RemoveRandom
from river_budget.saving import opened

KERNEL = RBF(0.5)


def rows_and_labels(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4))
    return rows, np.sin(2.0 * rows[:, 0]) + 0.3 * rng.normal(size=n) > 0.0


def check_soon(model):
    """The next arrival is followed by a check."""
    head = views(model._block).head
    head.arrived = EVERY * (head.arrived // EVERY + 1) - 1


@pytest.mark.parametrize("param", having("_n_repairs"))
def test_a_sound_model_is_never_repaired(param):
    assert learned(param, 300)._n_repairs == 0


FACTORED = [
    pytest.param(rb.BSGDClassifier(20, KERNEL, Project()), id="BSGD"),
    pytest.param(rb.BSGDClassifier(20, Polynomial(2), Project()), id="BSGD-polynomial"),
    pytest.param(rb.BPAClassifier(20, KERNEL, update="projection"), id="BPA"),
    pytest.param(rb.KernelOneClassSVM(0.5, 20, KERNEL, Project()), id="OneClass"),
    pytest.param(rb.ProjectronClassifier(2000, KERNEL), id="Projectron"),
    pytest.param(rb.ProjectronPPClassifier(2000, KERNEL), id="Projectron++"),
]


def learn_rows(model, n, seed=0):
    """Learn as many rows, with their labels where the model takes some."""
    rows, labels = rows_and_labels(n, seed)
    model.learn_many(*((rows, labels) if hasattr(model, "classes") else (rows,)))


@pytest.mark.parametrize("model", FACTORED)
def test_a_factor_that_has_drifted_is_computed_anew(model):
    model = model.clone()
    learn_rows(model, 60)
    factor = views(model._block).factor
    factor += 1e-4 * np.random.default_rng(1).normal(size=factor.shape)
    assert error_of_factor(model) > 1e-5
    check_soon(model)
    learn_rows(model, 600, seed=1)
    assert model._n_repairs == 1
    assert error_of_factor(model) < 1e-6


def test_a_repair_of_the_factor_leaves_the_function_alone():
    model = rb.ProjectronClassifier(600, KERNEL)
    model.learn_many(*rows_and_labels(400))
    check_soon(model)
    twin, block = opened(file_of(model)), views(model._block)
    block.factor[: block.head.count] *= 1.001
    rows, labels = rows_and_labels(400, seed=1)
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        for one in (model, twin):
            one.learn_one(dict(enumerate(row)), label)
        if model._n_repairs:
            break
    assert (model._n_repairs, twin._n_repairs) == (1, 0)
    assert views(model._block).factor == pytest.approx(views(twin._block).factor, abs=1e-9)
    assert model.predict_many(rows).tolist() == twin.predict_many(rows).tolist()


def test_a_vector_that_a_renewed_factor_finds_dependent_leaves():
    model = rb.BSGDClassifier(30, KERNEL, Project())
    model.learn_many(*rows_and_labels(200))
    block = views(model._block)
    for table in (block.vectors, block.norms):  # a twin of which the factor knows nothing
        table[..., 5] = table[..., 3]
    check_soon(model)
    model.learn_many(*rows_and_labels(300, seed=1))
    vectors = support(model).X
    assert model._n_repairs == 1
    assert len(np.unique(vectors, axis=0)) == len(vectors) <= 30
    assert error_of_factor(model) < 1e-6


@pytest.mark.parametrize("strategy", [Merge(), Project(), RemoveRandom()])
def test_a_length_that_has_drifted_is_computed_anew(strategy):
    model = rb.BSGDClassifier(10, KERNEL, strategy, l2=1e-6, seed=1, learning_rate=None)
    model.learn_many(*rows_and_labels(500))
    own = model._state_record()
    own.norm2 *= 0.99
    own.unchecked = bsgd.CHECK * views(model._block).head.capacity  # the next maintenance checks
    model.learn_many(*rows_and_labels(100, seed=1))
    held = support(model)
    assert model._n_repairs == 1
    assert own.norm2 == pytest.approx(squared_length(held.X, held.A, KERNEL), rel=1e-9)


def test_a_length_is_looked_at_after_so_many_vectors_without_being_asked():
    """Near the surface of the ball, where no other reason computes it anew."""
    model = rb.BSGDClassifier(10, KERNEL, RemoveRandom(), l2=1e-6, learning_rate=None, seed=1)
    model.learn_many(*rows_and_labels(200))
    own, limit = model._state_record(), bsgd.CHECK * views(model._block).head.capacity
    own.unchecked, rows = 0, iter(zip(*rows_and_labels(5000, seed=1), strict=True))
    for row, label in rows:
        model.learn_many(row[None], [label])
        if own.unchecked == limit - 1:  # one more
            break
    own.norm2 *= 0.99
    while own.unchecked == limit - 1:
        row, label = next(rows)
        model.learn_many(row[None], [label])
    assert own.unchecked == 0
    assert model._n_repairs == 1


@pytest.mark.parametrize("window", [40, 1500])  # with a table of kernel values, and without
@pytest.mark.parametrize("what", ["responses", "length"])
def test_responses_that_have_drifted_are_computed_anew(window, what):
    model = rb.SBPClassifier(window, KERNEL, seed=1, eviction="oldest")
    model.learn_many(*rows_and_labels(100))
    if what == "responses":
        views(model._block).per_vector[sbp.RESPONSES] += 1e-3
    else:
        model._state_record().norm2 *= 1.001
    model.learn_many(*rows_and_labels(700, seed=1))
    held, block = support(model), views(model._block)
    n = model.n_support_vectors
    X = block.vectors[:, :n].T
    w = plain(KERNEL)(X, X) @ (block.head.scale * block.coefficients[0, :n])
    assert model._n_repairs >= 1
    assert block.per_vector[sbp.RESPONSES, :n] == pytest.approx(
        block.per_vector[sbp.LABELS, :n] * w
    )
    assert model._state_record().norm2 == pytest.approx(
        squared_length(held.X, held.A, KERNEL), rel=1e-9
    )


def test_the_count_of_repairs_is_saved():
    model = rb.SBPClassifier(40, KERNEL, seed=1)
    model.learn_many(*rows_and_labels(100))
    model._state_record().norm2 *= 2.0
    model.learn_many(*rows_and_labels(100))
    assert opened(file_of(model))._n_repairs == model._n_repairs == 1
