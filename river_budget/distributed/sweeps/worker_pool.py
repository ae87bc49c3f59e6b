"""Workers that go through the settings of a sweep."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from river import evaluate

from ..workers.interface import Backend, Ticket, Worker, WorkerLost
from .evaluating import Evaluator, Examples, Stream, validate
from .journal import Outcome

LOSSES = 3  # workers that may be lost over one setting before it counts as failed
Trial = tuple[Outcome, Any]  # a setting, still without numbers, and its model


class WorkerPool:
    """Workers that take the next setting when they are free."""

    def __init__(self, backend: Backend, size: int, stream: Stream, metric: Any):
        self.backend, self.size, self.metric = backend, size, metric
        self.free = [backend.worker(Evaluator) for _ in range(size)]
        self.stream = backend.put(stream)  # while they start
        for worker in self.free:
            worker.submit("hold", self.stream)

    def outcomes(self, trials: Iterable[Trial]) -> Iterator[Outcome]:
        """What comes of the trials, in the order in which they are ready."""
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


def warm_up(models: list[Any], examples: list[Any], metric: Any) -> None:
    """Compile what the models need, or load it: once, here. An error comes again where it is reported.

    The first one learns all examples, as some passes are only called when a model is full.
    """
    with contextlib.suppress(Exception):
        validate(models[0].clone(), Examples(examples), metric.clone())
    for model in models:
        with contextlib.suppress(Exception):
            evaluate.progressive_val_score(Examples(examples[:2]), model.clone(), metric.clone())
