"""A race over small streams: all classifiers of this package beside three of River's.

Every model predicts an example before it learns it. Before each stands a StandardScaler, whose time and memory
are included.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...distributed.precompile import precompile
from ...plots.panels import Line, Panel
from ...plots.running import memory, predict_and_learn
from ...progress import Progress
from ..common.tables import Table
from .race_models import BUDGET, MODELS, RIVERS, STREAMS, build, examples_of

Entry = tuple[str, str]  # names of a stream and of a model

CURVE_POINTS = 40  # points of a curve
FILLING_EXAMPLES = 2 * BUDGET  # examples that fill a model: NOGD then runs other code
PLOTTED_MODELS = 8  # at most so many of our models are in the plot


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
