"""One thread at a time changes a model.

Compiled passes run without Python's lock, so two threads in one block would spoil it. Whoever changes a model takes
its turn, and who finds it taken is refused. A lock would cost a tenth of an example. A plain attribute costs next to
nothing, and will do: CPython changes threads, and answers Ctrl-C, at calls and at the ends of loops, and there is
neither between the question whether a turn is taken and the answer. Predictions need no turn.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

ALONE = "learn_one", "predict_then_learn_one"
Method = TypeVar("Method", bound=Callable[..., Any])
BUSY = (
    "two threads at once would change this model: only one may, while others predict. (Or this process was "
    "forked from one where a thread was learning: then load the model anew)"
)


class Turn:
    """Whether a thread is changing the model. A copy of a model has a turn of its own."""

    __slots__ = ("taken", "thread")

    def __init__(self) -> None:
        self.taken = False
        self.thread = 0  # whose turn it is, where that takes more than one example

    def __reduce__(self) -> Any:
        return Turn, ()

    def refuse(self) -> NoReturn:
        raise RuntimeError(BUSY)


def changes_the_model(method: Method) -> Method:
    """Mark a method that changes a model: one thread at a time may call such methods, and models that were loaded
    with predict_only=True refuse them. (Those of ALONE take their turn by themselves, where they learn a row.)"""
    marked = method if method.__name__ in ALONE else takes_a_turn(method)
    marked.changes_the_model = True  # type: ignore[attr-defined]
    return marked


def takes_a_turn(method: Method) -> Method:
    """A method during which no other thread changes the model."""

    @functools.wraps(method)
    def alone(self: Any, *arguments: Any, **named: Any) -> Any:
        turn, thread = self.turn, threading.get_ident()
        if turn.thread == thread:  # called by another such method
            return method(self, *arguments, **named)
        if turn.taken:
            turn.refuse()
        turn.taken = True
        try:
            turn.thread = thread
            return method(self, *arguments, **named)
        finally:
            turn.thread = 0
            turn.taken = False

    return cast(Method, alone)
