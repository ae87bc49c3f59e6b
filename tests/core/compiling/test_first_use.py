"""What is said while code is compiled for the first time, and compiling ahead."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import types

import pytest
from models import MODELS, TRANSFORMERS, one_of_each
from optional import needs_cache, needs_compiler
from processes import ended

import river_budget as rb
from river_budget.core.block import random_numbers
from river_budget.core.compiling.plain import PLAIN
from river_budget.experiments import command
from river_budget.experiments.speed import compiling
from river_budget.messages import first_use
from river_budget.messages.progress import Progress

TABLE = MODELS + TRANSFORMERS


class Screen(io.StringIO):
    def __init__(self, terminal=True):
        super().__init__()
        self.isatty = lambda: terminal


def compiling_of(function):
    return types.SimpleNamespace(data={"dispatcher": types.SimpleNamespace(py_func=function)})


def function_of(module):
    return types.SimpleNamespace(__module__=module)


OURS, THEIRS = (
    compiling_of(function_of(name)) for name in ("river_budget.core.passes.gradient.bsgd", "numpy")
)


def watched(monkeypatch, terminal=True):
    """A screen in the place of the standard error stream. (In a fixture, pytest would put its own back.)"""
    screen = Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def heard(listener, event):
    """A compilation that takes until the timer has fired, if there is one."""
    listener.on_start(event)
    if listener.timer is not None:
        listener.timer.join()
    listener.on_end(event)


def test_a_slow_compilation_is_told_once(monkeypatch):
    screen = watched(monkeypatch)
    listener = first_use.FirstUse(slow=0.0)
    heard(listener, OURS)
    assert "code is compiled for its first use" in screen.getvalue()
    heard(listener, OURS)
    assert screen.getvalue().count("\n") == 1


def test_a_quick_compilation_is_not_told(monkeypatch):
    screen = watched(monkeypatch)
    listener = first_use.FirstUse(slow=3600.0)
    listener.on_start(OURS)
    timer = listener.timer
    listener.on_start(OURS)  # a function that the first one calls
    listener.on_end(OURS)
    assert listener.timer is timer
    listener.on_end(OURS)
    timer.join()
    assert screen.getvalue() == ""


def test_many_quick_compilations_are_told(monkeypatch):
    screen, now = watched(monkeypatch), [0.0]
    monkeypatch.setattr(first_use.time, "monotonic", lambda: now[0])
    listener = first_use.FirstUse(slow=1000.0)
    for _ in range(2):
        listener.on_start(OURS)
        listener.timer.cancel()
        now[0] += 500.0
        listener.on_end(OURS)
    assert screen.getvalue() == ""
    listener.on_start(OURS)
    timer = listener.timer
    assert timer.interval == 0.0
    timer.join()
    listener.on_end(OURS)
    assert "code is compiled for its first use" in screen.getvalue()


def test_nothing_is_told_in_a_log_file_beside_a_bar_or_of_the_code_of_others(monkeypatch):
    screen = watched(monkeypatch)
    with Progress(1, "bar", Screen()):
        heard(first_use.FirstUse(slow=0.0), OURS)
    heard(first_use.FirstUse(slow=0.0), THEIRS)
    assert screen.getvalue() == ""
    assert Progress.drawing == 0
    file = watched(monkeypatch, terminal=False)
    heard(first_use.FirstUse(slow=0.0), OURS)
    assert file.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)  # a program without a console
    heard(first_use.FirstUse(slow=0.0), OURS)


@needs_cache
@pytest.mark.slow
def test_a_terminal_sees_it_and_a_second_process_does_not(tmp_path):
    code = "import river_budget as rb; rb.ForgetronClassifier().learn_one({'a': 1.0}, True)"
    told = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", code], stderr=theirs, env=environment, check=True)
        os.close(theirs)
        try:
            told.append(os.read(ours, 1000))
        except OSError:  # nothing was written
            told.append(b"")
        os.close(ours)
    assert b"code is compiled for its first use" in told[0]
    assert told[1] == b""


FIRST = """
import sys, threading
import river_budget as rb
if sys.argv[2] == "save":
    model = rb.BSGDClassifier(20)
    for i in range(60):
        model.learn_one({"a": i % 7, "b": i % 5}, i % 3 == 0)
        model.predict_one({"a": 1.0, "b": 2.0})
    rb.save(model, sys.argv[1])
else:
    sys.setswitchinterval(1e-6)
    model, barrier, found = rb.load(sys.argv[1]), threading.Barrier(8), []

    def ask(k):
        barrier.wait()
        found.extend(model.predict_one({"a": i % 7, "b": float(k)}) for i in range(300))

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(found))
"""


@pytest.mark.parametrize("n", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_the_first_use_may_come_from_eight_threads(n, tmp_path):
    """In processes of their own, which load compiled functions from the disk at the same time."""
    assert ended(FIRST, tmp_path / "model", "save") == (0, "", "")
    for _ in range(n):
        assert ended(FIRST, tmp_path / "model", "ask") == (0, "2400\n", "")


# ahead


def test_every_estimator_can_be_compiled_by_its_name():
    named = {kind for kinds in compiling.families().values() for kind in kinds}
    assert {rb.BSGDClassifier, rb.AutoKernelRegressor, rb.Nystroem, rb.KernelOneClassSVM} <= named
    assert compiling.families()["BSGD"] == [rb.BSGDClassifier, rb.BSGDRegressor]


@needs_compiler
@pytest.mark.parametrize("model", one_of_each(TABLE))
def test_what_a_class_runs_is_among_its_passes(model):
    found = set(compiling.passes_of(type(model)))
    for function in (model.scoring_pass, model.learning_pass):
        assert function is None or function in found
    assert found <= {*compiling.all_passes()}


@needs_compiler
def test_all_passes_take_a_call_but_a_few():
    others = {random_numbers.fill_uniforms: ("keys", "drawn")}
    for function in compiling.all_passes():
        code = function.py_func.__code__
        arguments = code.co_varnames[: code.co_argcount]
        assert arguments == others.get(function, ("call",))


@needs_compiler
def test_the_command_compiles_what_is_named(capsys):
    assert command.main(["compile", "RBP", "ForgetronClassifier"]) == command.GOOD
    out = capsys.readouterr().out
    kept = "not kept: RIVER_BUDGET_PLAIN is set" if PLAIN else "kept in"
    assert "passes, 0 compiled anew" in out or f"compiled anew; {kept}" in out
    assert command.main(["compile", "Bayes"]) == command.USAGE
    assert "there is no estimator 'Bayes'" in capsys.readouterr().err
