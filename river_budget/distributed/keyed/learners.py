"""How the models of a shard predict and learn: those of this package in whole arrays, others row by
row.

A compiled pass over a few rows takes little time; coding the rows and preparing the call takes
fifty times as long. So models of this package share their indexes of features and labels, and rows
are coded once for all models. With its own indexes, a model with few support vectors would also
take twice the memory.
"""

from __future__ import annotations

import copy
import secrets
import weakref
from typing import Any

import numpy as np
from river import base

from ...core import memory
from ...inputs.batches import Batch
from ...inputs.targets import Targets
from ...model.calls import Workspace, rows_for
from ...wrappers.nested import forget_free_rows
from ..dicts import learn_example
from .chunks import ShardRows

# Rows are coded for at most so many indexes. Models that share theirs with few others are not worth
# it.
CODED = 8


class Clones:
    """Makes clones of any River model."""

    def __init__(self, template: Any):
        self.template = template

    def clone(self) -> Any:
        return self.template.clone()

    def share(self, model: Any) -> None:
        """Do nothing: models of other packages share no indexes."""


class Lesson:
    """The rows of a message, which models predict and learn example by example."""

    def __init__(self, clones: Clones, rows: ShardRows, learns: bool, predicts: bool):
        self.clones, self.rows, self.learns, self.predicts = clones, rows, learns, predicts

    def run(self, model: Any, start: int, stop: int) -> list[Any]:
        """Predict, learn, or predict and then learn the rows of one model. The predictions are None
        if not wanted.
        """
        rows, found = self.rows, []
        detects = isinstance(model, base.AnomalyDetector)
        predict = model.score_one if detects else model.predict_one
        for i in range(start, stop):
            found.append(predict(rows.examples[i]) if self.predicts else None)
            if self.learns:
                target = None if rows.targets is None else rows.targets[i]
                further = () if rows.weights is None else ({"w": float(rows.weights[i])},)
                learn_example(model, rows.examples[i], target, *further)
        forget_free_rows(model)
        return found


class OurClones(Clones):
    """Clones of a classifier or a regressor of this package, which share their indexes between
    learning steps.

    A model that may change its index of features gets a copy before; a new label always makes a new
    index.
    """

    def __init__(self, template: Any):
        super().__init__(template.clone())
        self.indexes: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()

    def clone(self) -> Any:
        """A new model, as from `template.clone()`, which takes fifteen times as long."""
        model = self.template._snapshot()
        if getattr(model, "seed", None) is None:
            model._entropy = secrets.randbits(64)
        return model

    def share(self, model: Any) -> None:
        """Replace the indexes and parameters of a model by equal ones that other models hold
        already.
        """
        features = model._features
        # without gaps: names in the order of places are all of it
        if features.width == len(features):
            model._features = self._shared(features, features.in_rows)
        if hasattr(model, "_labels"):
            model._labels = self._shared(model._labels, model._labels.known)
        for name in model._parameters():
            model.__dict__[name] = self.template.__dict__[name]

    def _shared(self, index: Any, values: list[Any]) -> Any:
        """The shared index of these values. Values of different types differ: 1 is not True
        here.
        """
        return self.indexes.setdefault((type(index), *map(type, values), *values), index)


class OurLesson(Lesson):
    """The same for models of this package, in whole arrays where rows have equal features."""

    def __init__(self, *message: Any):
        super().__init__(*message)
        self.coded: dict[Any, CodedRows] = {}  # by the indexes of models

    def run(self, model: Any, start: int, stop: int) -> list[Any]:
        coded = self._coded_for(model)
        if (
            coded is None
            or not model._is_whole(coded.names)
            or coded.unknown[start] < coded.unknown[stop]
        ):  # has new labels
            return self._alone(model, start, stop)
        scores = coded.run(model, start, stop)
        return model._predictions(scores).tolist() if self.predicts else [None] * (stop - start)

    def _coded_for(self, model: Any) -> CodedRows | None:
        """Rows for a model. None if it has not learned these features, or if rows are coded for
        many others.
        """
        names, indexes = self.rows.names, (model._features, getattr(model, "_labels", None))
        if names is None or model._block is None:
            return None
        has_room = indexes not in self.coded and len(self.coded) < CODED
        if has_room and model._features.knows(dict.fromkeys(names)):
            self.coded[indexes] = CodedRows(model, names, self.rows, self.learns)
        return self.coded.get(indexes)

    def _alone(self, model: Any, start: int, stop: int) -> list[Any]:
        """Run rows with a model that has, or may get, indexes of its own."""
        rows = self.rows
        if self.learns:
            model._features = copy.copy(model._features)
        if rows.names is None:
            found = super().run(model, start, stop)
        else:
            batch = Batch.of(rows.names, rows.examples[start:stop])
            if self.learns:
                w = 1.0 if rows.weights is None else rows.weights[start:stop]
                found = model.predict_then_learn_many(batch, rows.targets[start:stop], w).tolist()
            else:
                found = model.predict_many(batch).tolist()
        if self.learns:
            self.clones.share(model)
        return found


class CodedRows:
    """The rows of a message as arrays, coded for the models that share the indexes of this one."""

    def __init__(self, model: Any, names: list[Any], rows: ShardRows, learns: bool):
        n, self.learns, self.names = len(rows), learns, names
        codes = weights = np.zeros(n)  # with weights of 0 any pass only scores
        if learns:
            weights = np.ones(n) if rows.weights is None else rows.weights
            targets = Targets(rows.targets, n)
            is_coded = hasattr(model, "_labels")
            codes = targets.coded(model._labels, 0, n)[0] if is_coded else targets.numbers()
        batch = Batch.of(names, rows.examples).scaled(model._features)
        scores = np.zeros((n, model._n_outputs))
        self.arrays = batch.known(model._features, False), codes, weights, scores
        # how many of the rows before each one have unknown labels
        self.unknown = [0, *np.cumsum(np.isnan(codes)).tolist()]
        self.sizes, self.work = memory.sizes_of(model._block), Workspace(model, model._block)

    def run(self, model: Any, start: int, stop: int) -> Any:
        """Score rows, and learn them if they are to be learned. Returns the scores before."""
        if memory.sizes_of(model._block) == self.sizes:
            self.work.move(model, model._block)
        else:
            self.sizes, self.work = memory.sizes_of(model._block), Workspace(model, model._block)
        rows = rows_for(*(array[start:stop] for array in self.arrays))
        done = start + self.work.run(
            model._learning_pass if self.learns else model._scoring_pass, rows
        )
        if self.learns and done < stop:  # the model needs a larger block, or a basis
            model._run_pass(*(array[done:stop] for array in self.arrays))
        return self.arrays[-1][start:stop]
