"""Compile in advance the code that a first use would compile, for example when building a container
image.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numba
from river import base

import river_budget as rb

from ... import core
from ...core.compiling import folder
from ...maintenance import Merge, Project, RemoveOldest
from ...messages.progress import Progress
from ...model.base import StreamModel

STRATEGIES = RemoveOldest(), Merge(), Merge(3), Project()  # one for each pass
EXAMPLES: list[tuple[dict[Hashable, Any], int]] = [
    ({"a": float(i), "b": float(i % 2)}, i % 3) for i in range(3)
]


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


def models_of(kind: Any) -> Iterator[Any]:
    """Models of a class that use all its passes, with the default kernel."""
    names = kind._parameters()
    strategies = [{"maintenance": each, "budget": 2} for each in STRATEGIES]
    for chosen in [{}, *(strategies if "maintenance" in names else [])]:
        for means in [{}, *([{"average": True}] if "average" in names else [])]:
            yield kind(**chosen, **means)


def use(model: Any) -> None:
    """Learn, score and shrink a model."""
    for x, target in EXAMPLES:
        if isinstance(model, base.Classifier):
            model.learn_one(x, target > 0)
        elif isinstance(model, base.Regressor):
            model.learn_one(x, float(target))
        else:
            model.learn_one(x)
    for name in ("predict_one", "score_one", "transform_one"):
        if hasattr(model, name):
            getattr(model, name)(EXAMPLES[0][0])
    for limit in ("budget", "window"):
        if limit in model._mutable_attributes:
            model.mutate({limit: 1})


def compiled_functions() -> list[Any]:
    """The functions of core that were compiled, or loaded, in this process."""
    found = []
    for info in pkgutil.walk_packages(core.__path__, f"{core.__name__}."):
        module = importlib.import_module(info.name)
        for function in vars(module).values():
            own = getattr(function, "py_func", None)
            if own is not None and own.__module__ == info.name and function.signatures:
                found.append(function)
    return found


def compile_passes(names: Sequence[str] = ()) -> tuple[int, int, str | None]:
    """Compile, or load, the code of these estimators, or of all without names.

    Returns the number of functions, the number compiled now, and the folder of the cache, if there
    is one.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise RuntimeError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    known = families()
    kinds = list(dict.fromkeys(kind for name in names or known for kind in known[name]))
    scaler = rb.StandardScaler()
    scaler.learn_one(EXAMPLES[0][0])
    scaler.transform_one(EXAMPLES[0][0])
    with Progress(len(kinds), "compile") as bar:
        for kind in kinds:
            bar.show(kind.__name__)
            for model in models_of(kind):
                use(model)
            bar.advance(kind.__name__)
    functions = compiled_functions()
    anew = sum(bool(function.stats.cache_misses) for function in functions)
    return len(functions), anew, folder()
