"""Where workers live and how they are called: in this process, or each in a process of its own that Ray runs.

A worker holds an object whose methods are called from here. All backends have the same few methods, so everything
built on them runs with and without Ray.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

NAMES = ("serial", "ray")
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


class Ticket(Protocol):
    """The result of a call, now or later."""

    def ready(self) -> bool: ...

    def result(self) -> Any: ...


class Worker(Protocol):
    """An object in this process or in another one."""

    def submit(self, method: str, *arguments: Any) -> Ticket: ...

    def stop(self) -> None: ...


class Backend(contextlib.AbstractContextManager["Backend"]):
    """Starts workers, and stops them at the end of a with block."""

    @abc.abstractmethod
    def worker(self, kind: Any, *arguments: Any) -> Worker:
        """A worker that holds kind(*arguments)."""

    @abc.abstractmethod
    def put(self, value: Any) -> Any:
        """An object to pass in place of a large value as an argument of calls."""

    @abc.abstractmethod
    def first(self, tickets: Sequence[Any]) -> Any:
        """Wait until one of the tickets has its result, and return that ticket."""

    def close(self) -> None:
        """Stop all workers."""

    def __exit__(self, *error: object) -> None:
        self.close()


class Host:
    """Holds the object of a worker. Errors come back as values, so that no backend changes them."""

    def __init__(self, kind: Any, *arguments: Any):
        self.object, self.error = None, None
        try:
            self.object = kind(*arguments)
        except Exception as error:
            self.error = error

    def call(self, method: str, *arguments: Any) -> Returned:
        """(the value of the method, None), or (None, its error)."""
        if self.error is not None:
            return None, self.error
        try:
            return getattr(self.object, method)(*arguments), None
        except Exception as error:
            return None, error


class Serial(Backend):
    """Workers in this process: a call is made at once."""

    def worker(self, kind: Any, *arguments: Any) -> SerialWorker:
        return SerialWorker(Host(kind, *arguments))

    def put(self, value: Any) -> Any:
        return value

    def first(self, tickets: Sequence[Any]) -> Any:
        return tickets[0]


class SerialWorker:
    """A worker in this process."""

    def __init__(self, host: Host):
        self.host: Host | None = host

    def submit(self, method: str, *arguments: Any) -> Ticket:
        if self.host is None:
            return stopped()
        return Done(*self.host.call(method, *arguments))

    def stop(self) -> None:
        host, self.host = self.host, None
        close = None if host is None else getattr(host.object, "close", None)
        if close is not None:
            close()  # as the end of a process would


class Done:
    """The result of a call that has been made."""

    def __init__(self, value: Any, error: Exception | None):
        self.value, self.error = value, error

    def ready(self) -> bool:
        return True

    def result(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


def stopped() -> Done:
    """The result of a call of a worker that has been stopped."""
    return Done(None, WorkerLost("this worker has been stopped"))


def open(name: str, workers: int) -> Backend:
    """The backend of this name, with room for so many workers.

    With "ray", it uses a running Ray and leaves it running. Otherwise it starts one on this machine, which
    listens on the loopback interface only, stores its files in a temporary folder, and stops after the last
    backend that uses it is closed.

    A worker comes from `backend.worker(kind, *arguments)` and is an object `kind(*arguments)`.
    `worker.submit(method, *arguments)` calls a method of it and returns a ticket. Its `result()` is the value
    that the method returns. An error of the method, or of the constructor, is raised there as itself, and
    `WorkerLost` if the process of the worker is gone. `ready()` says whether there is a result already.

    `backend.put(value)` sends a large value once to where all workers can read it, and returns an object to pass
    as an argument in its place.
    `backend.first(tickets)` waits until one of the tickets has its result, and returns that ticket.

    Workers must not change their arguments, as without Ray these are no copies.

    Parameters
    ----------
    name
        "serial" or "ray".
    workers
        The number of workers.

    Examples
    --------

    >>> from river_budget.distributed import backends

    >>> with backends.open("serial", workers=1) as backend:
    ...     worker = backend.worker(dict, [("a", 1)])
    ...     worker.submit("get", "a").result()
    1

    """
    if name not in NAMES:
        raise ValueError(f"backend must be one of {NAMES}, not {name!r}")
    if name == "serial":
        return Serial()
    from .ray import Ray  # here, as it uses this file

    return Ray(workers)
