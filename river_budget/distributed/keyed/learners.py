"""How the models of a shard learn and predict: those of this package in whole arrays, others row by row.

A compiled pass over a few rows takes little time; coding the rows and preparing the call takes fifty times as long.
So models of this package share their indexes of features and labels, and rows are coded once for all models. With its
own indexes, a model with few support vectors would also take twice the memory.
"""

from __future__ import annotations

import copy
import functools
import secrets
import weakref
from typing import Any

import numpy as np
from river import base

from ...inputs.batches import Batch
from ...inputs.features import FeatureIndex
from ...inputs.targets import Labels, Targets
from ...model.calls import Call, Workspace
from ...nested import forget_free_rows
from ..dicts import learn_example
from .chunks import ShardRows

# At most so many batch passes for one message. Models that share their indexes with few others get none.
BATCH_PASSES = 8


class Learner:
    """Makes and teaches clones of any River model, example by example.

    `begin` takes the rows of a message, `one` teaches them to each model in turn, and `end` has the predictions.
    """

    def __init__(self, template: Any):
        self.template = template
        scores = isinstance(template, base.AnomalyDetector)
        self.predictor = "score_one" if scores else "predict_one"

    def clone(self) -> Any:
        return self.template.clone()

    def share(self, model: Any) -> None:
        """Do nothing: models of other packages share no indexes."""

    def begin(self, rows: ShardRows, learns: bool, predicts: bool) -> None:
        self.rows, self.learns, self.predicts = rows, learns, predicts
        self.done: list[Any] = [None] * len(rows)

    def one(self, model: Any, start: int, stop: int) -> None:
        """Learn or predict the rows of one model."""
        rows, predict = self.rows, getattr(model, self.predictor)
        for i in range(start, stop):
            x = rows.examples[i]
            if self.predicts:
                self.done[i] = predict(x)
            if self.learns:
                target = None if rows.targets is None else rows.targets[i]
                further = () if rows.weights is None else ({"w": float(rows.weights[i])},)
                learn_example(model, x, target, *further)
        forget_free_rows(model)

    def end(self) -> list[Any] | None:
        """The predictions, if they are wanted. Lets go of the rows."""
        done = self.done if self.predicts else None
        del self.rows, self.done
        return done


class BatchPass:
    """The rows of a shard as arrays, coded for the models that share the indexes of this one.

    `learning_pass` is the same for all of these models. None: rows are only scored.
    """

    def __init__(self, model: Any, rows: ShardRows, workspace: Workspace, learning_pass: Any):
        self.features, self.labels = model.features, getattr(model, "labels", None)
        self.learning_pass = learning_pass
        n, codes = len(rows), np.zeros(len(rows))
        if learning_pass is not None:
            targets = Targets(rows.targets, n)
            if self.labels is None:
                codes = targets.numbers()
            else:
                codes, _ = targets.coded(self.labels, 0, n)
        batch = Batch.of(rows.names or [], rows.examples).scaled(self.features)
        weights = np.ones(n) if rows.weights is None else rows.weights
        self.scores = np.zeros((n, model.n_outputs))
        self.arrays = batch.known(self.features, False), codes, weights, self.scores
        self.unknown: list[int] = np.concatenate([[0], np.cumsum(np.isnan(codes))]).tolist()
        self.call = Call(model.block, *self.arrays, workspace=workspace)

    def takes(self, start: int, stop: int) -> bool:
        """Whether all labels of these rows are in the index already."""
        return self.unknown[start] == self.unknown[stop]

    def run(self, model: Any, start: int, stop: int) -> None:
        """Score rows, and learn them."""
        self.call.move(model.block, start, stop)
        if self.learning_pass is None:
            self.call.run(model.scoring_pass)
            return
        done = start + self.call.run(self.learning_pass)
        if done < stop:  # the model needs a larger block, or a basis
            model.run_pass(*(array[done:stop] for array in self.arrays))

    @functools.cached_property
    def predictions(self) -> list[Any]:
        """Predictions from the scores, when all are there. They are meaningful for rows that have been run."""
        found = self.scores[:, 0] if self.labels is None else self.labels.labels(self.scores)
        return found.tolist()  # type: ignore[no-any-return]


class OurLearner(Learner):
    """The same for classifiers and regressors of this package, in batch passes where rows have equal features.

    Models share their indexes of features and labels between learning steps. A model that may change its index of
    features gets a copy before; a new label always makes a new index.
    """

    def __init__(self, template: Any):
        super().__init__(template.clone())
        self.workspace = Workspace()
        self.learning_pass = self.template.learning_pass  # looked up once
        self.features: weakref.WeakValueDictionary[Any, FeatureIndex] = (
            weakref.WeakValueDictionary()
        )
        self.labels: weakref.WeakValueDictionary[Any, Labels] = weakref.WeakValueDictionary()

    def clone(self) -> Any:
        """A new model, as from `template.clone()`, which takes six times as long."""
        model = self.template.twin()
        if getattr(model, "seed", None) is None:
            model.entropy = secrets.randbits(64)
        return model

    def share(self, model: Any) -> None:
        """Replace the indexes and parameters of a model by equal ones that other models hold already."""
        features = model.features
        # without gaps: names in the order of places are all of it
        if features.width == len(features):
            model.features = self._shared(self.features, tuple(features.in_rows), features)
        if hasattr(model, "labels"):
            model.labels = self._shared(self.labels, tuple(model.labels.known), model.labels)
        for name in model.parameters():
            model.__dict__[name] = self.template.__dict__[name]

    def _shared(self, table: Any, values: tuple[Any, ...], index: Any) -> Any:
        """The shared index of these values. Values of different types differ: 1 is not True here."""
        return table.setdefault((values, tuple(map(type, values))), index)

    def begin(self, rows: ShardRows, learns: bool, predicts: bool) -> None:
        super().begin(rows, learns, predicts)
        self.batch_passes: dict[tuple[int, int], BatchPass] = {}
        self.spans: list[tuple[BatchPass, int, int]] = []  # rows of batch passes

    def one(self, model: Any, start: int, stop: int) -> None:
        batch_pass = self._batch_pass(model)
        if batch_pass is None or not batch_pass.takes(start, stop):
            self._alone(model, start, stop)
            return
        batch_pass.run(model, start, stop)
        self.spans.append((batch_pass, start, stop))

    def end(self) -> list[Any] | None:
        for batch_pass, start, stop in self.spans if self.predicts else ():
            self.done[start:stop] = batch_pass.predictions[start:stop]
        del self.batch_passes, self.spans
        return super().end()

    def _batch_pass(self, model: Any) -> BatchPass | None:
        """The batch pass for a model. None if the model has not learned these features, or if there are enough passes."""
        names = self.rows.names
        if model.block is None or names is None:
            return None
        place = id(model.features), id(getattr(model, "labels", None))
        found = self.batch_passes.get(place)
        room = len(self.batch_passes) < BATCH_PASSES
        if found is None and room and model.features.knows(dict.fromkeys(names)):
            learn = self.learning_pass if self.learns else None
            found = BatchPass(model, self.rows, self.workspace, learn)
            self.batch_passes[place] = found
        return found

    def _alone(self, model: Any, start: int, stop: int) -> None:
        """Learn or predict rows with a model that has, or may get, indexes of its own."""
        rows, some = self.rows, slice(start, stop)
        if self.learns:
            model.features = copy.copy(model.features)
        if rows.names is None:
            super().one(model, start, stop)
        else:
            batch = Batch.of(rows.names, rows.examples[some])
            if self.learns:
                w = 1.0 if rows.weights is None else rows.weights[some]
                found = model.predict_then_learn_many(batch, rows.targets[some], w)
            else:
                found = model.predict_many(batch)
            self.done[some] = found.tolist()
        if self.learns:
            self.share(model)
