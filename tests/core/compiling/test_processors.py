"""What is learned does not depend on how wide the processor's vectors are."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from bits import TABLE
from folders import SUPPORT
from optional import given, settings, st
from processes import output_of

from river_budget.core.compiling.jit import compiled
from river_budget.core.simd.vector_ops import dot, squared_distance

NARROW = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2"}
NAMES = [*TABLE, "KernelOneClassSVM"]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names a processor")
def test_narrow_vectors_learn_the_same_bits_compiled_or_loaded(tmp_path):
    """One process compiles for another processor, one for this one, and one loads what that has compiled."""
    narrow, here, loaded = (
        output_of(SUPPORT / "bits.py", *NAMES, **processor, NUMBA_CACHE_DIR=str(tmp_path / cache))
        for processor, cache in ((NARROW, "narrow"), ({}, "here"), ({}, "here"))
    )
    assert len(narrow.splitlines()) == len(NAMES)
    assert narrow == here == loaded


@compiled(called_from_python=True)
def compiled_dot(a, b, n):
    return dot(a, b, n)


@compiled(called_from_python=True)
def compiled_distance(row, x, weights, n):
    return squared_distance(row, x, weights, n)


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
    apart = 2.0 ** rng.integers(-9, 9, n)
    found = compiled_distance(np.float32(b), b + apart, a, n)
    assert found == in_the_stated_order(a * apart**2, n)
