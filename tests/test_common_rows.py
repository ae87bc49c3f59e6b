"""Small models take turns with one call for single examples: each learns as if it had one of its own."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest
from models import MODELS, content, scores, stream_for, variant
from optional import needs_compiler

import river_budget as rb
from river_budget.core import blocks
from river_budget.core.numba_types import i64
from river_budget.kernels import RBF, Custom
from river_budget.model import at_once, common_rows
from river_budget.plots.running import memory

K = RBF(0.5)
TABLES = [entry for entry in MODELS if entry.id != "BSGD-custom"]

pytestmark = needs_compiler


def rows(n, d=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return [(dict(enumerate(x)), bool(x[0] * x[1] > 0.0)) for x in X.tolist()]


def taught(model, stream):
    for x, y in stream:
        model.predict_one(x)
        model.learn_one(x, y)
    return model


def row_of(model):
    """Where the call for whole rows is."""
    return int(model.at_once.entry["row"][0])


@pytest.fixture
def rows_of_their_own(monkeypatch):
    monkeypatch.setattr(at_once, "common_row", lambda *given: None)


def test_models_of_about_one_size_have_one_call():
    models = [taught(rb.BSGDClassifier(budget, K), rows(30)) for budget in (18, 20, 20)]
    larger = taught(rb.BSGDClassifier(100, K), rows(30))

    assert len({row_of(model) for model in models}) == 1
    assert row_of(larger) != row_of(models[0])


@pytest.mark.parametrize("model", TABLES)
def test_models_that_take_turns_learn_as_they_do_alone(model, request):
    """The stream has new features again and again: rows of one width follow those of another."""
    model = variant(model, seed=1)
    streams = [list(stream_for(model, 50, seed)) for seed in range(3)]
    mixed = [model.clone() for _ in streams]
    for examples in zip(*streams, strict=True):
        for each, (x, y) in zip(mixed, examples, strict=True):
            each.predict_one(x)
            each.learn_one(x, y)
    request.getfixturevalue("rows_of_their_own")
    for each, stream in zip(mixed, streams, strict=True):
        alone = taught(model.clone(), stream)
        assert content(each) == content(alone)
        assert scores(each, stream) == scores(alone, stream)


@pytest.fixture
def larger_models_too(monkeypatch):
    """Also AutoKernel, whose passes are the only ones that leave notes."""
    for module in (at_once, common_rows):
        monkeypatch.setattr(module, "LARGE", 2**21)


def auto(seed, n=60):
    return taught(rb.AutoKernelClassifier(20, seed=1), rows(n, seed=seed))


def test_what_a_model_notes_for_itself_is_for_itself(larger_models_too, request):
    """AutoKernel finds neighbours when it predicts, and takes them again when it learns the same row."""
    model, other, stream = auto(0), auto(1), rows(60, seed=2)
    for x, y in stream:
        other.predict_one(x)
        model.learn_one(x, y)
        other.learn_one(x, y)
    request.getfixturevalue("rows_of_their_own")
    alone = taught(auto(0), stream)

    assert row_of(model) == row_of(other) != row_of(alone)
    assert scores(model, stream) == scores(alone, stream)


def test_a_model_in_the_place_of_another_finds_nothing_of_it(larger_models_too):
    (x, _), (z, _) = rows(2, seed=3)
    model = auto(1)
    expected, kept, places = model.predict_proba_one(x), pickle.dumps(model), set()
    for _ in range(20):
        model = auto(0)
        model.predict_proba_one(x)  # leaves a note, as the other one has learned so many rows too
        places.add(model.block.ctypes.data)
        del model
        model = pickle.loads(kept)
        model.predict_proba_one(z)
        if model.block.ctypes.data in places:
            assert model.predict_proba_one(x) == expected
            return
        del model
    pytest.skip("memory was not given out again")


def test_large_models_and_kernel_functions_have_calls_of_their_own(monkeypatch):
    monkeypatch.setattr(common_rows, "_rows", {})
    model = taught(rb.BSGDClassifier(500, K), rows(30, 40))
    size = model.block.nbytes
    assert common_rows.common_row(model.block, 40, 1) is not None
    for limit, features, outputs in ((size, 40, 1), (size + 1, 5000, 1), (size + 1, 5, 17)):
        monkeypatch.setattr(common_rows, "LARGE", limit)
        assert common_rows.common_row(model.block, features, outputs) is None
    monkeypatch.setattr(common_rows, "LARGE", 2 * size)
    monkeypatch.setattr(common_rows, "MOST_SCRATCH", blocks.scratch_in(model.block) - 1)
    assert common_rows.common_row(model.block, 40, 1) is None
    monkeypatch.setattr(common_rows, "MOST_SCRATCH", 2**30)
    custom = taught(rb.BSGDClassifier(5, Custom(product), rb.maintenance.RemoveOldest()), rows(30))
    assert common_rows.common_row(custom.block, 5, 1) is None
    assert len(common_rows._rows) == 1


def product(x, z):
    return x[0] * z[0]


def test_a_small_model_holds_little_besides_its_block():
    def memory_of_each():
        models = [taught(rb.BSGDClassifier(20), rows(60)) for _ in range(50)]
        return memory(models) / len(models), models[0].block.nbytes

    whole, block = memory_of_each()
    assert whole - block < 1.2 * block


TAKEN = """
import gc, random, tracemalloc
import river_budget as rb
draw, prototype = random.Random(0).gauss, rb.BSGDClassifier(20)
stream = [({f"f{i}": draw(0.0, 1.0) for i in range(5)}, t % 3 == 0) for t in range(60)]
def taught():
    model = prototype.clone()
    for x, y in stream:
        model.predict_one(x)
        model.learn_one(x, y)
    return model
common = [taught() for _ in range(20)]
gc.collect()
tracemalloc.start()
models = [taught() for _ in range(200)]
gc.collect()
print(tracemalloc.get_traced_memory()[0] / len(models), models[0].block.nbytes)
"""


def test_a_small_model_takes_little_memory_besides_its_block():
    """Buffers that were taken of arrays, functions that are not used any more: what Python's allocator counts, in a
    process without other models."""
    command = [sys.executable, "-W", "ignore", "-c", TAKEN]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    each, block = map(float, run.stdout.split())
    assert block < each < 2.2 * block


def test_an_odd_example_goes_the_long_way_after_ordinary_ones():
    model, twin = (taught(rb.BSGDClassifier(20), rows(60)) for _ in range(2))
    names = list(model.features)
    for i in range(3):
        x = dict.fromkeys(names, 0.1 * i)
        model.learn_one({name: np.float32(value) for name, value in x.items()}, i == 1)
        twin.learn_one({name: float(np.float32(value)) for name, value in x.items()}, i == 1)
    assert model.support_vectors() == twin.support_vectors()


def test_a_call_that_is_in_use_is_left_alone():
    model, other = (taught(rb.BSGDClassifier(20, K), rows(40, seed=s)) for s in range(2))
    (x, _), *_ = rows(1, seed=9)
    expected = model.decision_function_one(x)
    busy = i64(int(other.at_once.entry["busy_at"][0]), 1)
    try:
        busy[0] = 1
        assert model.at_once.score(x) is None
        assert model.at_once.learn(x, 1.0, 1.0) is None
        assert model.decision_function_one(x) == expected
    finally:
        busy[0] = 0
    assert model.at_once.score(x) == [expected]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="needs CPython's gc")
def test_what_is_finalised_in_the_middle_may_predict_with_another_model():
    model, other = (taught(rb.BSGDClassifier(20, K), rows(40, seed=s)) for s in range(2))
    x, z = rows(1, seed=9)[0][0], rows(1, seed=10)[0][0]
    expected, theirs, seen = model.decision_function_one(x), other.decision_function_one(z), set()

    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            seen.add(other.decision_function_one(z))

    before = gc.get_threshold()
    gc.set_threshold(1)  # nearly every list that is made is an occasion
    try:
        for _ in range(200):
            Cycle()
            assert model.decision_function_one(x) == expected
    finally:
        gc.set_threshold(*before)
    assert seen == {theirs}
