"""Whether the private parts of this numba are as core/compiling expects them: a small pass tells, compiled first.

A part that is gone when it is imported, core/compiling/jit.py notices. One that is looked up while a function is
compiled would end the first call of a user's model. So the first function that a process compiles waits for this
one, which takes a fifth of a second and goes through the same steps: a pass that Python calls, one function linked into it, and
one that is inlined. A process that finds all its functions on disk compiles nothing and needs no trial.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock

from .plain import warn_once

_works: bool | None = None  # what the trial has found


def private_parts_work(own: Any, linkable: Any) -> bool:
    """Whether functions compile by these classes of compilers; if not, numba compiles them in its own way."""
    global _works
    if _works is None:
        with global_compiler_lock:
            _works = True  # for the pass that is tried
            try:
                _works = bool(_sum(own, linkable) == 9.0)
                found = "a wrong result"
            except Exception as error:  # whatever another numba may do
                _works, found = False, f"{type(error).__name__}: {error}"
            if not _works:
                reason = f"numba {numba.__version__} has other inner parts ({found})"
                warn_once("compiles more slowly", reason)
    return _works


def _sum(own: Any, linkable: Any) -> float:
    """2 + 3 + 4, by compiled code."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    inner = options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    @numba.njit(inline="always", pipeline_class=linkable, **inner)
    def above(x, kind):
        if kind == 1:
            return x + 1.0
        return x.something_that_numbers_lack

    @numba.njit(fastmath={"contract"}, pipeline_class=linkable, **inner)
    def sum_of(numbers):
        total = 0.0
        for i in range(numbers.shape[0]):
            total += numbers[i]
        return total

    @numba.njit(pipeline_class=own, **options)
    def learn(numbers):
        for i in range(numbers.shape[0]):
            numbers[i] = above(numbers[i], 1)
        return sum_of(numbers)

    return float(learn(np.array([1.0, 2.0, 3.0])))
