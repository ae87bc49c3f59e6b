"""Progress: a progress bar on the standard error stream."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

BAR_WIDTH = 20  # characters of the bar
REDRAW_SECONDS = 0.1  # seconds between two drawings on a terminal
LINE_SECONDS = 10.0  # seconds between two lines elsewhere, as in a log file
ESTIMATE_SHARE = 0.1  # with a smaller share of the steps done, the remaining time is not estimated


class Progress:
    """A progress bar: the steps done, the time they took, and an estimate for the rest.

    On a terminal it is one line that is updated. Elsewhere, as in a log file, it is a new line
    every ten seconds. Threads may share it.

    Parameters
    ----------
    total
        The number of steps.
    label
        What the steps are part of.
    stream
        Where to write; None is the standard error stream.
    enabled
        False writes nothing. Nor is anything written where there is no stream: programs without a
        console have none.

    Examples
    --------

    >>> import sys
    >>> from river_budget.messages.progress import Progress

    >>> with Progress(2, "count", sys.stdout) as bar:
    ...     bar.advance("one")
    ...     bar.advance("two")
    count 0/2, 0:00 passed
    count 2/2, 0:00 passed

    """

    drawing = 0  # the number of bars on a terminal at this moment

    def __init__(self, total: int, label: str, stream: TextIO | None = None, enabled: bool = True):
        self.total = total
        self.label = label
        self.done = 0
        self._stream = (stream or sys.stderr) if enabled else None
        self._terminal = self._stream is not None and self._stream.isatty()
        Progress.drawing += self._terminal
        self._text = ""
        self._began = time.monotonic()
        self._drawn = -LINE_SECONDS  # when the bar was last drawn, in seconds from the start
        self._length = 0
        self._lock = threading.RLock()
        self._draw()

    def advance(self, text: str = "") -> None:
        """Count one more step as done; the text says which."""
        with self._lock:
            self.done += 1
            self.show(text)

    def show(self, text: str) -> None:
        """Show a text between two steps."""
        with self._lock:
            self._text = text
            since = self._elapsed - self._drawn
            if since >= (REDRAW_SECONDS if self._terminal else LINE_SECONDS):
                self._draw()

    def close(self) -> None:
        """Draw the bar for the last time and end the line."""
        with self._lock:
            self._text = ""
            self._draw()
            if self._stream is not None and self._terminal:
                self._stream.write("\n")
                self._stream.flush()
                Progress.drawing -= 1
            self._stream = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _draw(self) -> None:
        if self._stream is None:
            return
        if self._terminal:
            line = self._bar()[: shutil.get_terminal_size().columns - 1]  # a full line would break
            self._stream.write("\r" + line.ljust(self._length))
            self._length = len(line)
        else:
            self._stream.write(f"{self.label} {self._state()}\n")
        self._stream.flush()
        self._drawn = self._elapsed

    def _bar(self) -> str:
        filled = BAR_WIDTH * self.done // max(self.total, 1)
        return f"{self.label} [{'#' * filled:.<{BAR_WIDTH}}] {self._state()}"

    def _state(self) -> str:
        """The numbers of steps, the times and the text."""
        passed = self._elapsed
        state = f"{self.done}/{self.total}, {clock(passed)} passed"
        if 0 < ESTIMATE_SHARE * self.total <= self.done < self.total:
            state += f", {clock(passed * (self.total - self.done) / self.done)} to go"
        return f"{state}: {self._text}" if self._text else state


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours where there are any.

    >>> clock(75.4), clock(3675)
    ('1:15', '1:01:15')

    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
