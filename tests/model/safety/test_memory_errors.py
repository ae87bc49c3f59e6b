"""No memory is left, at any moment while an example is learned: an error, and the model is what it
was.
"""

from __future__ import annotations

import copy
import ctypes
import random
import sys

import pytest
from optional import needs_compiler

import river_budget as rb
from river_budget.core import memory
from river_budget.kernels import RBF

testcapi = pytest.importorskip("_testcapi", reason="this Python cannot be told to have no memory")

pytestmark = needs_compiler
MIXED = sys.version_info < (
    3,
    12,
)  # later ones crash where `sorted` has no memory to say that it cannot compare
MOST = 2000  # requests for memory while an example is learned
NO_BUFFER = "read-write bytes-like object, not numpy.ndarray", "read-only memory"


def words(n, seed=0):
    rng = random.Random(seed)
    for t in range(n):
        drawn = [rng.randrange(20 + 3 * t) for _ in range(6)]
        x = {(f"w{i}" if i % 3 or not MIXED else (f"w{i}", i)): 1.0 + i % 2 for i in drawn}
        yield x, sum(drawn) % 2 == 0


def rows(n, seed=0):
    rng = random.Random(seed)
    for _ in range(n):
        x = {f"f{i}": rng.gauss(0.0, 1.0) for i in range(4)}
        yield x, x["f0"] * x["f1"] > 0.0


STREAMS = {"words": words, "rows": rows}
MODELS = [
    rb.BSGDClassifier(20, RBF(0.05), l2=1e-3, seed=1),
    rb.RBPClassifier(15, RBF(0.05), seed=1),
    rb.NORMAClassifier(15, RBF(0.05)),
    rb.KernelPerceptronClassifier(RBF(0.05)),
]


def learned_by(model):
    """What a model has learned. Names that no vector uses are no part of it: a table that lacks
    room forgets them.
    """
    head = {
        name: getattr(memory.views(model._block).head, name)
        for name in ("count", "n_examples", "scale")
    }
    return model.support_vectors(), model._labels.known, head


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("method", ["learn_one", "predict_then_learn_one"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_request_that_fails_leaves_the_model_as_it_was(model, method, stream):
    """The n-th request for memory fails, for every n there is."""
    model = model.clone()
    examples = list(STREAMS[stream](140))
    for x, y in examples[:120]:
        model.predict_one(x)
        model.learn_one(x, y)
    failures = 0
    for x, y in examples[120:122]:
        before, twin = learned_by(model), copy.deepcopy(model)
        twin.learn_one(x, y)
        learn = getattr(model, method)
        for n in range(MOST):
            # floats that are freed when the next ones exist: CPython then has some at hand, and
            # fewer requests come first
            held = [t / 7 for t in range(300)]  # noqa: F841
            testcapi.set_nomemory(n, n + 1)
            try:
                learn(x, y)
                failed = False
            except (MemoryError, SystemError, ctypes.ArgumentError):  # as numpy and ctypes say it
                failed = True
            except TypeError as error:  # as CPython says that there was no memory for a buffer
                if not str(error).endswith(NO_BUFFER):
                    raise
                failed = True
            finally:
                testcapi.remove_mem_hooks()
            if not failed:
                break
            failures += 1
            assert learned_by(model) == before, (n, x)
            assert not model._lock.changing
        assert learned_by(model) == learned_by(twin)
    assert failures > 0 or method == "learn_one"
