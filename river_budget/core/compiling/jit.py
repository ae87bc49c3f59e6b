"""`compiled`: the decorator of every function that numba compiles, with a disk cache that notices edits in all of core.

numba's disk cache looks at the file of the function it compiles, so a caller compiled earlier keeps
an old copy of a callee that lives in another file. Here the name of every cache entry carries a hash
of the whole folder: edit one file of core and all of core is compiled again. (A hash only inside the entry
would come too late: numba unpickles the entry first, and an old one may refer to types that no longer exist.)
With RIVER_BUDGET_PLAIN nothing is kept on disk (core/compiling/plain.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import resources
from typing import Any

import numba

from .plain import PLAIN, warn_of_no_cache

Cache: Any = None
Compiler: Any = None
if not PLAIN:  # another numba may lack these private parts, or give other things their names
    try:
        from .cache import Cache
    except (ImportError, AttributeError, TypeError) as error:
        warn_of_no_cache(error)
    try:
        from .linking import LinkableCache
        from .numba_pipeline import Compiler, LinkableCompiler
    except (ImportError, AttributeError, TypeError):
        Compiler = None

# LLVM may reorder sums and fuse products, so that loops vectorise. It may not assume that numbers are
# finite: the checks for NaN and infinity depend on that.
REORDERED = frozenset({"reassoc", "contract", "arcp", "nsz"})
# LLVM may only fuse a product with an addition: for code that relies on the order of its additions.
FUSED = frozenset({"contract"})

# Options of every compiled function. error_model: a division that may raise ZeroDivisionError keeps LLVM from
# vectorising its loop.
IN_ALL: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def _sources(folder: Any) -> Iterator[bytes]:
    """The source files of a folder, which may lie in a zip."""
    for each in sorted(folder.iterdir(), key=lambda path: str(path.name)):
        if each.is_dir():
            yield from _sources(each)
        elif each.name.endswith(".py"):
            yield each.read_bytes()


_STAMP = hashlib.sha256(
    b"".join(_sources(resources.files(__name__.removesuffix(".compiling.jit"))))
).hexdigest()[:16]


def stamp() -> str:
    """A hash of all source files of core, which names this version in caches."""
    return _STAMP


def compiled(
    function: Any = None,
    *,
    fastmath: Any = False,
    called_from_python: bool = False,
    inlined: bool = False,
    always_inlined: bool = False,
    apart: bool = False,
) -> Any:
    """Compile a function on its first call, keep the result on disk (unless PLAIN), release the GIL inside.

    fastmath: how LLVM may change floating-point arithmetic, REORDERED or FUSED.
    called_from_python: make a Python wrapper; other functions have none.
    inlined: copied into its caller before type inference, which drops branches that a constant argument rules
        out. Call it from one place per pass, or it is compiled twice.
    always_inlined: LLVM inlines every call: for short functions that are called for every example.
    apart: LLVM optimises it separately from its callers. For long sums of products with `fastmath`: otherwise
        which of two products is fused could depend on the processor.
    """

    def decorate(function: Any) -> Any:
        options: dict[str, Any] = {
            "fastmath": set(fastmath) if fastmath else False,
            "no_cpython_wrapper": not called_from_python,
            "no_cfunc_wrapper": not called_from_python,
            "inline": "always" if inlined else "never",
            "forceinline": always_inlined,
        }
        options |= IN_ALL
        if PLAIN:
            return numba.njit(**options)(function)
        try:
            return _dispatcher(function, options, apart)
        except (RuntimeError, AttributeError, TypeError) as error:
            warn_of_no_cache(error)
            return _dispatcher(function, options, apart, cached=False)

    return decorate if function is None else decorate(function)


def _dispatcher(function: Any, options: dict[str, Any], apart: bool, cached: bool = True) -> Any:
    """numba's dispatcher for a function, with this package's compiler and cache where this numba allows them."""
    linked = options["no_cpython_wrapper"] and not apart and Compiler is not None
    if Compiler is not None:
        options = options | {"pipeline_class": LinkableCompiler if linked else Compiler}
    dispatcher: Any = numba.njit(**options)(function)
    cached = cached and Cache is not None
    if cached and hasattr(dispatcher, "_cache"):  # absent with NUMBA_DISABLE_JIT
        dispatcher._cache = (LinkableCache if linked else Cache)(function, _STAMP)
    return dispatcher
