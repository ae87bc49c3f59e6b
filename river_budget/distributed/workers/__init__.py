"""Where workers and tasks run: in this process, or each in a process of its own that Ray runs."""

from __future__ import annotations

from concurrent import futures

from .ray import RayExecutor, RayWorker
from .serial import Host, Serial, Worker

BACKENDS = ("serial", "ray")


def new_worker(backend: str) -> Worker:
    """A worker, until it is closed."""
    return Worker(Host()) if backend == "serial" else RayWorker()


def new_executor(backend: str) -> futures.Executor:
    return Serial() if backend == "serial" else RayExecutor()
