"""One lock per model: threads that learn, predict, look and copy take turns, and none is refused.

What can run a user's code (looking names up, converting values) stands before the lock. A batch is
learned in parts of about a millisecond. Between them the lock is free, but an RLock that is
released and taken again at once goes to nobody else: so where there are other threads the batch
sleeps for a moment, in which one that waits takes it.

The lock is re-entrant, so that a prediction from a signal handler, a finalizer or a debugger gets
its answer. A change inside a change is refused. `with` takes and releases an RLock in one step,
whenever Ctrl-C comes; a context manager written in Python would not.
"""

from __future__ import annotations

import functools
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])
PAUSE = (
    2e-5  # seconds that a batch sleeps between two parts; systems make it some four times as long
)
NESTED = (
    "this model is being changed, and a change inside a change is refused: a value or a name of "
    "the example, a signal "
    "handler or a finalizer has called a method that changes the model"
)
FORKED = (
    "this process was forked while a thread used this model, which may be half changed: load the "
    "model anew, or make "
    "it after the fork"
)
_owners: weakref.WeakKeyDictionary[Any, str] = (
    weakref.WeakKeyDictionary()
)  # and the name of its lock


def lock_of(owner: Any, name: str) -> Any:
    """A new RLock, which its owner keeps under this name: a forked child says so if a thread holds
    it at the fork.

    The owner has the name before it has the lock. A child forked in between has no use of such an
    owner.
    """
    _owners[owner] = name
    return threading.RLock()


class ModelLock:
    """The lock of a model. A copy of the model has its own.

    To look at the model or to predict: `with lock.held`. To change it: the same, and in it
    `changing` is set in a `try` and taken back in its `finally`. No context manager written in
    Python does both: with Ctrl-C as it is entered, the lock would belong to whatever keeps the
    exception.
    """

    __slots__ = ("__weakref__", "changing", "held")

    def __init__(self) -> None:
        self.held: Any = lock_of(self, "held")
        self.changing = False  # whether the thread that holds the lock is changing the model

    def __reduce__(self) -> Any:
        return ModelLock, ()

    def __deepcopy__(self, memo: Any) -> ModelLock:
        return ModelLock()

    def refuse_nested(self) -> None:
        """Raise for a change inside a change. With the lock."""
        if self.changing:
            raise RuntimeError(NESTED)


def yield_lock() -> None:
    """Between two parts of a batch, without the lock: let a thread that waits for it have it."""
    if threading.active_count() > 1:
        time.sleep(PAUSE)


class LostLock:
    """In a forked child, the lock of a model that another thread was using: nobody will release
    it.
    """

    def __enter__(self) -> None:
        raise RuntimeError(FORKED)

    def __exit__(self, *error: Any) -> None:
        pass


def _after_fork() -> None:
    """In a forked child: a model that another thread used is unusable, all others are free."""
    for owner, name in list(_owners.items()):
        held = getattr(owner, name, None)  # None: another thread was making the owner
        if held is not None and not isinstance(held, LostLock):
            if held.acquire(blocking=False):
                held.release()
            else:
                setattr(owner, name, LostLock())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def changes_the_model(method: Method) -> Method:
    """Decorator of a method that changes a model. Models loaded with predict_only=True refuse these
    methods.
    """

    @functools.wraps(method)
    def changing(self: Any, *arguments: Any, **named: Any) -> Any:
        lock = self._lock
        with lock.held:
            lock.refuse_nested()
            try:
                lock.changing = True
                return method(self, *arguments, **named)
            finally:
                lock.changing = False

    return mutating(cast(Method, changing))


def mutating(method: Method) -> Method:
    """Decorator of a method that changes a model and takes the lock itself."""
    method.changes_the_model = True  # type: ignore[attr-defined]
    return method


def locked_read(function: Method) -> Method:
    """Decorator of a function that inspects a model: it sees the state between two examples of
    other threads.

    Threads that learn wait for the function, so it should be quick.
    """

    @functools.wraps(function)
    def looking(model: Any, *arguments: Any, **named: Any) -> Any:
        with model._lock.held:
            return function(model, *arguments, **named)

    return cast(Method, looking)
