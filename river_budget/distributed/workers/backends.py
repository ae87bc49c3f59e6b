"""Where workers and tasks run: in this process, or each in a process of its own that Ray runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent import futures
from typing import Any

from ...parameters import one_of
from .ray import RayExecutor, RayWorker, running
from .serial import Host, Serial, Worker

NAMES = ("serial", "ray")


class Backend(contextlib.AbstractContextManager["Backend"]):
    """Starts workers, and stops them at the end of a with block."""

    def __init__(self, start: Callable[[], Worker]):
        self.start = start
        self.workers: list[Worker] = []

    def worker(self, kind: Any, *arguments: Any) -> Worker:
        """A worker that holds kind(*arguments)."""
        worker = self.start()
        self.workers.append(worker)
        worker.begin(kind, *arguments)
        return worker

    def close(self) -> None:
        """Stop all workers."""
        for worker in self.workers:
            worker.stop()

    def __exit__(self, *error: object) -> None:
        self.close()


def open(name: str) -> Backend:
    """The backend of this name: "serial", or "ray" for processes of the Ray that runs.

    A worker comes from `backend.worker(kind, *arguments)` and is an object `kind(*arguments)`.
    `worker.submit(method, *arguments)` calls a method of it and returns an answer. Its `result()` is the value
    that the method returns. An error of the method, or of the constructor, is raised there as itself, and
    `WorkerLost` if the process of the worker is gone. `done()` says whether there is a result already.
    `worker.begin(kind, *arguments)` begins anew with another object, also after a loss.

    Workers must not change their arguments, as without Ray these are no copies.

    Examples
    --------

    >>> from river_budget.distributed import backends

    >>> with backends.open("serial") as backend:
    ...     worker = backend.worker(dict, [("a", 1)])
    ...     worker.submit("get", "a").result()
    1

    """
    one_of(*NAMES)("backend", name)
    if name == "serial":
        return Backend(lambda: Worker(Host()))
    running()  # raises if no Ray runs
    return Backend(RayWorker)


def executor(name: str, workers: int) -> futures.Executor:
    """What runs functions on the backend of this name, so many at once."""
    return Serial() if name == "serial" else RayExecutor(workers)
