"""Workers and tasks in this process, and what those in other processes have in common with them."""

from __future__ import annotations

from concurrent import futures
from typing import Any


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


Answer = futures.Future[Any]  # to a call, here at once and elsewhere later


class Serial(futures.Executor):
    """Runs functions in this process, each at once."""

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Answer:
        answer: Answer = futures.Future()
        try:
            answer.set_result(function(*arguments))
        except Exception as error:
            answer.set_exception(error)
        return answer


class Host:
    """Holds the object of a worker.

    Calls that are meant for an earlier object are refused. A process in the place of a lost one has
    no object at first, and refuses all, as where the object could not be made.
    """

    epoch = 0
    held: Any = None

    def begin(self, epoch: int, kind: Any, *arguments: Any) -> None:
        """Hold kind(*arguments) from now on, in place of the object before."""
        self.close()
        self.epoch, self.held = epoch, kind(*arguments)

    def call(self, epoch: int, method: str, *arguments: Any) -> Any:
        if epoch != self.epoch or self.held is None:
            raise WorkerLost("a worker is gone, or another has begun in its place")
        return getattr(self.held, method)(*arguments)

    def close(self) -> None:
        """Let the object go, as the end of a process would."""
        before, self.held = self.held, None
        if hasattr(before, "close"):
            before.close()


class Worker:
    """Has an object that may live elsewhere. Its methods must not change what they are given.

    An answer to a call is a future, with the error of the method, or `WorkerLost` if the process of
    the worker is gone.
    """

    epoch = 0  # how many objects there have been

    def __init__(self, host: Any):
        self.host = host

    def begin(self, kind: Any, *arguments: Any) -> Answer:
        """Begin, also anew after a loss: calls that were made before are refused from now on."""
        self.epoch += 1
        return self.send("begin", kind, *arguments)

    def submit(self, method: str, *arguments: Any) -> Answer:
        """Call a method of the object."""
        return self.send("call", method, *arguments)

    def send(self, method: str, *arguments: Any) -> Answer:
        """Call a method of the host."""
        return Serial().submit(getattr(self.host, method), self.epoch, *arguments)

    def close(self) -> None:
        self.host.close()
