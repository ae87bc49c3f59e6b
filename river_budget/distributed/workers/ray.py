"""Workers and tasks in processes that Ray runs, and starts anew if they are lost: a worker then has no object."""

from __future__ import annotations

import gc
from concurrent import futures
from typing import Any

from .serial import Answer, Host, Worker, WorkerLost, finished

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


def answer_of(ray: Any, reference: Any) -> Answer:
    """The answer to a call in another process."""
    answer: Answer = futures.Future()

    def receive(received: Answer) -> None:
        error = received.exception()
        if error is None:
            answer.set_result(received.result())
        else:
            answer.set_exception(_raised(ray, error))

    reference.future().add_done_callback(receive)
    return answer


def _raised(ray: Any, error: BaseException) -> BaseException:
    """The error that a call has raised, which Ray wraps, or WorkerLost."""
    if isinstance(error, ray.exceptions.RayTaskError):
        cause: BaseException = error.cause
        cause.__cause__ = error  # it says where in the process
        return cause
    if isinstance(error, ray.exceptions.UnserializableException):  # raised, but not to be read here
        return error  # type: ignore[no-any-return]
    reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return WorkerLost(f"a worker is gone: {reason}")


class RayHost(Host):
    """Holds the object of a worker in a process of its own."""

    def __init__(self) -> None:
        gc.set_threshold(GARBAGE_THRESHOLD)


class RayWorker(Worker):
    """A worker in a Ray actor."""

    def __init__(self, kind: Any, *arguments: Any):
        self.ray = running()
        super().__init__(self.ray.remote(**ACTOR)(RayHost).remote(), kind, *arguments)

    def send(self, method: str, *arguments: Any) -> Answer:
        if not self.ray.is_initialized():  # a call would start another Ray
            return finished(_gone)
        call = getattr(self.host, method)
        if method == "begin":  # also in a process that takes the place of a lost one
            call = call.options(max_task_retries=-1)
        return answer_of(self.ray, call.remote(self.epoch, *arguments))

    def close(self) -> None:
        if self.ray.is_initialized():
            self.ray.kill(self.host)


def _gone() -> None:
    raise WorkerLost("a worker is gone: Ray was shut down")


def _call(function: Any, *arguments: Any) -> Any:
    return function(*arguments)


class RayExecutor(futures.Executor):
    """Runs functions as tasks of Ray, each on a processor that it reserves."""

    def __init__(self) -> None:
        self.ray = running()
        self.task = self.ray.remote(max_retries=TRIALS - 1)(_call)
        self.references: dict[Answer, Any] = {}  # of tasks that run

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Answer:
        reference = self.task.remote(function, *arguments)
        answer = answer_of(self.ray, reference)
        self.references[answer] = reference
        answer.add_done_callback(self.references.pop)
        return answer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the tasks that run."""
        for reference in list(self.references.values()):
            self.ray.cancel(reference, force=True)
