"""Print a line on a terminal while numba compiles, so that a first call does not look like a hang."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from numba.core import event

from .progress import Progress

SLOW_SECONDS = 1.0  # seconds of compilation after which the line is printed
PACKAGE = __name__.partition(".")[0]


class FirstUse(event.Listener):  # type: ignore[misc]
    """A listener to numba's compilation events that prints one line per process, on terminals only."""

    def __init__(self, slow: float = SLOW_SECONDS):
        self.slow = slow
        self.said = False
        self.depth = 0  # nesting: callees are compiled while their callers are
        self.spent = 0.0  # seconds spent on compilation so far
        self.begun = 0.0
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        self.depth += 1
        if self.depth > 1 or self.said or function.__module__.partition(".")[0] != PACKAGE:
            return
        if sys.stderr is None or not sys.stderr.isatty():
            return
        self.begun = time.monotonic()
        self.timer = threading.Timer(max(self.slow - self.spent, 0.0), self._print_once)
        self.timer.daemon = True
        self.timer.start()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.timer = None
            self.spent += time.monotonic() - self.begun

    def _print_once(self) -> None:
        if self.said or Progress.drawing:  # a line would break a progress bar
            return
        self.said = True
        print(
            f"{PACKAGE}: code is compiled for its first use. This takes some seconds for each algorithm, "
            "once: the result is kept on disk.",
            file=sys.stderr,
            flush=True,
        )


def announce_compilation() -> None:
    """Register the listener with numba."""
    event.register("numba:compile", FirstUse())  # type: ignore[no-untyped-call]
