"""Where workers live: in this process, or each in a process of its own that Ray runs."""

from __future__ import annotations

from .ray import Ray
from .serial import Backend

NAMES = ("serial", "ray")


def open(name: str) -> Backend:
    """The backend of this name: "serial", or "ray" for processes of the Ray that runs.

    A worker comes from `backend.worker(kind, *arguments)` and is an object `kind(*arguments)`.
    `worker.submit(method, *arguments)` calls a method of it and returns a ticket. Its `result()` is the value
    that the method returns. An error of the method, or of the constructor, is raised there as itself, and
    `WorkerLost` if the process of the worker is gone. `ready()` says whether there is a result already.
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
    if name not in NAMES:
        raise ValueError(f"backend must be one of {NAMES}, not {name!r}")
    return Backend() if name == "serial" else Ray()
