"""Inspect models, also inside pipelines and ensembles.

A pipeline of River passes an `isinstance` check for the class of its last step, so this file compares types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base, compose

from ..base.base import StreamModel
from ..inputs.batches import Batch
from .estimators import Classifier, Regressor


def is_ours(model: Any) -> bool:
    """Whether a model is one of this package, not wrapped in a pipeline."""
    return issubclass(type(model), StreamModel)


def is_bare(model: Any) -> bool:
    """Whether a model is a classifier or a regressor of this package, not wrapped in a pipeline."""
    return issubclass(type(model), (Classifier, Regressor))


def steps_of_ours(model: Any) -> Iterator[StreamModel]:
    """The models of this package among the steps of a pipeline, or the model itself."""
    if is_ours(model):
        yield model
    elif isinstance(model, compose.Pipeline):
        for step in model.steps.values():
            yield from steps_of_ours(step)


def all_ours(model: Any) -> Iterator[StreamModel]:
    """The models of this package in pipelines, wrappers and ensembles."""
    if is_ours(model):
        yield model
    elif isinstance(model, (list, tuple)):
        for item in model:
            yield from all_ours(item)
    elif isinstance(model, dict):
        yield from all_ours(list(model.values()))
    elif isinstance(model, base.Estimator):
        yield from all_ours(vars(model))


def forget_free_rows(model: Any) -> None:
    """Free the memory that models of this package keep to learn the next single example faster."""
    for ours in steps_of_ours(model):
        if ours.free_rows or ours.free_lists:
            ours.forget_prepared()


def memory_of(model: Any) -> int:
    """The memory of a model in bytes."""
    return model.memory_usage if is_ours(model) else int(model._raw_memory_usage)


def scores_of_batch(model: Any, batch: Batch) -> Any:
    """The raw scores of a bare classifier: a column for two classes, or one for each of `labels.known`."""
    return model._score_batch(batch)
