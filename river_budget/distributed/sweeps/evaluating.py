"""Workers of a sweep: each holds the stream and validates one model after the other on it."""

from __future__ import annotations

import collections
import copy
import functools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from river import base, evaluate, metrics

from ...model.estimators.checks import predict_then_learn_batch, steps_of_ours
from ...model.estimators.estimators import Classifier, Regressor
from ...model.inputs.batches import Batch
from ...model.inputs.features import in_order
from ..workers.backends import Backend, Ticket, Worker, WorkerLost
from .journal import Outcome

ExampleStream = Iterable[Any] | Callable[[], Iterable[Any]]
LOSSES = 3  # a setting counts as failed after the loss of so many workers
Trial = tuple[Outcome, Any]  # (setting without measurements, its model)


class StreamError(RuntimeError):
    """The stream itself has raised an error, so no setting has failed."""


class Examples:
    """The examples of a stream, which is a list or a function. They can be iterated over more than once."""

    def __init__(self, stream: ExampleStream):
        self.stream = stream
        self.count = 0  # examples since the iteration began

    def __iter__(self) -> Iterator[Any]:
        self.count = 0
        try:
            for x, y, *more in self.stream() if callable(self.stream) else self.stream:
                self.count += 1
                yield x, y, *map(dict, more)  # a copy, as River removes the weight from this dict
        except Exception as error:
            raise StreamError(f"the stream ends with {type(error).__name__}: {error}") from error

    @functools.cached_property
    def arrays(self) -> tuple[list[Any], Any, list[Any]] | None:
        """Names, rows and targets. None unless all examples have the same features, and these are finite numbers."""
        if callable(self.stream) or not self.stream:
            return None
        first = next(iter(self.stream))[0].keys()
        if any(more or x.keys() != first for x, _, *more in self.stream):
            return None
        names = in_order(first)  # the order that models use, so that sums are rounded alike
        try:
            rows = np.array([[x[name] for name in names] for x, _ in self.stream])
        except ValueError:
            return None
        if rows.dtype.kind not in "biuf" or rows.ndim != 2 or not np.isfinite(rows).all():
            return None
        return names, rows.astype(float), [y for _, y in self.stream]


class Evaluator:
    """The object of a worker: it holds the stream, and runs one setting after the other over it."""

    def __init__(self) -> None:
        self.examples = Examples([])

    def hold(self, stream: ExampleStream) -> None:
        self.examples = Examples(stream)

    def run(self, outcome: Outcome, model: Any, metric: metrics.base.Metric) -> Outcome:
        """The outcome of a setting with its measurements, or with the error of its model."""
        model, metric = copy.deepcopy(model), copy.deepcopy(metric)
        began = time.perf_counter()
        try:
            validate(model, self.examples, metric)
        except StreamError:
            raise
        except Exception as error:
            return outcome.failed(error)
        return outcome.measured(
            value=float(metric.get()),
            examples=self.examples.count,
            memory=memory_usage(model),
            seconds=time.perf_counter() - began,
        )


def validate(model: Any, examples: Examples, metric: Any) -> None:
    """River's `progressive_val_score`, with one call for all examples if the model and the metric allow it."""
    if labels_suffice(model, metric) and examples.arrays is not None:
        names, rows, targets = examples.arrays
        predictions = predict_then_learn_batch(
            model, Batch.of(names, rows), targets, np.ones(len(rows))
        )
        for target, prediction in zip(targets, predictions, strict=True):
            if prediction is not None:
                metric.update(y_true=target, y_pred=prediction)
        examples.count = len(targets)
    else:
        evaluate.progressive_val_score(examples, model, metric)


def labels_suffice(model: Any, metric: Any) -> bool:
    """Whether the predictions of `predict_then_learn_many` are enough for the metric."""
    kind = type(model)  # isinstance would test the last step of a pipeline
    if issubclass(kind, Classifier):
        return bool(metric.requires_labels)
    return issubclass(kind, Regressor)


def memory_usage(model: base.Base) -> int | None:
    """Bytes of the models of this package in a model or pipeline. None if there are none."""
    sizes = [ours.memory_usage for ours in steps_of_ours(model)]
    return sum(sizes) if sizes else None


class WorkerPool:
    """Workers that take the next trial as soon as they are free."""

    def __init__(self, backend: Backend, size: int, stream: ExampleStream, metric: Any):
        self.backend, self.size, self.metric = backend, size, metric
        self.free = [backend.worker(Evaluator) for _ in range(size)]
        self.stream = backend.put(stream)  # sent while the workers start
        for worker in self.free:
            worker.submit("hold", self.stream)

    def outcomes(self, trials: Iterable[Trial]) -> Iterator[Outcome]:
        """The outcomes of the trials, in the order in which they are ready."""
        waiting = collections.deque(trials)
        running: dict[Ticket, tuple[Worker, Trial]] = {}
        losses: collections.Counter[int] = collections.Counter()
        while waiting or running:
            while waiting and len(running) < self.size:
                worker, trial = self._worker(), waiting.popleft()
                running[worker.submit("run", *trial, self.metric)] = worker, trial
            ticket = self.backend.first(list(running))
            worker, trial = running.pop(ticket)
            number = trial[0].number
            try:
                outcome = ticket.result()
                self.free.append(worker)
            except WorkerLost as error:
                losses[number] += 1
                if losses[number] < LOSSES:
                    waiting.appendleft(trial)
                    continue
                outcome = trial[0].failed(error)
            yield outcome

    def _worker(self) -> Worker:
        if self.free:
            return self.free.pop()
        worker = self.backend.worker(Evaluator)
        worker.submit("hold", self.stream)
        return worker
