"""What is learned does not depend on how wide the processor's vectors are."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from conftest import DATA
from optional import given, settings, st
from processes import output_of

import river_budget as rb
from river_budget.core.compiling.jit import compiled
from river_budget.core.simd.vector_ops import dot

NARROW = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2"}
LEARN = """
import sys
import numpy as np, river_budget as rb
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 9)) @ np.diag(np.linspace(0.2, 2, 9))
late = [dict(enumerate(x)) for x in X[-20:].tolist()]
target = np.sin(X[:, 0] * X[:, 1]) + 0.3 * X[:, 8]
five = np.digitize(target, (-0.3, 0.0, 0.3, 0.6))
for name in sys.argv[1:]:
    kind = getattr(rb, name)
    seed = {"seed": 1} if "seed" in kind.parameters() else {}
    model = kind(**seed)
    several = model.clone()
    model.learn_many(X, target > 0.3 if name.endswith("Classifier") else target)
    found = []
    if hasattr(model, "decision_function_one"):
        found += [float(model.decision_function_one(x)) for x in late]
    elif hasattr(model, "predict_proba_one"):
        found += [share for x in late for share in model.predict_proba_one(x).values()]
    else:
        found += [model.predict_one(x) for x in late]
    if not name.endswith("Classifier"):
        found += model.predict_many(X[:37]).tolist()
    elif not several.labels.binary:
        several.learn_many(X, five)
        found += [share for x in late for share in several.predict_proba_one(x).values()]
    print(name, *(float(value).hex() for value in found))
"""
A9A = """
import hashlib
import numpy as np, river_budget as rb
X, y = rb.datasets.A9a().part("a9a")
for budget in (100, 200):
    model = rb.BSGDClassifier(budget, rb.kernels.RBF(1 / 123))
    predicted = model.predict_then_learn_many(X, y)
    late = [model.decision_function_one(dict(enumerate(x))) for x in X[:300].tolist()]
    print(hashlib.sha256(np.append(predicted, late)).hexdigest())
"""
ALL = [name for name in rb.__all__ if name.endswith(("Classifier", "Regressor"))]


def learned(names, environment, script=LEARN):
    return output_of("-c", script, *names, **environment).splitlines()


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names a processor")
def test_narrow_vectors_learn_the_same_bits(tmp_path):
    """One process compiles for the other processor, and one loads what was compiled for this one."""
    narrow = learned(ALL, NARROW | {"NUMBA_CACHE_DIR": str(tmp_path)})
    assert len(narrow) == len(ALL)
    assert narrow == learned(ALL, {})


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names a processor")
def test_narrow_vectors_predict_the_same_bits_on_a9a(data, tmp_path):
    data("a9a")  # or the test is skipped
    here = {"RIVER_BUDGET_DATA": str(DATA)}
    narrow = learned([], here | NARROW | {"NUMBA_CACHE_DIR": str(tmp_path)}, A9A)
    assert narrow == learned([], here, A9A)


@compiled(called_from_python=True)
def compiled_dot(a, b, n):
    return dot(a, b, n)


def in_the_stated_order(a, n):
    turns, rounds = np.zeros((4, 8)), n // 32
    for start in range(0, n, 8):
        stop, turn = min(start + 8, n), start // 8 % 4 if start < 32 * rounds else 0
        turns[turn if stop - start == 8 else 1, : stop - start] += a[start:stop]
    lanes = (turns[0] + turns[1]) + (turns[2] + turns[3])
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return lanes[0]


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 150), st.integers(0, 2**32))
def test_a_sum_has_its_stated_order(n, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)
    b = np.ones(n)  # products are exact, so that only the order of the sum matters
    assert compiled_dot(a, b, n) == in_the_stated_order(a, n)
