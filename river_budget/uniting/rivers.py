"""Merge River's own models that may be steps of a pipeline with one of ours."""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable
from typing import Any

from river import base, compose, utils

from ..algorithms.scaling.scalers import Scaler, StandardScaler
from ..wrappers.nested import steps_of


def merged(models: list[Any], weights: list[float]) -> Any:
    """A new model that is the merge of these, which are of one class."""
    # imported here: they take longer to load than this package
    from river import linear_model, preprocessing

    kinds: dict[type, Callable[..., Any]] = {
        preprocessing.StandardScaler: _standard_scaler,
        preprocessing.MinMaxScaler: _min_max_scaler,
        linear_model.LinearRegression: _linear,
        linear_model.LogisticRegression: _linear,
        linear_model.Perceptron: _linear,
        linear_model.PAClassifier: _linear,
        linear_model.PARegressor: _linear,
        linear_model.SoftmaxRegression: _softmax,
    }
    kind = type(models[0])
    if issubclass(kind, Scaler):
        result = models[0].clone()
        result.take_from(merged([model.as_river() for model in models], weights))
        return result
    if kind in kinds:
        if any(getattr(model, "window_size", None) is not None for model in models):
            raise ValueError(f"{kind.__name__} with a window_size cannot be merged")
        return kinds[kind](models, weights)
    if isinstance(models[0], base.Transformer):
        if all(_equal(model, models[0]) for model in models):
            return copy.deepcopy(models[0])
        raise ValueError(f"{kind.__name__} transformers can only be merged if they are equal")
    raise ValueError(f"{kind.__name__} cannot be merged")


def _equal(a: Any, b: Any) -> bool:
    """Whether two objects have the same content; False if that is uncertain."""
    if type(a) is not type(b):
        return False
    if isinstance(a, base.Base):
        return _equal(vars(a), vars(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, types.FunctionType):  # pickling a function gives a new object
        parts = [
            (f.__code__, f.__defaults__, f.__kwdefaults__, inspect.getclosurevars(f).nonlocals)
            for f in (a, b)
        ]
        return _equal(*parts)
    return (a == b) is True


def _check_equal(models: list[Any], *names: str) -> None:
    first = models[0]
    for name in names:
        for model in models:
            if not _equal(getattr(model, name), getattr(first, name)):
                raise ValueError(
                    f"models of {type(first).__name__} cannot be merged if they differ in {name} "
                    f"({getattr(first, name)!r} and {getattr(model, name)!r})"
                )


def _sum(tables: list[dict[Any, float]], weights: list[float]) -> Any:
    """The weighted sum of dicts of numbers; a missing name counts as 0."""
    total: Any = utils.VectorDict()
    for table, weight in zip(tables, weights, strict=True):
        total += weight * utils.VectorDict(table)
    return total


# Linear models


def _linear(models: list[Any], weights: list[float]) -> Any:
    """Merge linear models: weights and intercepts add up; the optimizer and its state are the first
    one's.
    """
    from river import optim  # imported here, as it takes long to load

    result = copy.deepcopy(models[0])
    total = _sum([model.weights for model in models], weights)
    result.intercept = _total("intercept", models, weights)
    if not hasattr(result, "optimizer"):  # passive-aggressive
        result.weights.update(total)
        return result
    _check_equal(models, "loss", "intercept_init")
    result._weights = total
    if result.l1 != 0:
        _check_equal(models, "l1")
        penalties = _sum([model.cum_l1.to_dict() for model in models], weights)
        result.cum_l1 = utils.VectorDict(penalties, optim.initializers.Zeros())
        result.max_cum_l1 = _total("max_cum_l1", models, weights)
    return result


def _softmax(models: list[Any], weights: list[float]) -> Any:
    """Merge softmax regressions: as `_linear`, for the weights of every class."""
    _check_equal(models, "loss")
    result = copy.deepcopy(models[0])
    for label in {label: None for model in models for label in model.weights}:
        total = _sum([model.weights.get(label, {}) for model in models], weights)
        result.weights[label].update(total)
    return result


def _total(name: str, models: list[Any], weights: list[float]) -> float:
    values = (getattr(model, name) for model in models)
    return sum(weight * float(value) for weight, value in zip(weights, values, strict=True))


# Scalers: the result has the statistics of all examples


def pooled_targets(models: list[Any]) -> Any:
    """The pooled statistics of the targets of all TargetStandardScalers."""
    counted = [model.var for model in models if model.var.n > 0]
    total = copy.deepcopy((counted or [models[0].var])[0])
    for var in counted[1:]:
        total += var
    return total


def _standard_scaler(models: list[Any], weights: list[float]) -> Any:
    _check_equal(models, "with_std")
    result = copy.deepcopy(models[0])
    for other in models[1:]:
        _pool(result, other)
    return result


def _pool(scaler: Any, other: Any, sign: int = 1) -> None:
    """Add the statistics of another scaler, or take them out (sign -1)."""
    for name, seen in other.counts.items():
        count = sign * seen
        total = scaler.counts[name] + count
        if total == 0:
            for table in (scaler.counts, scaler.means, scaler.vars):
                table.pop(name, None)
            continue
        share, difference = count / total, other.means[name] - scaler.means[name]
        if scaler.with_std:
            between = share * (1.0 - share) * difference * difference
            pooled = (1.0 - share) * scaler.vars[name] + share * other.vars[name] + between
            scaler.vars[name] = max(0.0, pooled)
        scaler.means[name] += share * difference
        scaler.counts[name] = total


def _min_max_scaler(models: list[Any], weights: list[float]) -> Any:
    result = copy.deepcopy(models[0])
    for other in models[1:]:
        for name in other.min:
            result.min[name].update(other.min[name].get())
            result.max[name].update(other.max[name].get())
    return result


# Scalers that began as copies: the examples of the original must count only once in the merge


def forget_common(models: list[Any], before: Any) -> None:
    """Remove the statistics that all models began with from the scalers of all but the first."""
    from river import preprocessing

    for model in models[1:]:
        for scaler, common in zip(steps_of(model), steps_of(before), strict=True):
            if isinstance(scaler, compose.TargetTransformRegressor):
                if common.var.n:
                    scaler.var -= common.var  # type: ignore[attr-defined]
            elif isinstance(scaler, StandardScaler):
                theirs = scaler.as_river()
                _pool(theirs, common.as_river(), -1)
                scaler.take_from(theirs)
            elif isinstance(scaler, preprocessing.StandardScaler):
                _pool(scaler, common, -1)
