"""Predictions of a saved model for the rows of a file: one for each row, in their order.

A model is saved with the columns that it was trained on, in one file. The file is that of
`rb.save`, and `rb.load` reads the model in it. Its text also contains, under `own_data`, what
`predict` needs: which columns are numbers, which words have features, and the target.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ... import saving
from ...guard.passing import reads_tables
from ...saving import SavedModelError
from ..common.scores import LabelScore, NumberScore, Score
from .columns import SparseColumns, Target, described
from .finding import Plan
from .source import Source
from .trial import with_labels

KEY = "own_data"


def save(path: str, model: Any, labels: Sequence[Any] | None, plan: Plan, source: Source) -> None:
    """Write a model and its columns; raises an error, and writes nothing, if they could not be read
    again.
    """
    target = plan.target
    known = plan.columns.description() | {
        "target": [target.name, target.kind],
        "labels": labels,
        "header": source.header,
    }
    saving.write(model, path, {KEY: known})


def load(path: str) -> tuple[Any, Plan, list[Any] | None, bool]:
    """(model, plan, labels that stand for False and True, whether the file had a header)"""
    try:
        model, beside = saving.read(path)
    except FileNotFoundError:
        raise RuntimeError(f"there is no file {path}") from None
    except (OSError, SavedModelError) as error:
        raise RuntimeError(str(error)) from None
    if KEY not in beside:
        raise RuntimeError(
            f"{path} holds a model without its columns: `river-budget try --save` writes both"
        )
    try:
        return model, *_described(beside[KEY])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RuntimeError(f"{path} is damaged: its columns cannot be read") from None


def _described(known: dict[str, Any]) -> tuple[Plan, list[Any] | None, bool]:
    """(plan, labels, whether there was a header) from the description in a file."""
    name, kind = known["target"]
    if kind not in ("number", "int", "bool", "text"):
        raise ValueError(kind)
    columns = described(known)
    labels = known["labels"]
    if labels is not None and len(labels) != 2:
        raise ValueError(labels)
    target = Target(str(name), kind, columns.decimal_comma)
    return Plan(columns, target, -1), labels, bool(known["header"])


Prediction = tuple[Any, float | None]  # what is predicted, and the probability of a label


class Predictions:
    """The predictions for a source, and their errors if the source has the target."""

    def __init__(self, model: Any, plan: Plan, labels: Sequence[Any] | None, source: Source):
        self.plan, self.labels, self.source = plan, labels, source
        self.score: Score = NumberScore() if plan.target.regression else LabelScore()
        self._at = place(plan, source)
        self._predict = model.predict_one if plan.target.regression else model.predict_proba_one
        self._reads_tables = reads_tables(model)
        self.rows = 0
        self.unseen: collections.Counter[Any] = collections.Counter()  # labels not seen in training

    def __iter__(self) -> Iterator[Prediction]:
        for line, row in self.source.rows:
            self.rows += 1
            if row:
                yield self._one(row, line)
            else:  # the row has a wrong number of cells: no prediction
                yield None, None

    def _one(self, row: Sequence[Any], line: int) -> Prediction:
        x = self.plan.columns.features(row, line)
        guess = self._predict(x if self._reads_tables else self.plan.columns.encoded(x))
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
    if (source.names is None) != isinstance(plan.columns, SparseColumns):
        raise RuntimeError(f"the model was not trained on such a file, but this is {source.how}")
    if source.names is None:
        return 0
    names, name = source.names, plan.target.name
    if not source.header and str(len(names) + 1) in {name, *plan.columns.names}:
        names = [str(i + 1) for i in range(len(names) + 1)]  # the target's column is missing
        names.remove(name)
    plan.columns.place(names)
    return names.index(name) if name in names else None
