"""What `predict_one(x, with_dist=True)` returns. Loaded when it is asked for, as River's proba
loads scipy.stats.
"""

from __future__ import annotations

import math
from typing import Any

from river import proba, stats
from river.conf.interval import Interval

from ...core.passes.auto.tables import NORMAL_QUANTILES
from .quantiles import NORMAL, at_levels, on_line


class TargetDistribution(proba.Gaussian):
    """River's normal distribution, bent so that its quantiles are those of the errors on the
    stream.

    Parameters
    ----------
    mu
        The prediction.
    sigma
        Its spread.
    quantiles
        Of errors in units of the spread, at the levels that a model learns. Those of a normal
        distribution leave it normal.
    seed
        For `sample`.

    """

    def __init__(
        self,
        mu: float = 0.0,
        sigma: float = 0.0,
        quantiles: Any = NORMAL_QUANTILES,
        seed: int | None = None,
    ):
        super().__init__(seed)  # type: ignore[no-untyped-call]
        self._var = stats.Var._from_state(1, mu, sigma * sigma, ddof=0)
        self.quantiles = quantiles

    def quantile(self, level: float) -> float:
        """The number below which the target lies with this probability."""
        return float(self.mu + self.sigma * at_levels(self.quantiles, [level])[0])

    def interval(self, share: float = 0.9) -> Interval:
        """The interval that holds this share of targets, with as many below it as above."""
        below = 0.5 * (1.0 - share)
        return Interval(self.quantile(below), self.quantile(1.0 - below))

    def _normal(self, x: float) -> tuple[float, float]:
        """(where x would lie if the distribution were the standard normal one, how fast it moves
        with x)
        """
        if self.sigma == 0.0:
            return math.copysign(math.inf, x - self.mu) if x != self.mu else 0.0, math.inf
        place, slope = on_line((x - self.mu) / self.sigma, self.quantiles, NORMAL_QUANTILES)
        return place, slope / self.sigma

    def cdf(self, x: float) -> float:
        """The probability of targets up to x."""
        return NORMAL.cdf(self._normal(x)[0])

    def __call__(self, x: float) -> float:
        """The density at x; infinite where many targets were the same, and 0 where there is no
        spread.
        """
        place, slope = self._normal(x)
        return NORMAL.pdf(place) * slope if math.isfinite(place) and self.sigma > 0.0 else 0.0

    def log_pdf(self, x: float) -> float:
        """The logarithm of the density."""
        place, slope = self._normal(x)
        if not math.isfinite(place) or self.sigma == 0.0:
            return -math.inf
        return -0.5 * (place * place + math.log(math.tau)) + math.log(slope)

    def sample(self) -> float:
        """A random number from the distribution."""
        return self.quantile(min(max(self._rng.random(), 1e-12), 1.0 - 1e-12))
