"""The randomised budget Perceptron (RBP): it removes a random vector."""

from __future__ import annotations

from typing import Any

from ...core.budget.strategies import shrink_removing
from ...core.codes import Maintenance
from ...core.passes.perceptrons import perceptron as core
from ...kernels import Kernel
from ...model.algorithm import Algorithm
from ...model.estimators import BudgetClassifier, BudgetRegressor

__all__ = ["RBPClassifier", "RBPRegressor"]

RBP = Algorithm(
    core.learn,
    core.STATE,
    shrink=shrink_removing,
    header={"maintenance": Maintenance.REMOVE_RANDOM},
    start={"learning_rate": 1.0},  # of the classifier
)


class RBPClassifier(BudgetClassifier):
    """The randomised budget Perceptron: a newcomer replaces a vector drawn at random.

    Kept for comparison: without settings made for the stream it is well behind `BSGDClassifier`. No
    other budget takes less time, and its authors prove a bound on its mistakes under drift. On
    stationary streams it loses more than `Forgetron` or the Projectrons.

    While a model lives, `mutate` or assignment may change `budget`.

    Not for stationary streams: it removes vectors that are still needed.

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
    seed
        Seed of the random numbers; None draws anew in every run.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.RBPClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), seed=1
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    It removes any vector with equal probability, so some of the first are still there:

    >>> len(rb.support_vectors(model)), min(v["arrival"] for v in rb.support_vectors(model)) < 900
    (100, True)

    References
    ----------
    [^1]: [Cavallanti, G., Cesa-Bianchi, N. and Gentile, C., 2007. Tracking the best hyperplane with a simple budget Perceptron. Machine Learning 69.](https://doi.org/10.1007/s10994-007-5003-0)

    """  # noqa: E501

    algorithm = RBP

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(locals())


class RBPRegressor(BudgetRegressor):
    """The randomised budget Perceptron for regression: see `RBPClassifier`.

    Kept for comparison: removing whole vectors makes regression much worse. `BSGDRegressor` merges
    them.

    Targets should be of order one: put a `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate` and `epsilon`.

    Not for smooth targets, where removals lose most.

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
    seed
        Seed of the random numbers; None draws anew in every run.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.RBPRegressor(budget=50, seed=1)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    The model keeps its budget:

    >>> model.regressor["RBPRegressor"].n_support_vectors
    50

    References
    ----------
    [^1]: [Cavallanti, G., Cesa-Bianchi, N. and Gentile, C., 2007. Tracking the best hyperplane with a simple budget Perceptron. Machine Learning 69.](https://doi.org/10.1007/s10994-007-5003-0)
    [^2]: The guide, [regression](guide/regression.md).

    """  # noqa: E501

    algorithm = RBP

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.1,
        epsilon: float = 0.1,
        seed: int | None = None,
    ):
        super().__init__(locals())
