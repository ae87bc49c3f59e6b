"""The rows that a Refitted holds, and a learner that was fitted to some of them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..inputs.features import in_order
from ..parameters import check_example, is_missing, number

SHARPNESS = 2.0  # of probabilities that are made from the scores of a decision function
SURE = 0.9  # the probability of the label that is predicted by a learner without probabilities and scores
FEW_ROWS = 500  # for which LightGBM's threads cost more than they save


def numbers_of(x: Any) -> dict[Any, float]:
    """The values of an example that are not missing, as floats."""
    check_example(x)
    return {name: number(name, value) for name, value in x.items() if not is_missing(value)}


def kind_of(estimator: Any) -> str:
    """"classifier" or "regressor". Raises TypeError for what is neither."""
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


class Rows:
    """Examples as a matrix, NaN where a feature is missing, with their targets and weights."""

    def __init__(self) -> None:
        self.names: dict[Any, int] = {}  # and their columns
        self.X = np.empty((0, 0))
        self.targets, self.weights = np.empty(0), np.empty(0)
        self.n = 0

    def __len__(self) -> int:
        return self.n

    def append(self, x: dict[Any, float], y: float, w: float) -> None:
        """Add an example. Its new names get columns in sorted order."""
        for name in in_order(name for name in x if name not in self.names):
            self.names[name] = len(self.names)
        if self.n == len(self.X) or len(self.names) > self.X.shape[1]:
            self._grow()
        for name, value in x.items():
            self.X[self.n, self.names[name]] = value
        self.targets[self.n], self.weights[self.n] = y, w
        self.n += 1

    def _grow(self) -> None:
        """Make room for more rows, or more columns."""
        rows, columns = self.X.shape
        if self.n == rows:
            rows = max(16, rows + rows // 2)
        if len(self.names) > columns:
            columns = len(self.names) + columns // 4
        X, self.X = self.X, np.full((rows, columns), np.nan)
        self.X[: self.n, : X.shape[1]] = X[: self.n]
        self.targets, self.weights = np.resize(self.targets, rows), np.resize(self.weights, rows)

    def remove_last(self) -> None:
        """Remove the example that came last."""
        self.n -= 1
        self.X[self.n] = np.nan

    def between(self, start: int, stop: int) -> Rows:
        """A copy of these examples, with the names that they have."""
        found, part = Rows(), slice(start, stop)
        X = self.X[part, : len(self.names)]
        kept = np.flatnonzero(~np.isnan(X).all(axis=0))
        names = list(self.names)
        found.names = {names[column]: place for place, column in enumerate(kept.tolist())}
        found.X, found.n = X[:, kept], len(X)
        found.targets, found.weights = self.targets[part].copy(), self.weights[part].copy()
        return found


class Fit:
    """A learner that was fitted to rows, and what it needs to read further ones.

    numbers: those of the labels that it knows, in the order of its columns; None of a regressor.
    """

    def __init__(self, estimator: Any, rows: Rows, fill: float | None):
        self.names = list(rows.names)
        X, y, self.numbers = rows.X, rows.targets, None
        self._fill = self._what_fills(estimator, X, fill)
        if kind_of(estimator) == "classifier":
            self.numbers, y = np.unique(y.astype(np.int64), return_inverse=True)
        self.learner: Any = None  # of targets that are all equal nothing is learned
        if self.names and y.min() < y.max():
            weights = rows.weights
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
        """Of a classifier the probabilities of its labels, (examples, labels), of a regressor the predicted numbers."""
        X = self._filled(
            np.array([[x.get(name, np.nan) for name in self.names] for x in examples], float)
        )
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
