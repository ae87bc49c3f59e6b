"""Forks while another thread holds the lock of a model, a scaler or a wrapper: the child says so or
works, and never hangs.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading

import pytest
from folders import PYTHONPATH
from processes import ended

import river_budget as rb
from river_budget.algorithms.scaling.columns import Statistics
from river_budget.model.lock import FORKED, ModelLock, lock_of

X = {"a": 1.0, "b": 2.0}
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
PATIENCE = 60  # seconds after which a child that hangs is killed by its own alarm
KINDS = {
    "StandardScaler": lambda: rb.StandardScaler(),
    "MinMaxScaler": lambda: rb.MinMaxScaler(),
    "TargetStandardScaler": lambda: rb.TargetStandardScaler(rb.RBPRegressor(5, seed=1)),
    "Delayed": lambda: rb.Delayed(rb.RBPClassifier(5, seed=1)),
    "model": lambda: rb.RBPClassifier(5, seed=1),
}


def lock_in(model):
    """The lock of a model, a scaler or a wrapper."""
    if isinstance(model, rb.Delayed):
        return model._lock
    if isinstance(model, rb.RBPClassifier):
        return model._lock.held
    return model._seen.lock if isinstance(model, rb.TargetStandardScaler) else model._columns.lock


def learn(model, i=0):
    x = {"a": float(i), f"b{i % 3}": 1.0}
    if hasattr(model, "predict_proba_one"):
        model.learn_one(x, i % 2 == 0)
    elif hasattr(model, "predict_one"):
        model.learn_one(x, float(i % 7))
    else:
        model.learn_one(x)


def ask(model):
    return model.predict_one(X) if hasattr(model, "predict_one") else model.transform_one(X)


def child_of(work):
    """What the work of a forked child came to: 0, 1 if it says that the process was forked, else a
    failure.
    """
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        status = 2
        try:
            work()
            status = 0
        except RuntimeError as error:
            status = 1 if str(error) == FORKED else 3
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def held(name):
    """The lock is held by another thread at the fork: the child says so, and the parent goes on."""
    used, free = KINDS[name](), KINDS[name]()
    for model in (used, free):
        for i in range(9):
            learn(model, i)
        ask(model)
    inside, go_on = threading.Event(), threading.Event()

    def hold():
        with lock_in(used):
            inside.set()
            assert go_on.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(PATIENCE)
    try:
        assert child_of(lambda: learn(used)) == 1
        if name == "model":
            for look in (ask, pickle.dumps, lambda model: model.n_examples):
                assert child_of(lambda look=look: look(used)) == 1
        assert child_of(lambda: (learn(free), ask(free))) == 0
    finally:
        go_on.set()
        thread.join()
    learn(used)
    ask(used)


def busy(name):
    """Threads learn all the time while the process forks."""
    model, stop = KINDS[name](), threading.Event()
    for i in range(9):
        learn(model, i)
    ask(model)

    def work():
        i = 0
        while not stop.is_set():
            learn(model, i)
            i += 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        found = {
            child_of(lambda: [(learn(model, i), ask(model)) for i in range(3)]) for _ in range(40)
        }
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert found <= {0, 1}, found


def while_a_thread_makes_a_model():
    """A child forked between the two steps in which a lock gets its owner frees all others, and
    says which it cannot.
    """
    unmade = [object.__new__(ModelLock), object.__new__(Statistics)]
    for owner, name in zip(unmade, ("held", "lock"), strict=True):
        lock_of(owner, name)  # which the owner has not been given yet
    held("model")


@needs_fork
def test_a_fork_while_a_thread_makes_a_model():
    code = "from test_forks import *\nwhile_a_thread_makes_a_model()"
    path = os.pathsep.join([os.path.dirname(__file__), PYTHONPATH])
    status, _, errors = ended(code, PYTHONPATH=path)
    assert (status, errors) == (0, "")


@needs_fork
def test_a_fork_while_a_thread_holds_the_lock():
    code = "from test_forks import *\nfor name in KINDS: print(name), held(name), busy(name)"
    path = os.pathsep.join([os.path.dirname(__file__), PYTHONPATH])
    status, begun, errors = ended(code, PYTHONPATH=path)
    assert status == 0, f"{begun}\n{errors}"
