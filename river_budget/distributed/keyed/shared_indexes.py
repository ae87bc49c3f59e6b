"""What the models of one shard have in common, and hold once.

The features of most keys are the same, and so are their labels. A model of ours that has few support
vectors would be twice as large with an index of its own. Indexes are shared between learning steps:
a model that is about to change its index gets its own copy before.
"""

from __future__ import annotations

import copy
import secrets
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
from river import base, compose

from ...model.base import StreamModel
from ...model.calls import FreeRows
from ...model.features import Batch, FeatureIndex
from ...model.shells import Classifier, Regressor
from ...model.targets import Labels, Targets, plain


def is_ours(model: Any) -> bool:
    """Whether it is a model of ours, with nothing around it: isinstance looks into River's pipelines."""
    return issubclass(type(model), StreamModel)


def is_bare(model: Any) -> bool:
    """Whether it is a classifier or a regressor of ours, with nothing around it."""
    return issubclass(type(model), (Classifier, Regressor))


def within(model: Any) -> Iterable[StreamModel]:
    """Our models in a pipeline, or the model itself."""
    if is_ours(model):
        yield model
    elif type(model) is compose.Pipeline:
        for step in model.steps.values():
            yield from within(step)


def forget_free_rows(model: Any) -> None:
    """Give back the memory that our models keep for the next single example."""
    for ours in within(model):
        if ours.free_rows:
            ours.free_rows = FreeRows()


def memory_of(model: Any) -> int:
    """Bytes that a model occupies."""
    if is_ours(model):
        return model.memory_usage  # type: ignore[no-any-return]
    return int(model._raw_memory_usage)


def predict_then_learn(model: Any, batch: Batch, targets: Any, weights: Any) -> list[Any]:
    """The `predict_then_learn_many` of a bare model for columns that have names without being a frame."""
    if issubclass(type(model), Classifier):
        return model._learn_batch(batch, targets, weights, predict=True).tolist()  # type: ignore[no-any-return]
    scores = np.empty((len(batch), 1))
    model.run_pass(model.rows_of(batch), Targets(targets, len(batch)).numbers(), weights, scores)
    return meanings(model, scores)


def meanings(model: Any, scores: Any) -> list[Any]:
    """The predictions that scores stand for."""
    labels = getattr(model, "labels", None)
    found = scores[:, 0] if labels is None else labels.labels(scores)
    return found.tolist()  # type: ignore[no-any-return]


class SharedIndexes:
    """Makes the clones of a model of ours, and lets them share."""

    def __init__(self, template: base.Estimator):
        self.template: Any = template.clone()
        self.features: weakref.WeakValueDictionary[Any, FeatureIndex] = (
            weakref.WeakValueDictionary()
        )
        self.labels: weakref.WeakValueDictionary[Any, Labels] = weakref.WeakValueDictionary()

    def clone(self) -> Any:
        """A new model, as from `template.clone()`. Its indexes are the template's."""
        model = object.__new__(type(self.template))
        for name, value in self.template.__dict__.items():
            model.__dict__[name] = value
        model.free_rows = FreeRows()
        if getattr(model, "seed", None) is None:
            model.entropy = secrets.randbits(64)
        return model

    def share(self, model: Any) -> None:
        """Replace what a model holds by equal parts that others hold already."""
        model.features = self._shared(self.features, tuple(model.features), model.features)
        if hasattr(model, "labels"):
            model.labels = self._shared(self.labels, tuple(model.labels.known), model.labels)
        for name in model.parameters():
            model.__dict__[name] = self.template.__dict__[name]

    def _shared(self, table: Any, values: tuple[Any, ...], index: Any) -> Any:
        """The index of these values, which differ in type too: 1 is not True here."""
        return table.setdefault((values, tuple(map(type, values))), index)

    def separate(self, model: Any, names: Iterable[Any], targets: Iterable[Any]) -> None:
        """Give a model its own copy of an index that these names or targets will change."""
        if not model.features._places.keys() >= set(names):
            model.features = copy.copy(model.features)
        if hasattr(model, "labels"):
            codes = model.labels.codes
            if any(plain(target) not in codes for target in targets):
                model.labels = copy.copy(model.labels)
