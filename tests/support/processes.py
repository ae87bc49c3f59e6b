"""Run programs in separate processes, and functions in threads or with an interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

from folders import ROOT

PACKAGE = str(ROOT / "river_budget")
PATIENCE = 120  # seconds until a thread that should have ended is an error
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows SIGTERM kills a process as well


def output_of(*arguments, **variables):
    """The output of Python with these arguments and environment variables. Fails unless its exit
    code is 0.
    """
    command = [sys.executable, "-W", "ignore", *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, f"exit code {done.returncode}:\n{done.stderr[-3000:]}"
    return done.stdout


def ended(code, *arguments, limit=300, **variables):
    """(exit code, what was printed, errors) of a program in Python, in a process of its own.

    A signal is a negative exit code. Fails if it runs for longer than `limit` seconds.
    """
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, timeout=limit
    )
    return done.returncode, done.stdout, done.stderr[-3000:]


def in_threads(*works):
    """Run functions at the same time. Raises the first error; a thread that does not end is one,
    too.
    """
    errors, barrier = [], threading.Barrier(len(works))

    def safely(work):
        barrier.wait(PATIENCE)
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=safely, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def interrupted(work, moment, event, passed_over=lambda code: False):
    """Run a function with a KeyboardInterrupt at this moment, if there is such a moment. Returns
    whether there was.

    Moments are events ("call" or "line") in code of the package; the first is number 1.
    """
    seen = 0

    def trace(frame, happened, argument):
        nonlocal seen
        if not frame.f_code.co_filename.startswith(PACKAGE) or passed_over(frame.f_code):
            return None
        if happened == event:
            seen += 1
            if seen == moment:
                raise KeyboardInterrupt
        return trace if event == "line" else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def interrupted_at(moment, work):
    """A KeyboardInterrupt at a moment in which CPython answers signals: where a function begins, or
    behind a call of C.

    Returns the error, or None if there is no such moment.
    """
    seen = 0

    def profile(frame, event, argument):
        nonlocal seen
        if event in ("call", "c_return"):
            seen += 1
            if seen == moment:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        work()
    except KeyboardInterrupt as error:
        return error
    finally:
        sys.setprofile(None)
    return None
