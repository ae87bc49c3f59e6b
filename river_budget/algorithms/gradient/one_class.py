"""Novelty detection: the one-class support vector machine as a stream learner."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from river import base

from ...core import memory
from ...core.codes import Strategy, Task
from ...core.passes.gradient import norma as core
from ...inputs.batches import Batch, batch_of
from ...kernels import Kernel
from ...maintenance import Maintenance
from ...model.algorithm import After, Algorithm
from ...model.expansion import SHRINK, BudgetModel
from ...model.lock import mutating
from ...parameters import Mutable, optional, share, whole
from .norma import check_decay, sum_levels

__all__ = ["KernelOneClassSVM"]


class KernelOneClassSVM(BudgetModel, base.AnomalyDetector):
    """A kernel one-class SVM that learns one example at a time, in constant memory.

    The novelty form of NORMA: steps raise a function at the examples, and it decays; a threshold
    adapts so that a share `nu` of the examples lies below it. The boundary follows clusters of any
    form, which a linear one-class SVM cannot do.

    Scores lie between 0 and 1, as those of River's detectors: above .5 outside, where the function
    is below the threshold, and 1 where no vector is near. `decision_function_one` is the threshold
    minus the function: positive outside, negative inside.

    It needs features of similar size, so put a `StandardScaler` in front. Frequent examples count
    as normal: it hardly detects anomalies in one dense cluster if they are more than half of `nu`
    (an AUC near .7 to .8), and learns them as normal if they are more than `nu` (River's HTTP or
    Shuttle data, where attacks are alike). There, tree-based detectors do better.

    While a model lives, `mutate` or assignment may change `nu`, `budget`, `learning_rate` and `l2`.

    Not for anomalies that come in dense clusters, nor for features of different size without a
    scaler.

    Parameters
    ----------
    nu
        The share of examples that end up outside the boundary.
    budget
        The largest number of support vectors. None: no limit.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    maintenance
        One of `river_budget.maintenance`: how a full model makes room. None stands for `Merge()`.
    learning_rate
        Size of a step. The threshold converges within some multiples of 1 / (learning_rate * nu)
        examples.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 -
        learning_rate * l2.
    seed
        Seed of `RemoveRandom`; None draws anew in every run.

    Examples
    --------

    >>> import random
    >>> from river import anomaly
    >>> import river_budget as rb

    >>> model = rb.KernelOneClassSVM(nu=0.1, kernel=rb.kernels.RBF(1.0))
    >>> rng = random.Random(42)
    >>> for _ in range(2000):  # a ring
    ...     angle = rng.uniform(0, 6.28)
    ...     model.learn_one({"x": np.cos(angle), "y": np.sin(angle)})
    >>> model.score_one({"x": 0.0, "y": -1.0}) < 0.5 < model.score_one({"x": 0.0, "y": 3.0})
    True

    A quantile filter turns scores into yes or no:

    >>> detector = anomaly.QuantileFilter(model, q=0.98)

    References
    ----------
    [^1]: [Kivinen, J., Smola, A. and Williamson, R., 2004. Online learning with kernels. IEEE Transactions on Signal Processing 52.](https://doi.org/10.1109/TSP.2004.830991)

    """  # noqa: E501

    algorithm = Algorithm(
        {
            Strategy.PAIRS: core.learn_novelty,
            Strategy.REMOVE: core.learn_novelty_removing,
            Strategy.MANY: core.learn_novelty_merging_several,
            Strategy.FACTOR: core.learn_novelty_projecting,
        },
        core.STATE,
        score=core.score_novelty,
        shrink=SHRINK,
        header={"task": Task.BINARY, "outputs": 1},
        together=check_decay,
        after=After(union=sum_levels),
    )

    nu = Mutable(share)
    budget = Mutable(optional(whole(1)))

    def __init__(
        self,
        nu: float = 0.1,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        maintenance: Maintenance | None = None,
        learning_rate: float = 0.05,
        l2: float = 0.01,
        seed: int | None = None,
    ):
        super().__init__(locals())

    @mutating
    def learn_one(self, x: dict[Any, Any]) -> None:
        self._learn_row(x, 0.0, 1.0)

    def score_one(self, x: dict[Any, Any]) -> float:
        """The anomaly score of x, from 0 to 1; above .5 outside the boundary. 0 before the first
        example is learned.
        """
        scores, level = self._score_row(x, True)
        return _strangeness(scores[0], level)

    def decision_function_one(self, x: dict[Any, Any]) -> float:
        """How far x lies outside: the threshold minus the function at x."""
        score: float = self._score_row(x)[0]
        return score

    def _reading(self) -> float:
        """rho; NaN before the first example is learned."""
        block = self._block
        if block is None or not memory.head_of(block).count:
            return math.nan
        return float(self._state_record().level)

    @mutating
    def learn_many(self, X: Any) -> None:
        """Learn the examples in their order, exactly as a loop of `learn_one`."""
        self._learn_batch(batch_of(X))

    @mutating
    def score_then_learn_many(self, X: Any) -> Any:
        """The score of each example before it is learned: test, then learn, in one call.

        Takes frames, and 2-D arrays whose columns are the features 0, 1, ...
        """
        batch = batch_of(X)
        return batch.series(_strangenesses(*self._learn_batch(batch)), None)

    def _learn_batch(self, batch: Batch) -> tuple[Any, Any]:
        """Learn a batch; returns how far each example lay outside, and the threshold before it."""
        n = len(batch)
        scores, levels, ones = np.empty((n, 1)), np.zeros(n), np.ones(n)
        self._run_parts(batch.scaled(self._features), levels, ones, scores)
        return scores, levels

    def score_many(self, X: Any) -> Any:
        """The scores of many examples."""
        batch = batch_of(X, predicted=True)
        scores, level = self._scores_read(batch)
        return batch.series(_strangenesses(scores, np.full(len(batch), level)), None)


def _strangenesses(outside: Any, levels: Any) -> Any:
    """`_strangeness` of many examples."""
    each = zip(outside[:, 0].tolist(), levels.tolist(), strict=True)
    return np.array([_strangeness(*one) for one in each], float)


def _strangeness(outside: float, level: float) -> float:
    """Map rho - f(x) to [0, 1], without decreasing: 1 - f / (2 rho) outside, where f < rho, and
    (rho / f)^4 / 2 inside.

    So evenly spaced thresholds, as in River's ROCAUC, lie among the scores of anomalies and of
    normal examples. At first, with rho <= 0, nothing lies outside. Without any vector (rho is NaN)
    all scores are 0, as a filter that keeps anomalies from a detector must let the first examples
    through.
    """
    if math.isnan(level):
        return 0.0
    rho = max(level, 0.0)
    if rho == 0.0:
        return 0.5 / (1.0 + max(-outside, 0.0))
    f = max(rho - outside, 0.0)
    if outside > 0.0:
        return 1.0 - 0.5 * f / rho
    return 0.5 if outside == 0.0 else 0.5 * (rho / f) ** 4
