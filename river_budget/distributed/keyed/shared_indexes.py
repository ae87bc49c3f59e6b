"""Indexes of features and labels that the models of one shard share.

Most keys have the same features and the same labels. A model with few support vectors would be twice as large with
indexes of its own. Models share indexes between learning steps; a model that is about to change that of its features
is first given its own copy. (Labels never change: a new one makes new ones.)
"""

from __future__ import annotations

import copy
import secrets
import weakref
from collections.abc import Iterable
from typing import Any

from river import base

from ...model.inputs.features import FeatureIndex
from ...model.inputs.targets import Labels
from ...model.one_writer import Turn


class SharedIndexes:
    """Makes clones of a model of this package that share their indexes."""

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
        model.forget_prepared()
        model.turn = Turn()
        if getattr(model, "seed", None) is None:
            model.entropy = secrets.randbits(64)
        return model

    def share(self, model: Any) -> None:
        """Replace the indexes and parameters of a model by equal ones that other models hold already."""
        if not model.features.loose:
            model.features = self._shared(self.features, tuple(model.features), model.features)
        if hasattr(model, "labels"):
            model.labels = self._shared(self.labels, tuple(model.labels.known), model.labels)
        for name in model.parameters():
            model.__dict__[name] = self.template.__dict__[name]

    def _shared(self, table: Any, values: tuple[Any, ...], index: Any) -> Any:
        """The shared index of these values. Values of different types differ: 1 is not True here."""
        return table.setdefault((values, tuple(map(type, values))), index)

    def separate(self, model: Any, names: Iterable[Any]) -> None:
        """Give a model its own index of features if these names will change it."""
        if not model.features.knows(dict.fromkeys(names)):
            model.features = copy.copy(model.features)
