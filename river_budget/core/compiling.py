"""numba's options, the folder of its cache on disk, and how Python calls a compiled function.

Everything here is stock numba. Compiled code gets its memory as arrays in arguments and makes no
array but by a slice, so it is compiled without reference counts (`_nrt=False`). Without that option
it works too: a row then takes half as long again, and a call from Python a microsecond longer.

numba optimises a function once for itself and again inside each function that calls it. So
functions are few and flat, and a large one with a single caller is `inlined` into it before types
are inferred.

numba's cache looks at the file of the function it stores, and would not notice an edit of a callee
in another file. So the cache of this package lies in a folder that is named after the contents of
all files of core, in the user's cache and not beside the package, where `pip uninstall` would leave
it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import numba

NO_REFERENCES = {"_nrt": False}  # a test compiles without this option
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"} | NO_REFERENCES
INNER: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# LLVM may fuse a product with an addition; where it may also reorder sums, loops over vectors are
# vectorised. The results must not depend on the processor, so no sum over vectors is left to it:
# `numerics.dot` fixes the order
FUSED = {"contract"}
REORDERED = {"contract", "reassoc", "arcp", "nsz"}
NO_NAN = {"nnan", "nsz"}  # in minima: comparisons that look for NaN are not vectorised

NO_ARRAYS = (
    "A compiled function makes no arrays (np.zeros): write to m.work, m.buffer or own tables"
)
SPARE_BYTES = 2**26  # with less free space on its disk nothing is cached
KEPT_DAYS = 60  # folders of other versions that were not used for so long are removed


def _sources(folder: Any) -> Iterator[bytes]:
    """The source files of a folder, which may lie in a zip."""
    for each in sorted(folder.iterdir(), key=lambda path: str(path.name)):
        if each.is_dir():
            yield from _sources(each)
        elif each.name.endswith(".py"):
            yield each.read_bytes()


@functools.cache
def stamp() -> str:
    """A hash of all source files of core, and of the options: it names the folder of the cache."""
    package = resources.files(__name__.rpartition(".")[0])
    content = b"".join([*_sources(package), repr(sorted(OPTIONS)).encode()])
    return hashlib.sha256(content).hexdigest()[:16]


def _base() -> pathlib.Path:
    """Where caches lie: what NUMBA_CACHE_DIR names, or a folder of the user's cache."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return pathlib.Path(named) / "river_budget"
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    elif sys.platform == "darwin":
        cache = os.path.expanduser("~/Library/Caches")
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(cache) / "river_budget"


@functools.cache
def folder() -> str | None:
    """The folder of this version's cache; None, with a warning, if it cannot be written."""
    base = _base()
    try:
        found = base / stamp()
        found.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=found):
            pass
        if shutil.disk_usage(found).free < SPARE_BYTES:
            raise OSError(f"the disk of {found} is full")
        os.utime(found)
        _remove_unused(base)
    except OSError as error:
        warnings.warn(
            "river_budget compiles anew in every process, as no folder for its cache can be "
            f"written ({error}): set "
            "NUMBA_CACHE_DIR to one that can",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return str(found)


def _remove_unused(base: pathlib.Path) -> None:
    """Remove the folders of versions that no process has used for a long time."""
    for other in base.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - other.stat().st_mtime > KEPT_DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)


_decorating = threading.RLock()


@contextlib.contextmanager
def cached_in(place: str) -> Iterator[None]:
    """numba keeps what is decorated meanwhile in this folder: it reads CACHE_DIR when it
    decorates.
    """
    with _decorating:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, place  # type: ignore[attr-defined]
        try:
            yield
        finally:
            numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


def compiled_with(**options: Any) -> Callable[[Any], Any]:
    """`numba.njit` with these options, and with the cache of this package."""

    def decorate(function: Any) -> Any:
        compiled = numba.njit(**options)(function)
        place = folder()
        if place is not None and hasattr(
            compiled, "enable_caching"
        ):  # absent with NUMBA_DISABLE_JIT
            with (
                cached_in(place),
                contextlib.suppress(RuntimeError),
            ):  # no cache for sources that are no file
                compiled.enable_caching()
        return compiled

    return decorate


passes = compiled_with(**OPTIONS, fastmath=FUSED)  # what Python calls
inner = compiled_with(**INNER, fastmath=FUSED)
inlined = compiled_with(**INNER, fastmath=FUSED, inline="always")
reordered = compiled_with(**INNER, fastmath=REORDERED)
without_nan = compiled_with(**INNER, fastmath=NO_NAN)

# Functions of users


_of_users: set[Any] = set()  # what `of_user` has compiled, or will


def of_user(function: Any, **options: Any) -> Any:
    """Decorator: compile a function of an algorithm outside of this package.

    numba's cache would not notice an edit of what the function calls in another file. So it is
    found on the disk by a hash of all the code that it uses, which is taken when it is compiled:
    then all names exist.
    """
    compiled = numba.njit(**OPTIONS, fastmath=FUSED, **options)(function)
    _of_users.add(compiled)
    return compiled


def _code_of(function: Any, seen: set[Any]) -> Iterator[bytes]:
    """The code of a function, and of all functions and numbers outside of core that it names."""
    function = getattr(function, "py_func", function)
    if function in seen or str(function.__module__).startswith(f"{__package__}."):
        return
    seen.add(function)
    code = function.__code__
    yield code.co_code
    yield repr([each for each in code.co_consts if not isinstance(each, type(code))]).encode()
    cells = {
        name: cell.cell_contents
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    }
    named = [
        (name, cells.get(name, function.__globals__.get(name)))
        for name in (*code.co_names, *code.co_freevars)
    ]
    modules = [value for _, value in named if isinstance(value, types.ModuleType)]
    named += [(name, getattr(each, name, None)) for each in modules for name in code.co_names]
    for name, value in named:
        if hasattr(value, "py_func") or isinstance(value, type(_code_of)):
            yield from _code_of(value, seen)
        else:
            yield f"{name}={value!r}".encode() if _is_constant(value) else name.encode()


def attributes_in(function: Any) -> set[str]:
    """The names in the code of a function and of all functions outside of the package that it
    calls.
    """
    seen: set[Any] = set()
    list(_code_of(function, seen))
    package = __package__.partition(".")[0]
    outside = [each for each in seen if str(each.__module__).partition(".")[0] != package]
    return {name for each in outside for name in each.__code__.co_names}


def _is_constant(value: Any) -> bool:
    return isinstance(value, int | float | complex | str | tuple) or hasattr(value, "dtype")


def _keep_on_disk(compiled: Any) -> None:
    """Let numba keep a function of a user, and those that it uses, in a folder with the hash of
    their code.
    """
    place = folder()
    seen: set[Any] = set()
    digest = hashlib.sha256(b"".join(_code_of(compiled, seen))).hexdigest()[:16]
    if place is None:
        return
    with cached_in(os.path.join(place, "users", digest)), contextlib.suppress(RuntimeError):
        for each in [c for c in _of_users if c.py_func in seen]:
            each.enable_caching()


# Calls from Python


def arguments_of(compiled: Any) -> tuple[str, ...]:
    """The names of the arguments of a compiled function: what it is given when a model calls it."""
    code = getattr(compiled, "py_func", compiled).__code__
    found: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return found


def entry_of(compiled: Any, arguments: tuple[Any, ...]) -> Any:
    """The machine code of a function for arguments of these types, compiled or loaded from the
    cache.

    To call it directly goes past numba's look at the types of the arguments, which takes longer
    than a short pass.
    """
    if not hasattr(compiled, "get_overload"):  # NUMBA_DISABLE_JIT
        return compiled
    kinds = tuple(map(numba.typeof, arguments))
    if kinds not in compiled.overloads:
        compile_for(compiled, kinds)
    return compiled.get_overload(kinds)


def compile_for(compiled: Any, kinds: tuple[Any, ...]) -> None:
    """Compile a function for these types, whatever state its cache on disk is in.

    An entry that is damaged, or a disk that is full, may raise anything: then the function is
    compiled without the disk.
    """
    if compiled in _of_users:
        _keep_on_disk(compiled)
    try:
        compiled.compile(kinds)
    except numba.errors.NumbaError as error:
        if "Only accept returning of array" in str(error):  # numba's words without references
            error.add_note(NO_ARRAYS)
        raise
    except Exception as error:
        if compiled in _of_users and isinstance(error, KeyError):
            _check_field(error.args[0], kinds)
        if (place := folder()) is None:
            raise
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.makedirs(place, exist_ok=True)
        _compile_again(compiled, kinds)


def _check_field(name: Any, kinds: tuple[Any, ...]) -> None:
    """Raise if a pass with arguments (m, states, ..) of these types has named a number that no
    record has: numba says nothing but the name.
    """
    known = [*getattr(kinds[1].dtype, "fields", ())] if len(kinds) > 1 else []
    if isinstance(name, str) and name.isidentifier() and name not in known:
        raise AttributeError(
            f"there is no number {name!r}: `state` has {', '.join(known)}"
        ) from None


def _compile_again(compiled: Any, kinds: tuple[Any, ...], tries: int = 100) -> None:
    """Compile where writing may fail: each try leaves at least one more function in memory, as
    numba writes it afterwards.
    """
    for left in reversed(range(tries)):
        try:
            compiled.compile(kinds)
            return
        except OSError:
            if kinds in compiled.overloads:
                return
            if not left:
                raise
