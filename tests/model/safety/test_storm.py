"""Threads, signals that raise and forks at the same time, for half a minute: no error but Ctrl-C
itself, every example is counted, and where one thread learns, the model equals a replay of what it
has learned.

In processes of their own.
"""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import time

import numpy as np
import pytest
from folders import PYTHONPATH
from processes import ended
from test_lock import MODELS, example, trace, whole

import river_budget as rb

HOW = ("plain", "traced", "switching")
SECONDS = 30
EVERY = 0.005  # seconds between two signals
GENTLE = 0.002  # seconds that a thread rests between two works
BEGUN = 60  # examples before the threads
ROWS = np.random.default_rng(0).random((40, 8))


class Storm:
    """Threads that use a model until the time is up, while the main thread learns and is
    interrupted.
    """

    def __init__(self, kind, how, seconds):
        if how == "traced":
            threading.settrace(trace)
        elif how == "switching":
            sys.setswitchinterval(1e-6)
        self.model, self.errors, self.lock = MODELS[kind](), [], threading.Lock()
        self.learned = {i: example(i) for i in range(BEGUN)}  # by number
        for x, y in self.learned.values():
            self.model.learn_one(x, y)
        self.counted, self.mine = BEGUN, 0
        self.end = time.monotonic() + seconds

    def over(self):
        return time.monotonic() > self.end or bool(self.errors)

    def repeated(self, work):
        """A thread that does it again and again."""

        def run():
            try:
                for i in itertools.count():
                    if self.over():
                        return
                    work(i)
                    time.sleep(GENTLE)
            except BaseException as error:
                self.errors.append(error)
                raise

        return threading.Thread(target=run, daemon=True)

    # what threads do

    def predict(self, i):
        assert self.model.predict_one(whole(i)[0]) in (False, True)
        assert sum(self.model.predict_proba_one(example(i)[0]).values()) == pytest.approx(1.0)

    def predict_many(self, i):
        assert set(self.model.predict_many(ROWS).tolist()) <= {False, True}

    def look(self, i):
        assert self.model.memory_usage > 0
        assert self.model.summary()
        assert self.model.n_examples >= BEGUN

    def save(self, i):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.rb")
            rb.save(self.model, path)
            rb.load(path).learn_one(*example(i))

    def copy(self, i):
        copy.deepcopy(self.model).learn_one(*example(i))
        pickle.loads(pickle.dumps(self.model)).predict_one(whole(i)[0])

    def merge(self, i):
        if not self.model._unmergeable_because:
            rb.merge([self.model, self.model]).predict_one(whole(i)[0])

    def mutate(self, i):
        name = "n_components" if hasattr(self.model, "n_components") else "budget"
        if not isinstance(self.model, rb.FOGDClassifier):  # the number of its features stays
            self.model.mutate({name: 12 + i % 3})

    def learn(self, i):
        self.model.learn_one(*example(i))
        with self.lock:
            self.counted += 1

    def learn_many(self, i):
        self.model.learn_many(ROWS, ROWS[:, 0] > 0.5)
        with self.lock:
            self.counted += len(ROWS)

    # what the main thread does

    def fork(self):
        """A child that predicts and learns, or says that it was forked while the model was used."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(20)  # which ends a child that waits for ever
                self.model.predict_one(whole(1)[0])
                self.model.learn_one(*example(1))
                status = 0
            except RuntimeError as error:
                status = 0 if "forked" in str(error) else 1
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        assert status == 0, f"a forked child: {status}"

    def step(self, i):
        """Learn an example, under its number: where Ctrl-C keeps it from being learned the next one
        has this number.
        """
        x, y = (whole if i % 4 else example)(i)
        self.learned[self.model.n_examples] = x, y
        self.model.learn_one(x, y)
        self.mine += 1

    def run(self, *works):
        """Learn under signals beside threads that do these works; returns how many signals came."""
        threads = [self.repeated(work) for work in works]
        for thread in threads:
            thread.start()
        rng, numbers, came = random.Random(0), itertools.count(100), 0
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        while not self.over():
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, EVERY))
                while True:
                    self.step(next(numbers))
            except KeyboardInterrupt:
                came += 1
            if came % 100 == 1 and hasattr(os, "fork"):
                self.fork()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert not self.errors, self.errors
        assert not self.model._lock.changing
        return came


def one_learns(kind, how, seconds=SECONDS):
    """The main thread learns; seven others look on."""
    storm = Storm(kind, how, seconds)
    looks = storm.predict, storm.predict_many, storm.look, storm.save, storm.copy, storm.merge
    came = storm.run(*looks, storm.predict)
    n, twin = storm.model.n_examples, MODELS[kind]()
    for i in range(n):
        twin.learn_one(*storm.learned[i])
    for i in range(50):
        x, _ = whole(i)
        found = storm.model.decision_function_one(x)
        assert found == pytest.approx(twin.decision_function_one(x), rel=1e-6, abs=1e-6)
    print(kind, how, n, "learned,", came, "signals")


def many_learn(kind, how, seconds=SECONDS):
    """Five threads learn or change a parameter, beside the main one."""
    storm = Storm(kind, how, seconds)
    learners = storm.learn, storm.learn, storm.learn_many, storm.mutate
    came = storm.run(*learners, storm.predict, storm.save, storm.merge)
    least = storm.counted + storm.mine
    assert least <= storm.model.n_examples <= least + came
    print(kind, how, storm.model.n_examples, "learned,", came, "signals")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("work", ["one_learns", "many_learn"])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", MODELS)
def test_a_storm_of_threads_signals_and_forks(kind, how, work):
    path = os.pathsep.join([os.path.dirname(__file__), PYTHONPATH])
    code = f"from test_storm import *\n{work}({kind!r}, {how!r})"
    status, printed, errors = ended(code, PYTHONPATH=path)
    assert status == 0, f"{printed}\n{errors}"
