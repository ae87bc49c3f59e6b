"""Workers and tasks in processes that Ray runs, and starts anew if they are lost: a worker then has no object."""

from __future__ import annotations

import gc
import traceback
from concurrent import futures
from typing import Any

from ..._version import __version__
from .serial import Answer, Host, Worker, WorkerLost, finished, stopped

# Objects before Python collects garbage: dicts then arrive twice as fast
GARBAGE_THRESHOLD = 50_000
TRIALS = 3  # of a task whose process is lost
# Workers reserve nothing, so that any number of them fits
ACTOR = {"num_cpus": 0, "scheduling_strategy": "SPREAD", "max_restarts": -1}


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


def returned(function: Any, *arguments: Any) -> tuple[Any, Exception | None]:
    """(what a call returns, None), or (None, its error): Ray would change an error that is raised.

    The error says where in this process it happened.
    """
    try:
        return function(*arguments), None
    except Exception as error:
        if not hasattr(error, "__notes__"):
            error.add_note("in a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
        return None, error


class RayHost(Host):
    """Holds the object of a worker in a process of its own."""

    def __init__(self, version: str):
        gc.set_threshold(GARBAGE_THRESHOLD)
        self.version = version

    def run(self, method: str, *arguments: Any) -> tuple[Any, Exception | None]:
        """What a method of the host returns."""
        return returned(self._run, method, *arguments)

    def _run(self, method: str, *arguments: Any) -> Any:
        if self.version != __version__:
            raise RuntimeError(
                f"a worker has river_budget {__version__}, and the program that started it {self.version}: both need the same"
            )
        return getattr(self, method)(*arguments)


class RayAnswer:
    """The answer to a call in another process, which is one of `returned`."""

    def __init__(self, ray: Any, reference: Any):
        self.ray, self.reference = ray, reference
        self.received: futures.Future[Any] | None = None

    def done(self) -> bool:
        return bool(self.ray.wait([self.reference], timeout=0)[0])

    def result(self) -> Any:
        if self.received is None:
            self.received = finished(self._receive)
        return self.received.result()

    def _receive(self) -> Any:
        try:
            value, error = self.ray.get(self.reference)
        except self.ray.exceptions.RayTaskError as failure:  # the value cannot be pickled
            raise failure.cause from None
        except self.ray.exceptions.RayError as failure:
            reason = str(failure).splitlines()[0].rstrip(".")
            raise WorkerLost(f"a worker is gone: {reason}") from None
        if error is not None:
            raise error
        return value


class RayWorker(Worker):
    """A worker in a Ray actor."""

    def __init__(self) -> None:
        self.ray = running()
        super().__init__(self.ray.remote(**ACTOR)(RayHost).remote(__version__))

    def send(self, method: str, *arguments: Any) -> Answer:
        if self.host is None or not self.ray.is_initialized():  # a call would start another Ray
            return finished(stopped)
        call = self.host.run
        if method == "begin":  # also in a process that takes the place of a lost one
            call = call.options(max_task_retries=-1)
        return RayAnswer(self.ray, call.remote(method, *arguments))

    def stop(self) -> None:
        if self.host is not None and self.ray.is_initialized():
            self.ray.kill(self.host)
        self.host = None


class RayExecutor(futures.ThreadPoolExecutor):
    """Runs functions as tasks of Ray, each on a processor that it reserves. A thread waits for each."""

    def __init__(self, workers: int):
        super().__init__(workers)
        self.ray = running()
        self.task = self.ray.remote(max_retries=TRIALS - 1)(returned)
        self.references: list[Any] = []  # those of tasks that run

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> futures.Future[Any]:
        self.references.append(self.task.remote(function, *arguments))
        return super().submit(self._wait, self.references[-1])

    def _wait(self, reference: Any) -> Any:
        try:
            return RayAnswer(self.ray, reference).result()
        finally:
            self.references.remove(reference)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the tasks that run."""
        for reference in list(self.references):
            self.ray.cancel(reference, force=True)
        super().shutdown(wait, cancel_futures=cancel_futures)
