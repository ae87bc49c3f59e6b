"""Backends by name: workers in this process, or each in a process of its own that Ray runs."""

from __future__ import annotations

from .interface import Backend, Serial
from .ray import Ray

NAMES = ("serial", "ray")


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
    return Serial() if name == "serial" else Ray(workers)
