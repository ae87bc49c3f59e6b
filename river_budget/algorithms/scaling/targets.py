"""TargetStandardScaler: River's numbers for scaled targets, in a fraction of the time."""

from __future__ import annotations

from typing import Any

from river import base, compose

from ...model.inputs.targets import real
from ...model.one_writer import Turn, looks_at_the_model

__all__ = ["TargetStandardScaler"]


class TargetStandardScaler(compose.TargetTransformRegressor):
    """Scales targets to mean 0 and variance 1 for a regressor, as River's class, in a fraction of its time.

    Mean and variance are those of all targets so far. The numbers are River's up to rounding; swapping the
    import is all it takes. A target that is no finite number is an error, and an example that the regressor
    refuses leaves the statistics as they were. (In River both stay in the statistics.)

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

    """

    def __init__(self, regressor: base.Regressor):
        self.regressor = regressor
        # count, mean, sum of squares and deviation: one tuple, so that a prediction sees one state
        self._seen = (0.0, 0.0, 0.0, 0.0)
        self.turn = Turn()

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Update the statistics by the target, and the regressor by the example with the target scaled."""
        turn = self.turn
        while turn.wanted or turn.taken:
            turn.wait()
        turn.taken = True
        try:
            if type(y) is not float:
                y = real(y)
            seen = _with(self._seen, y)
            deviation = seen[3]
            scaled = (y - seen[1]) / deviation if deviation else 0.0
            self.regressor.learn_one(x, scaled)
            self._seen = seen
        finally:
            turn.taken = False

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The regressor's prediction in the units of the targets."""
        _, mean, _, deviation = self._seen
        return self.regressor.predict_one(x) * deviation + mean

    # what River's class has

    def _update(self, y: Any) -> None:
        self._seen = _with(self._seen, real(y))

    def func(self, y: Any) -> float:
        """The target scaled."""
        _, mean, _, deviation = self._seen
        return (y - mean) / deviation if deviation else 0.0

    def inverse_func(self, y: Any) -> Any:
        """A scaled target in its units."""
        _, mean, _, deviation = self._seen
        return y * deviation + mean

    @property
    def var(self) -> Any:
        """The statistics of the targets, as River's: a copy."""
        from river import stats  # here, as it takes longer to load than this package

        count, mean, squares, _ = self._seen
        found = stats.Var()
        found.mean.n, found.mean._mean, found._S = count, mean, squares
        return found

    @var.setter
    def var(self, found: Any) -> None:
        self._seen = (found.mean.n, found.mean.get(), found._S, found.get() ** 0.5)

    @looks_at_the_model
    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"turn": Turn()}


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
