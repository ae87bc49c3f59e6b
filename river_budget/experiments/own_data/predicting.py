"""Predictions of a saved model for the rows of a file: one for each row, in their order."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator, Sequence
from typing import Any

from .columns import Columns, SparseColumns
from .finding import Plan
from .reading.source import Source
from .scores import LabelScore, NumberScore, Score
from .trial import with_labels

Prediction = tuple[Any, float | None]  # what is predicted, and the probability of a label


class Predictions:
    """The predictions for a source, and their errors if the source has the target."""

    def __init__(self, model: Any, plan: Plan, labels: Sequence[Any] | None, source: Source):
        self.plan, self.labels, self.source = plan, labels, source
        self.score: Score = NumberScore() if plan.target.regression else LabelScore()
        self._at = place(plan, source)
        self._predict = model.predict_one if plan.target.regression else model.predict_proba_one
        self.rows = self.empty = 0
        self.unseen: collections.Counter[Any] = collections.Counter()  # labels not seen in training

    def __iter__(self) -> Iterator[Prediction]:
        for line, row in self.source.rows:
            self.rows += 1
            if row:
                yield self._one(row, line)
            else:  # the row has a wrong number of cells: no prediction
                self.empty += 1
                yield None, None

    def _one(self, row: Sequence[Any], line: int) -> Prediction:
        guess = self._predict(self.plan.columns.features(row, line))
        if not self.plan.target.regression:
            guess = with_labels(guess, self.labels)
        y = None if self._at is None else self.plan.target.value(row[self._at])
        if y is not None:
            self.score.add(guess, y)
            if isinstance(guess, dict) and y not in guess:
                self.unseen[y] += 1
        if self.plan.target.regression:
            return (float(guess) if math.isfinite(guess) else None), None
        if not guess:
            return None, None
        label = max(guess, key=guess.__getitem__)
        return label, float(guess[label])


def place(plan: Plan, source: Source) -> int | None:
    """Find the columns of a model in a source, and the place of the target if it is there."""
    if source.names is None or isinstance(plan.columns, SparseColumns):
        if source.names is not None or isinstance(plan.columns, Columns):
            raise RuntimeError(
                f"the model was not trained on such a file, but this is {source.how}"
            )
        return 0
    names = source.names
    name = plan.target.name
    if not source.header and str(len(names) + 1) in {
        name,
        *plan.columns.numbers,
        *plan.columns.words,
    }:
        names = [str(i + 1) for i in range(len(names) + 1)]  # the target's column is missing
        names.remove(name)
    plan.columns.place(names)
    return names.index(name) if name in names else None
