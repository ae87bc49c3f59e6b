"""Models inside pipelines, wrappers and ensembles: find those of this package, and read and change
their parameters.

A pipeline of River passes an `isinstance` check for the class of its last step, so this file
compares types. Names of nested parameters are such as `BSGDClassifier__kernel__gamma`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base, compose

from ..guard.passing import first_step, part_of, reads_tables, takes_numbers_only
from ..inputs.batches import Batch
from ..model.base import StreamModel
from ..model.estimators import Supervised
from .delayed import Delayed


def is_model(model: Any) -> bool:
    """Whether a model is one of this package, not wrapped in a pipeline."""
    return issubclass(type(model), StreamModel)


def is_estimator(model: Any) -> bool:
    """Whether a model is a classifier or a regressor of this package, not wrapped in a pipeline."""
    return issubclass(type(model), Supervised)


def steps_of_ours(model: Any) -> Iterator[StreamModel]:
    """The models of this package among the steps of a pipeline, or the model itself."""
    return filter(is_model, steps_of(model))


def all_ours(model: Any) -> Iterator[StreamModel]:
    """The models of this package in pipelines, wrappers and ensembles."""
    if is_model(model):
        yield model
    elif isinstance(model, (list, tuple)):
        for item in model:
            yield from all_ours(item)
    elif isinstance(model, dict):
        yield from all_ours(list(model.values()))
    elif isinstance(model, base.Estimator):
        yield from all_ours(vars(model))


def holds_predictions(model: Any) -> bool:
    """Whether predictions change a model: a Delayed in pipelines, wrappers and ensembles holds
    them.
    """
    if isinstance(model, (list, tuple)):
        return any(map(holds_predictions, model))
    if isinstance(model, dict):
        return any(map(holds_predictions, model.values()))
    if isinstance(model, Delayed):
        return True
    return (
        isinstance(model, base.Estimator) and not is_model(model) and holds_predictions(vars(model))
    )


def forget_free_rows(model: Any) -> None:
    """Free the memory that models of this package keep to learn the next single example faster."""
    for ours in steps_of_ours(model):
        if ours._free_rows or ours._free_lists:
            ours._replace()


def memory_of(model: Any) -> int:
    """The memory of a model in bytes."""
    if isinstance(model, compose.Pipeline):
        return sum(map(memory_of, model.steps.values()))
    return model.memory_usage if is_model(model) else int(model._raw_memory_usage)


# parameters and steps


def _parts(model: Any) -> dict[str, Any]:
    """The steps of a pipeline, or the parameters of any other estimator."""
    if isinstance(model, compose.Pipeline):
        return dict(model.steps)
    if isinstance(model, (compose.TransformerUnion, compose.TransformerProduct)):
        return dict(model.transformers)
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
    """What an example meets in a model, in order: a TargetStandardScaler, the steps of a pipeline,
    or the model alone.
    """
    if isinstance(model, compose.Pipeline):
        *steps, last = model.steps.values()
        return [*steps, *steps_of(last)]
    if isinstance(model, compose.TargetTransformRegressor):
        return [model, *steps_of(model.regressor)]
    return [model]


def last_step(model: Any) -> tuple[str, Any]:
    """(name for `changed`, estimator) of the step that predicts, within wrappers."""
    path = ""
    while True:
        if isinstance(model, compose.Pipeline):
            name, model = list(model.steps.items())[-1]
        elif found := part_of(model):
            name, model = found, getattr(model, found)
        else:
            return path.removesuffix("__"), model
        path += f"{name}__"


def batch_for(model: Any, X: Any) -> Batch:
    """Examples for a model. All are checked first where text or a gap can only be an error for
    it.
    """
    batch, first = Batch(X), first_step(model)
    takes_gaps = isinstance(first, base.Transformer) or reads_tables(first)
    checks = takes_numbers_only(first) or (batch.all_numbers and not takes_gaps)
    return batch.checked() if checks else batch


def before_last(model: Any, x: dict[Any, Any]) -> dict[Any, Any]:
    """An example as it reaches the step that predicts."""
    if isinstance(model, compose.Pipeline):
        *steps, last = model.steps.values()
        for step in steps:
            x = step.transform_one(x) if hasattr(step, "transform_one") else x  # no filters
        return before_last(last, x)
    name = part_of(model)
    return before_last(getattr(model, name), x) if name else x
