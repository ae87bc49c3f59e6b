"""Ctrl-C in models whose tables have vacant places: names, places and vectors stay together. In
processes of their own, as compiled code checks no bounds.
"""

from __future__ import annotations

import copy
import os
import random
import signal

import numpy as np
import pytest
from folders import PYTHONPATH
from inside import check_names
from processes import ended, in_threads, interrupted_at
from saved_models import file_of

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.saving import opened

K = RBF(0.1)
KINDS = {
    "Forgetron": lambda: rb.ForgetronClassifier(20, K),
    "BSGD": lambda: rb.BSGDClassifier(20, K, seed=1),
    "oldest": lambda: rb.BSGDClassifier(20, K, rb.maintenance.RemoveOldest(), seed=1),
    "RBP": lambda: rb.RBPClassifier(20, K, seed=1),
    "NORMA": lambda: rb.NORMAClassifier(20, K),
}
AT_A_TIME = 8  # documents of a batch


def document(t):
    """Six words, two of which the next document has, too."""
    return {f"w{4 * t + j}": 1.0 + j for j in range(6)}


def learned(kind, least=300):
    """(a model that has forgotten words, so that there are vacant places to lend; how many
    documents it has learned)
    """
    model, t = KINDS[kind](), 0
    while t < least or len(model._features.vacant) < 20:
        model.learn_one(document(t), t % 2 == 0)
        t += 1
    return model, t


def batch(t):
    from scipy import sparse

    X = sparse.lil_matrix((AT_A_TIME, 4 * t + 4 * AT_A_TIME + 6))
    for i in range(AT_A_TIME):
        X[i, 4 * (t + i) : 4 * (t + i) + 6] = 1.0
    return X.tocsr(), np.arange(t, t + AT_A_TIME) % 2 == 0


def is_whole(model):
    """Its names fit its tables, it can be saved, and the file can be opened."""
    check_names(model)
    opened(file_of(model))


def real_signals(kind):
    """Signals at random moments, as a user's Ctrl-C in a notebook."""

    def ctrl_c(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, ctrl_c)
    (model, t), rng, came = learned(kind), random.Random(kind), 0
    for n in range(60):
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 1e-3))
            while True:
                t += 1
                model.learn_one(document(t), t % 2 == 0)
        except KeyboardInterrupt:
            came += 1
        if n % 10 == 0:
            is_whole(model)
    assert came == 60
    is_whole(model)


def each_moment(kind, many):
    """One interrupt at each moment: the model is as before or as after, and whole."""
    model, t = learned(kind)
    while True:  # until a document is stored whose words get lent places
        twin = copy.deepcopy(model)
        edition = twin._version
        twin.learn_one(document(t), t % 2 == 0)
        if twin._version is not edition:
            break
        model, t = twin, t + 1
    X, y = batch(t)

    def learn(twin):
        if many:
            twin.learn_many(X, y)
        else:
            twin.learn_one(document(t), t % 2 == 0)

    moment, later = 0, [document(t + 1), document(t), document(t + 5)]
    states = [copy.deepcopy(model)]
    for i in range(AT_A_TIME) if many else [0]:
        state = copy.deepcopy(states[-1])
        if many:
            state.learn_many(X[i : i + 1], y[i : i + 1])
        else:
            learn(state)
        states.append(state)
    allowed = [[state.decision_function_one(x) for x in later] for state in states]
    error = True
    while error is not None:
        moment += 1
        twin = copy.deepcopy(model)
        error = interrupted_at(moment, lambda twin=twin: learn(twin))
        found = [twin.decision_function_one(x) for x in later]
        assert any(found == pytest.approx(each, abs=1e-9) for each in allowed), moment
        assert not twin._lock.changing
        is_whole(twin)
        for further in range(3):
            twin.learn_one(document(t + 1 + further), further % 2 == 0)
        is_whole(twin)
    assert moment > 20


def lock_is_free(kind):
    """After Ctrl-C, also as long as something keeps the exception and the frames in it."""
    model, t = learned(kind)
    X, y = batch(t)
    for change in (
        lambda: model.learn_many(X, y),
        lambda: model.learn_many(X, y.astype(int)),
        lambda: model.mutate({"budget": 21}),
    ):
        moment, error = 0, True
        while error is not None:
            moment += 1
            error = interrupted_at(moment, change)
            assert not model._lock.changing, moment
            in_threads(lambda: free(model._lock.held))
            model.learn_one(document(t), True)
        assert moment > 10


def free(lock):
    assert lock.acquire(blocking=False)
    lock.release()


def in_a_process(code):
    path = os.pathsep.join([os.path.dirname(__file__), PYTHONPATH])
    status, printed, errors = ended(f"from test_ctrl_c import *\n{code}", PYTHONPATH=path)
    assert status == 0, f"{printed}\n{errors}"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_ctrl_c_at_random_moments_leaves_whole_models():
    in_a_process("for kind in KINDS: print(kind), real_signals(kind)")


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    "kind",
    ["BSGD", *(pytest.param(each, marks=pytest.mark.slow) for each in KINDS if each != "BSGD")],
)
def test_ctrl_c_at_each_moment_leaves_whole_models(kind, many):
    in_a_process(f"each_moment({kind!r}, {many})")


@pytest.mark.slow
def test_ctrl_c_gives_the_lock_back_while_its_exception_lives():
    in_a_process("lock_is_free('RBP')")
