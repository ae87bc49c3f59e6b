"""KRLS-T: kernel recursive least squares that forgets, with a variance of each prediction."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

from ...core.expansion.support import LARGEST
from ...core.passes.gaussian import krls_tracker as core
from ...kernels import Kernel
from ...model.algorithm import Algorithm, Files
from ...model.estimators import BudgetRegressor
from ...model.stored import Vectors
from ...parameters import Mutable, positive, share

if TYPE_CHECKING:
    from river import proba

__all__ = ["KRLSTRegressor"]

LARGE = 1e200
KRLST = Algorithm(
    core.learn,
    core.STATE,
    shrink=core.shrink,
    header={"factored": 1},
    columns=Vectors(own=core.OWN),
    files=Files(
        ranges={
            "errors": (0.0, LARGE),
            "rows": (0.0, LARGE),
            "known": (-LARGEST, LARGEST),
        },
        whole_factor=False,
        scored_rows=True,
    ),
)


class KRLSTRegressor(BudgetRegressor):
    """Kernel recursive least squares that tracks: a Gaussian process on a budget, with a variance
    of each prediction.

    Each example is fitted at once, as by a regression on all of the past in which old examples
    count less. So it learns from few examples where gradient descent needs many, and takes time
    with the square of the budget, some 50 microseconds an example for 100 vectors. What it keeps as
    its basis are the vectors without which it predicts worst. Targets should be of order one: put a
    `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `forgetting` and `noise`.

    Not for budgets of many hundreds, nor for `rb.merge`: the covariances of two models have no sum.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    forgetting
        The share of what is known that is left after each further example: after n of them
        forgetting ** n. 1 forgets nothing.
    noise
        The variance of the noise in the targets, where the function has the variance k(x, x), which
        is 1 for Gaussian kernels.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.5/d")`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.KRLSTRegressor()
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.3...

    A prediction with its standard deviation, small where examples were, and large far from all of
    them:

    >>> model = rb.KRLSTRegressor(kernel=rb.kernels.RBF(1.0), noise=0.01)
    >>> for i in range(100):
    ...     model.learn_one({"t": i / 50}, i / 50)
    >>> near, far = (model.predict_one({"t": t}, with_dist=True) for t in (1.0, 9.0))
    >>> round(near.mu, 1), near.sigma < 0.5 * far.sigma
    (1.0, True)

    References
    ----------
    [^1]: [Van Vaerenbergh, S., Lázaro-Gredilla, M. and Santamaría, I., 2012. Kernel recursive least-squares tracker for time-varying regression. IEEE Transactions on Neural Networks and Learning Systems 23.](https://doi.org/10.1109/TNNLS.2012.2200500)

    """  # noqa: E501

    algorithm = KRLST
    _unmergeable_because = "the covariances of two models have no sum"

    forgetting = Mutable(share)
    noise = Mutable(positive)

    def __init__(
        self,
        budget: int = 100,
        forgetting: float = 0.999,
        noise: float = 0.1,
        kernel: Kernel | None = None,
    ):
        super().__init__(locals())

    @overload  # type: ignore[override]
    def predict_one(self, x: dict[Any, Any], with_dist: Literal[False] = False) -> float: ...

    @overload
    def predict_one(self, x: dict[Any, Any], with_dist: Literal[True]) -> proba.Gaussian: ...

    def predict_one(self, x: dict[Any, Any], with_dist: bool = False) -> Any:
        """The prediction, or with `with_dist=True` the distribution of the target: River's
        `proba.Gaussian`.

        Before the first example its standard deviation is infinite.
        """
        if not with_dist:
            return super().predict_one(x)
        from river import proba  # which loads scipy.stats

        found = self._run_on_one(core.predict, x, 2)
        mean, variance = found or (0.0, math.inf)
        return proba.Gaussian._from_state(1, mean, variance, ddof=0)  # type: ignore[no-untyped-call]
