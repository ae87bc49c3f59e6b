"""Backends by name: workers in this process, or each in a process of its own that Ray runs."""

from __future__ import annotations

from .interface import Backend, Serial
from .ray import Ray

NAMES = ("serial", "ray")


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
