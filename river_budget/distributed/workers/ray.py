"""Workers and tasks in processes that Ray runs, and starts anew if they are lost: a worker then has no object."""

from __future__ import annotations

import gc
import traceback
from concurrent import futures
from typing import Any

from ..._version import __version__
from .serial import Backend, Host, Returned, Ticket, Worker, WorkerLost

# Objects before Python collects garbage: dicts then arrive twice as fast
GARBAGE_THRESHOLD = 50_000
TRIALS = 3  # of a task whose process is lost


def running() -> Any:
    """The module ray, if a Ray runs."""
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            'backend="ray" needs Ray: pip install ray, or use backend="serial"'
        ) from error
    if not ray.is_initialized():
        raise RuntimeError(
            'backend="ray" uses the Ray that runs: call ray.init() first, or use backend="serial"'
        )
    return ray


def lost(failure: Exception) -> WorkerLost:
    """An error of Ray as one of ours."""
    reason = str(failure).splitlines()[0].rstrip(".")
    return WorkerLost(f"a worker is gone: {reason}")


class RayHost(Host):
    """Holds the object of a worker in a process of its own. Errors carry the traceback of that process."""

    def __init__(self, version: str):
        gc.set_threshold(GARBAGE_THRESHOLD)
        self.version = version

    def begin(self, epoch: int, kind: Any, *arguments: Any) -> Returned:
        if self.version == __version__:
            return super().begin(epoch, kind, *arguments)
        self.epoch = epoch
        self.error = RuntimeError(
            f"a worker has river_budget {__version__}, and the program that started it {self.version}: both need the same"
        )
        return None, self.error

    def call(self, epoch: int, method: str, *arguments: Any) -> Returned:
        value, error = super().call(epoch, method, *arguments)
        if error is not None and not hasattr(error, "__notes__"):
            error.add_note("in a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
        return value, error


class Ray(Backend):
    """Workers in Ray actors. They reserve nothing, so that any number of them fits."""

    def __init__(self) -> None:
        super().__init__()
        self.ray = running()
        options = {"num_cpus": 0, "scheduling_strategy": "SPREAD", "max_restarts": -1}
        self.actor = self.ray.remote(**options)(RayHost)

    def started(self) -> RayWorker:
        return RayWorker(self.ray, self.actor.remote(__version__))


class RayWorker(Worker):
    """A worker in a Ray actor."""

    def __init__(self, ray: Any, host: Any):
        super().__init__(host)
        self.ray = ray

    def send(self, method: str, *arguments: Any) -> Ticket:
        if self.host is None or not self.ray.is_initialized():  # a call would start another Ray
            return Ticket((None, WorkerLost("this worker has been stopped")))
        call = getattr(self.host, method)
        if method == "begin":  # also in a process that takes the place of a lost one
            call = call.options(max_task_retries=-1)
        return RayTicket(self.ray, call.remote(*arguments))

    def stop(self) -> None:
        if self.host is not None and self.ray.is_initialized():
            self.ray.kill(self.host)
        self.host = None


class RayTicket(Ticket):
    """The result of a call in a Ray actor."""

    def __init__(self, ray: Any, reference: Any):
        super().__init__(None)
        self.ray, self.reference = ray, reference

    def ready(self) -> bool:
        return bool(self.ray.wait([self.reference], timeout=0)[0])

    def received(self) -> Returned:
        try:
            value, error = self.ray.get(self.reference)
        except self.ray.exceptions.RayTaskError as failure:  # the result cannot be pickled
            return None, failure.cause
        except self.ray.exceptions.RayError as failure:
            return None, lost(failure)
        return value, error


def called(function: Any, *arguments: Any) -> Any:
    """What a task does."""
    return function(*arguments)


class RayExecutor(futures.ThreadPoolExecutor):
    """Runs functions as tasks of Ray, each on a processor that it reserves. A thread waits for each."""

    def __init__(self, workers: int):
        super().__init__(workers)
        self.ray = running()
        self.task = self.ray.remote(max_retries=TRIALS - 1)(called)
        self.references: list[Any] = []  # those of tasks that run

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> futures.Future[Any]:
        self.references.append(self.task.remote(function, *arguments))
        return super().submit(self._wait, self.references[-1])

    def _wait(self, reference: Any) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError:  # the function itself has raised
            raise
        except self.ray.exceptions.RayError as failure:
            raise lost(failure) from None
        finally:
            self.references.remove(reference)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the tasks that run."""
        for reference in list(self.references):
            self.ray.cancel(reference, force=True)
        super().shutdown(wait, cancel_futures=cancel_futures)
