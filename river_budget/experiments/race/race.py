"""A race over small streams: all classifiers of this package beside three of River's.

Every model predicts an example before it learns it. Before each stands a StandardScaler, whose time and memory
are included. River's models have their default parameters, and KNN stores 1000 rows. So do ours, except for a budget
of 100 (SBP: a window of 100), and one RBF kernel per stream (`STREAMS`). Its gamma, out of .02, .05, .1, .2, .5, 1, 2, 4
and 8, had the smallest mean error of nine of our models on that same stream: a small advantage over River's models,
which were not tuned. RandomFourier and Nystroem stand in front of River's logistic regression.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from river import forest, linear_model, multiclass, neighbors, preprocessing
from river.datasets import synth

import river_budget as rb

from ...distributed.precompile import precompile
from ...maintenance import Merge, Project, RemoveSmallest
from ...plots.panels import Line, Panel
from ...plots.running import memory, predict_and_learn
from ...progress import Progress
from ..auto import auto_streams
from ..auto.auto_streams import Examples
from ..common.tables import Table

Entry = tuple[str, str]  # names of a stream and of a model

BUDGET = 100
KNN_ROWS = 1000  # rows that KNN stores
DRIFT_EXAMPLES = 4000  # examples of the drifting stream
CURVE_POINTS = 40  # points of a curve
FILLING_EXAMPLES = 2 * BUDGET  # examples that fill a model: NOGD then runs other code
PLOTTED_MODELS = 8  # at most so many of our models are in the plot


# streams


@dataclass(frozen=True)
class RaceStream:
    """The kernel's gamma and the number of classes of a stream."""

    gamma: float
    classes: int = 2


STREAMS = {
    "phishing": RaceStream(0.1),
    "bananas": RaceStream(4.0),
    "image-segments": RaceStream(0.5, classes=7),
    "drift": RaceStream(4.0),
}


@functools.lru_cache(len(STREAMS))
def examples_of(data: str, examples: int | None, seed: int) -> Examples:
    """The first examples of a stream; those of `auto` but for the drifting one.

    Its points lie on both sides of a sine wave; in the middle of the stream the labels of the sides are exchanged.
    """
    if data != "drift":
        return auto_streams.examples_of(data, examples, seed)
    n = DRIFT_EXAMPLES if examples is None else min(examples, DRIFT_EXAMPLES)
    before = synth.Sine(classification_function=2, seed=seed)
    after = synth.Sine(classification_function=3, seed=seed + 1)
    both = itertools.chain(before.take(n // 2), after.take(n - n // 2))
    return [(x, bool(y)) for x, y in both]


# models


class Setup(NamedTuple):
    """What models are built from: the kernel and River's linear model for a stream, and a seed."""

    kernel: rb.kernels.RBF
    linear: Any
    seed: int


MODELS: dict[str, Callable[[Setup], Any]] = {
    "LogisticRegression": lambda s: s.linear,
    "KNN": lambda s: neighbors.KNNClassifier(engine=neighbors.LazySearch(KNN_ROWS)),
    "ARF": lambda s: forest.ARFClassifier(seed=s.seed),
    "AutoKernel": lambda s: rb.AutoKernelClassifier(seed=s.seed),
    "BSGD-merge": lambda s: rb.BSGDClassifier(BUDGET, s.kernel, Merge(), seed=s.seed),
    "BSGD-project": lambda s: rb.BSGDClassifier(BUDGET, s.kernel, Project(), seed=s.seed),
    "BSGD-remove": lambda s: rb.BSGDClassifier(BUDGET, s.kernel, RemoveSmallest(), seed=s.seed),
    "Perceptron": lambda s: rb.KernelPerceptronClassifier(s.kernel),
    "OGD": lambda s: rb.KernelOGDClassifier(s.kernel),
    "RBP": lambda s: rb.RBPClassifier(BUDGET, s.kernel, seed=s.seed),
    "Forgetron": lambda s: rb.ForgetronClassifier(BUDGET, s.kernel),
    "CKS": lambda s: rb.BudgetPerceptronClassifier(BUDGET, s.kernel),
    "Projectron": lambda s: rb.ProjectronClassifier(BUDGET, s.kernel),
    "Projectron++": lambda s: rb.ProjectronPPClassifier(BUDGET, s.kernel),
    "BPA": lambda s: rb.BPAClassifier(BUDGET, s.kernel),
    "BOGD": lambda s: rb.BOGDClassifier(BUDGET, s.kernel, sampling="uniform", seed=s.seed),
    "BOGD++": lambda s: rb.BOGDClassifier(BUDGET, s.kernel, sampling="nonuniform", seed=s.seed),
    "NORMA": lambda s: rb.NORMAClassifier(BUDGET, s.kernel),
    "FOGD": lambda s: rb.FOGDClassifier(kernel=s.kernel, seed=s.seed),
    "NOGD": lambda s: rb.NOGDClassifier(BUDGET, s.kernel),
    "SBP": lambda s: rb.SBPClassifier(BUDGET, s.kernel, eviction="reservoir", seed=s.seed),
    "SBP-oldest": lambda s: rb.SBPClassifier(BUDGET, s.kernel, eviction="oldest", seed=s.seed),
    "RandomFourier": lambda s: rb.RandomFourier(kernel=s.kernel, seed=s.seed) | s.linear,
    "Nystroem": lambda s: rb.Nystroem(BUDGET, kernel=s.kernel) | s.linear,
}

RIVERS = ("ARF", "KNN", "LogisticRegression")  # the slowest first


CAPTION = (
    "Wrong predictions in %, each made before the example is learned; a star marks the best. A StandardScaler is in "
    "front of each. Ours: budget 100 (SBP: a window of 100) and one RBF kernel per stream, whose gamma ("
    + ", ".join(f"{name} {stream.gamma:g}" for name, stream in STREAMS.items())
    + ") suits ours best on average; AutoKernel has nothing set; River's KNN stores 1000 rows; all else is default. "
    "Times are wall times."
)


def build(model: str, data: str, seed: int) -> Any:
    """The pipeline of a model for a stream."""
    stream = STREAMS[data]
    several = stream.classes > 2
    linear = linear_model.SoftmaxRegression() if several else linear_model.LogisticRegression()
    made = MODELS[model](Setup(rb.kernels.RBF(stream.gamma), linear, seed))
    if several and getattr(made, "_binary", False):
        made = multiclass.OneVsRestClassifier(made)
    return preprocessing.StandardScaler() | made


# one model on one stream


@dataclass(frozen=True)
class Result:
    """The result of one model on one stream."""

    data: str
    model: str
    examples: int
    error: float  # the share of wrong predictions
    microseconds: float  # per example, to predict and to learn it
    bytes: int  # of the model after the stream, see `memory`
    at: tuple[int, ...]  # the curve: after so many examples ...
    errors: tuple[float, ...]  # ... this share was wrong


def play(data: str, model: str, examples: int | None, seed: int) -> Result:
    """Measure one model on one stream."""
    stream = examples_of(data, examples, seed)
    pipeline = build(model, data, seed)
    seconds, guesses = predict_and_learn(pipeline, stream)
    total = np.cumsum([guess != y for guess, (_, y) in zip(guesses, stream, strict=True)])
    at = np.unique(len(stream) * np.arange(1, CURVE_POINTS + 1) // CURVE_POINTS)
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
    """A result for each stream and model, ordered by stream; of all streams and models if none are named.

    `jobs` processes work at the same time; errors do not depend on it. Our models run in this one, as only one
    process may write the cache of compiled code. River's run in the others.
    """
    streams, chosen = dict.fromkeys(data or STREAMS), dict.fromkeys(models or MODELS)
    rivers = [model for model in RIVERS if model in chosen and jobs > 1]
    away = [(name, model) for model in rivers for name in streams]
    here = [(name, m) for m in chosen if m not in rivers for name in streams]
    with (
        Progress(len(here) + len(away), "race", enabled=progress) as bar,
        _helpers(min(jobs - 1, len(away))) as pool,
    ):
        coming = _send(away, examples, seed, pool, bar)
        results = {entry: _play_here(entry, examples, seed, bar) for entry in here}
        bar.show("waiting for River's models")
        results.update({entry: future.result() for entry, future in coming.items()})
    return [results[name, model] for name in streams for model in chosen]


def _play_here(entry: Entry, examples: int | None, seed: int, bar: Progress) -> Result:
    """Measure one model on one stream in this process."""
    data, model = entry
    if model not in RIVERS:
        bar.show(f"{model} (its code is loaded, or compiled if it was never used)")
        precompile(build(model, data, seed), examples_of(data, examples, seed)[:FILLING_EXAMPLES])
    bar.show(f"{model} on {data}")
    result = play(data, model, examples, seed)
    bar.advance(f"{model} on {data}")
    return result


def _send(
    entries: Iterable[Entry], examples: int | None, seed: int, pool: Any, bar: Progress
) -> dict[Entry, Future[Result]]:
    """Hand entries to other processes."""

    def count(what: str, future: Future[Result]) -> None:
        if not future.cancelled() and future.exception() is None:
            bar.advance(what)

    with _interrupts_held_back():
        coming = {entry: pool.submit(play, *entry, examples, seed) for entry in entries}
    for (data, model), future in coming.items():
        future.add_done_callback(functools.partial(count, f"{model} on {data}"))
    return coming


@contextlib.contextmanager
def _helpers(n: int) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of n other processes. They end at once if this process is interrupted or raises."""
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
    """Processes started in here ignore Ctrl-C. The parent process gets a Ctrl-C when it leaves this context."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# what is shown


def rows(results: Sequence[Result]) -> Table:
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
    errors: dict[str, float] = {}
    for result in results:
        errors[result.model] = errors.get(result.model, 0.0) + result.error
    ours = sorted(errors.keys() - set(RIVERS), key=lambda model: (errors[model], model))
    models = {*RIVERS, *ours[:PLOTTED_MODELS]}  # with more, curves would cover each other
    found = []
    for name in dict.fromkeys(result.data for result in results):
        own = [r for r in results if r.data == name and r.model in models]
        lines = [Line(r.model, r.at, r.errors) for r in own]
        # the best models are close to each other and far from the worst
        found.append(Panel(name, "examples", "wrong so far", lines, log_y=True, percent=True))
    return found
