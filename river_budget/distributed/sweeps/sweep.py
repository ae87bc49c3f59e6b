"""All settings of a grid over one stream, several at once."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import math
import operator
import os
from collections.abc import Generator, Iterator, Mapping
from concurrent import futures
from typing import TYPE_CHECKING, Any, Literal

import numba
from river import utils

from ...messages.progress import Progress
from ...parameters import one_of, optional, whole
from ..workers import BACKENDS, new_executor
from ..workers.serial import WorkerLost
from . import evaluating
from .evaluating import Examples, ExampleStream
from .outcomes import Journal, Outcome, chosen, described, fingerprint

if TYPE_CHECKING:
    from river import metrics

FINGERPRINT_ROWS = 1000  # examples by which a stream is recognised
CORES: int = numba.config.NUMBA_DEFAULT_NUM_THREADS  # type: ignore[attr-defined]


class Sweep(Iterator[Outcome], contextlib.AbstractContextManager["Sweep"]):
    """Try every setting of a grid over one stream, several at once.

    Each setting is a clone of the model that predicts every example before it learns it, as in
    River's `evaluate.progressive_val_score`, and gives the same value of the metric. A sweep is an
    iterator: outcomes come as soon as they are ready, and nothing runs before the first one is
    asked for. The table is the same whatever the backend and the number of workers, if the models
    have a seed.

    What runs is stopped by `close` and at the end of a `with` block; an executor is left to whoever
    gave it, and finishes what it has begun.

    A setting whose model raises is an outcome too, with the error and without a value. If a process
    of Ray is lost, as when it runs out of memory, another one tries its setting again, three times
    in all. Other executors that lose a process raise an error of their own: with a checkpoint, the
    next sweep goes on.

    Not for choosing a setting and then reporting its value: the best of many values is too
    optimistic.

    Parameters
    ----------
    model
        A River model or a pipeline. It is not changed.
    grid
        Lists of values by name of parameter, nested for pipelines: what River's
        `utils.expand_param_grid` takes.
    stream
        A River dataset or another iterable of (x, y), which is read once and held in memory. Or a
        function without arguments that returns one, for streams that do not fit into memory: it is
        called for each setting, and with a checkpoint once more. A third item in an example is
        River's dict of further arguments.
    metric
        A River metric whose value is a number.
    backend
        "ray" for the Ray that runs, "serial" for one after the other in this process, or any
        `concurrent.futures.Executor`: a `ProcessPoolExecutor`, or that of Dask
        (`client.get_executor()`) or MPI (`mpi4py.futures`).
    workers
        The number of settings that run at the same time, except with "serial"; None: one for each
        core of this machine.
    checkpoint
        A file for the outcomes. An interrupted sweep continues with the settings that are not in
        this file for the same model, metric and stream (it compares the first thousand examples and
        their number). Settings that failed are tried again. Several sweeps may share a file.
    progress
        Whether to show a bar on the standard error stream.

    Examples
    --------

    >>> from river import datasets, metrics
    >>> import river_budget as rb
    >>> from river_budget.distributed import sweep

    >>> model = rb.BSGDClassifier(kernel=rb.kernels.RBF(4.0))
    >>> grid = {"budget": [10, 50], "l2": [1e-4, 1e-2]}
    >>> found = sweep(
    ...     model, grid, datasets.Bananas(), metrics.Accuracy(), backend="serial", progress=False
    ... )
    >>> for outcome in found:
    ...     print(f"{outcome.name}: {outcome.value:.3f}")
    budget=10, l2=0.0001: 0...
    budget=10, l2=0.01: 0...
    budget=50, l2=0.0001: 0...
    budget=50, l2=0.01: 0...
    >>> best = model.clone(found.best().setting)
    >>> best.budget
    50

    References
    ----------
    [^1]: The guide, [many models](guide/many_models.md).

    """

    def __init__(
        self,
        model: Any,
        grid: Mapping[str, Any],
        stream: ExampleStream,
        metric: metrics.base.Metric,
        *,
        backend: Literal["ray", "serial"] | futures.Executor = "ray",
        workers: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: bool = True,
    ):
        optional(whole(1))("workers", workers)
        if not isinstance(backend, futures.Executor):
            one_of(*BACKENDS)("backend", backend)
        _check_metric(metric, model)
        self._metric = metric.clone()
        self._models = utils.expand_param_grid(model, grid)
        self._settings = [
            Outcome(number, described(setting), setting)
            for number, setting in enumerate(chosen(each, grid) for each in self._models)
        ]
        self._examples = Examples(stream if callable(stream) else list(stream))
        self._backend: Any = backend
        self._workers = 1 if backend == "serial" else workers or CORES
        self._journal = None if checkpoint is None else Journal(checkpoint)
        self._progress = progress
        self._done: dict[int, Outcome] = {}
        self._outcomes = self._run()

    def __next__(self) -> Outcome:
        return next(self._outcomes)

    def __len__(self) -> int:
        """How many settings there are."""
        return len(self._models)

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Stop the workers. Outcomes that are not ready are lost."""
        self._outcomes.close()

    def table(self) -> list[Outcome]:
        """All outcomes in the order of the grid. Runs the remaining settings."""
        collections.deque(self, maxlen=0)
        if len(self._done) < len(self):
            raise RuntimeError(
                f"the sweep ended after {len(self._done)} of {len(self)} settings: start it again"
            )
        return [self._done[number] for number in sorted(self._done)]

    def best(self) -> Outcome:
        """The best outcome by the metric, of equal ones the first. Runs the remaining settings."""
        table = self.table()
        valued = [each for each in table if each.value is not None and not math.isnan(each.value)]
        if not valued:
            raise ValueError("no setting has a value: look at the errors in the table")
        pick = max if self._metric.bigger_is_better else min
        return pick(valued, key=operator.attrgetter("value"))

    # running

    def _run(self) -> Generator[Outcome, None, None]:
        keys = [] if self._journal is None else self._identified()
        for setting, key in zip(self._settings, keys, strict=False):
            if self._journal is not None and key in self._journal.found:
                outcome = dataclasses.replace(setting, **self._journal.found[key])
                self._done[setting.number] = outcome
                yield outcome
        left = [setting for setting in self._settings if setting.number not in self._done]
        if not left:
            return
        with (
            Progress(len(left), "sweep", enabled=self._progress) as bar,
            contextlib.closing(self._measured(left)) as measured,
        ):
            for outcome in measured:
                self._done[outcome.number] = outcome
                if self._journal is not None and outcome.error is None:
                    self._journal.add(keys[outcome.number], outcome)
                bar.advance(outcome.name)
                yield outcome

    def _identified(self) -> list[str]:
        """The key of each setting in the checkpoint."""
        stream, first = self._examples.stream, itertools.islice(self._examples, FINGERPRINT_ROWS)
        count = str(len(stream)) if isinstance(stream, list) else ""
        common = fingerprint(described(self._metric), count, *map(repr, first))
        return [fingerprint(described(model), common) for model in self._models]

    def _measured(self, settings: list[Outcome]) -> Generator[Outcome, None, None]:
        """The outcomes of these settings, in the order in which they are ready."""
        waiting = collections.deque(settings)
        running: dict[futures.Future[Outcome], Outcome] = {}
        with contextlib.ExitStack() as ends:
            executor = self._backend
            if not isinstance(executor, futures.Executor):  # else whoever gave it ends it
                executor = ends.enter_context(new_executor(executor))
            ends.callback(lambda: [future.cancel() for future in running])
            while waiting or running:
                while waiting and len(running) < self._workers:
                    setting = waiting.popleft()
                    given = setting, self._models[setting.number], self._metric, self._examples
                    running[executor.submit(evaluating.run, *given)] = setting
                for future in futures.wait(running, return_when=futures.FIRST_COMPLETED).done:
                    setting = running.pop(future)
                    try:
                        outcome = future.result()
                    except WorkerLost as error:
                        outcome = evaluating.failed(setting, error)
                    yield outcome


def _check_metric(metric: Any, model: Any) -> None:
    from river import metrics  # imported here, as it takes long to load

    if not isinstance(metric, metrics.base.Metric):
        raise ValueError(f"metric must be one of River's metrics, not {metric!r}")
    try:
        float(metric.get())
    except (NotImplementedError, TypeError):
        reason = f"metric: {type(metric).__name__} has no value that is a number"
        raise ValueError(reason) from None
    if not metric.works_with(model):
        raise ValueError(f"metric: {type(metric).__name__} does not work with this model")


sweep = Sweep  # as one reads it where it is called
