"""TargetStandardScaler: River's numbers for scaled targets, from any number of threads and for
batches.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from river import base, compose

from ...inputs.batches import Batch
from ...inputs.targets import Targets, real, weights
from ...model.lock import lock_of
from ...parameters import ChecksNames
from ...wrappers.nested import batch_for

__all__ = ["TargetStandardScaler"]


class TargetStandardScaler(ChecksNames, compose.TargetTransformRegressor, base.MiniBatchRegressor):
    """Scales targets to mean 0 and variance 1 for a regressor, as River's class of this name.

    Mean and variance are those of all targets so far. The numbers are River's up to rounding;
    swapping the import is all it takes. A target that is no finite number is an error, and an
    example that the regressor refuses leaves the statistics as they were. (In River both stay in
    the statistics.) Any number of threads may use one model: those that learn take turns.

    `learn_many` and `predict_many` take frames and 2-D arrays, whatever the regressor is, and go
    row by row.

    Not for several targets at once: `AutoKernelRegressor` scales each by itself.

    Parameters
    ----------
    regressor
        Any regressor, ours or River's, or a pipeline that ends in one.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics
    >>> import river_budget as rb

    >>> model = rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor())
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.30...

    References
    ----------
    [^1]: [Welford, B. P., 1962. Note on a method for calculating corrected sums of squares and products. Technometrics 4.](https://doi.org/10.1080/00401706.1962.10490022)

    """  # noqa: E501

    def __init__(self, regressor: base.Estimator):
        self.regressor: Any = regressor
        self.target_name: Any = None
        self._seen = Seen()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model  # here, as it takes longer to load than this package

        yield {"regressor": linear_model.LinearRegression()}

    def learn_one(self, x: dict[Any, Any], y: Any, **further: Any) -> None:
        """Update the statistics by the target, and the regressor by the example with the target
        scaled.

        `further`: other arguments of the regressor's `learn_one`, such as `w`.
        """
        seen = self._seen
        y = y if type(y) is float else real(y)
        with seen.lock:
            before = seen.numbers
            numbers = _with(before, y)
            _, mean, _, deviation = numbers
            scaled = (y - mean) / deviation if deviation else 0.0
            self.regressor.learn_one(x, scaled, **further)
            # they differ if a value of the example, or a signal handler, has used this model
            seen.numbers = numbers if seen.numbers is before else _with(seen.numbers, y)

    def predict_one(self, x: dict[Any, Any], **further: Any) -> Any:
        """The regressor's prediction in the units of the targets; a `proba.Gaussian` of River is
        moved to them.
        """
        _, mean, _, deviation = self._seen.numbers
        found = self.regressor.predict_one(x, **further)
        if further and not isinstance(found, numbers.Real):
            from river import proba  # which loads scipy.stats

            if type(found) is proba.Gaussian:
                state = 1, found.mu * deviation + mean, (found.sigma * deviation) ** 2
                return proba.Gaussian._from_state(*state, ddof=0)  # type: ignore[no-untyped-call]
            raise TypeError(
                f"{type(found).__name__} has the units of scaled targets: TargetStandardScaler "
                "returns numbers only "
                "(AutoKernelRegressor scales targets itself and stands alone)"
            )
        return float(found * deviation + mean)

    def learn_many(self, X: Any, y: Any, w: Any = None, **further: Any) -> None:
        """Learn the rows of a frame or a 2-D array, exactly as a loop of `learn_one`.

        So each row is scaled by the statistics up to it. (River's pipelines scale a batch by those
        after the batch.) All targets are checked first, and all rows where the first step takes
        numbers only.
        """
        batch = batch_for(self.regressor, X)
        targets = Targets(y, len(batch))
        each: Iterable[Any] = ({} for _ in range(len(batch)))
        if w is not None:
            each = ({"w": weight} for weight in weights(w, len(batch)).tolist())
        numbers = targets.numbers().tolist()
        for x, target, own in zip(batch.as_given(), numbers, each, strict=True):
            self.learn_one(x, target, **own, **further)
        self.target_name = targets.name

    def predict_many(self, X: Any, **further: Any) -> Any:
        """The predictions for the rows of a frame or a 2-D array, exactly as a loop of
        `predict_one`.
        """
        batch = Batch(X)
        found = [self.predict_one(x, **further) for x in batch.as_given()]
        return batch.series(np.array(found, float), self.target_name)

    # what River's class has

    def _update(self, y: Any) -> None:
        self._seen.numbers = _with(self._seen.numbers, real(y))

    def func(self, y: Any) -> float:
        """The target scaled."""
        _, mean, _, deviation = self._seen.numbers
        return (y - mean) / deviation if deviation else 0.0

    def inverse_func(self, y: Any) -> Any:
        """A scaled target in its units."""
        _, mean, _, deviation = self._seen.numbers
        return y * deviation + mean

    @property
    def var(self) -> Any:
        """The statistics of the targets, as River's: a copy."""
        from river import stats  # here, as it takes longer to load than this package

        count, mean, squares, _ = self._seen.numbers
        found = stats.Var()
        found.mean.n, found.mean._mean, found._S = count, mean, squares
        return found

    @var.setter
    def var(self, found: Any) -> None:
        self._seen.numbers = (found.mean.n, found.mean.get(), found._S, found.get() ** 0.5)

    def __getstate__(self) -> dict[str, Any]:
        with self._seen.lock:
            return self.__dict__ | {"_seen": Seen(self._seen.numbers)}


class Seen:
    """The statistics of targets: count, mean, sum of squares and deviation, and the lock of who
    changes them.

    The numbers are one tuple, so that a prediction sees those of one moment.
    """

    __slots__ = ("__weakref__", "lock", "numbers")

    def __init__(self, numbers: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)):
        self.numbers = numbers
        self.lock = lock_of(self, "lock")

    def __reduce__(self) -> Any:
        return Seen, (self.numbers,)


def _with(seen: tuple[float, ...], y: float) -> tuple[float, float, float, float]:
    """The statistics after one more target, in the order of River's operations."""
    if y - y:  # not 0 of what is not finite
        real(y)
    count, old, squares, _ = seen
    count += 1.0
    mean = old + (1.0 / count) * (y - old)
    squares += (y - old) * (y - mean)
    deviation = (squares / (count - 1.0)) ** 0.5 if count > 1.0 else 0.0
    return count, mean, squares, deviation
