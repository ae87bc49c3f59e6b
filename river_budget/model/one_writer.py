"""One thread at a time changes a model, and nobody looks at it meanwhile.

Compiled passes run without Python's lock, so two threads in one block would spoil it. Whoever changes a model takes
its turn. A second thread that would change it is refused. A thread that looks at it (how many vectors, a summary, a file)
takes a turn too: it waits until the other one has learned its example or batch, and that one waits until it has looked.

A lock would cost a tenth of an example. A plain attribute costs next to nothing, and will do: CPython changes threads,
and answers Ctrl-C, at calls and at the ends of loops, and there is neither between the question whether a turn is taken
(`while turn.taken: turn.wait()`) and the answer. Predictions need no turn.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

ALONE = "learn_one", "predict_then_learn_one"
PAUSE = 2e-5  # seconds between one question and the next
LONGEST = 5.0  # seconds that a thread waits for another one
Method = TypeVar("Method", bound=Callable[..., Any])
TWO = (
    "two threads at once would change this model: only one may, while others predict. (Or this process was "
    "forked from one where a thread was learning: then load the model anew)"
)
CHANGING = (
    f"this model is being changed by another thread, and has been for {LONGEST:g} seconds: ask again later. (Or this "
    "process was forked from one where a thread was learning: then load the model anew)"
)


class Turn:
    """Whether a thread is changing the model, or looking at it. A copy of a model has a turn of its own."""

    __slots__ = ("begun", "looks", "taken", "thread")

    def __init__(self) -> None:
        self.taken = False
        self.begun = False  # the pass over an example: until then it may be refused
        self.looks = False  # the thread that has it changes nothing
        self.thread = 0  # whose turn it is, where that takes more than one example

    def __reduce__(self) -> Any:
        return Turn, ()

    def wait(self) -> None:
        """Until a thread that looks at the model has done so. One that changes it is not waited for."""
        end = time.monotonic() + LONGEST
        while self.taken:
            if not self.looks or self.thread == threading.get_ident() or time.monotonic() > end:
                raise RuntimeError(TWO)
            time.sleep(PAUSE)

    def wait_to_look(self) -> None:
        """Until no thread changes the model or looks at it."""
        end = time.monotonic() + LONGEST
        while self.taken:
            if time.monotonic() > end:
                raise RuntimeError(CHANGING)
            time.sleep(PAUSE)

    def refuse(self) -> NoReturn:
        raise RuntimeError(TWO)


def changes_the_model(method: Method) -> Method:
    """Mark a method that changes a model: one thread at a time may call such methods, and models that were loaded
    with predict_only=True refuse them. (Those of ALONE take their turn by themselves, where they learn a row.)"""
    marked = method if method.__name__ in ALONE else takes_a_turn(method)
    marked.changes_the_model = True  # type: ignore[attr-defined]
    return marked


def takes_a_turn(method: Method) -> Method:
    """A method during which no other thread changes the model, or looks at it."""

    @functools.wraps(method)
    def alone(self: Any, *arguments: Any, **named: Any) -> Any:
        turn, thread = self.turn, threading.get_ident()
        if turn.thread == thread:  # called by another such method
            return method(self, *arguments, **named)
        while turn.taken:
            turn.wait()
        turn.taken = True
        try:
            turn.thread = thread
            return method(self, *arguments, **named)
        finally:
            turn.thread = 0
            turn.taken = False

    return cast(Method, alone)


def looks_at_the_model(function: Method) -> Method:
    """A function of a model that sees it between two examples, whatever other threads do.

    It should take no longer than a thread that learns may wait.
    """

    @functools.wraps(function)
    def looking(model: Any, *arguments: Any, **named: Any) -> Any:
        turn, thread = model.turn, threading.get_ident()
        if turn.thread == thread:
            return function(model, *arguments, **named)
        while turn.taken:
            turn.wait_to_look()
        turn.taken = turn.looks = True
        try:
            turn.thread = thread
            return function(model, *arguments, **named)
        finally:
            turn.thread = 0
            turn.looks = turn.taken = False

    return cast(Method, looking)
