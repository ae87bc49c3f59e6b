"""Functions that passes share (core/compiling/by_address.py): compiled when a model comes that needs them, and not before."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from models import MODELS, TRANSFORMERS, learned, stream_for
from optional import needs_compiler
from river import base

import river_budget as rb
from river_budget.core.block import blocks
from river_budget.core.compiling import by_address, plain
from river_budget.core.compiling.needs import Need
from river_budget.kernels import RBF

pytestmark = needs_compiler  # else nothing is compiled, and all is at hand

PLAIN = Need.EXAMPLES | Need.PRODUCTS | Need.KERNEL


def made_ready(code, monkeypatch):
    """The same as if this process had begun just now."""
    with monkeypatch.context() as patch:
        patch.setattr(by_address, "ready", 0)
        exec(code, {"rb": rb, "np": np})
        return Need(by_address.ready)


@pytest.mark.parametrize(
    ("code", "needs"),
    [
        ("rb.RBPClassifier()", Need(0)),
        ("rb.RBPClassifier().learn_one({'a': 1.0}, True)", PLAIN),
        ("rb.FOGDClassifier().learn_one({'a': 1.0}, True)", Need.EXAMPLES | Need.PRODUCTS),
        (
            "m = rb.PolynomialCountSketch(); m.learn_one({'a': 1.0}); m.transform_one({'a': 1.0})",
            Need.EXAMPLES,
        ),
        ("rb.AutoKernelRegressor().learn_one({'a': 1.0}, 1.0)", Need.AUTO | Need.AUTO_NUMBERS),
        (
            "rb.RBPClassifier(kernel=rb.kernels.Laplacian()).learn_one({'a': 1.0}, True)",
            PLAIN | Need.OTHER_KERNELS,
        ),
        ("m = rb.RBPClassifier()\nfor y in 'abc': m.learn_one({'a': 1.0, y: 1.0}, y)", PLAIN),
    ],
)
def test_what_models_need_is_made_ready_and_nothing_else(code, needs, monkeypatch):
    assert made_ready(code, monkeypatch) == needs


@pytest.mark.parametrize("model", MODELS)
def test_the_needs_of_a_block_follow_from_its_header(model):
    model = learned(model.clone(), 30)
    needs = Need(int(blocks.views(model.block).head.needs))
    own = model.algorithm.columns.needs
    assert needs & own == own
    if not needs & Need.KERNEL:
        return
    assert bool(needs & Need.OTHER_KERNELS) == (not isinstance(model.kernel_in_use, RBF))
    x, _ = stream_for(model, 1)[0]
    model.predict_one(x)
    assert by_address.ready & needs == needs


@pytest.fixture
def called_too_early(monkeypatch):
    """The names of shared functions that are called in this test and are not ready: here it is as if this process had
    begun just now, and instead of a crash there is a note."""
    found, traps = [], []
    for some in by_address._functions.values():
        for function, _, cell in some:
            name = function.py_func.__name__
            trap = ctypes.CFUNCTYPE(ctypes.c_int)(lambda name=name: found.append(name) or 0)
            traps.append(trap)  # alive as long as somebody may call it
            monkeypatch.setattr(cell, "value", ctypes.cast(trap, ctypes.c_void_p).value)
    monkeypatch.setattr(by_address, "ready", 0)
    return found


@pytest.mark.parametrize("model", MODELS + TRANSFORMERS)
@pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")
def test_no_pass_calls_what_is_not_ready(model, called_too_early):
    """In a process whose first model this is."""
    model, X = model.clone(), np.random.default_rng(0).normal(size=(70, 4))
    if isinstance(model, base.Transformer):
        for x in [*map(dict, map(enumerate, X.tolist())), {"a": 1.0}, {1: 1.0}]:
            model.learn_one(x)
            model.transform_one(x)
        assert called_too_early == []
        return
    for x, y in stream_for(model, 40):
        model.predict_one(x)
        model.learn_one(x, y)
    for n in range(40):
        names = {f"w{n * i % 97}": 1.0 for i in range(1, 4)}
        model.predict_one(names)
        model.learn_one(names, y)
    if hasattr(model, "budget") and model.budget is not None:
        model.mutate({"budget": 3})
    many = model.clone()
    y = X[:, 0] if isinstance(model, base.Regressor) else X[:, 0] > 0.0
    many.learn_many(X, y)
    many.predict_many(X)
    assert called_too_early == []


@pytest.mark.skipif(plain.PLAIN, reason="a numba.cfunc has one signature")
def test_every_shared_function_is_compiled_for_its_types_only():
    by_address.make_ready(sum(Need))
    for function, arguments in by_address.functions(sum(Need)):
        assert list(function.overloads) == [arguments], function.py_func.__name__


def test_a_shared_function_stays_where_it_is_when_it_is_made_ready_again(monkeypatch):
    """It is not compiled anew, in either way of compiling."""
    by_address.make_ready(Need.EXAMPLES)
    cells = [cell for _, _, cell in by_address._functions[Need.EXAMPLES]]
    before = [cell.value for cell in cells]
    monkeypatch.setattr(by_address, "ready", 0)
    by_address.make_ready(Need.EXAMPLES)
    assert [cell.value for cell in cells] == before
    assert all(before)


def test_an_interrupted_compilation_is_taken_up_again(monkeypatch):
    ready, compiled = by_address.ready, by_address._compiled
    monkeypatch.setattr(by_address, "ready", 0)

    def interrupted(function, signature):
        raise KeyboardInterrupt

    monkeypatch.setattr(by_address, "_compiled", interrupted)
    with pytest.raises(KeyboardInterrupt):
        by_address.make_ready(Need.EXAMPLES)
    assert by_address.ready == 0
    monkeypatch.setattr(by_address, "_compiled", compiled)
    by_address.make_ready(Need.EXAMPLES)
    assert by_address.ready == Need.EXAMPLES
    monkeypatch.setattr(by_address, "ready", ready)
