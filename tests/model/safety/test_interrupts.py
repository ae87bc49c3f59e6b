"""Ctrl-C at every moment in which Python answers it: a model has learned an example or it has not,
and goes on.
"""

from __future__ import annotations

import copy
import functools

import pytest
from inside import check_names
from processes import in_threads, interrupted
from saved_models import file_of

import river_budget as rb
from river_budget.core import memory
from river_budget.core.passes.auto import tables
from river_budget.kernels import RBF
from river_budget.saving import opened

# These look only, over and over
VIEWS = [each.__file__ for each in (memory, tables)]
LOOKS = "_sizes", "_table"  # functions of AutoKernel* that look only, too
K = RBF(0.5)
MODELS = [
    rb.RBPClassifier(6, K, seed=1),
    rb.BSGDClassifier(6, K, seed=1),
    rb.BSGDClassifier(6, RBF(0.5, scales={"a": 2.0}), rb.maintenance.Project()),
    rb.ProjectronRegressor(6, K),
    rb.NOGDClassifier(6, K),
    rb.SBPClassifier(6, kernel=K, seed=1),
    rb.FOGDClassifier(6, K, seed=1),
    rb.RandomFourier(6, K, seed=1),
    rb.KernelOGDRegressor(K),
    rb.AutoKernelClassifier(6, seed=1),
]


def looks(code):
    return code.co_filename in VIEWS or code.co_name in LOOKS


def learn(model, x, i):
    if hasattr(model, "transform_one"):
        model.learn_one(x)
    else:
        model.learn_one(x, i % 2 == 0)


def begun(model, n=12):
    """A model that knows a few names."""
    model = model.clone()
    for i in range(n):
        learn(model, {"a": i % 5 / 5.0, "b": i % 3}, i)
    return model


def answer(model, x):
    ask = model.transform_one if hasattr(model, "transform_one") else model.decision_function_one
    return ask(x)


def free_for_others(lock):
    """Whether another thread can take the lock."""
    found = []

    def take():
        if lock.held.acquire(blocking=False):
            lock.held.release()
            found.append(True)

    in_threads(take)
    return bool(found)


def close(some, others):
    """Whether answers are the same but for rounding: names may have other places."""
    return all(a == pytest.approx(b, rel=1e-9, abs=1e-9) for a, b in zip(some, others, strict=True))


def at_moments(model, x, i, further, step):
    """At every moment in which Python answers signals, where a function begins, or every few of
    them. The model is as before the example or as after it, for this one and for what it learns
    then; or it knows the names already, which for some makes a difference.
    """
    after, named = copy.deepcopy(model), copy.deepcopy(model)
    learn(after, x, i)
    named._add_features(named._features.unknown(x), x)
    probes = {"a": 0.3}, further, {"z": 1.0, "b": 2}

    def answers(model):
        return [answer(model, x) for x in probes]

    def answers_later(model):
        for number in range(3):
            learn(model, further, number)
        return answers(model)

    states = model, after, named
    states = [(answers(state), answers_later(copy.deepcopy(state))) for state in states]
    moment = 0
    while True:
        moment += step
        twin = copy.deepcopy(model)
        go_on = interrupted(functools.partial(learn, twin, x, i), moment, "call", looks)
        found = answers(twin)
        later = next((later for now, later in states if close(now, found)), None)
        assert later is not None, f"neither at moment {moment}"
        assert not twin._lock.changing
        assert free_for_others(twin._lock)
        if not twin.algorithm.columns.draws:
            check_names(twin)
        opened(file_of(twin))
        assert close(answers_later(twin), later), moment
        if not go_on:
            return moment


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_ctrl_c_while_names_are_added(model, step):
    model = begun(model)
    words = {f"word {i}": 0.5 for i in range(6)}
    further = {"a": 1.0, "word 3": -1.0, "later": 0.25}
    first = at_moments(model, words, 0, further, step)
    for i in range(4):
        learn(model, {f"{i} {j}": 1.0 for j in range(9)} | {"a": 1.0}, i)
    second = at_moments(model, words, 1, further, step)
    assert min(first, second) > 5
