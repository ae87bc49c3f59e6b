"""Refitted: a batch learner with scikit-learn's interface, which is fitted again and again to the
last rows.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from river import base

from ..inputs.targets import Labels, plain, real, weight
from ..parameters import finite, optional, positive, whole
from .fits import Fit, PackedExample, kind_of, numbers_of, row_of
from .many import ManyProbabilities, ManyRows

# a label that came after the last fit has its share among the rows since then and so many others
LATE_ROWS = 20.0


class Refitted(ManyRows):
    """A batch learner on a stream: fitted to the last rows, again whenever the stream has grown by
    a quarter.

    It takes any classifier or regressor with scikit-learn's `fit` and `predict`, such as those of
    LightGBM, and is a model of River: it stands in pipelines, in `evaluate.progressive_val_score`
    and in `rb.Mixture`.

    It is fitted within the call of `learn_one` that brings the row which is due, and that call
    returns when the fit is done: a few milliseconds for a small fit, seconds for a large one. All
    other calls are quick. Memory is bounded by `window` and `max_wait`.

    Until the first fit, and where all targets of the window are equal, the probabilities are the
    shares of the labels, and the prediction of a number is the mean. A label that came after the
    last fit has its share among the rows since. A feature that is absent, None or NaN is missing:
    the learner gets NaN if it says that it takes NaN, and else the mean of the feature in the
    window. Names that no row of the window has are forgotten.

    The window becomes a dense matrix: of texts with thousands of words keep the usual ones by
    `rb.FeatureBudget` in front.

    Not for drift, and not where every call must be quick. Values of features must be numbers.
    Scalers belong inside, with scikit-learn's `make_pipeline`: one of River in front changes its
    scale while rows are held.

    Parameters
    ----------
    estimator
        A classifier or a regressor with scikit-learn's interface. It is copied, and stays as it is.
    grow
        Fit again when the stream has grown by this share since the last fit.
    window
        The number of last rows to which it is fitted.
    first
        The number of rows before the first fit.
    max_wait
        Fit again after so many rows at the latest.
    fill
        The number in place of a missing one, such as 0 for counts of words. None: NaN or the mean,
        as said above.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> import river_budget as rb

    >>> model = rb.Refitted(ExtraTreesClassifier(20, random_state=1), grow=0.5)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 8...%
    >>> model.n_fits
    7

    References
    ----------
    [^1]: The guide, [boosters](guide/boosters.md).

    """

    def __init__(
        self,
        estimator: Any,
        grow: float = 0.25,
        window: int = 5000,
        first: int = 100,
        max_wait: int = 5000,
        fill: float | None = None,
    ):
        regression = kind_of(estimator) == "regressor"
        if type(self) is Refitted:
            self.__class__ = RefittedRegressor if regression else RefittedClassifier
        positive("grow", grow)
        whole(2)("first", first)
        whole(first)("window", window)
        whole(1)("max_wait", max_wait)
        optional(finite)("fill", fill)
        self.estimator, self.grow, self.window = estimator, grow, window
        self.first, self.max_wait, self.fill = first, max_wait, fill
        self._begin()

    def _begin(self) -> None:
        super()._begin()
        self.n_fits = self._seen = 0
        self._next = self.first  # the number of rows at which it is fitted
        self._rows: list[PackedExample] = []
        self._fitted_on = 0  # the last fit was to so many of the first of these rows
        self._fit: Fit | None = None

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from sklearn import tree

        kind = (
            tree.DecisionTreeRegressor if cls is RefittedRegressor else tree.DecisionTreeClassifier
        )
        yield {"estimator": kind(max_depth=3, random_state=1), "first": 10}

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Hold an example, and fit the learner if it is due. The call returns when the fit is
        done.
        """
        values, y, w = numbers_of(x), self._checked(y), weight(w)
        if w != 1.0 and "sample_weight" not in inspect.signature(self.estimator.fit).parameters:
            raise ValueError(
                f"w must be 1, as {type(self.estimator).__name__}.fit takes no sample_weight"
            )
        if w == 0.0:
            return
        with self._lock:
            self._rows.append(row_of(values, self._as_number(y), w, self._rows))
            self._seen += 1
            if self._seen >= self._next:
                self._fit_window()

    def _fit_window(self) -> None:
        """Fit to the window, and hold no older rows. If the learner raises an error, the last
        example is not learned.
        """
        rows = self._rows[-self.window :]
        try:
            self._fit = Fit(self.estimator, rows, self.fill)
        except Exception as error:
            self._rows.pop()
            self._seen -= 1
            name = type(self.estimator).__name__
            raise RuntimeError(
                f"{name} cannot be fitted to the last {len(rows)} rows: {error}"
            ) from error
        self._rows, self._fitted_on, self._last = rows, len(rows), None
        self.n_fits += 1
        self._next = self._seen + max(1, min(math.ceil(self.grow * self._seen), self.max_wait))

    def _last_fit(self) -> Any:
        """The last fit, which is repeated after loading from a file; None before the first."""
        if self._fit is None and self._fitted_on:
            self._fit = Fit(self.estimator, self._rows[: self._fitted_on], self.fill)
        return self._fit

    def _opinion(self, x: dict[Any, Any]) -> Any:
        """What the learner says of an example, as in Fit.opinions; None if it says nothing."""
        values, fit = numbers_of(x), self._last_fit()
        if fit is None or fit.learner is None:
            return None
        before, opinion = (self._last or {}).get(id(x), (None, None))
        return opinion if before is x else fit.opinions([values])[0]

    def foresee(self, examples: Sequence[dict[Any, Any]]) -> None:
        fit = self._last_fit() if examples else None
        self._last = None
        if fit is not None and fit.learner is not None:
            opinions = fit.opinions([numbers_of(x) for x in examples])
            # with the examples, whose places in memory are theirs as long as they are held
            self._last = {id(x): (x, own) for x, own in zip(examples, opinions, strict=True)}

    def rows_until_fit(self) -> int:
        return self._next - self._seen

    def check_many(self, examples: Sequence[dict[Any, Any]], targets: Sequence[Any]) -> None:
        for x, y in zip(examples, targets, strict=True):
            numbers_of(x)
            self._checked(y)

    def _checked(self, y: Any) -> Any:
        raise NotImplementedError

    def _as_number(self, y: Any) -> float:
        raise NotImplementedError


class RefittedClassifier(ManyProbabilities, Refitted, base.MiniBatchClassifier):
    """What `rb.Refitted` makes of a classifier."""

    def _checked(self, y: Any) -> Any:
        Labels().check([y])
        return plain(y)

    def _as_number(self, y: Any) -> float:
        return self.number_of(y)

    def _start_lock(self) -> None:
        super()._start_lock()
        self._tally = (-1, 0, Counter[int]())  # number of the fit, rows that are counted, labels

    def predict_proba_one(self, x: dict[Any, Any], **further: Any) -> dict[Any, float]:
        """The probabilities of all labels so far."""
        with self._lock:
            opinion, n = self._opinion(x), len(self._labels)
            if opinion is None:
                counts = self._counts_since() + 1.0 / max(n, 1)
                if self._fit is not None:
                    counts[self._fit.numbers] += self._fit.counts
                shares = counts / counts.sum()
            else:
                shares = np.zeros(n)
                shares[self._last_fit().numbers] = opinion
                if len(opinion) < n:
                    late = self._late_shares()
                    shares = (1.0 - late.sum()) * shares + late
            return dict(zip(self._labels, shares.tolist(), strict=True))

    def _late_shares(self) -> Any:
        """The shares of labels that the last fit does not know among the rows since."""
        counts = self._counts_since()
        rows = counts.sum() + LATE_ROWS
        counts[self._last_fit().numbers] = 0.0
        return counts / rows

    def _counts_since(self) -> Any:
        """How often each label came after the last fit."""
        fit, counted, found = self._tally
        if fit != self.n_fits:
            counted, found = self._fitted_on, Counter()
        found.update(int(row.target) for row in self._rows[counted:])
        self._tally = self.n_fits, len(self._rows), found
        return np.array([found[number] for number in self._labels.values()], float)


class RefittedRegressor(Refitted, base.MiniBatchRegressor):
    """What `rb.Refitted` makes of a regressor."""

    def _checked(self, y: Any) -> float:
        return real(y)

    def _as_number(self, y: Any) -> float:
        return float(y)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The predicted number; the mean of the targets until the first fit."""
        with self._lock:
            opinion, rows = self._opinion(x), self._rows
            if opinion is not None:
                return float(opinion)
            if self._fit is not None:
                return float(self._fit.mean)
            return math.fsum(row.target for row in rows) / max(len(rows), 1)
