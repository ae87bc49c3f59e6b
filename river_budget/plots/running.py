"""River models over streams: every example is predicted before it is learned."""

from __future__ import annotations

import contextlib
import gc
import sys
import time
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from river import base

from ..datasets.orders import ours
from ..parameters import whole
from ..wrappers.nested import steps_of

Example = tuple[dict[Any, Any], Any]
Models = Any  # a River model, several, or a mapping from names to models
Floats = npt.NDArray[np.float64]


def predict_and_learn(
    model: Any, stream: Iterable[Example], probabilities: bool = False
) -> tuple[float, list[Any]]:
    """Seconds spent in the model, and its predictions."""
    predict = model.predict_proba_one if probabilities else model.predict_one
    learn, clock = model.learn_one, time.perf_counter
    seconds, found = 0.0, []
    for x, y in stream:
        begin = clock()
        guess = predict(x)
        learn(x, y)
        seconds += clock() - begin
        found.append(guess)
    return seconds, found


def warm_up(model: Any, stream: Iterable[Example]) -> None:
    """Have the code of a model compiled before it is measured: a clone learns examples.

    Raises no error of a model: the same error occurs when the model itself learns them.
    """
    with contextlib.suppress(Exception):
        predict_and_learn(model.clone(), stream)


def memory(model: Any) -> int:
    """Bytes of all objects that a model holds, directly or through others, scratch space included.

    Visits the same objects as River's `_raw_memory_usage`, which counts the numbers of an array
    twice if the array owns them, and not at all if it is a view of another array, as in our models.
    """
    seen: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, (type, types.ModuleType, types.FunctionType)):
            continue
        seen[id(one)] = one
        if isinstance(one, np.ndarray) and one.base is not None:
            waiting.append(one.base)
        waiting.extend(gc.get_referents(one))
    return sum(map(sys.getsizeof, seen.values()))


# the models and streams that users give


def short_name(model: Any) -> str:
    """A short name for a model: BSGD for a pipeline that ends in a BSGDClassifier."""
    name = type(steps_of(model)[-1]).__name__
    return name.removesuffix("Classifier").removesuffix("Regressor").replace("PP", "++")


def named(models: Models) -> dict[str, Any]:
    """{name in the legend: model}."""
    found: dict[str, Any] = {}
    if isinstance(models, Mapping):
        found.update(models)
    else:
        for model in [models] if isinstance(models, base.Estimator) else models:
            name = first = short_name(model)
            count = 1
            while name in found:
                count += 1
                name = f"{first} {count}"
            found[name] = model
    for name, model in found.items():
        if not isinstance(model, base.Estimator):
            raise ValueError(f"models: {name} must be a River model, not {model!r}")
    return found


def is_regressor(models: Mapping[str, Any]) -> bool:
    """Whether these models predict numbers. They must agree on it."""
    kinds = {isinstance(model, base.Regressor) for model in models.values()}
    if len(kinds) != 1:
        raise ValueError("models must be all classifiers or all regressors, and at least one")
    return kinds.pop()


def in_orders(
    stream: Iterable[Example], orders: int, examples: int | None
) -> Iterator[Sequence[Example]]:
    """The stream in its own order if `orders` is 1; else in `orders` shuffled ones.

    A dataset of this package has its own orders: those of the papers, and only one if it is ordered
    in time.
    """
    whole(1)("orders", orders)
    if orders > 1 and hasattr(stream, "in_order"):
        for k in range(1 if getattr(stream, "time_order", False) else orders):
            yield list(islice(stream.in_order(k), examples))
        return
    rows = list(stream) if orders > 1 else list(islice(stream, examples))
    if not rows:
        raise ValueError("the stream has no examples")
    for k in range(orders):
        if orders == 1:
            yield rows
        else:
            yield [rows[i] for i in ours(len(rows), k)[:examples].tolist()]


def errors_of(guesses: Sequence[Any], stream: Sequence[Example], regression: bool) -> Floats:
    """The error of each example: 1 for a wrong prediction, in regression the absolute error."""
    pairs = zip(guesses, stream, strict=True)
    if regression:
        return np.array([abs(guess - y) for guess, (_, y) in pairs], float)
    return np.array([guess != y for guess, (_, y) in pairs], float)


def error_label(regression: bool) -> str:
    return "mean absolute error" if regression else "wrong predictions"
