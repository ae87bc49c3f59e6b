"""Where workers and tasks run: in this process, or each in a process of its own that Ray runs."""

from __future__ import annotations

from concurrent import futures
from typing import Any

from .ray import RayExecutor, RayWorker
from .serial import Host, Serial, Worker

NAMES = ("serial", "ray")


def worker(backend: str, kind: Any, *arguments: Any) -> Worker:
    """A worker that is an object kind(*arguments), until it is closed."""
    if backend == "serial":
        return Worker(Host(), kind, *arguments)
    return RayWorker(kind, *arguments)


def executor(backend: str) -> futures.Executor:
    """What runs functions."""
    return Serial() if backend == "serial" else RayExecutor()
