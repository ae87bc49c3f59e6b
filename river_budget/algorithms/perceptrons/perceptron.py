"""The kernel Perceptron, without a budget and with one."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...core.codes import Strategy
from ...core.passes.perceptrons import perceptron as core
from ...kernels import Kernel
from ...maintenance import Maintenance, RemoveOldest
from ...model.algorithm import Algorithm
from ...model.estimators import BudgetClassifier, BudgetRegressor
from ...model.expansion import SHRINK
from ...model.stored import Vectors
from ...parameters import Mutable, optional, whole
from ..averaging import Averaging

__all__ = ["KernelPerceptronClassifier", "KernelPerceptronRegressor"]

PERCEPTRON = Algorithm(
    core.learn,
    core.STATE,
    start={"learning_rate": 1.0},  # of classifiers
)


class KernelPerceptronClassifier(Averaging, BudgetClassifier):
    """The kernel Perceptron: every mistake becomes a support vector, by default without a budget.

    Kept for comparison, as the baseline for models with a budget. Without a budget it never removes
    a vector, so memory and time grow with the number of mistakes, on a noisy stream without limit.
    Choose it for short streams, or to see what a budget loses; otherwise choose another model. With
    a budget it removes the oldest vector, or applies `maintenance`; with `RemoveRandom()` it is an
    `RBPClassifier`, and with shrinking before each removal of the oldest it would be a
    `ForgetronClassifier`.

    Not for noisy streams without a `budget`: it stores every mistake.

    While a model lives, `mutate` or assignment may change `budget`.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.
    budget
        The largest number of support vectors. None: no limit.
    maintenance
        One of `river_budget.maintenance`: how a full model makes room. None stands for
        `RemoveOldest()`.
    seed
        Seed of `RemoveRandom`; None draws anew in every run.
    average
        Whether to predict by the mean of the iterates, late ones weighing more, instead of by the
        last; a number: by a mean over about so many examples. It removes the noise of constant
        steps on a stationary stream in random order, and is far worse with drift or where examples
        in a row are alike. Learning is the same: see `last_iterate_one`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.KernelPerceptronClassifier(rb.kernels.RBF(4.0))
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 86...%

    How many mistakes it has stored by now:

    >>> model["KernelPerceptronClassifier"].n_support_vectors > 600
    True

    References
    ----------
    [^1]: [Freund, Y. and Schapire, R., 1999. Large margin classification using the Perceptron algorithm. Machine Learning 37.](https://doi.org/10.1023/A:1007662407062)

    """  # noqa: E501

    algorithm = dataclasses.replace(
        PERCEPTRON,
        learn={
            Strategy.REMOVE: core.learn,
            Strategy.PAIRS: core.learn_merging,
            Strategy.MANY: core.learn_merging_several,
            Strategy.FACTOR: core.learn_projecting,
        },
        shrink=SHRINK,
        columns=Vectors(usual=RemoveOldest()),
    )

    budget = Mutable(optional(whole(1)))

    def __init__(
        self,
        kernel: Kernel | None = None,
        classes: tuple[Any, ...] | None = None,
        budget: int | None = None,
        maintenance: Maintenance | None = None,
        seed: int | None = None,
        average: bool | float = False,
    ):
        super().__init__(locals())


class KernelPerceptronRegressor(Averaging, BudgetRegressor):
    """The kernel Perceptron for regression: steps of constant size towards the target, without a
    budget.

    Kept for comparison: it grows without limit. Every error above `epsilon` adds a support vector
    with coefficient `learning_rate` or `-learning_rate`. Memory and time grow with the number of
    vectors. Targets should be of order one: put a `TargetStandardScaler` around the pipeline.

    Not for unlimited streams: it stores every example with an error above `epsilon`.

    While a model lives, `mutate` or assignment may change `learning_rate` and `epsilon`.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.5/d")`.
    learning_rate
        Size of a step.
    epsilon
        Errors up to this size have no loss.
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
    ...     preprocessing.StandardScaler() | rb.KernelPerceptronRegressor()
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.33...

    How many it has stored by now, of 1001:

    >>> model.regressor["KernelPerceptronRegressor"].n_support_vectors > 400
    True

    References
    ----------
    [^1]: [Freund, Y. and Schapire, R., 1999. Large margin classification using the Perceptron algorithm. Machine Learning 37.](https://doi.org/10.1023/A:1007662407062)
    [^2]: The guide, [regression](guide/regression.md).

    """  # noqa: E501

    algorithm = PERCEPTRON

    def __init__(
        self,
        kernel: Kernel | None = None,
        learning_rate: float = 0.1,
        epsilon: float = 0.1,
        average: bool | float = False,
    ):
        super().__init__(locals())
