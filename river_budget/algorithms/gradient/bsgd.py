"""Budgeted stochastic gradient descent: kernel Pegasos with a limited number of support vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.codes import Strategy
from ...core.passes.gradient import bsgd as core
from ...kernels import Kernel
from ...maintenance import Maintenance
from ...model.algorithm import After, Algorithm, Files, shrink_by_pass
from ...model.estimators import BudgetClassifier, BudgetRegressor
from ...model.expansion import SHRINK, BudgetModel
from ...parameters import (
    WHOLE,
    Fixed,
    Mutable,
    boolean,
    optional,
    positive,
    whole,
)
from ..averaging import Averaging

__all__ = ["BSGDClassifier", "BSGDRegressor"]


def _check_steps(parameters: Mapping[str, Any]) -> None:
    learning_rate, l2 = parameters["learning_rate"], parameters["l2"]
    if learning_rate is None and l2 == 0.0:
        raise ValueError(
            "l2 must be a positive number where learning_rate is None, not 0: the steps of Pegasos "
            "are "
            "1 / (l2 t). With a learning_rate it may be 0, and nothing shrinks"
        )
    if learning_rate is not None and learning_rate * l2 > 1.0:
        raise ValueError(
            f"learning_rate * l2 must be at most 1, not {learning_rate} * {l2}: at every example "
            "the model shrinks by the factor 1 - learning_rate * l2"
        )


def _halve_norm(model: Any) -> None:
    model._state_record().norm2 *= 0.5  # |-a/2|^2 + |a/2|^2


def _keep_budget(model: Any, united: bool) -> None:
    shrink_by_pass(model, united)
    state = model._state_record()
    state.norm2, state.bounded = model._squared_length(), 0


def _sum_records(model: Any, parts: list[Any]) -> None:
    state = model._state_record()
    state.norm2 = model._squared_length()
    for name in ("surplus", "errors"):  # sums over rounds: keep the largest mean
        records = [part.model._state_record() for part in parts]
        means = [record[name] / record.rounds for record in records if record.rounds > 0.0]
        state[name] = state.rounds * max(means, default=0.0)
    state.unchecked = state.bounded = 0


class _BSGD(Averaging, BudgetModel):
    """The parameters of both classes."""

    algorithm = Algorithm(
        {
            Strategy.PAIRS: core.learn,
            Strategy.REMOVE: core.learn_removing,
            Strategy.MANY: core.learn_merging_several,
            Strategy.FACTOR: core.learn_projecting,
        },
        core.STATE,
        shrink=SHRINK,
        counters=("rounds",),
        together=_check_steps,
        after=After(promotion=_halve_norm, budget=_keep_budget, union=_sum_records),
        # any value of these only changes when norm2 is checked next
        files=Files(dict.fromkeys(("unchecked", "exact", "bounded"), WHOLE)),
    )

    budget = Mutable(optional(whole(1)))
    project_to_ball = Fixed(boolean)
    learning_rate = Mutable(optional(positive))

    @property
    def gradient_error(self) -> float:
        """The mean length of the error that maintenance has added to a gradient so far.

        In classification without weights, the mean objective of the iterates is above the optimum
        by at most twice this number divided by sqrt(l2), plus a term that vanishes as log(n) / n
        (theorem 1 of the paper of 2010).
        """
        if self._block is None:
            return 0.0
        state = self._state_record()
        return float(state.errors / state.rounds) if state.rounds else 0.0


class BSGDClassifier(_BSGD, BudgetClassifier):
    """A kernel support vector machine that learns one example at a time, in constant memory.

    Stochastic gradient descent on the regularised hinge loss (Pegasos); with more than two classes,
    on Crammer and Singer's. Every example inside the margin becomes a support vector. When there
    are more than `budget` of them, `maintenance` makes room.

    This is the model to try first: with merging it is fast and accurate, and with default settings
    it follows drift. It needs features of similar size, so put a `StandardScaler` in front. With
    more than some dozens of features, most of them noise, it is seldom better than a linear model.

    While a model lives, `mutate` or assignment may change `budget`, `l2` and `learning_rate`.

    Not for features of different size without a scaler in front, nor for classes with a linear
    boundary.

    Parameters
    ----------
    budget
        The largest number of support vectors. None: no limit (kernel Pegasos).
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    maintenance
        One of `river_budget.maintenance`; None stands for `Merge()`, and where the kernel is not
        Gaussian for `Project()`, which costs the square of the budget.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 -
        learning_rate * l2. So old vectors lose weight, and a full model has room for new ones. 0:
        no shrinking, which needs a `learning_rate`.
    project_to_ball
        Whether to keep the norm of the model, after the maintenance, in the ball where the optimum
        is known to lie. Its radius is 1 / sqrt(l2), times the root of the mean weight if there are
        weights.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.
    seed
        Seed of `RemoveRandom`; None draws anew in every run.
    learning_rate
        Size of a step: constant, so that the model follows drift. None stands for the step of the
        papers, 1 / (l2 t) at example t, which is for long stationary streams: it begins with 1 /
        l2, which ruins short ones, and in the end a full model hardly learns from new examples.
    average
        Whether to predict by the mean of the iterates, late ones weighing more, instead of by the
        last; a number: by a mean over about so many examples. It removes the noise of constant
        steps on a stationary stream in random order, and is far worse with drift or where examples
        in a row are alike. Learning is the same: see `last_iterate_one`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), l2=1e-3, learning_rate=None
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88...%

    With few vectors merging gains most: here 30 that merge, and 30 of which the smallest is
    removed.

    >>> for maintenance in (rb.maintenance.Merge(), rb.maintenance.RemoveSmallest()):
    ...     model = preprocessing.StandardScaler() | rb.BSGDClassifier(
    ...         budget=30, kernel=rb.kernels.RBF(4.0), maintenance=maintenance
    ...     )
    ...     evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88...%
    Accuracy: 79...%

    References
    ----------
    [^1]: [Wang, Z., Crammer, K. and Vucetic, S., 2010. Multi-class Pegasos on a budget. ICML.](https://icml.cc/Conferences/2010/papers/331.pdf)
    [^2]: [Qaadan, S. and Glasmachers, T., 2018. Multi-merge budget maintenance for stochastic gradient descent SVM training.](https://arxiv.org/abs/1806.10179)

    """  # noqa: E501

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        maintenance: Maintenance | None = None,
        l2: float = 3e-4,
        project_to_ball: bool = True,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
        learning_rate: float | None = 0.6,
        average: bool | float = False,
    ):
        super().__init__(locals())


class BSGDRegressor(_BSGD, BudgetRegressor):
    """Kernel support vector regression that learns one example at a time, in constant memory.

    Stochastic gradient descent on the regularised epsilon-insensitive loss: errors below `epsilon`
    have no loss, larger ones a loss in proportion. See `BSGDClassifier` for the budget.

    Targets should be of order one: put a `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `l2`, `epsilon` and
    `learning_rate`.

    Not for targets in their own units: without a `TargetStandardScaler` steps are too small or
    too large.

    Parameters
    ----------
    budget
        The largest number of support vectors. None: no limit.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.5/d")`.
    maintenance
        One of `river_budget.maintenance`; None stands for `Merge()`, and where the kernel is not
        Gaussian for `Project()`, which costs the square of the budget.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 -
        learning_rate * l2. 0: no shrinking, which needs a `learning_rate`.
    project_to_ball
        Whether to keep the norm of the model in the ball where the optimum is known to lie. Its
        radius is sqrt(m / l2), with m the mean loss of always predicting 0 on the examples so far.
    epsilon
        Errors up to this size have no loss.
    seed
        Seed of `RemoveRandom`; None draws anew in every run.
    learning_rate
        Size of a step: constant, so that the model follows drift. None stands for the step of the
        papers, 1 / (l2 t) at example t, which is for long stationary streams: it begins with 1 /
        l2, which ruins short ones, and in the end a full model hardly learns from new examples.
    average
        Whether to predict by the mean of the iterates, late ones weighing more, instead of by the
        last; a number: by a mean over about so many examples. It removes the noise of constant
        steps on a stationary stream in random order, and is far worse with drift or where examples
        in a row are alike. Learning is the same: see `last_iterate_one`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.BSGDRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.3...

    With a wider tube the model stores fewer examples and is less accurate:

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.BSGDRegressor(budget=500, epsilon=0.5)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.4...
    >>> model.regressor["BSGDRegressor"].n_support_vectors < 150
    True

    References
    ----------
    [^1]: [Wang, Z., Crammer, K. and Vucetic, S., 2010. Multi-class Pegasos on a budget. ICML.](https://icml.cc/Conferences/2010/papers/331.pdf)
    [^2]: The guide, [regression](guide/regression.md).

    """

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        maintenance: Maintenance | None = None,
        l2: float = 1e-4,
        project_to_ball: bool = True,
        epsilon: float = 0.1,
        seed: int | None = None,
        learning_rate: float | None = 0.175,
        average: bool | float = False,
    ):
        super().__init__(locals())
