"""Forgetron: the first kernel Perceptron with a budget and a bound on its mistakes."""

from __future__ import annotations

from typing import Any

from ...core.passes.perceptrons import forgetron as core
from ...kernels import Kernel
from ...model.algorithm import Algorithm
from ...model.estimators import BudgetClassifier, BudgetRegressor

__all__ = ["ForgetronClassifier", "ForgetronRegressor"]

FORGETRON = Algorithm(
    core.learn,
    core.STATE,
    shrink=core.shrink_to_budget,
    header={"normalised": 1},
    start={"learning_rate": 1.0},  # of the classifier
    counters=("mistakes", "damage"),  # the bound on the damage grows with the mistakes
)


class ForgetronClassifier(BudgetClassifier):
    """A kernel Perceptron that shrinks its coefficients before it removes the oldest vector.

    Kept for comparison, and for its guarantee: on a stationary stream it is well behind
    `BSGDClassifier`. It shrinks as little as keeps the damage by removals within a bound: from a
    budget of 83 on, the number of mistakes is bounded in terms of the best competitor of a limited
    norm. Choose it where old examples lose their value, and where you need such a guarantee; on a
    stationary stream, merging or projecting (`BSGDClassifier`, `ProjectronPPClassifier`) is more
    accurate.

    Without the shrinking, it is `KernelPerceptronClassifier` with a budget.

    The guarantee is for two classes; with more, the same rule is a heuristic. It requires k(x, x)
    <= 1, so a kernel without that property is normalised: k(x, z) / sqrt(k(x, x) k(z, z)).

    While a model lives, `mutate` or assignment may change `budget`.

    Not for the best accuracy for a budget: the contribution of removed vectors is lost.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.ForgetronClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 83...%

    The guarantee loses no accuracy, compared with removal without shrinking:

    >>> model = preprocessing.StandardScaler() | rb.KernelPerceptronClassifier(
    ...     rb.kernels.RBF(4.0), budget=100
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 82...%

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """  # noqa: E501

    algorithm = FORGETRON

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(locals())


class ForgetronRegressor(BudgetRegressor):
    """The rule of `ForgetronClassifier` for regression, where it is a heuristic.

    Kept for comparison: removing whole vectors makes regression much worse. `BSGDRegressor` merges
    them.

    Every error above `epsilon` counts as a mistake, and the step is `learning_rate` up or down.
    Targets should be of order one: put a `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate` and `epsilon`.

    Not for smooth targets, where removals lose most; the guarantee does not hold in regression.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.5/d")`.
    learning_rate
        Size of a step.
    epsilon
        Errors up to this size have no loss.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.ForgetronRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    The model keeps its budget:

    >>> model.regressor["ForgetronRegressor"].n_support_vectors
    50

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
    [^2]: The guide, [regression](guide/regression.md).

    """  # noqa: E501

    algorithm = FORGETRON

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.1,
        epsilon: float = 0.1,
    ):
        super().__init__(locals())
