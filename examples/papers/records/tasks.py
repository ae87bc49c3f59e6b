"""Tasks: one run of one model over one order of the examples, by one of nine protocols, and how
they are run.

The key of a task contains everything that determines its measurement, so that a later session finds
the measurement. Only times differ between runs; they are times of the processor, which other work
on the machine hardly changes.
"""

from __future__ import annotations

import concurrent.futures
import functools
import itertools
import math
import pathlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import river_budget as rb
from river_budget import datasets
from river_budget.core import memory
from river_budget.core.compiling import stamp
from river_budget.messages.progress import Progress
from river_budget.plots.running import warm_up

from ..rivals import batch_methods, linear_on_features, smo
from ..rivals.batch_methods import Split
from .outcomes import Outcomes
from .stored import at_hand, dataset, lock

Measurement = dict[str, Any]  # "at", "values" and "seconds": lists of equal length
CURVE_POINTS = 40
HANDS = "poker-hands"  # drawn anew in every order
PART = 500  # examples between two readings of the clock, where times are taken apart


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

    @functools.cached_property  # it takes .2 ms, and a document asks 40,000 times
    def key(self) -> str:
        """A text that identifies the measurement."""
        parameters = ", ".join(f"{k}={v!r}" for k, v in sorted(self.model._get_params().items()))
        options = "".join(f" {name}={value!r}" for name, value in self.options)
        name = type(self.model).__name__
        return f"{self.protocol} {self.data}#{self.repeat}{options} {name}({parameters})"

    def run(self) -> Measurement:
        """Measure, by the protocol of the task; "processor" is the time that all of it took of a
        core.
        """
        begin = time.thread_time()
        found = PROTOCOLS[self.protocol](self, **dict(self.options))
        return found | {"processor": round(time.thread_time() - begin, 2)}


def repeated(
    n: int, protocol: str, data: str, model: Any, options: tuple[tuple[str, Any], ...] = ()
) -> tuple[Task, ...]:
    """A task for each of the first n orders."""
    return tuple(Task(protocol, data, i, model, options) for i in range(n))


def in_order(name: str, repeat: int) -> tuple[Any, Any]:
    """The examples in the order of this repeat."""
    with lock:
        data = dataset(name)
        arrays: tuple[Any, Any] = data.in_order(0 if data.time_order else repeat).arrays()
    return arrays


def fresh(task: Task, y: Any) -> Any:
    """A clone of the model with the seed of this repeat and the classes of the data."""
    return with_classes(task, () if y.dtype == bool else tuple(np.unique(y).tolist()))


def with_classes(task: Task, classes: tuple[Any, ...]) -> Any:
    """A clone of the model with the seed of this repeat; no classes: two."""
    parameters = task.model._get_params()
    changes: dict[str, Any] = {}
    if "seed" in parameters:
        changes["seed"] = task.repeat
    if "classes" in parameters and classes:
        changes["classes"] = classes
    return task.model.clone(changes)


def stops(n: int, logarithmic: bool = False) -> list[int]:
    """The numbers of examples at which a curve over n examples has its points."""
    if logarithmic:
        first = min(100, n)
        return sorted({round(x) for x in np.geomspace(first, n, CURVE_POINTS)})
    return sorted({max(1, n * i // CURVE_POINTS) for i in range(1, CURVE_POINTS + 1)})


def progressive(
    task: Task,
    positive: tuple[int, ...] = (),
    normalised: bool = False,
    logarithms: bool = False,
) -> Measurement:
    """Every example is predicted before it is learned. Values are mean mistakes, or squared errors,
    so far.

    positive: the classes that form the positive one of two. normalised: rows (1, x) of length 1, on
    which (a.b)^p is the kernel (1 + a.b)^p divided by its values at (a, a) and (b, b), or their
    roots. logarithms: features log(1 + abs(x)), to mean 0 and deviation 1 over the whole set.
    """
    if task.data == HANDS:  # a million rows: a piece at a time
        data = dataset(HANDS)
        at = stops(data.n_samples)
        model = with_classes(task, tuple(range(data.n_classes)))
        sizes = [stop - start for start, stop in itertools.pairwise([0, *at])]
        return along(model, data.in_order(task.repeat).pieces(sizes))
    X, y = in_order(task.data, task.repeat)
    if positive:
        y = np.isin(y, positive)
    if normalised:
        X = with_constant(X)
    if logarithms:
        X = standardised(np.log1p(np.abs(X)))[0]
    ends = itertools.pairwise([0, *stops(len(y))])
    return along(fresh(task, y), ((X[start:stop], y[start:stop]) for start, stop in ends))


def along(model: Any, pieces: Iterable[tuple[Any, Any]]) -> Measurement:
    """Mean mistakes, or squared errors, at the end of every piece of a stream."""
    found: Measurement = {"at": [], "values": [], "seconds": []}
    seen, total, spent = 0, 0.0, 0.0
    for X, y in pieces:
        begin = time.thread_time()
        predicted = model.predict_then_learn_many(X, y)
        spent += time.thread_time() - begin
        difference = predicted - y if y.dtype == float else predicted != y
        total, seen = total + float(np.sum(np.square(difference.astype(float)))), seen + len(y)
        found["at"].append(seen)
        found["values"].append(total / seen)
        found["seconds"].append(round(spent, 4))
    return found


def with_constant(X: Any) -> Any:
    """Rows (1, x), divided by their lengths."""
    longer = np.concatenate([np.ones((len(X), 1)), X], axis=1)
    return longer / np.sqrt(np.einsum("ij,ij->i", longer, longer))[:, None]


def standardised(X: Any, *others: Any) -> list[Any]:
    """The rows, and others like them, where each feature of the first rows has mean 0 and deviation
    1.
    """
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return [(rows - mean) / deviation for rows in (X, *others)]


def split_of(
    task: Task,
    held_out: int = 0,
    test: str = "",
    train: str = "",
    also: str = "",
    standardise: bool = False,
    unit: bool = False,
    around: bool = False,
    n: int = 0,
) -> Split:
    """Rows to learn from and to test on. unit, around: features scaled to [0, 1] or [-1, 1], as
    they are in the rows to learn from.

    test: the part of the dataset to test on; `train`, or else the first part, is shuffled to learn
    from. n: so many rows are drawn in every repeat, and `held_out` more to test on. Neither: the
    last `held_out` rows of the order, which is over the first part and the part `also` together
    where this is given.
    """
    if test:
        with lock:
            data = dataset(task.data)
            (X, y), (X_test, y_test) = data.part(train or data.parts[0]), data.part(test)
        order = np.random.default_rng(100 + task.repeat).permutation(len(X))
        split = X[order], y[order], X_test, y_test
    else:
        if n:
            X, y = datasets.load(task.data, n_samples=n + held_out, seed=100 + task.repeat).arrays()
        elif also:
            with lock:
                data = dataset(task.data)
                parts = [data.part(data.parts[0]), data.part(also)]
            order = np.random.default_rng(100 + task.repeat).permutation(
                sum(len(p[1]) for p in parts)
            )
            X, y = (np.concatenate(both)[order] for both in zip(*parts, strict=True))
        else:
            X, y = in_order(task.data, task.repeat)
        split = X[:-held_out], y[:-held_out], X[-held_out:], y[-held_out:]
    X, y, X_test, y_test = split
    if standardise:
        X, X_test = standardised(X, X_test)
    if unit or around:
        least, span = X.min(axis=0), np.ptp(X, axis=0)
        X, X_test = ((rows - least) / np.where(span == 0.0, 1.0, span) for rows in (X, X_test))
    if around:
        X, X_test = 2.0 * X - 1.0, 2.0 * X_test - 1.0
    return X, y, X_test, y_test


def holdout(
    task: Task, curve: bool = False, scoring: bool = False, mean: bool = False, **split: Any
) -> Measurement:
    """One pass of learning, then the accuracy on examples that were held out. `curve`: also during
    the pass.

    mean: predict by the mean of the weights, see `mean_of_updates`. scoring: a part of the pass at
    a time, score its examples and then learn them: "scoring" is the time of the one, and "seconds"
    that of the other.
    """
    X, y, X_test, y_test = split_of(task, **split)
    model, at = fresh(task, y), stops(len(y), logarithmic=True) if curve else [len(y)]
    values, seconds, spent, scored = [], [], 0.0, 0.0
    for start, stop in itertools.pairwise([0, *at]):
        for first in range(start, stop, PART if scoring else stop):
            part = slice(first, min(first + PART, stop) if scoring else stop)
            begin = time.thread_time()
            if scoring and first:
                model.predict_many(X[part])
            between = time.thread_time()
            model.learn_many(X[part], y[part])
            spent += time.thread_time() - between
            scored += between - begin
        if mean:
            model = mean_of_updates(fresh(task, y), X, y)
        values.append(float(np.mean(model.predict_many(X_test) == y_test)))
        seconds.append(round(spent, 4))
    found: Measurement = {"at": at, "values": values, "seconds": seconds}
    found["support"] = getattr(model, "n_support_vectors", None)
    return found | ({"scoring": round(scored, 4)} if scoring else {})


def mean_of_updates(model: Any, X: Any, y: Any) -> Any:
    """The model after a pass over all rows, with the plain mean of its weights over the rounds that
    changed them.

    So the authors' program predicts (LIBOL/KOL, 2016). Rounds in which a model of two classes
    stores an example do not count. `average` of FOGD and NOGD is another mean: of all rounds, with
    more weight on late ones.
    """
    total: Any = 0.0
    before: Any = None
    rounds = stored = 0
    for i in range(len(X)):
        model.learn_many(X[i : i + 1], y[i : i + 1])
        block, already = memory.views(model._block), stored
        stored = getattr(model, "n_support_vectors", 0)  # FOGD has none
        weights = np.concatenate([block.coefficients[0], block.per_vector[0]])  # FOGD: of sines
        if stored == already and not np.array_equal(weights, before):
            total, rounds = total + weights, rounds + 1
        before = weights
    mean = total / rounds
    block.coefficients[0], block.per_vector[0] = np.split(mean, [len(block.coefficients[0])])
    return model


def libsvm(task: Task, C: float, **split: Any) -> Measurement:
    """The exact solution, by scikit-learn; the model is the kernel."""
    data = split_of(task, **split)
    return _solved(batch_methods.svc(data, gamma=task.model.gamma, C=C), len(data[1]))


def llsvm(task: Task, C: float, landmarks: int, **split: Any) -> Measurement:
    """A linear SVM on Nyström features of landmarks; the model is the kernel."""
    data = split_of(task, **split)
    options: dict[str, Any] = {"gamma": task.model.gamma, "C": C, "landmarks": landmarks}
    return _solved(linear_on_features.llsvm(data, **options, seed=task.repeat), len(data[1]))


def refined(task: Task, iterations: int, test: str) -> Measurement:
    """The batch Perceptron with all examples in its window, after `iterations`: the accuracy on the
    test file.
    """
    X, y, X_test, y_test = split_of(task, test=test)
    begin = time.thread_time()
    model = batch_methods.refined(fresh(task, y), X, y, iterations)
    seconds = time.thread_time() - begin
    error = float(np.mean(model.predict_many(X_test) != y_test))
    return _solved(batch_methods.Solution(error, seconds), iterations)


def _solved(solution: batch_methods.Solution, at: int) -> Measurement:
    """A solution as a curve with one point."""
    found = {"at": [at], "values": [1.0 - solution.error], "seconds": [round(solution.seconds, 4)]}
    return found | {"support": solution.vectors}


def batch(task: Task, bias: bool, rows: int, test: str) -> Measurement:
    """Batch methods on adult or Reuters: kernel evaluations and errors of each."""
    reuters = task.data == "reuters"
    setting = batch_methods.REUTERS if reuters else batch_methods.SETTINGS[bias]
    with lock:
        data = dataset(task.data)
        split = *data.part(data.parts[0]), *data.part(test)
    curves = batch_methods.lines(bias, task.repeat, split, setting, rows=rows)
    lines = {name: [*map(list, zip(*points, strict=True))] for name, points in curves.items()}
    return _errors_of(curves["SBP"]) | {"lines": lines}


def smo_curve(task: Task, C: float, test: str) -> Measurement:
    """Sequential minimal optimisation without a bias, until convergence; the model is the
    kernel.
    """
    return _errors_of(smo.curve(split_of(task, test=test), gamma=task.model.gamma, C=C))


def waves(task: Task, C: float, test: str, most: int) -> Measurement:
    """Linear SVMs on 1, 2, 4, ... pairs of random Fourier features; the model is the kernel."""
    options: dict[str, Any] = {"gamma": task.model.gamma, "C": C, "most": most}
    data = split_of(task, test=test)
    return _errors_of(linear_on_features.fourier_curve(data, **options, seed=task.repeat))


def bounds(task: Task, rows: int, costs: tuple[float, ...]) -> Measurement:
    """The mistakes on the first rows of an order, and the mistake bound for SVMs of these rows, one
    for each cost C.

    "bounds": pairs of the norm of such an SVM without a bias and the bound.
    """
    X, y = (part[:rows] for part in in_order(task.data, task.repeat))
    model = with_classes(task, (False, True))
    found = along(model, [(X, y)])
    pairs = []
    for cost in costs:
        norm, losses = smo.norm_and_losses(X, y, gamma=task.model.kernel.gamma, C=cost)
        bound = rb.mistake_bound(model, norm, losses)
        if bound < math.inf:
            pairs.append([norm, bound])
    return found | {"bounds": pairs}


def _errors_of(points: list[batch_methods.Point]) -> Measurement:
    """Test errors along kernel evaluations, without times."""
    evaluations, errors = map(list, zip(*points, strict=True))
    return {"at": evaluations, "values": errors, "seconds": [0.0]}


PROTOCOLS: dict[str, Callable[..., Measurement]] = {
    "progressive": progressive,
    "holdout": holdout,
    "libsvm": libsvm,
    "llsvm": llsvm,
    "batch": batch,
    "refined": refined,
    "smo": smo_curve,
    "waves": waves,
    "bounds": bounds,
}


PARTS = {"test", "train", "also"}  # options that name a part of the dataset


def load(task: Task) -> None:
    """Read the data of a task, so that a missing file raises before the run."""
    options = dict(task.options)
    if "n" in options or task.data == HANDS:
        return
    with lock:
        data = dataset(task.data)
        data.arrays()
        for part in PARTS & options.keys():
            data.part(options[part])


def ready(task: Task) -> bool:
    """Whether the data that a task reads is at hand."""
    options = dict(task.options)
    return at_hand(task.data, *(options[part] for part in PARTS & options.keys()))


def kept(task: Task, found: Measurement) -> Measurement:
    """What a document keeps of a measurement: its last point, or all of it where a claim is about
    the curve.
    """
    if task.protocol in ("batch", "smo", "waves", "bounds") or dict(task.options).get("curve"):
        return found
    return {name: value[-1:] if isinstance(value, list) else value for name, value in found.items()}


# Running them


class Store(Outcomes):
    """The measurements of this version of core in a folder, by the keys of tasks."""

    def __init__(self, folder: str | pathlib.Path):
        super().__init__(pathlib.Path(folder) / "outcomes.jsonl", core=stamp())


def measure(
    tasks: Iterable[Task], store: Store, jobs: int, progress: Progress | None = None
) -> None:
    """Run the tasks that the store does not hold, and store each result when it is finished.

    Threads are enough, as compiled code lets other threads run. The threads share the data.
    """
    todo = [task for task in tasks if task.key not in store]
    models = {}  # by what decides which compiled code a task runs
    for model in (task.model for task in todo):
        parts = (model, getattr(model, "kernel", None), getattr(model, "maintenance", None))
        models[tuple(map(type, parts))] = model
    for model in models.values():
        warm_up(model, [({"a": 0.5, "b": -0.5}, True)] * 2)
    for task in {task.data: task for task in reversed(todo)}.values():
        load(task)
    executor = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        futures = {executor.submit(task.run): task for task in todo}
        for future in concurrent.futures.as_completed(futures):
            task = futures[future]
            store.add(task.key, future.result())
            if progress is not None:
                progress.advance(f"{task.data} {type(task.model).__name__}")
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
