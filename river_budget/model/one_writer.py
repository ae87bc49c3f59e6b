"""Exclusive access, here called the turn: one thread at a time changes a model, and no other inspects it meanwhile.

Compiled passes release the GIL, so two threads that write to one block would corrupt it. A method that
changes a model takes the turn, and a second thread that calls such a method gets an error. A thread that
inspects the model (number of vectors, summary, file) takes the turn too: it waits until a thread that learns
has learned its example or batch, and learning waits until an inspection ends. Predictions need no turn.
A thread that waits to inspect sets `wanted`, and the thread that learns pauses once before its next example: else
threads could switch only inside passes, as Python runs for less than its switch interval between them, and
the turn would never be found free.

A lock would take a tenth of the time of an example. A plain attribute takes almost no time and is safe:
CPython switches threads, and answers Ctrl-C, only at calls and when it jumps back from the end of a loop. Neither
happens between the last test of `while turn.wanted or turn.taken: turn.wait()` and the assignment behind the loop.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

SELF_LOCKING = "learn_one", "predict_then_learn_one"  # methods that take the turn in their own code
WAIT_PAUSE = 2e-5  # seconds between two tests
# A thread that learns waits longer and longer, as with each test it takes the GIL from the thread that inspects
LONGEST_PAUSE = 1e-3
LONGEST_WAIT = 5.0  # seconds that a thread waits for another one
# Seconds that a thread waits to learn while the inspecting thread is alive: a large model on a busy machine takes long to
# copy. In a forked process, in which that thread does not exist, LONGEST_WAIT holds.
LONGEST_WAIT_TO_LEARN = 120.0
Method = TypeVar("Method", bound=Callable[..., Any])
TWO_WRITERS = (
    "two threads at once would change this model: only one may, while others predict. (Or a name in the example "
    "would, while it is looked up; or this process was forked from one where a thread was learning: then load "
    "the model anew)"
)
LONG_CHANGE = (
    f"this model is being changed by another thread, and has been for {LONGEST_WAIT:g} seconds: ask again later. (Or this "
    "process was forked from one where a thread was learning: then load the model anew)"
)


class Turn:
    """Which thread, if any, changes or inspects the model. A copy of a model has its own Turn object."""

    __slots__ = ("begun", "learning", "looks", "taken", "thread", "wanted")

    def __init__(self) -> None:
        self.taken = False
        self.begun = False  # whether the pass over an example has begun; before, it may be refused
        self.learning = False  # whether Python converts an example, whose names may run code
        self.looks = False  # whether the thread that has the turn only inspects the model
        self.wanted = False  # whether a thread that learns is to let another one inspect the model
        self.thread = 0  # ident of the thread that has the turn for more than one example

    def __reduce__(self) -> Any:
        return Turn, ()

    def wait(self) -> None:
        """Wait for threads that inspect the model, or want to; raise an error if a thread is changing it."""
        start, pause = time.monotonic(), WAIT_PAUSE
        while self.taken:
            # CPython may switch threads when it jumps back from the end of the loop, and a thread that inspects may
            # end there: so test `taken` again
            if self.taken and not self.looks:
                raise RuntimeError(TWO_WRITERS)
            waited = time.monotonic() - start
            patience = LONGEST_WAIT_TO_LEARN if is_alive(self.thread) else LONGEST_WAIT
            if self.thread == threading.get_ident() or waited > patience:
                raise RuntimeError(TWO_WRITERS)
            time.sleep(pause)
            pause = min(2.0 * pause, LONGEST_PAUSE)
        if self.wanted:
            self.wanted = False  # once only, as the other thread may have given up
            time.sleep(WAIT_PAUSE)

    def wait_to_look(self) -> None:
        """Wait until no thread changes or inspects the model; raise an error after some seconds."""
        end = time.monotonic() + LONGEST_WAIT
        while self.taken:
            if time.monotonic() > end:
                raise RuntimeError(LONG_CHANGE)
            self.wanted = self.wanted or not self.looks
            time.sleep(WAIT_PAUSE)

    def refuse(self) -> NoReturn:
        """Raise the error for two threads that change a model."""
        raise RuntimeError(TWO_WRITERS)


def is_alive(ident: int) -> bool:
    """Whether a thread of this process has this ident; 0, which a thread sets before it gives the turn back, counts."""
    return ident == 0 or any(thread.ident == ident for thread in threading.enumerate())


def changes_the_model(method: Method) -> Method:
    """Decorator of a method that changes a model: one thread at a time may call such methods.

    Models loaded with predict_only=True refuse these methods. (Those of SELF_LOCKING take the turn in
    _learn_row.)
    """
    marked = method if method.__name__ in SELF_LOCKING else takes_a_turn(method)
    marked.changes_the_model = True  # type: ignore[attr-defined]
    return marked


def takes_a_turn(method: Method) -> Method:
    """Decorator of a method during which no other thread changes or inspects the model."""

    @functools.wraps(method)
    def alone(self: Any, *arguments: Any, **named: Any) -> Any:
        turn, thread = self.turn, threading.get_ident()
        if turn.thread == thread:  # a method with the turn has called this one,
            if turn.learning:  # or the `__eq__` of a feature name, while an example is learned
                turn.refuse()
            return method(self, *arguments, **named)
        while turn.wanted or turn.taken:
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
    """Decorator of a function that inspects a model: it sees the state between two examples of other threads.

    Threads that learn wait for the function, so it should be quick.
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
