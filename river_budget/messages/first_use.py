"""Print a line on a terminal while numba compiles, so that a first call does not look like a
hang.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

from .progress import Progress

SLOW_SECONDS = 1.0  # seconds of the first call of a pass after which the line is printed
PACKAGE = __name__.partition(".")[0]
_said = threading.Event()


@contextlib.contextmanager
def announced(slow: float = SLOW_SECONDS) -> Iterator[None]:
    """Print one line per process, on terminals only, if what is done meanwhile takes long."""
    if _said.is_set() or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(slow, _print_once)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _print_once() -> None:
    if _said.is_set() or Progress.drawing:  # a line would break a progress bar
        return
    _said.set()
    print(
        f"{PACKAGE}: code is compiled for its first use. This takes some seconds for each "
        "algorithm, "
        "once: the result is kept on disk.",
        file=sys.stderr,
        flush=True,
    )
