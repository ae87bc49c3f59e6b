"""PLAIN: whether to use only the documented parts of numba (RIVER_BUDGET_PLAIN=1 at import).

A new release of numba may break code that uses its private parts. With this switch the same
models give the same results to the last bit, more slowly. So the switch shows whether an error comes from these
private parts, and users can work until it is fixed.

It switches off:

- our own compilation steps (core/compiling/numba_pipeline.py), and functions that are compiled only inside
  their callers (core/compiling/linking.py): a first use takes several times as long;
- the cache of compiled functions on disk: every process compiles anew. numba's own cache looks only at the
  file that holds a function, and a caller would keep an old copy of a function that was edited in another
  file;
- addresses taken out of numba's dispatchers: shared functions (core/compiling/by_address.py) become
  `numba.cfunc`s, whose address is documented.

The rest uses what numba offers to authors of extensions, `numba.extending` with the types, models,
cgutils and contexts that go with it, and llvmlite's builder. numba documents some of it only by examples:
`AttributeTemplate`, `make_array` of numba.np.arrayobj, and the options `no_cpython_wrapper`,
`no_cfunc_wrapper` and `forceinline`.
"""

from __future__ import annotations

import os
import warnings

VARIABLE = "RIVER_BUDGET_PLAIN"
PLAIN = os.environ.get(VARIABLE, "") not in ("", "0")

_warned: set[str] = set()


def warn_once(what: str, reason: str) -> None:
    """Warn that the package does `what`; at most once per process."""
    if what not in _warned:
        _warned.add(what)
        warnings.warn(f"river_budget {what}, as {reason}", RuntimeWarning, stacklevel=2)


def warn_of_no_cache(error: Exception) -> None:
    """Warn that nothing is kept on disk: this version of numba has another cache, or none can be written."""
    reason = (
        f"no folder for numba's cache can be written ({error}): set NUMBA_CACHE_DIR to one that can"
        if isinstance(error, RuntimeError | OSError)
        else f"this version of numba keeps its cache in another way ({error})"
    )
    warn_once("compiles anew in every process", reason)
