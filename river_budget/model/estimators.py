"""River's interface: base classes of our classifiers and regressors.

A model is a block of memory (core/block/layout.py) and two indexes, of features and of labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from river import base

from ..core import memory
from ..core.codes import Task
from ..inputs.batches import Batch
from ..inputs.targets import Labels, Targets, check_classes, plain, real, weight, weights
from ..kernels import RBF
from ..parameters import Fixed
from .algorithm import check_kept
from .batch_passes import Part
from .calls import Matrix
from .expansion import BudgetModel
from .lock import changes_the_model, mutating
from .one_by_one import AGAIN, OneByOne
from .stored import split


class Supervised(OneByOne):
    """What classifiers and regressors share: many examples with targets."""

    @mutating
    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the examples in their order, exactly as a loop of `learn_one`."""
        self._learn_batch(self._batch_of(X), y, w, predict=False)

    @mutating
    def predict_then_learn_many(self, X: Any, y: Any, w: Any = 1.0) -> Any:
        """The predictions of each example before it is learned: progressive validation in one call.

        Takes frames, and 2-D arrays whose columns are the features 0, 1, ... Boolean targets make
        both labels known from the start; otherwise classifiers predict None until the first label
        is learned.
        """
        return self._learn_batch(self._batch_of(X), y, w, predict=True)

    def _learn_batch(self, batch: Batch, y: Any, w: Any, predict: bool) -> Any:
        """Learn a batch that is checked whole before; returns predictions, if they are wanted."""
        targets, all_weights = Targets(y, len(batch)), weights(w, len(batch))
        found = self._learn_targets(batch.scaled(self._features), targets, all_weights, predict)
        self._target_name = targets.name
        return batch.series(found, targets.name) if predict else None

    def _learn_targets(self, batch: Batch, targets: Targets, weights: Any, predict: bool) -> Any:
        """The same, once the numbers of the examples are checked, with the targets checked
        first.
        """
        raise NotImplementedError

    def predict_many(self, X: Any) -> Any:
        """The predictions of `predict_one` for each row: of a frame a series of the same library,
        else an array.
        """
        batch = self._batch_of(X, predicted=True)
        return batch.series(self._predictions(*self._scores_read(batch)), self._target_name)

    def _predictions(self, scores: Matrix, read: Any = None) -> Any:
        """The predictions of many rows, from their scores and the `_reading` of them, or the
        present one.
        """
        raise NotImplementedError


class Classifier(Supervised, base.MiniBatchClassifier):
    """The base class of classifiers, binary and multi-class."""

    _usual_kernel = RBF("2/d")
    classes = Fixed(check_classes)

    def __init__(self, given: dict[str, Any]):
        super().__init__(given)
        classes = self.classes
        if self.algorithm.binary and classes and len(classes) > 2:
            raise ValueError(
                f"classes must be two labels, not {classes!r}: for more, put the model into "
                "river's "
                "multiclass.OneVsRestClassifier"
            )
        self._labels = Labels(classes or (), self.algorithm.binary, closed=classes is not None)

    @property
    def _multiclass(self) -> bool:
        return not self.algorithm.binary and (self.classes is None or len(self.classes) > 2)

    @property
    def _n_outputs(self) -> int:
        return self._labels.outputs

    def _header_fields(self, n_features: int) -> dict[str, Any]:
        task = Task.BINARY if self._n_outputs == 1 else Task.MULTICLASS
        return super()._header_fields(n_features) | {"task": task, "outputs": self._n_outputs}

    def _named(self, scores: Matrix) -> Any:
        return self._labels.named(scores)

    def _add_label(self, label: Any) -> None:
        """Add a label in one step, as Ctrl-C or a predicting thread may come. The caller has
        exclusive access.

        The third one promotes the model from one output to one for every class.
        """
        labels = self._labels.and_one_more(label)
        if self._block is None or labels.outputs == self._n_outputs:
            self._replace(_labels=labels)
            return
        changed, before = self._snapshot(), self._n_outputs
        changed._labels = labels
        changed._promote(before)
        self._swap_in(changed)

    def _promote(self, before: int) -> None:
        """Resize the block to the number of outputs that the labels need."""
        self._resize_block(outputs=self._n_outputs, task=Task.MULTICLASS)
        model = memory.views(self._block)
        if before == 1:
            promotion = self.algorithm.after.promotion
            check_kept(self, promotion, "with a third class", "promotion", ("per_vector",))
            split(model.coefficients)
            self.algorithm.columns.promoted(self)
            self.algorithm.after.promotion(self)

    @mutating
    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn an example. `w` scales its step."""
        labels = self._labels
        try:
            target = labels.codes[y]
        except (KeyError, TypeError):
            self._learn_labelled(x, y, w, False)
            return
        if self._learn_row(x, target, 1.0 if w == 1.0 else weight(w), labels) is AGAIN:
            self._learn_labelled(x, y, w, False)

    @mutating
    def predict_then_learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> Any:
        """`predict_one` and then `learn_one` in one go: the prediction before the example is
        learned.

        For validation by hand; two calls compute every score twice.
        """
        scores, labels = self._learn_labelled(x, y, w, True)
        return labels.label(scores)

    def _learn_labelled(self, x: dict[Any, Any], y: Any, w: float, wanted: bool) -> Any:
        """Learn an example; returns the scores before and their labels, if they are wanted."""
        w = 1.0 if w == 1.0 else weight(w)
        while True:
            labels = self._labels  # read once: a thread that adds a label replaces the object
            try:
                target = labels.codes[plain(y)]
            except (KeyError, TypeError):
                labels.check([y])
                scores, (labels, *_) = self._score_row(x, True) if wanted else (None, (labels,))
                if self._learn_new_label(self._taken(x), plain(y), w) is not AGAIN:
                    return scores, labels
            else:
                found = [None, labels]  # before: behind the pass nothing else may ask for memory
                found[0] = self._learn_row(x, target, w, labels, wanted)
                if found[0] is not AGAIN:
                    return found

    @changes_the_model
    def _learn_new_label(self, x: dict[Any, Any], label: Any, w: float) -> Any:
        """Learn an example whose label is new by a copy, which becomes the model in one step.

        So an error or Ctrl-C leaves no label of an example that was never learned. AGAIN if another
        thread has added it.
        """
        if label in self._labels.codes:
            return AGAIN
        changed = self._snapshot()
        changed._add_label(label)
        changed._learn_row(x, changed._labels.codes[label], w)
        self._swap_in(changed)
        return None

    # River's own signature has **kwargs, which would swallow misspelt arguments
    def predict_one(self, x: dict[Any, Any]) -> Any:  # type: ignore[override]
        """The label with the highest score; None before the first label is known."""
        labels = self._labels
        scores, known = self._score_row(x), labels.known
        if labels is not self._labels:  # another thread has added one: are these its scores?
            return self.predict_one(x)
        return known[scores[0] >= 0.0] if len(known) == 2 else labels.label(scores)

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:  # type: ignore[override]
        """Probabilities by a logistic or softmax link of the scores, calibrated on the stream so
        far.

        The calibration compares the score of each example, before the example is learned, with its
        label, over about the last hundred examples. The calibration does not change which label is
        predicted.
        """
        scores, (labels, slope, lead) = self._score_row(x, True)
        return labels.probabilities_of_one(scores, slope, lead)  # type: ignore[no-any-return]

    def decision_function_one(self, x: dict[Any, Any]) -> Any:
        """The raw score, positive for the positive class; with three classes or more {class:
        score}.
        """
        scores, (labels, *_) = self._score_row(x, True)
        return labels.named(scores)

    def _learn_targets(self, batch: Batch, targets: Targets, weights: Any, predict: bool) -> Any:
        targets.check(self._labels)
        if predict:
            batch.check_series([*self._labels.known, *targets.distinct()])
        if not len(batch):
            return self._labels.labels(np.zeros((0, self._n_outputs)))
        if targets.boolean:
            self._make_booleans_known()
        predictions: list[Any] = []
        for part in self._parts_of(batch, predict):
            predictions += self._learn_part(part, targets, weights, predict)
        return _joined(predictions) if predict else None

    def _learn_part(self, part: Part, targets: Targets, weights: Any, predict: bool) -> list[Any]:
        """Learn a part of a batch; returns predictions, each from before its example is learned, if
        they are wanted.
        """
        predictions: list[Any] = []
        rows, before = part.rows, part.before  # of the examples from `start`
        start, last = part.first, part.first + len(rows)
        while start < last:
            labels = self._labels
            codes, count = targets.coded(labels, start, last)
            if count == 0:  # a new label: predict without it, then learn with it
                if predict and before is None:
                    before = self._score_rows(rows[:1])[0]
                rows = self._rows_with_label(targets.values[start], part, start - part.first, rows)
                codes, count = targets.coded(self._labels, start, last)
            scores = np.empty((count, self._n_outputs))
            self._run_pass(rows[:count], codes[:count], weights[start : start + count], scores)
            if before is not None:
                predictions.append(labels.labels(before[np.newaxis]))
            if predict:
                predictions.append(self._labels.labels(scores[before is not None :]))
            start, rows, before = start + count, rows[count:], None
        return predictions

    def _rows_with_label(self, label: Any, part: Part, start: int, rows: Any) -> Any:
        """Add a label; returns the rows of a part from `start`, anew if names have other places
        now.
        """
        places = self._features.places
        self._add_label(label)
        if self._features.places == places:
            return rows
        return self._rows_of(part.batch.part(start, len(part.batch)))

    @changes_the_model
    def _make_booleans_known(self) -> None:
        if not self._labels.known:
            self._add_label(True)

    def _reading(self) -> tuple[Labels, float, float]:
        """(labels, slope and lead of the calibration, which maps scores to probabilities)"""
        if self._block is None:
            return self._labels, 1.0, 0.0
        head = memory.head_of(self._block)
        return self._labels, head.slope or 1.0, head.top_bonus

    def _predictions(self, scores: Matrix, read: Any = None) -> Any:
        return (self._labels if read is None else read[0]).labels(scores)

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities of `predict_proba_one` for each row, with a column for each label."""
        batch = self._batch_of(X, predicted=True)
        scores, (labels, *link) = self._scores_read(batch)
        return batch.table(labels.probabilities(scores, *link))


def _joined(predictions: list[Any]) -> Any:
    """Concatenate arrays, into an array of objects if their types differ."""
    if len({part.dtype.kind for part in predictions}) > 1:
        predictions = [part.astype(object) for part in predictions]
    return np.concatenate(predictions)


class Regressor(Supervised, base.MiniBatchRegressor):
    """The base class of regressors."""

    _usual_kernel = RBF("0.5/d")

    def _header_fields(self, n_features: int) -> dict[str, Any]:
        return super()._header_fields(n_features) | {"task": Task.REGRESSION, "outputs": 1}

    @mutating
    def learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> None:
        """Learn an example. `w` scales its step."""
        target = real(y)
        self._learn_row(x, target, 1.0 if w == 1.0 else weight(w))

    @mutating
    def predict_then_learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> float:
        """`predict_one` and then `learn_one` in one go: the prediction before the example is
        learned.

        For validation by hand; two calls compute every score twice.
        """
        target = real(y)
        score: float = self._learn_row(x, target, 1.0 if w == 1.0 else weight(w), None, True)[0]
        return score

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The score, in the units of the targets that were learned."""
        score: float = self._score_row(x)[0]
        return score

    def decision_function_one(self, x: dict[Any, Any]) -> float:
        """The same as `predict_one`."""
        return self.predict_one(x)

    def _learn_targets(self, batch: Batch, targets: Targets, weights: Any, predict: bool) -> Any:
        numbers, scores = targets.numbers(), np.empty((len(batch), 1))
        self._run_parts(batch, numbers, weights, scores, predict)
        return self._predictions(scores)

    def _predictions(self, scores: Matrix, read: Any = None) -> Any:
        return scores[:, 0]


class BudgetClassifier(BudgetModel, Classifier):
    """The base class of classifiers that are kernel expansions."""


class BudgetRegressor(BudgetModel, Regressor):
    """The base class of regressors that are kernel expansions."""
