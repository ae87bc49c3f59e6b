"""Where workers live: in this process, or each in a process of its own that Ray runs.

A worker is an object whose methods are called from here. Both backends have the same few methods, so what
is built on them runs with and without Ray.
"""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

from . import cluster

NAMES = ("serial", "ray")


class WorkerLost(RuntimeError):
    """The process of a worker is gone, with all that it held in memory."""


class Ticket(Protocol):
    """The result of a call, now or later."""

    def ready(self) -> bool: ...

    def result(self) -> Any: ...


class Worker(Protocol):
    """An object somewhere."""

    def submit(self, method: str, *arguments: Any) -> Ticket: ...

    def stop(self) -> None: ...


class Backend(Protocol):
    """What starts workers, and stops them at the end."""

    def worker(self, kind: Any, *arguments: Any) -> Worker: ...

    def put(self, value: Any) -> Any: ...

    def first(self, tickets: Sequence[Any]) -> Any: ...

    def close(self) -> None: ...

    def __enter__(self) -> Backend: ...

    def __exit__(self, *error: Any) -> None: ...


def open(name: str, workers: int) -> Backend:
    """The backend of this name, with room for so many workers.

    With "ray", a Ray that runs already is used, and left running. Otherwise one is started on this machine.
    It listens on the loopback interface only, keeps its files in a temporary folder, and is gone after the
    last backend that uses it is closed.

    A worker comes from `backend.worker(kind, *arguments)` and is an object `kind(*arguments)`.
    `worker.submit(method, *arguments)` calls a method of it and returns a ticket. Its `result()` is the value
    that the method returns. An error of the method, or of the constructor, is raised there as itself, and
    `WorkerLost` if the process of the worker is gone. `ready()` says whether there is a result already.

    `backend.put(value)` sends a large value to where all workers can reach it: what it returns stands for the
    value among the arguments of a call.
    `backend.first(tickets)` waits until one of the tickets has its result, and returns that ticket.

    Workers must not change their arguments, as without Ray these are no copies.

    Parameters
    ----------
    name
        "serial" or "ray".
    workers
        How many workers there will be.

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
    return Serial() if name == "serial" else Ray(workers)


class Host:
    """Holds the object of a worker. Errors come back as values, so that no backend changes them."""

    def __init__(self, kind: Any, *arguments: Any):
        self.object, self.error = None, None
        try:
            self.object = kind(*arguments)
        except Exception as error:
            self.error = error

    def call(self, method: str, *arguments: Any) -> tuple[Any, Exception | None]:
        """(what the method returns, None), or (None, the error)."""
        if self.error is not None:
            return None, self.error
        try:
            return getattr(self.object, method)(*arguments), None
        except Exception as error:
            return None, error


class _Closing:
    """Backends are closed at the end of a with block."""

    def close(self) -> None: ...

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


# in this process


class Serial(_Closing):
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

    def submit(self, method: str, *arguments: Any) -> SerialTicket:
        if self.host is None:
            return SerialTicket(None, WorkerLost("this worker has been stopped"))
        return SerialTicket(*self.host.call(method, *arguments))

    def stop(self) -> None:
        host, self.host = self.host, None
        close = None if host is None else getattr(host.object, "close", None)
        if close is not None:
            close()  # as the end of a process would


class SerialTicket:
    """The result of a call that is over."""

    def __init__(self, value: Any, error: Exception | None):
        self.value, self.error = value, error

    def ready(self) -> bool:
        return True

    def result(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


# in processes of their own


class RayHost(Host):
    """The same in another process, whose errors say there where they come from."""

    def call(self, method: str, *arguments: Any) -> tuple[Any, Exception | None]:
        value, error = super().call(method, *arguments)
        if error is not None and not hasattr(error, "__notes__"):
            error.add_note("in a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
        return value, error


class Ray(_Closing):
    """Workers in Ray actors."""

    def __init__(self, workers: int):
        self.ray = cluster.imported()
        leave = cluster.join(self.ray, workers)
        self._leave = weakref.finalize(self, leave)  # also called at the end of the program
        # So little is reserved that any number of workers has room, and enough for nodes to take turns.
        options = {"num_cpus": 0.01, "scheduling_strategy": "SPREAD", "max_restarts": 0}
        self._actor = self.ray.remote(**options)(RayHost)

    def worker(self, kind: Any, *arguments: Any) -> RayWorker:
        return RayWorker(self.ray, self._actor.remote(kind, *arguments))

    def put(self, value: Any) -> Any:
        return self.ray.put(value)

    def first(self, tickets: Sequence[RayTicket]) -> RayTicket:
        done, _ = self.ray.wait([ticket.reference for ticket in tickets], num_returns=1)
        return next(ticket for ticket in tickets if ticket.reference == done[0])

    def close(self) -> None:
        self._leave()


class RayWorker:
    """A worker in a Ray actor."""

    def __init__(self, ray: Any, actor: Any):
        self.ray, self.actor = ray, actor

    def submit(self, method: str, *arguments: Any) -> RayTicket:
        return RayTicket(self.ray, self.actor.call.remote(method, *arguments))

    def stop(self) -> None:
        if self.ray.is_initialized():
            self.ray.kill(self.actor)


class RayTicket:
    """The result of a call in a Ray actor."""

    def __init__(self, ray: Any, reference: Any):
        self.ray, self.reference = ray, reference

    def ready(self) -> bool:
        done, _ = self.ray.wait([self.reference], timeout=0)
        return bool(done)

    def result(self) -> Any:
        try:
            value, error = self.ray.get(self.reference)
        except self.ray.exceptions.RayTaskError as failure:  # what was sent cannot be (un)pickled
            raise failure.cause from None
        except self.ray.exceptions.RayError as failure:
            raise WorkerLost(
                f"a worker is gone: {str(failure).splitlines()[0].rstrip('.')}"
            ) from None
        if error is not None:
            raise error
        return value
