"""Workers in this process, and what they have in common with those in other processes."""

from __future__ import annotations

import contextlib
from typing import Any

Returned = tuple[Any, Exception | None]  # what a call returns, or its error


class WorkerLost(RuntimeError):
    """The process of a worker is gone, with everything that it held in memory.

    Not for errors of a model, which are raised unchanged.

    Examples
    --------

    >>> from river_budget.distributed import WorkerLost

    >>> issubclass(WorkerLost, RuntimeError)
    True

    References
    ----------
    [^1]: The guide, [many models](guide/many_models.md).

    """


class Ticket:
    """The result of a call, here at once and elsewhere later."""

    def __init__(self, returned: Returned | None):
        self.returned = returned

    def ready(self) -> bool:
        return True

    def received(self) -> Returned:
        """Wait until the call returns."""
        raise NotImplementedError

    def result(self) -> Any:
        if self.returned is None:
            self.returned = self.received()
        value, error = self.returned
        if error is not None:
            raise error
        return value


class Host:
    """Holds the object of a worker. Errors come back as values, so that no backend changes them.

    Calls that are meant for an earlier object are refused. A process in the place of a lost one has no object
    at first, and refuses all.
    """

    epoch = 0
    object: Any = None
    error: Exception | None = None

    def begin(self, epoch: int, kind: Any, *arguments: Any) -> Returned:
        """Hold kind(*arguments) from now on, in place of the object before."""
        self.close()
        self.epoch = epoch
        try:
            self.object = kind(*arguments)
        except Exception as error:
            self.error = error
        return None, self.error

    def call(self, epoch: int, method: str, *arguments: Any) -> Returned:
        """(the value of the method, None), or (None, its error)."""
        if epoch != self.epoch:
            return None, WorkerLost("a worker is gone, and another one has begun in its place")
        if self.error is not None:
            return None, self.error
        try:
            return getattr(self.object, method)(*arguments), None
        except Exception as error:
            return None, error

    def close(self) -> None:
        """Let the object go, as the end of a process would."""
        before, self.object, self.error = self.object, None, None
        if hasattr(before, "close"):
            before.close()


class Worker:
    """Calls the methods of an object."""

    epoch = 0  # how many objects there have been
    begun: Ticket  # whether the last one could be made

    def __init__(self, host: Any):
        self.host = host

    def begin(self, kind: Any, *arguments: Any) -> None:
        """Begin anew with an object kind(*arguments): calls that were made before are refused from now on."""
        self.epoch += 1
        self.begun = self.send("begin", self.epoch, kind, *arguments)

    def submit(self, method: str, *arguments: Any) -> Ticket:
        """Call a method of the object."""
        return self.send("call", self.epoch, method, *arguments)

    def send(self, method: str, *arguments: Any) -> Ticket:
        """Call a method of the host."""
        if self.host is None:
            return Ticket((None, WorkerLost("this worker has been stopped")))
        return Ticket(getattr(self.host, method)(*arguments))

    def stop(self) -> None:
        """End the worker at once."""
        if self.host is not None:
            self.host.close()
        self.host = None


class Backend(contextlib.AbstractContextManager["Backend"]):
    """Starts workers, and stops them at the end of a with block."""

    def __init__(self) -> None:
        self.workers: list[Worker] = []

    def worker(self, kind: Any, *arguments: Any) -> Worker:
        """A worker that holds kind(*arguments)."""
        worker = self.started()
        self.workers.append(worker)
        worker.begin(kind, *arguments)
        return worker

    def started(self) -> Worker:
        """A worker without an object."""
        return Worker(Host())

    def close(self) -> None:
        """Stop all workers."""
        for worker in self.workers:
            worker.stop()

    def __exit__(self, *error: object) -> None:
        self.close()
