"""One run of one model over one order of the examples: what is measured, and how.

A task says everything that determines what is measured, so a later session finds the measurement by the key of
the task. Only times differ from run to run.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import datasets
from .store import Measurement

POINTS = 40  # of a curve


@dataclass(frozen=True)
class Task:
    """A model, before it learns, and the data that it will learn.

    repeat: the number of the order, and the seed of models that draw random numbers.
    options: further arguments of the protocol.
    """

    protocol: str
    data: str
    repeat: int
    model: Any
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        parameters = ", ".join(f"{k}={v!r}" for k, v in sorted(self.model._get_params().items()))
        options = "".join(f" {name}={value!r}" for name, value in self.options)
        name = type(self.model).__name__
        return f"{self.protocol} {self.data}#{self.repeat}{options} {name}({parameters})"

    def run(self) -> Measurement:
        return PROTOCOLS[self.protocol](self, **dict(self.options))


_lock = threading.RLock()


@functools.cache
def _dataset(name: str) -> Any:
    return datasets.load(name)


def dataset(name: str) -> Any:
    """One object per dataset, which holds its arrays."""
    with _lock:
        return _dataset(name)


def in_order(name: str, repeat: int) -> tuple[Any, Any]:
    """The examples in the order of this repeat."""
    with _lock:
        data = dataset(name)
        arrays: tuple[Any, Any] = data.in_order(0 if data.time_order else repeat).arrays()
    return arrays


def fresh(task: Task, y: Any) -> Any:
    """A clone of the model with the seed of this repeat and the classes of the data."""
    parameters = task.model._get_params()
    changes: dict[str, Any] = {}
    if "seed" in parameters:
        changes["seed"] = task.repeat
    if "classes" in parameters and y.dtype != bool:
        changes["classes"] = tuple(np.unique(y).tolist())
    return task.model.clone(changes)


def stops(n: int, logarithmic: bool = False) -> list[int]:
    """The numbers of examples at which a curve over n examples has its points."""
    if logarithmic:
        first = min(100, n)
        return sorted({round(x) for x in np.geomspace(first, n, POINTS)})
    return sorted({max(1, n * i // POINTS) for i in range(1, POINTS + 1)})


def progressive(task: Task, positive: tuple[int, ...] = ()) -> Measurement:
    """Every example is predicted before it is learned. Values are mean mistakes, or squared errors, so far.

    positive: the classes that become one of two.
    """
    X, y = in_order(task.data, task.repeat)
    if positive:
        y = np.isin(y, positive)
    model, at = fresh(task, y), stops(len(y))
    values, seconds, total, spent = [], [], 0.0, 0.0
    for start, stop in itertools.pairwise([0, *at]):
        begin = time.perf_counter()
        predicted = model.predict_then_learn_many(X[start:stop], y[start:stop])
        spent += time.perf_counter() - begin
        difference = predicted - y[start:stop] if y.dtype == float else predicted != y[start:stop]
        total += float(np.sum(np.square(difference.astype(float))))
        values.append(total / stop)
        seconds.append(round(spent, 4))
    return {"at": at, "values": values, "seconds": seconds}


Split = tuple[Any, Any, Any, Any]


def split_off(task: Task, held_out: int) -> Split:
    """The last examples of the order are held out for testing."""
    X, y = in_order(task.data, task.repeat)
    return X[:-held_out], y[:-held_out], X[-held_out:], y[-held_out:]


def generated(task: Task, n: int, held_out: int) -> Split:
    """Examples that are drawn anew in every repeat."""
    kind = {"checkerboard": datasets.Checkerboard, "waveform": datasets.Waveform}[task.data]
    X, y = kind(n + held_out, seed=100 + task.repeat).arrays()
    return X[:n], y[:n], X[n:], y[n:]


def published(task: Task, test: str) -> Split:
    """A set that is published in two parts; the first is shuffled."""
    with _lock:
        data = dataset(task.data)
        (X, y), (X_test, y_test) = data.part(data.parts[0]), data.part(test)
    order = np.random.default_rng(100 + task.repeat).permutation(len(X))
    return X[order], y[order], X_test, y_test


def standardised(split: Split) -> Split:
    """Every feature scaled to mean 0 and standard deviation 1 of the examples to learn from."""
    X, y, X_test, y_test = split
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return (X - mean) / deviation, y, (X_test - mean) / deviation, y_test


def holdout(
    task: Task,
    held_out: int = 0,
    n: int = 0,
    test: str = "",
    standardise: bool = False,
    curve: bool = False,
    refine: int = 0,
) -> Measurement:
    """One pass of learning, then the accuracy on examples that were held out. `curve`: also on the way.

    "scoring" is the time that the last model needs to score the examples it has learned: the time of learning
    without the updates. `refine` is for the batch Perceptron.
    """
    split = (
        published(task, test)
        if test
        else generated(task, n, held_out)
        if n
        else split_off(task, held_out)
    )
    X, y, X_test, y_test = standardised(split) if standardise else split
    model, at = fresh(task, y), stops(len(y), logarithmic=True) if curve else [len(y)]
    values, seconds, spent = [], [], 0.0
    for start, stop in itertools.pairwise([0, *at]):
        begin = time.perf_counter()
        model.learn_many(X[start:stop], y[start:stop])
        if refine:
            model.refine(refine)
        spent += time.perf_counter() - begin
        values.append(float(np.mean(model.predict_many(X_test) == y_test)))
        seconds.append(round(spent, 4))
    scoring = min(_seconds_to_predict(model, X) for _ in range(3))
    support = getattr(model, "n_support_vectors", None)
    return {"at": at, "values": values, "seconds": seconds, "scoring": scoring, "support": support}


def _seconds_to_predict(model: Any, X: Any) -> float:
    begin = time.perf_counter()
    model.predict_many(X)
    return round(time.perf_counter() - begin, 4)


def libsvm(task: Task, C: float, test: str) -> Measurement:
    """The exact solution, by scikit-learn; the model is the kernel."""
    from .batch_methods import svc

    X, y, X_test, y_test = published(task, test)
    (point,) = svc(X, y, X_test, y_test, gamma=task.model.gamma, C=C)
    return {"at": [len(y)], "values": [1.0 - point.error], "seconds": [round(point.seconds, 4)]}


def llsvm(task: Task, C: float, landmarks: int, test: str) -> Measurement:
    """A linear SVM on Nyström features of landmarks; the model is the kernel."""
    from .landmarks import llsvm as learn

    X, y, X_test, y_test = published(task, test)
    options: dict[str, Any] = {"gamma": task.model.gamma, "C": C, "landmarks": landmarks}
    (point,) = learn(X, y, X_test, y_test, **options, seed=task.repeat)
    return {"at": [len(y)], "values": [1.0 - point.error], "seconds": [round(point.seconds, 4)]}


def batch(task: Task, bias: bool) -> Measurement:
    """Learners that see all examples from the start, on adult."""
    from .batch_methods import lines

    found = {
        name: [[p.evaluations for p in points], [p.error for p in points]]
        for name, points in lines(bias, task.repeat).items()
    }
    evaluations, errors = found["SBP"]
    return {"at": evaluations, "values": errors, "seconds": [0.0], "lines": found}


PROTOCOLS: dict[str, Callable[..., Measurement]] = {
    "progressive": progressive,
    "holdout": holdout,
    "libsvm": libsvm,
    "llsvm": llsvm,
    "batch": batch,
}


def load(task: Task) -> None:
    """Read the data of a task, so that a missing file raises before the run."""
    options = dict(task.options)
    if "n" in options:
        return
    with _lock:
        data = dataset(task.data)
        data.arrays()
        if "test" in options:
            data.part(options["test"])


def at_hand(name: str) -> bool:
    """Whether a dataset can be read without a download."""
    return bool(getattr(dataset(name), "at_hand", True))
