"""Run tasks, several at the same time, and store each measurement as soon as it is finished."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterable, Sequence

from ...distributed.precompile import precompile
from ...progress import Progress
from .store import Store
from .tasks import Task, load


def compiled_kind(task: Task) -> tuple[str, ...]:
    """(model, kernel, maintenance): tasks for which these are equal run the same compiled code."""
    parts = (type(getattr(task.model, name, None)).__name__ for name in ("kernel", "maintenance"))
    return (type(task.model).__name__, *parts)


def measure(
    tasks: Iterable[Task], store: Store, jobs: int, progress: Progress | None = None
) -> None:
    """Run the tasks that the store does not hold.

    Threads are enough, as compiled code lets other threads run. They share the data.
    """
    todo = [task for task in tasks if task.key not in store]
    for model in {compiled_kind(task): task.model for task in todo}.values():
        precompile(model)
    for data in dict.fromkeys(task.data for task in todo):
        _measure([task for task in todo if task.data == data], store, jobs, progress)


def _measure(tasks: Sequence[Task], store: Store, jobs: int, progress: Progress | None) -> None:
    """Run tasks on one dataset in threads, and store each result when it is finished."""
    load(tasks[0])
    executor = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        futures = {executor.submit(task.run): task for task in tasks}
        for future in concurrent.futures.as_completed(futures):
            task = futures[future]
            store.add(task.key, future.result())
            if progress is not None:
                progress.advance(f"{task.data} {type(task.model).__name__}")
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
