"""Ordinary use does not end the process: each of these runs in one of its own (process_work.py), whose exit code counts.

Python and C fill memory that is given back (PYTHONMALLOC, MALLOC_PERTURB_), so that whoever still uses it is found out.
"""

from __future__ import annotations

import concurrent.futures
import os
import signal
import subprocess
import sys

import pytest
from folders import PYTHONPATH, SUPPORT
from process_work import LEARNERS, QUESTIONS

PATIENCE = 240  # seconds; a list of nodes that runs in a circle never ends
FILLED = {"PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "221"}
OF_STREAMS = ["BSGD", "BPA", "RBP", "KernelPerceptron-laplacian", "BSGD-merge", "NORMA", "BOGD"]
OF_NAMES = ["RBP", "BSGD", "BSGD-oldest", "NOGD", "Auto"]
KINDS = ["object", "text", "whole"]


def slow_but(quick, all_of_them):
    """The others run with `pytest -m slow`: a process takes seconds."""
    return [
        pytest.param(each, marks=[] if each in quick else pytest.mark.slow) for each in all_of_them
    ]


def what_happened(code, stderr):
    """The exit code in words; what the thread that failed was doing; and the end of stderr."""
    how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    said = stderr.partition("\nExtension modules:")[0]  # a long list behind each fault
    _, found, trace = said.partition("Current thread")
    return f"{how}\n{found}{trace[:1500]}" if found else f"{how}\n{said[-1500:]}"


def works(*arguments, patience=PATIENCE, **variables):
    """Do a work of process_work.py in another process. Fails unless it ends well. Returns what it prints."""
    command = [sys.executable, str(SUPPORT / "process_work.py"), *map(str, arguments)]
    try:
        done = subprocess.run(
            command,
            env=os.environ | {"PYTHONPATH": PYTHONPATH} | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{' '.join(arguments)}: no end after {patience} s") from error
    assert done.returncode == 0, (
        f"{' '.join(map(str, arguments))}: {what_happened(done.returncode, done.stderr)}"
    )
    return done.stdout


def test_a_signal_is_reported():
    with pytest.raises(AssertionError, match=r"(?s)fault: ended by SIGSEGV.*in fault"):
        works("fault")
    with pytest.raises(AssertionError, match=r"(?s)mistake: exit code 1.*a mistake"):
        works("mistake")


# Names whose keys are equal


@pytest.mark.parametrize("model", OF_STREAMS)
def test_words_with_one_key_are_two_names(model):
    works("renamed", model, "words", 3000)


@pytest.mark.parametrize("names", ["numbers", "number"])
@pytest.mark.parametrize("model", slow_but(["BSGD", "RBP", "BOGD"], OF_STREAMS))
def test_numbers_with_one_key_are_two_names(model, names):
    """2**53 and 2**53 + 1; a word, and the number that is its CRC-32."""
    works("renamed", model, names, 1500)


@pytest.mark.parametrize("model", slow_but(["RBP", "BSGD-merge"], OF_STREAMS))
def test_other_names_may_be_renamed(model):
    """What the tests above compare is equal where no keys are."""
    works("renamed", model, "others", 1500)


# Names that act


@pytest.mark.parametrize("kind", slow_but(["object"], KINDS))
@pytest.mark.parametrize("model", OF_NAMES)
def test_a_name_may_empty_the_example_when_it_is_compared(model, kind):
    works("knows_an_object", model, kind, **FILLED)


@pytest.mark.parametrize("kind", slow_but(["object"], KINDS))
@pytest.mark.parametrize("model", OF_NAMES)
def test_a_name_may_raise_when_it_is_compared(model, kind):
    works("raises_inside", model, kind, **FILLED)


# Threads


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of a model, and compiled functions on disk."""
    path = tmp_path_factory.mktemp("first_use") / "model"
    works("save", path, "BSGD-table")
    works("first_use", path, 1)
    return path


def first_uses(saved, n):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = [pool.submit(works, "first_use", saved, 8) for _ in range(n)]
    failures = [str(each.exception()) for each in done if each.exception() is not None]
    assert not failures, f"{len(failures)} of {n} processes failed; the first: {failures[0]}"


def test_the_first_use_may_come_from_eight_threads(saved):
    first_uses(saved, 6)


@pytest.mark.slow
def test_the_first_use_may_come_from_eight_threads_thirty_times(saved):
    first_uses(saved, 30)


@pytest.mark.parametrize("group", QUESTIONS)
@pytest.mark.parametrize("learner", ["words", "rows", "auto-words"])
def test_a_model_may_be_looked_at_while_it_learns(learner, group):
    """With a page behind each array, so that memory that was given back is known at once."""
    works("polled", learner, group, 2, "behind", **FILLED)


@pytest.mark.slow
@pytest.mark.parametrize("fence", ["none", "before"])
@pytest.mark.parametrize("group", QUESTIONS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_may_be_looked_at_for_long(learner, group, fence):
    works("polled", learner, group, 30, fence, **FILLED)
