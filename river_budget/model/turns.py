"""One thread at a time changes a model.

Compiled passes run without Python's lock, so two threads in one block would spoil it. Whoever changes a model takes
its turn, a list with one item, and puts it back in the end; who finds the list empty is refused. A lock would cost a
tenth of an example, the list a fiftieth. Predictions need no turn.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, NoReturn

BUSY = (
    "two threads at once would change this model: only one may, while others predict. (Or this process was "
    "forked from one where a thread was learning: then load the model anew)"
)


class Turn(list[Any]):
    """Holds one item, and none while a thread changes the model.

    A copy of a model has a turn of its own.
    """

    __slots__ = ("thread",)

    def __init__(self) -> None:
        super().__init__([None])
        self.thread = 0  # whose turn it is, where that takes more than one example

    def __reduce__(self) -> Any:
        return Turn, ()

    def take(self) -> None:
        """Take the item, or raise if another thread has it."""
        try:
            self.pop()
        except IndexError:
            self.refuse()
        except BaseException:  # Ctrl-C, right after
            self.append(None)
            raise

    def refuse(self) -> NoReturn:
        raise RuntimeError(BUSY) from None


def changes_the_model(method: Any) -> Any:
    """Mark a method that changes a model: one thread at a time may call such methods, and models that were loaded
    with predict_only=True refuse them. (learn_one takes its turn by itself, where it learns a row.)"""
    if method.__name__ == "learn_one":
        method.changes_the_model = True
        return method

    @functools.wraps(method)
    def alone(self: Any, *arguments: Any, **named: Any) -> Any:
        turn, thread = self.turn, threading.get_ident()
        if turn.thread == thread:  # called by another such method
            return method(self, *arguments, **named)
        turn.take()
        try:
            turn.thread = thread
            return method(self, *arguments, **named)
        finally:
            turn.thread = 0
            turn.append(None)

    alone.changes_the_model = True  # type: ignore[attr-defined]
    return alone
