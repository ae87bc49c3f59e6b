"""A race over small streams: all classifiers of this package beside three of River's.

Every model predicts an example before it learns it. In front of each is a StandardScaler, whose time and memory
count with the model's.

River's models have their default parameters, and KNN stores 1000 rows. Ours have theirs, with these exceptions: a
budget of 100 where there is one (SBP: a window of 100), and one RBF kernel per stream (`STREAMS`). Its gamma, out of .02, .05, .1, .2, .5, 1, 2, 4 and 8, had the smallest mean error of nine of our models on that same
stream: a small advantage over River's models, which were not tuned. RandomFourier and Nystroem stand in
front of River's logistic regression.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import multiprocessing
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from river import datasets, forest, linear_model, multiclass, neighbors, preprocessing
from river.datasets import synth

import river_budget as rb

from ..progress import Progress
from .plotting import Line, Panel

Task = tuple[str, str]  # names of a stream and of a contestant
Examples = list[tuple[dict[Any, Any], Any]]

BUDGET = 100
ROWS = 1000  # that KNN stores
DRIFTING = 4000  # examples of the drifting stream
POINTS = 40  # of a curve
FIRST = 2 * BUDGET  # examples to warm up with: NOGD runs other code once it has its support
LEADERS = 8  # of our models that the plot shows


# streams


@dataclass(frozen=True)
class Stream:
    """A stream, and what is known about it: the width of the kernel and the number of classes."""

    load: Callable[[int | None, int], Iterable[tuple[dict[Any, Any], Any]]]
    gamma: float
    classes: int = 2


def _shipped(dataset: type[Any]) -> Callable[[int | None, int], Iterable[Any]]:
    """A dataset that comes with River, in its own order whatever the seed."""
    return lambda examples, seed: itertools.islice(dataset(), examples)


def _drift(examples: int | None, seed: int) -> Iterator[Any]:
    """Points on both sides of a sine wave; in the middle of the stream the sides change their labels."""
    n = DRIFTING if examples is None else min(examples, DRIFTING)
    before = synth.Sine(classification_function=2, seed=seed)
    after = synth.Sine(classification_function=3, seed=seed + 1)
    for x, y in itertools.chain(before.take(n // 2), after.take(n - n // 2)):
        yield x, bool(y)


STREAMS: dict[str, Stream] = {
    "phishing": Stream(_shipped(datasets.Phishing), gamma=0.1),
    "bananas": Stream(_shipped(datasets.Bananas), gamma=4.0),
    "image-segments": Stream(_shipped(datasets.ImageSegments), gamma=0.5, classes=7),
    "drift": Stream(_drift, gamma=4.0),
}


@functools.lru_cache(len(STREAMS))
def _examples(data: str, examples: int | None, seed: int) -> Examples:
    return list(STREAMS[data].load(examples, seed))


# contestants


@dataclass(frozen=True)
class Setup:
    """What a contestant is built from."""

    gamma: float
    classes: int
    seed: int

    @property
    def kernel(self) -> rb.kernels.RBF:
        return rb.kernels.RBF(self.gamma)

    def linear(self) -> Any:
        """River's logistic regression for this number of classes."""
        if self.classes > 2:
            return linear_model.SoftmaxRegression()
        return linear_model.LogisticRegression()

    def binary(self, model: Any) -> Any:
        """A model that knows two classes only, one for each class if there are more."""
        return multiclass.OneVsRestClassifier(model) if self.classes > 2 else model

    def bsgd(self, maintenance: Any) -> Any:
        return rb.BSGDClassifier(BUDGET, self.kernel, maintenance, seed=self.seed)

    def sbp(self, eviction: str) -> Any:
        return self.binary(rb.SBPClassifier(BUDGET, self.kernel, eviction=eviction, seed=self.seed))

    def bogd(self, sampling: str) -> Any:
        return rb.BOGDClassifier(BUDGET, self.kernel, sampling=sampling, seed=self.seed)


CONTESTANTS: dict[str, Callable[[Setup], Any]] = {
    "LogisticRegression": lambda s: s.linear(),
    "KNN": lambda s: neighbors.KNNClassifier(engine=neighbors.LazySearch(ROWS)),
    "ARF": lambda s: forest.ARFClassifier(seed=s.seed),
    "BSGD-merge": lambda s: s.bsgd(rb.maintenance.Merge()),
    "BSGD-project": lambda s: s.bsgd(rb.maintenance.Project()),
    "BSGD-remove": lambda s: s.bsgd(rb.maintenance.RemoveSmallest()),
    "Perceptron": lambda s: rb.KernelPerceptronClassifier(s.kernel),
    "OGD": lambda s: rb.KernelOGDClassifier(s.kernel),
    "RBP": lambda s: rb.RBPClassifier(BUDGET, s.kernel, seed=s.seed),
    "Forgetron": lambda s: rb.ForgetronClassifier(BUDGET, s.kernel),
    "CKS": lambda s: s.binary(rb.BudgetPerceptronClassifier(BUDGET, s.kernel)),
    "Projectron": lambda s: rb.ProjectronClassifier(BUDGET, s.kernel),
    "Projectron++": lambda s: rb.ProjectronPPClassifier(BUDGET, s.kernel),
    "BPA": lambda s: rb.BPAClassifier(BUDGET, s.kernel),
    "BOGD": lambda s: s.bogd("uniform"),
    "BOGD++": lambda s: s.bogd("nonuniform"),
    "NORMA": lambda s: s.binary(rb.NORMAClassifier(BUDGET, s.kernel)),
    "FOGD": lambda s: rb.FOGDClassifier(kernel=s.kernel, seed=s.seed),
    "NOGD": lambda s: rb.NOGDClassifier(BUDGET, s.kernel),
    "SBP": lambda s: s.sbp("reservoir"),
    "SBP-oldest": lambda s: s.sbp("oldest"),
    "RandomFourier": lambda s: rb.RandomFourier(kernel=s.kernel, seed=s.seed) | s.linear(),
    "Nystroem": lambda s: rb.Nystroem(BUDGET, kernel=s.kernel) | s.linear(),
}

RIVERS = ("ARF", "KNN", "LogisticRegression")  # the slowest first


CAPTION = (
    "Wrong predictions in %, each made before the example is learned; a star marks the best. A StandardScaler is in "
    "front of each. Ours: budget 100 (SBP: a window of 100) and one RBF kernel per stream, whose gamma ("
    + ", ".join(f"{name} {stream.gamma:g}" for name, stream in STREAMS.items())
    + ") suits ours best on average; River's KNN stores 1000 rows; all else is default. Times are wall times."
)


def build(model: str, data: str, seed: int) -> Any:
    """The pipeline of a contestant for a stream."""
    stream = STREAMS[data]
    setup = Setup(stream.gamma, stream.classes, seed)
    return preprocessing.StandardScaler() | CONTESTANTS[model](setup)


# one model on one stream


@dataclass(frozen=True)
class Result:
    """What came out for one model on one stream.

    Attributes
    ----------
    error
        The share of wrong predictions.
    microseconds
        Per example, to predict and to learn it.
    bytes
        All that the model holds in memory after the stream, see `memory`.
    at, errors
        The curve: after so many examples this share was wrong.

    """

    data: str
    model: str
    examples: int
    error: float
    microseconds: float
    bytes: int
    at: tuple[int, ...]
    errors: tuple[float, ...]


def play(data: str, model: str, examples: int | None, seed: int) -> Result:
    """One model on one stream."""
    stream = _examples(data, examples, seed)
    pipeline = build(model, data, seed)
    seconds, wrong = run_pass(pipeline, stream)
    total = np.cumsum(wrong)
    at = np.unique(len(stream) * np.arange(1, POINTS + 1) // POINTS)
    at = at[at > 0]
    return Result(
        data,
        model,
        examples=len(stream),
        error=float(total[-1] / len(stream)),
        microseconds=1e6 * seconds / len(stream),
        bytes=memory(pipeline),
        at=tuple(at.tolist()),
        errors=tuple((total[at - 1] / at).tolist()),
    )


def warm(data: str, model: str, examples: int | None, seed: int) -> None:
    """Compile what the model needs, or load it, with a model that is thrown away."""
    run_pass(build(model, data, seed), _examples(data, examples, seed)[:FIRST])


def run_pass(model: Any, stream: Examples) -> tuple[float, list[bool]]:
    """Seconds spent in the model, and which predictions were wrong."""
    predict, learn, clock = model.predict_one, model.learn_one, time.perf_counter
    seconds = 0.0
    wrong = []
    for x, y in stream:
        begin = clock()
        guess = predict(x)
        learn(x, y)
        seconds += clock() - begin
        wrong.append(guess != y)
    return seconds, wrong


def memory(model: Any) -> int:
    """Bytes of all objects that a model holds, directly or through others, scratch space included.

    The same walk as River's `_raw_memory_usage`, but that one counts the numbers of an array twice if the
    array owns them, and not at all if it is a view of another array, which is our case.
    """
    seen: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, (type, types.ModuleType, types.FunctionType)):
            continue
        seen[id(one)] = one
        if isinstance(one, np.ndarray) and one.base is not None:
            waiting.append(one.base)
        waiting.extend(gc.get_referents(one))
    return sum(map(sys.getsizeof, seen.values()))


# all models on all streams


def race(
    data: Sequence[str] | None = None,
    *,
    models: Sequence[str] | None = None,
    examples: int | None = None,
    seed: int = 1,
    jobs: int = 2,
    progress: bool = True,
) -> list[Result]:
    """Let all contestants run over streams.

    Parameters
    ----------
    data
        Names in `STREAMS`; None stands for all of them.
    models
        Names in `CONTESTANTS`; None stands for all of them.
    examples
        How many examples of each stream, all by default.
    seed
        For the models that draw random numbers and for the drifting stream.
    jobs
        The number of processes that work at the same time; errors do not depend on it. Our models run in
        this one, as only one process may write the cache of compiled code. River's run in the others.
    progress
        Whether to show a progress bar on the standard error stream.

    Returns
    -------
    A result for each stream and model, ordered by stream.

    """
    streams = _chosen("data", data, STREAMS)
    contestants = _chosen("models", models, CONTESTANTS)
    _at_least_one(examples=examples, jobs=jobs)
    rivers = [model for model in RIVERS if model in contestants and jobs > 1]
    away = [(name, model) for model in rivers for name in streams]
    here = [(name, m) for m in contestants if m not in rivers for name in streams]
    with (
        Progress(len(here) + len(away), "race", enabled=progress) as bar,
        _helpers(min(jobs - 1, len(away))) as pool,
    ):
        coming = _send(away, examples, seed, pool, bar)
        results = {task: _play_here(task, examples, seed, bar) for task in here}
        bar.show("waiting for River's models")
        results.update({task: future.result() for task, future in coming.items()})
    return [results[name, model] for name in streams for model in contestants]


def _chosen(parameter: str, names: Sequence[str] | None, table: Iterable[str]) -> list[str]:
    """The names that were asked for, each once."""
    known = list(table)
    for name in names or ():
        if name not in known:
            raise ValueError(f"{parameter}: there is no {name!r}; there are {', '.join(known)}")
    return known if names is None else list(dict.fromkeys(names))


def _at_least_one(**parameters: int | None) -> None:
    for name, value in parameters.items():
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")


def _play_here(task: Task, examples: int | None, seed: int, bar: Progress) -> Result:
    data, model = task
    if model not in RIVERS:
        bar.show(f"{model} (its code is loaded, or compiled if it was never used)")
        warm(data, model, examples, seed)
    bar.show(f"{model} on {data}")
    result = play(data, model, examples, seed)
    bar.advance(f"{model} on {data}")
    return result


def _send(
    tasks: Iterable[Task], examples: int | None, seed: int, pool: Any, bar: Progress
) -> dict[Task, Future[Result]]:
    """Hand tasks to other processes."""

    def count(task: Task, future: Future[Result]) -> None:
        if not future.cancelled() and future.exception() is None:
            bar.advance(f"{task[1]} on {task[0]}")

    coming = {}
    with _interrupts_held_back():
        for task in tasks:
            coming[task] = pool.submit(play, *task, examples, seed)
    for task, future in coming.items():
        future.add_done_callback(functools.partial(count, task))
    return coming


@contextlib.contextmanager
def _helpers(n: int) -> Iterator[ProcessPoolExecutor | None]:
    """Other processes, if any. They end at once if this one is interrupted or meets an error."""
    if not n:
        yield None
        return
    before = multiprocessing.active_children()
    pool = ProcessPoolExecutor(n, multiprocessing.get_context("spawn"))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            if process not in before:
                process.terminate()
        raise
    pool.shutdown()


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Processes that are started in here are deaf to Ctrl-C, which is for their parent; it hears afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# what is shown


def rows(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """(header, lines): wrong predictions in % per stream, mean time, and memory after the worst stream.

    A star marks the best of a stream.
    """
    streams = list(dict.fromkeys(result.data for result in results))
    best = {name: min(r.error for r in results if r.data == name) for name in streams}
    lines = []
    for model in dict.fromkeys(result.model for result in results):
        own = {result.data: result for result in results if result.model == model}
        errors = [
            f"{'*' if own[name].error == best[name] else ''}{100 * own[name].error:.2f}"
            for name in streams
        ]
        spent = sum(result.microseconds * result.examples for result in own.values())
        mean = spent / sum(result.examples for result in own.values())
        size = max(result.bytes for result in own.values())
        lines.append([model, *errors, f"{mean:.1f}", f"{size / 1000:.0f}"])
    return ["model", *streams, "µs/example", "kB"], lines


def panels(results: Sequence[Result]) -> list[Panel]:
    """The curves of River's models and of the best of ours, one panel per stream."""
    models = _leaders(results)
    return [
        Panel(
            name,
            "examples",
            "wrong so far",
            [
                Line(r.model, r.at, r.errors)
                for r in results
                if r.data == name and r.model in models
            ],
            log_y=True,  # the best are close to each other, and far from the worst
            percent=True,
        )
        for name in dict.fromkeys(result.data for result in results)
    ]


def _leaders(results: Sequence[Result]) -> set[str]:
    """More curves than these would hide each other."""
    errors: dict[str, float] = {}
    for result in results:
        errors[result.model] = errors.get(result.model, 0.0) + result.error
    ours = sorted(errors.keys() - set(RIVERS), key=lambda model: (errors[model], model))
    return {*RIVERS, *ours[:LEADERS]}
