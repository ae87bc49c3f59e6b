"""Compile in advance the code that a first use would compile, for example when building a container image."""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
import pkgutil
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher

import river_budget as rb

from ... import core
from ...core.random_numbers import fill_uniforms
from ...core.compiling.by_address import functions
from ...core.compiling.needs import Need
from ...core.passes import scaling
from ...messages.progress import Progress
from ...model.base import StreamModel

CALL = (numba.int64[::1],)  # the argument types of a pass
OTHER_SIGNATURES = {fill_uniforms: (numba.uint64[::1], numba.float64[:, ::1])}
ALWAYS_COMPILED = scaling.learn, scaling.scale


def families() -> dict[str, list[Any]]:
    """{name: its classes}, for the names of classes and short ones such as BSGD."""
    found: dict[str, list[Any]] = {}
    for name in rb.__all__:
        kind = getattr(rb, name)
        if inspect.isclass(kind) and issubclass(kind, StreamModel):
            short = name.removesuffix("Classifier").removesuffix("Regressor")
            for key in dict.fromkeys((short, name)):
                found.setdefault(key, []).append(kind)
    return found


def passes_in(module: ModuleType) -> Iterator[Any]:
    """The functions of a module of core that Python calls."""
    for function in vars(module).values():
        if (
            isinstance(function, Dispatcher)
            and function.py_func.__module__ == module.__name__
            and not function.targetoptions.get("no_cpython_wrapper")
        ):
            yield function


def passes_of(kind: Any) -> Iterator[Any]:
    """The passes that a class uses: its own, and all in the module of its learning pass."""
    models = [kind(), *([kind(average=True)] if "average" in kind.parameters() else [])]
    algorithm, learn = kind.algorithm, models[0].learning_pass
    found = [model.scoring_pass for model in models] + [learn, algorithm.shrink]
    yield from (function for function in found if function is not None)
    if learn is not None:
        yield from passes_in(importlib.import_module(learn.__module__))


def needs_of(kind: type[StreamModel]) -> Need:
    """Which of the functions that passes share models of a class may need, whatever their parameters."""
    needs: Need = kind.algorithm.columns.needs
    return needs | (Need.OTHER_KERNELS if needs & Need.KERNEL else Need(0))


def all_passes() -> Iterator[Any]:
    """The passes of all folders of core."""
    for info in pkgutil.walk_packages(core.__path__, f"{core.__name__}."):
        yield from passes_in(importlib.import_module(info.name))


def compile_passes(names: Sequence[str] = ()) -> tuple[int, int, str | None]:
    """Compile, or load, the passes of these estimators, or of all without names.

    Returns the number of passes, the number compiled now, and the folder of the cache, if there is one.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise RuntimeError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    known = families()
    kinds = [kind for name in names or known for kind in known[name]]
    own = [p for kind in kinds for p in passes_of(kind)] if names else all_passes()
    needs = functools.reduce(operator.or_, map(needs_of, kinds))
    passes = {p: OTHER_SIGNATURES.get(p, CALL) for p in [*ALWAYS_COMPILED, *own]}
    passes |= dict(functions(needs))
    anew = 0
    with Progress(len(passes), "compile") as bar:
        for function, arguments in passes.items():
            name = f"{function.py_func.__module__.rpartition('.')[2]}.{function.py_func.__name__}"
            bar.show(name)
            function.compile(arguments)
            anew += bool(function.stats.cache_misses)
            bar.advance(name)
    return len(passes), anew, scaling.learn.stats.cache_path
