"""What test_process_safety.py runs in separate processes: `python tests/support/process_work.py work arguments...`.

An argument with commas stands for several values, to try one after the other.

Exit code 0: all is well. 1: an error, or a wrong result, as the last line on stderr says. Below 0: a signal; then stderr
shows the stack of each thread.
"""

from __future__ import annotations

import copy
import ctypes
import faulthandler
import itertools
import math
import pickle
import sys
import tempfile
import threading
import time

import numpy as np
from processes import in_threads

import river_budget as rb
from river_budget.kernels import RBF

DOING = "doing: "  # before a work and its arguments on stderr: the last such line tells what failed


# First use


def save(path):
    """A model for `first_use`."""
    model = rb.BSGDClassifier(20, RBF(0.5))
    for i in range(100):
        model.learn_one({"a": i % 7, "b": i % 5, "c": 1.0}, i % 3 == 0)
        model.predict_one({"a": 1.0, "b": 2.0, "c": 3.0})
    rb.save(model, path)


def first_use(path, n_threads):
    """Let this number of threads make the first predictions of a loaded model at the same time."""
    n = int(n_threads)
    model, barrier, found, errors = rb.load(path), threading.Barrier(n), [], []

    def work(k):
        barrier.wait()
        try:
            for i in range(300):
                found.append(model.predict_one({"a": i % 7, "b": float(k), "c": 1.0}))
        except Exception as error:
            errors.append(error)

    sys.setswitchinterval(1e-6)
    in_threads(*(lambda k=k: work(k) for k in range(n)))
    assert not errors, repr(errors[0])
    assert len(found) == 300 * n
    for i in range(300):
        model.predict_one({"a": i % 7, "b": 1.0, "c": 1.0})


# Inspecting a model while another thread lets it learn


def words(i):
    return {f"w{5 * i + k}": 1.0 for k in range(5)} | {"a": float(i % 7)}


def numbers(i):
    return {"a": i % 7 / 7.0, "b": i % 11 / 11.0, "c": math.sin(i)}


LEARNERS = {
    "words": (lambda: rb.RBPClassifier(50), words),
    "words-merge": (lambda: rb.BSGDClassifier(50), words),
    "rows": (lambda: rb.KernelOGDClassifier(RBF(2.0)), numbers),
    "auto": (lambda: rb.AutoKernelClassifier(50, seed=1), numbers),
    "auto-words": (lambda: rb.AutoKernelClassifier(50, seed=1), lambda i: numbers(i) | {f"n{i // 50}": 1.0}),
}  # fmt: skip


def to_file(model):
    with tempfile.NamedTemporaryFile() as file:
        rb.save(model, file.name)


# Called if the model has them.
QUESTIONS = {
    "numbers": {
        "n_support_vectors": lambda model: model.n_support_vectors,
        "n_examples": lambda model: model.n_examples,
        "n_repairs": lambda model: model.n_repairs,
        "memory_usage": lambda model: model.memory_usage,
        "support_vectors": lambda model: model.support_vectors(),
        "gram": lambda model: model.n_support_vectors < 3000 and model.gram(),  # else gigabytes
        "scores_of_vectors": lambda model: model.scores_of_vectors(),
    },
    "text": {
        "repr": repr,
        "str": str,
        "summary": lambda model: model.summary(),
        "_repr_html_": lambda model: model._repr_html_(),
        "importances": lambda model: model.importances(),
        "experts": lambda model: model.experts(),
    },
    "copies": {
        "pickle": pickle.dumps,
        "deepcopy": copy.deepcopy,
        "copy": copy.copy,
        "save": to_file,
        "clone": lambda model: model.clone(include_attributes=True),
    },
    "answers": {
        "predict_one": lambda model: model.predict_one(numbers(1)),
        "predict_one of words": lambda model: model.predict_one(words(3)),
        "predict_proba_one": lambda model: model.predict_proba_one(numbers(2)),
        "decision_function_one": lambda model: model.decision_function_one(words(5)),
        "predict_many": lambda model: model.predict_many(np.ones((3, 2))),
        "explain_one": lambda model: model.explain_one(numbers(3)),
        "debug_one": lambda model: model.debug_one(numbers(3)),
        "last_iterate_one": lambda model: model.last_iterate_one(numbers(3)),
    },
}
NOT_OF_ALL = {
    *("explain_one", "debug_one", "importances", "experts", "gram", "scores_of_vectors"),
    *("support_vectors", "last_iterate_one", "n_support_vectors", "n_repairs", "n_examples"),
    *("summary", "_repr_html_"),
}


class Learner(threading.Thread):
    """Learns until it is stopped."""

    def __init__(self, learner):
        super().__init__()
        make, self.example = LEARNERS[learner]
        self.model, self.stopped, self.errors, self.learned = make(), threading.Event(), [], 0
        for _ in range(50):
            self.learn()

    def learn(self):
        i = self.learned
        self.model.learn_one(self.example(i), i % 3 == 0 if i % 7 else i % 2 == 0)
        self.learned += 1

    def run(self):
        try:
            while not self.stopped.is_set():
                self.learn()
        except Exception as error:
            self.errors.append(error)

    def stop(self):
        self.stopped.set()
        self.join()


def polled(learner, group, seconds):
    """Inspect a model in all ways, repeatedly, while another thread learns. Nothing may crash or be refused."""
    thread = Learner(learner)
    questions = {
        name: ask
        for name, ask in QUESTIONS[group].items()
        if name not in NOT_OF_ALL or hasattr(thread.model, name)
    }
    for ask in questions.values():  # compiles what they need, while nobody learns
        ask(thread.model)
    counts, end = dict.fromkeys(questions, 0), time.monotonic() + float(seconds)
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        while time.monotonic() < end:
            for name, ask in questions.items():
                ask(thread.model)
                counts[name] += 1
    finally:
        thread.stop()
    assert not thread.errors, f"learn_one: {thread.errors[0]!r}"
    assert thread.learned > 50
    print(f"{thread.learned} examples learned, answers: {counts}")


def fault():
    """Crash: the tests must notice it."""
    ctypes.string_at(8)


WORKS = {work.__name__: work for work in (save, first_use, polled, fault)}

if __name__ == "__main__":
    faulthandler.enable()
    for work, *each in itertools.product(*(argument.split(",") for argument in sys.argv[1:])):
        print(f"{DOING}{work}", *each, file=sys.stderr, flush=True)
        WORKS[work](*each)
