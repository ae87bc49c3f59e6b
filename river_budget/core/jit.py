"""The one decorator of the compiled layer.

numba's disk cache looks at the file of the function it compiles, so a caller compiled earlier keeps
an old copy of a callee that lives in another file. Here the name of every cache entry carries a hash
of the whole folder: edit one file of core and all of core is compiled again. (The name, not only the
stamp inside: numba unpickles an entry before it compares stamps, and an old one may name types that are
gone.)
"""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import numba
from numba.core import caching

# Sums may be reordered and products fused, so that loops vectorise. NaN and infinity keep their
# meaning: the checks that keep them out of a model depend on it.
REORDERED = frozenset({"reassoc", "contract", "arcp", "nsz"})
# Only fused multiply-add: for code that relies on the order of its additions.
FUSED = frozenset({"contract"})

_FOLDER = pathlib.Path(__file__).parent
_STAMP = hashlib.sha256(
    b"".join(path.read_bytes() for path in sorted(_FOLDER.glob("*.py")))
).hexdigest()[:16]


def stamp() -> str:
    """A name for this version of the core."""
    return _STAMP


def compiled(
    function: Any = None,
    *,
    fastmath: Any = False,
    entry: bool = False,
    once: bool = False,
    hot: bool = False,
) -> Any:
    """Compile a function on its first call, keep the result on disk, release the GIL inside.

    fastmath: which liberties floating point may take, REORDERED or FUSED.
    entry: called from Python. The others have no Python wrapper.
    once: is compiled as part of its caller: half the time for long chains, and what a constant argument
        switches off is not compiled at all. A pass calls it once.
    hot: is worth a copy at each call site: short, and called for every example. Also for whatever has
        liberties and a say in what is learned: a process that compiles a pass links the function as it was
        compiled alone, one that loads the pass has it as it was optimised there, and their last bits may differ.
    """

    def decorate(function: Any) -> Any:
        options: dict[str, Any] = {
            "fastmath": set(fastmath) if fastmath else False,
            "no_cpython_wrapper": not entry,
            "no_cfunc_wrapper": not entry,
            "inline": "always" if once else "never",
            "forceinline": hot,
        }
        # error_model: a division that may raise ZeroDivisionError keeps its loop scalar
        dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(
            function
        )
        if hasattr(dispatcher, "_cache"):  # not so when compilation is switched off
            _mark(dispatcher._cache)
        return dispatcher

    return decorate if function is None else decorate(function)


def _mark(cache: Any) -> None:
    name = cache._cache_file._index_name.removesuffix(".nbi")
    cache._cache_file = caching.IndexDataCacheFile(
        cache_path=cache._cache_path, filename_base=f"{name}-{_STAMP}", source_stamp=_STAMP
    )
