"""How the models of a shard learn and predict: those of this package in whole arrays, others row by row.

A compiled pass over a few rows takes little time; coding the rows and preparing the call takes fifty times as long.
So models of this package share their indexes of features and labels, and rows are coded once for all models. With its
own indexes, a model with few support vectors would also take twice the memory.
"""

from __future__ import annotations

import copy
import secrets
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from river import base

from ...model.calls.calls import Call, Workspace
from ...model.inputs.batches import Batch
from ...model.inputs.features import FeatureIndex
from ...model.inputs.targets import Labels, Targets
from ...model.lock import ModelLock
from ...nested import forget_free_rows
from .chunks import ShardRows

# At most so many batch passes for one message. Models that share their indexes with few others get none.
BATCH_PASSES = 8


class Learner:
    """Makes and teaches clones of any River model, example by example."""

    def __init__(self, template: Any):
        self.template = template
        scores = isinstance(template, base.AnomalyDetector)
        self.predictor = "score_one" if scores else "predict_one"

    def clone(self) -> Any:
        return self.template.clone()

    def share(self, model: Any) -> None:
        """Do nothing: models of other packages share no indexes."""

    def loop(self, rows: ShardRows, learns: bool, predict: bool) -> ModelLoop:
        return ModelLoop(rows, learns, self.predictor if predict else None)


class ModelLoop:
    """Goes through the rows of a shard, model by model, and learns or predicts them."""

    def __init__(self, rows: ShardRows, learns: bool, predictor: str | None):
        self.rows, self.learns, self.predictor = rows, learns, predictor
        self.done: list[Any] = [None] * len(rows)

    def one(self, model: Any, start: int, stop: int) -> None:
        """Learn or predict the rows of one model."""
        predict = None if self.predictor is None else getattr(model, self.predictor)
        learn = learning_step(model, self.rows) if self.learns else None
        for i in range(start, stop):
            x = self.rows.examples[i]
            if predict is not None:
                self.done[i] = predict(x)
            if learn is not None:
                learn(x, i)
        forget_free_rows(model)

    def predictions(self) -> list[Any] | None:
        return None if self.predictor is None else self.done


def learning_step(model: Any, rows: ShardRows) -> Callable[[dict[Any, Any], int], None]:
    """A function of (x, i) that teaches a model row i; passes a weight only if there are weights."""
    targets, weights = rows.targets, rows.weights
    if targets is None:
        return lambda x, i: model.learn_one(x)
    if weights is None:
        return lambda x, i: model.learn_one(x, targets[i])
    return lambda x, i: model.learn_one(x, targets[i], w=float(weights[i]))


class OurLearner:
    """Makes and teaches clones of a classifier or regressor of this package, in matrices where rows have equal
    features.

    Models share their indexes of features and labels between learning steps. Before a model changes its index of
    features, it gets a copy; a new label always makes a new index.
    """

    def __init__(self, template: Any):
        self.template: Any = template.clone()
        self.workspace = Workspace()
        self.learn = self.template.learning_pass  # looked up once
        self.features: weakref.WeakValueDictionary[Any, FeatureIndex] = (
            weakref.WeakValueDictionary()
        )
        self.labels: weakref.WeakValueDictionary[Any, Labels] = weakref.WeakValueDictionary()

    def clone(self) -> Any:
        """A new model, as from `template.clone()`. Its indexes are the template's."""
        model = object.__new__(type(self.template))
        for name, value in self.template.__dict__.items():
            model.__dict__[name] = value
        model.replace()
        model.lock = ModelLock()
        if getattr(model, "seed", None) is None:
            model.entropy = secrets.randbits(64)
        return model

    def share(self, model: Any) -> None:
        """Replace the indexes and parameters of a model by equal ones that other models hold already."""
        features = model.features
        if features.width == len(
            features
        ):  # without gaps: names in the order of places are all of it
            model.features = self._shared(self.features, tuple(features.in_rows), features)
        if hasattr(model, "labels"):
            model.labels = self._shared(self.labels, tuple(model.labels.known), model.labels)
        for name in model.parameters():
            model.__dict__[name] = self.template.__dict__[name]

    def _shared(self, table: Any, values: tuple[Any, ...], index: Any) -> Any:
        """The shared index of these values. Values of different types differ: 1 is not True here."""
        return table.setdefault((values, tuple(map(type, values))), index)

    def separate(self, model: Any, names: Iterable[Any]) -> None:
        """Give a model its own index of features if the index lacks one of these names."""
        if not model.features.knows(dict.fromkeys(names)):
            model.features = copy.copy(model.features)

    def loop(self, rows: ShardRows, learns: bool, predict: bool) -> OurModelLoop:
        return OurModelLoop(self, rows, learns, predict)


class BatchPass:
    """The rows of a shard as arrays, coded for the models that share the indexes of this one.

    `learning_pass` is the same for all of these models. None: rows are only scored.
    """

    def __init__(self, model: Any, rows: ShardRows, workspace: Workspace, learning_pass: Any):
        self.features, self.labels = model.features, getattr(model, "labels", None)
        self.learning_pass = learning_pass
        names = rows.names or []
        self.fits: bool = self.features.knows(dict.fromkeys(names))
        if not self.fits:
            return
        n = len(rows)
        codes = np.zeros(n)
        if learning_pass is not None:
            targets = Targets(rows.targets, n)
            if self.labels is None:
                codes = targets.numbers()
            else:
                codes, _ = targets.coded(self.labels, 0, n)
        weights = np.ones(n) if rows.weights is None else rows.weights
        self.scores = np.zeros((n, model.n_outputs))
        self.arrays = (
            Batch.of(names, rows.examples).scaled(self.features).known(self.features, False),
            codes,
            weights,
            self.scores,
        )
        self.unknown: list[int] = np.concatenate([[0], np.cumsum(np.isnan(codes))]).tolist()
        self.call = Call(model.block, *self.arrays, workspace=workspace)

    def takes(self, start: int, stop: int) -> bool:
        """Whether all features and labels of these rows are in the indexes already."""
        return self.fits and self.unknown[start] == self.unknown[stop]

    def learn(self, model: Any, start: int, stop: int) -> None:
        """Learn rows, and keep the scores before learning."""
        self.call.move(model.block, start, stop)
        done = start + self.call.run(self.learning_pass)
        if done < stop:  # the model needs a larger block, or a basis
            model.run_pass(*(array[done:stop] for array in self.arrays))

    def score(self, model: Any, start: int, stop: int) -> None:
        """Score rows."""
        self.call.move(model.block, start, stop)
        self.call.run(model.scoring_pass)

    def predictions(self) -> list[Any]:
        """Predictions from the scores. They are meaningful for rows that have been learned or scored here."""
        found = self.scores[:, 0] if self.labels is None else self.labels.labels(self.scores)
        return found.tolist()  # type: ignore[no-any-return]


class OurModelLoop(ModelLoop):
    """The same for models of this package, in batch passes where possible."""

    def __init__(self, learner: OurLearner, rows: ShardRows, learns: bool, predict: bool):
        super().__init__(rows, learns, "predict_one" if predict else None)
        self.learner = learner
        self.batch_passes: dict[tuple[int, int], BatchPass] = {}
        self.spans: list[tuple[BatchPass, int, int]] = []  # rows predicted in a batch pass

    def one(self, model: Any, start: int, stop: int) -> None:
        batch_pass = self._batch_pass(model)
        if batch_pass is None or not batch_pass.takes(start, stop):
            self._alone(model, start, stop)
            return
        if self.learns:
            batch_pass.learn(model, start, stop)
        else:
            batch_pass.score(model, start, stop)
        self.spans.append((batch_pass, start, stop))

    def _batch_pass(self, model: Any) -> BatchPass | None:
        """The batch pass for a model. None if the model has not learned before, or if there are enough passes."""
        if model.block is None or self.rows.names is None:
            return None
        place = id(model.features), id(getattr(model, "labels", None))
        batch_pass = self.batch_passes.get(place)
        if batch_pass is None and len(self.batch_passes) < BATCH_PASSES:
            learn = self.learner.learn if self.learns else None
            batch_pass = BatchPass(model, self.rows, self.learner.workspace, learn)
            self.batch_passes[place] = batch_pass
        return batch_pass

    def predictions(self) -> list[Any] | None:
        known: dict[int, list[Any]] = {}
        for batch_pass, start, stop in self.spans if self.predictor else ():
            if id(batch_pass) not in known:
                known[id(batch_pass)] = batch_pass.predictions()
            self.done[start:stop] = known[id(batch_pass)][start:stop]
        return super().predictions()

    def _alone(self, model: Any, start: int, stop: int) -> None:
        """Learn or predict rows with a model that has, or may get, indexes of its own."""
        rows, some = self.rows, slice(start, stop)
        names = rows.names
        if self.learns:
            seen = {name for x in rows.examples[some] for name in x} if names is None else names
            self.learner.separate(model, seen)
        if names is None:
            super().one(model, start, stop)
        elif self.learns:
            weights = np.ones(stop - start) if rows.weights is None else rows.weights[some]
            batch = Batch.of(names, rows.examples[some])
            found = model.predict_then_learn_many(batch, rows.targets[some], weights)
            self.done[some] = found.tolist()
        else:
            batch = Batch.of(names, rows.examples[some])
            self.done[some] = model.predict_many(batch).tolist()
        if self.learns:
            self.learner.share(model)
