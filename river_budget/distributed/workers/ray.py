"""Workers in processes of their own, which Ray runs."""

from __future__ import annotations

import gc
import traceback
import weakref
from collections.abc import Sequence
from typing import Any

from ..._version import __version__
from . import cluster
from .interface import Backend, Host, Returned, Ticket, WorkerLost, stopped

# Objects before Python collects garbage: dicts then arrive twice as fast
GARBAGE_THRESHOLD = 50_000


class RayHost(Host):
    """Holds the object of a worker in a process of its own. Errors carry the traceback of that process."""

    def __init__(self, version: str, kind: Any, *arguments: Any):
        gc.set_threshold(GARBAGE_THRESHOLD)
        if version == __version__:
            super().__init__(kind, *arguments)
            return
        self.object = None
        self.error = RuntimeError(
            f"a worker has river_budget {__version__}, and the program that started it {version}: both need the same"
        )

    def call(self, method: str, *arguments: Any) -> Returned:
        value, error = super().call(method, *arguments)
        if error is not None and not hasattr(error, "__notes__"):
            error.add_note("in a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
        return value, error


class Ray(Backend):
    """Workers in Ray actors."""

    def __init__(self, workers: int):
        self.ray = cluster.imported()
        leave = cluster.join(self.ray, workers)
        self._leave = weakref.finalize(self, leave)  # also called at the end of the program
        # Reserve so little that any number of workers fits, and enough that Ray spreads them over its nodes.
        options = {"num_cpus": 0.01, "scheduling_strategy": "SPREAD", "max_restarts": 0}
        self._actor = self.ray.remote(**options)(RayHost)

    def worker(self, kind: Any, *arguments: Any) -> RayWorker:
        return RayWorker(self.ray, self._actor.remote(__version__, kind, *arguments))

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
        self.stopped = False

    def submit(self, method: str, *arguments: Any) -> Ticket:
        if self.stopped:  # Ray itself would accept calls for a while
            return stopped()
        return RayTicket(self.ray, self.actor.call.remote(method, *arguments))

    def stop(self) -> None:
        self.stopped = True
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
        except self.ray.exceptions.RayTaskError as failure:  # the request cannot be pickled
            raise failure.cause from None
        except self.ray.exceptions.RayError as failure:
            raise lost(failure) from None
        if error is not None:
            raise error
        return value


def lost(failure: Exception) -> WorkerLost:
    """Ray's message about a lost worker, cut to one line."""
    return WorkerLost(f"a worker is gone: {str(failure).splitlines()[0].rstrip('.')}")
