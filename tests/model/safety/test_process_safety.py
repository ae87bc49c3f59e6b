"""Ordinary use does not end the process: each of these runs in one of its own (process_work.py), whose exit code counts.

Python and C fill memory that is given back (PYTHONMALLOC, MALLOC_PERTURB_), so that whoever still uses it is found out.
A process takes seconds to start, so several models are tried in one; it says which when it ends.
"""

from __future__ import annotations

import concurrent.futures
import os
import signal
import subprocess
import sys

import pytest
from folders import PYTHONPATH, SUPPORT
from process_work import DOING, LEARNERS, QUESTIONS

PATIENCE = 480  # seconds
FILLED = {"PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "221"}


def what_happened(code, stderr):
    """What was done last, the exit code in words, what the thread that failed was doing; and the end of stderr."""
    how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    *_, last = (line for line in stderr.splitlines() if line.startswith(DOING))
    last = last.removeprefix(DOING)
    said = stderr.partition("\nExtension modules:")[0]  # a long list behind each fault
    _, found, trace = said.partition("Current thread")
    return f"{last}: {how}\n{found}{trace[:1500]}" if found else f"{last}: {how}\n{said[-1500:]}"


def works(work, *arguments, **variables):
    """Do works of process_work.py in one other process, with each of several arguments. Fails unless it ends well."""
    some = [",".join(each) if isinstance(each, list) else str(each) for each in (work, *arguments)]
    try:
        done = subprocess.run(
            [sys.executable, str(SUPPORT / "process_work.py"), *some],
            env=os.environ | {"PYTHONPATH": PYTHONPATH} | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{some}: no end after {PATIENCE} s") from error
    assert done.returncode == 0, what_happened(done.returncode, done.stderr)


@pytest.mark.skipif(os.name != "posix", reason="no process ends by a signal")
def test_a_signal_is_reported():
    with pytest.raises(AssertionError, match=r"(?s)fault: ended by SIGSEGV.*in fault"):
        works("fault")
    said = what_happened(1, f"{DOING}mistake 2\na mistake")
    assert said == f"mistake 2: exit code 1\n{DOING}mistake 2\na mistake"


# Threads


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of a model, and compiled functions on disk."""
    path = tmp_path_factory.mktemp("first_use") / "model"
    works("save", path)
    return path


@pytest.mark.parametrize("n", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_the_first_use_may_come_from_eight_threads(n, saved):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = [pool.submit(works, "first_use", saved, 8) for _ in range(n)]
    failures = [str(each.exception()) for each in done if each.exception() is not None]
    assert not failures, f"{len(failures)} of {n} processes failed; the first: {failures[0]}"


def test_a_model_may_be_looked_at_while_it_learns():
    works("polled", ["words", "auto-words"], list(QUESTIONS), 0.2, **FILLED)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_may_be_looked_at_for_long(learner):
    works("polled", learner, list(QUESTIONS), 30, **FILLED)
