"""Signals at random moments of learning, changing and saving, in every kind of model: it is as
before or as after, goes on, and can be saved. Of a wrapper so is each model in it.

A signal may also come between the rows of a batch. In processes of their own, as compiled code
checks no bounds.
"""

from __future__ import annotations

import copy
import functools
import os
import random
import signal
import tempfile
import time

import numpy as np
import pytest
from folders import PYTHONPATH
from optional import pandas as pd
from processes import ended
from river import base, linear_model
from saved_models import ALL, file_of, is_supervised

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.saving import opened

K = RBF(0.5)
WRAPPERS = {
    "Delayed": lambda: rb.Delayed(rb.BSGDClassifier(9, K, seed=1)),
    "TargetStandardScaler": lambda: rb.TargetStandardScaler(rb.BSGDRegressor(9, K, seed=1)),
    "Mixture": lambda: rb.Mixture(
        rb.BSGDClassifier(9, K, seed=1), linear_model.LogisticRegression()
    ),
    "FeatureBudget": lambda: rb.FeatureBudget(12),
}
ONE_EACH = {type(each.values[0]).__name__: each.values[0].clone for each in reversed(ALL)}
KINDS = {**ONE_EACH, **WRAPPERS}
FEATURES, ROWS = 5, 6
BEGUN = 40  # examples before the signals


def example(rng, new):
    """An example with known names, some of them, or new ones."""
    names = [f"f{j}" for j in range(FEATURES)]
    if new == "some":
        names = rng.sample(names, 3)
    elif new == "new":
        names = [*rng.sample(names, 2), *(f"w{rng.randrange(10**6)}" for _ in range(3))]
    return {name: rng.random() for name in names}


def target(model, x):
    value = sum(x.values()) - 1.2
    return value if isinstance(model, base.Regressor) else value > 0.0


def learn(model, x):
    if is_supervised(model):
        model.learn_one(x, target(model, x))
    else:
        model.learn_one(x)


def learn_many(model, X, y):
    if is_supervised(model):
        model.learn_many(X, y)
    else:
        model.learn_many(X)


def save(model, folder):
    rb.save(model, os.path.join(folder, "model.rb"))


def operations(model, rng, folder):
    """What may be interrupted: (name, a function of a model, functions that make what it may be in
    between).
    """
    x = example(rng, rng.choice(["known", "some", "new"]))
    found = [("learn_one", functools.partial(learn, x=x), ())]
    if hasattr(model, "learn_many"):
        rows = [example(rng, "known") for _ in range(ROWS)]
        y = np.array([target(model, each) for each in rows])
        X = pd.DataFrame(rows)
        parts = [functools.partial(learn_many, X=X[:n], y=y[:n]) for n in range(1, ROWS)]
        found.append(("learn_many", functools.partial(learn_many, X=X, y=y), parts))
    if "budget" in model._get_params():
        changed = {"budget": max(4, (model.budget or 10) + rng.choice([-1, 1]))}
        found.append(("mutate", lambda m: m.mutate(changed), ()))
    found.append(("save", functools.partial(save, folder=folder), ()))
    return found


def models_in(model):
    """The models of a wrapper; a model itself."""
    if isinstance(model, rb.Mixture):
        return model.models
    return [getattr(model, "classifier", getattr(model, "regressor", model))]


def answer(model, x):
    for method in ("transform_one", "predict_proba_one", "predict_one", "score_one"):
        if hasattr(model, method):
            return getattr(model, method)(x)
    raise AssertionError(model)


def answers(model, probes):
    return [answer(model, x) for x in probes]


def close(a, b):
    return all(x == pytest.approx(y, rel=1e-8, abs=1e-8) for x, y in zip(a, b, strict=True))


def is_allowed(model, subject, then, operation, parts, probes, later):
    """Whether each model in `subject`, which has learned on as `then`, is in one of the states
    before, behind and between.
    """
    states = [copy.deepcopy(model) for _ in range(2 + len(parts))]
    for state, change in zip(states[1:], [operation, *parts], strict=True):
        change(state)
    for i, part in enumerate(models_in(subject)):
        found = [models_in(state)[i] for state in states]
        near = [
            state
            for state, each in zip(states, found, strict=True)
            if close(answers(each, probes), answers(part, probes))
        ]
        if not near:
            return False
        if part is subject:  # parts of a wrapper may be of two states
            for state in near:
                teach(state, later)
            if not any(close(answers(state, probes), answers(then, probes)) for state in near):
                return False
    return True


def teach(model, examples):
    for x in examples:
        learn(model, x)


def check(kind, interrupts, seed=0):
    """So many signals while a model of this kind works."""

    def ctrl_c(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, ctrl_c)
    rng, model, came = random.Random(f"{kind} {seed}"), KINDS[kind](), 0
    kinds, least, folder = ("known", "some", "new"), {}, tempfile.mkdtemp()
    teach(model, [example(rng, kinds[i % 3]) for i in range(BEGUN)])
    while came < interrupts:
        name, operation, parts = rng.choice(operations(model, rng, folder))
        twin, begin = copy.deepcopy(model), time.perf_counter()
        operation(twin)
        took = time.perf_counter() - begin
        least[name] = min(least.get(name, took), took)
        subject = copy.deepcopy(model)
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 1.3 * least[name] + 1e-5))
            operation(subject)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            came += 1
        probes, later = ([example(rng, each) for each in kinds] for _ in range(2))
        for each in models_in(subject):
            assert not (hasattr(each, "_lock") and each._lock.changing), name
        opened(file_of(subject))
        then = copy.deepcopy(subject)
        teach(then, later)
        assert is_allowed(model, subject, then, operation, parts, probes, later), name
        if rng.random() < 0.25:
            teach(model, [example(rng, rng.choice(kinds))])
    signal.setitimer(signal.ITIMER_REAL, 0)


def in_a_process(code):
    path = os.pathsep.join([os.path.dirname(__file__), PYTHONPATH])
    status, printed, errors = ended(f"from test_signals import *\n{code}", PYTHONPATH=path)
    assert status == 0, f"{printed}\n{errors}"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("kind", KINDS)
def test_signals_at_random_moments(kind):
    in_a_process(f"check({kind!r}, 100)")
