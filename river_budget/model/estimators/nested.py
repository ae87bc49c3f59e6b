"""Read and change parameters of nested models, by names such as `BSGDClassifier__kernel__gamma`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base, compose

__all__ = ["changed", "last_step", "parameters_of", "steps_of"]


def _parts(model: Any) -> dict[str, Any]:
    """The steps of a pipeline, or the parameters of any other estimator."""
    if isinstance(model, compose.Pipeline):
        return dict(model.steps)
    names = model._get_params()
    return {name: getattr(model, name) for name in names if name != "_POSITIONAL_ARGS"}


def parameters_of(model: Any) -> Iterator[tuple[str, Any]]:
    """(name, value) of all parameters, also of nested estimators and values."""
    for name, value in _parts(model).items():
        yield name, value
        if isinstance(value, base.Base):
            yield from ((f"{name}__{inner}", found) for inner, found in parameters_of(value))


def changed(model: Any, name: str, value: Any) -> Any:
    """An untrained clone with another value of one parameter."""
    first, _, rest = name.partition("__")
    parts = _parts(model)
    if first not in parts:
        raise ValueError(f"{type(model).__name__} has no parameter {first!r}, only {sorted(parts)}")
    if rest:
        if not isinstance(parts[first], base.Base):
            raise ValueError(
                f"{first}={parts[first]!r} of {type(model).__name__} has no parameter {rest!r}"
            )
        value = changed(parts[first], rest, value)
    return model.clone({first: value})


def steps_of(model: Any) -> list[Any]:
    """What an example meets in a model, in order: a TargetStandardScaler, the steps of a pipeline, or the model alone."""
    if isinstance(model, compose.Pipeline):
        *steps, last = model.steps.values()
        return [*steps, *steps_of(last)]
    if isinstance(model, compose.TargetTransformRegressor):
        return [model, *steps_of(model.regressor)]
    return [model]


def last_step(model: Any) -> tuple[str, Any]:
    """(name for `changed`, estimator) of the step that predicts."""
    path = ""
    while True:
        if isinstance(model, compose.Pipeline):
            name, model = list(model.steps.items())[-1]
        elif isinstance(model, compose.TargetTransformRegressor):
            name, model = "regressor", model.regressor
        else:
            return path.removesuffix("__"), model
        path += f"{name}__"
