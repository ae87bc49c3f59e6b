"""The rows that a Refitted holds, and a learner that was fitted to some of them."""

from __future__ import annotations

import array
import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..inputs.features import in_order
from ..parameters import check_example, is_missing, number

SHARPNESS = 2.0  # of probabilities that are made from the scores of a decision function
# the probability of the label that is predicted by a learner without probabilities and scores
SURE = 0.9
FEW_ROWS = 500  # for which LightGBM's threads cost more than they save


def numbers_of(x: Any) -> dict[Any, float]:
    """The values of an example that are not missing, as floats."""
    check_example(x)
    return {name: number(name, value) for name, value in x.items() if not is_missing(value)}


def kind_of(estimator: Any) -> str:
    """Whether it is a "classifier" or a "regressor". Raises TypeError for what is neither."""
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "predict")
    ):
        raise TypeError(
            f"estimator must be an object with scikit-learn's fit and predict, not {estimator!r}"
        )
    tags = getattr(estimator, "__sklearn_tags__", None)
    kind = tags().estimator_type if tags else getattr(estimator, "_estimator_type", None)
    if kind not in ("classifier", "regressor"):
        raise TypeError(f"estimator must be a classifier or a regressor, not {estimator!r}")
    return str(kind)


class PackedExample(NamedTuple):
    """An example without its missing values, packed: dicts of floats would take ten times the
    memory.
    """

    names: tuple[Any, ...]
    values: array.array[float]
    target: float
    weight: float

    @property
    def x(self) -> dict[Any, float]:
        return dict(zip(self.names, self.values, strict=True))


def row_of(
    x: dict[Any, float], target: float, weight: float, before: Sequence[PackedExample]
) -> PackedExample:
    """A row; it shares its names with the one before if they are equal."""
    names = tuple(x)
    if before and before[-1].names == names:
        names = before[-1].names
    return PackedExample(names, array.array("d", x.values()), target, weight)


def matrix_of(examples: Iterable[dict[Any, float]], names: Sequence[Any]) -> Any:
    """The values of these names, NaN where one is missing."""
    rows = [[x.get(name, np.nan) for name in names] for x in examples]
    return np.array(rows, float).reshape(len(rows), len(names))


class Fit:
    """A learner that was fitted to rows, and what it needs to read further ones.

    numbers: those of the labels that it knows, in the order of its columns, and counts of these;
    None of a regressor.
    """

    def __init__(self, estimator: Any, rows: Sequence[PackedExample], fill: float | None):
        self.names = in_order(set().union(*{row.names for row in rows}))
        X = matrix_of((row.x for row in rows), self.names)
        y, weights = np.array([row[2:] for row in rows]).T
        self._fill, self.mean = self._what_fills(estimator, X, fill), y.mean()
        self.numbers: Any = None
        if kind_of(estimator) == "classifier":
            self.numbers, y, self.counts = np.unique(y.astype(np.int64), False, True, True)
        self.learner: Any = None  # of targets that are all equal nothing is learned
        if self.names and y.min() < y.max():
            given = {} if (weights == 1.0).all() else {"sample_weight": weights}
            self.learner = copy.deepcopy(estimator).fit(self._filled(X), y, **given)

    def _what_fills(self, estimator: Any, X: Any, fill: float | None) -> Any:
        """What stands for a missing number in each column."""
        if fill is not None:
            return np.full(X.shape[1], float(fill))
        tags = getattr(estimator, "__sklearn_tags__", None)
        if tags is not None and tags().input_tags.allow_nan:
            return np.full(X.shape[1], np.nan)
        known = ~np.isnan(X)
        return np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)

    def _filled(self, X: Any) -> Any:
        return np.where(np.isnan(X), self._fill, X)

    def opinions(self, examples: list[dict[Any, float]]) -> Any:
        """Of a classifier the probabilities of its labels, (examples, labels), of a regressor the
        predicted numbers.
        """
        X = self._filled(matrix_of(examples, self.names))
        learner, boosted = self.learner, getattr(self.learner, "booster_", None)
        if boosted is not None and not callable(learner.objective):
            # past LightGBM's interface for scikit-learn, whose calls take ten times as long
            found = boosted.predict(X, num_threads=1 if len(X) <= FEW_ROWS else 0)
            return np.column_stack([1.0 - found, found]) if self._is_one_of_two(found) else found
        if self.numbers is None:
            return np.asarray(learner.predict(X), float).reshape(len(X))
        if hasattr(learner, "predict_proba"):
            return learner.predict_proba(X)
        if hasattr(learner, "decision_function"):
            return softmax_of(learner.decision_function(X))
        rest = (1.0 - SURE) / (len(self.numbers) - 1)
        named = np.asarray(learner.predict(X), np.int64)[:, np.newaxis]
        return np.where(named == np.arange(len(self.numbers)), SURE, rest)

    def _is_one_of_two(self, found: Any) -> bool:
        return self.numbers is not None and found.ndim == 1


def softmax_of(scores: Any) -> Any:
    """Probabilities from the scores of a decision function."""
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    powers = np.exp(SHARPNESS * (scores - scores.max(axis=1, keepdims=True)))
    return powers / powers.sum(axis=1, keepdims=True)
