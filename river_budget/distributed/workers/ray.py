"""Workers and tasks in processes that Ray runs, and starts anew if they are lost: a worker then has
no object.
"""

from __future__ import annotations

import threading
from concurrent import futures
from typing import Any

from .serial import Answer, Host, Worker, WorkerLost

BETWEEN_LOOKS = 0.2  # seconds, at whether Ray still runs
GONE = "a worker is gone: Ray was shut down"
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


class Answers:
    """The answers to calls in other processes. Ray forgets calls when it is shut down: then these
    are errors.
    """

    def __init__(self, ray: Any):
        self.ray, self.closed = ray, threading.Event()
        self.waiting: dict[Answer, Any] = {}  # with Ray's references
        threading.Thread(target=self._watch, daemon=True).start()

    def to(self, call: Any, *arguments: Any) -> Answer:
        """The answer to a call of one of Ray's functions or methods."""
        answer: Answer = futures.Future()
        if not self.ray.is_initialized():  # a call would start another Ray
            answer.set_exception(WorkerLost(GONE))
            return answer

        def receive(received: Answer) -> None:
            if self.waiting.pop(answer, None) is None:  # it is an error already
                return
            if (error := received.exception()) is None:
                answer.set_result(received.result())
            else:
                answer.set_exception(_raised(self.ray, error))

        answer.set_running_or_notify_cancel()  # so that nobody else ends it
        self.waiting[answer] = reference = call.remote(*arguments)
        reference.future().add_done_callback(receive)
        return answer

    def _watch(self) -> None:
        while not self.closed.wait(BETWEEN_LOOKS):
            if not self.ray.is_initialized():
                for answer in list(self.waiting):
                    if self.waiting.pop(answer, None) is not None:
                        answer.set_exception(WorkerLost(GONE))


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


class RayWorker(Worker):
    """A worker in a Ray actor."""

    def __init__(self) -> None:
        self.ray = running()
        self.answers = Answers(self.ray)
        super().__init__(self.ray.remote(**ACTOR)(Host).remote())

    def send(self, method: str, *arguments: Any) -> Answer:
        call = getattr(self.host, method)
        if method == "begin":  # also in a process that takes the place of a lost one
            call = call.options(max_task_retries=-1)
        return self.answers.to(call, self.epoch, *arguments)

    def close(self) -> None:
        self.answers.closed.set()
        if self.ray.is_initialized():
            self.ray.kill(self.host)


def _call(function: Any, *arguments: Any) -> Any:
    return function(*arguments)


class RayExecutor(futures.Executor):
    """Runs functions as tasks of Ray, each on a processor that it reserves."""

    def __init__(self) -> None:
        self.ray = running()
        self.answers = Answers(self.ray)
        self.task = self.ray.remote(max_retries=TRIALS - 1)(_call)

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Answer:
        return self.answers.to(self.task, function, *arguments)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the tasks that run."""
        self.answers.closed.set()
        if self.ray.is_initialized():
            for reference in list(self.answers.waiting.values()):
                self.ray.cancel(reference, force=True)
