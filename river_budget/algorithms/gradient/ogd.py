"""Gradient descent with kernels, without a budget (OGD)."""

from __future__ import annotations

from typing import Any

from ...core.passes.gradient import ogd as core
from ...kernels import Kernel
from ...model.algorithm import Algorithm
from ...model.estimators import BudgetClassifier, BudgetRegressor
from ..averaging import Averaging

__all__ = ["KernelOGDClassifier", "KernelOGDRegressor"]

OGD = Algorithm(core.learn, core.STATE)


class KernelOGDClassifier(Averaging, BudgetClassifier):
    """Gradient descent on the hinge loss with a constant step, without a budget.

    Kept for comparison: it grows without limit. Every example inside the margin becomes a support
    vector, so it is more accurate than the Perceptron, and larger. It never removes one, so memory
    and time grow with the stream. Choose it for short streams, or to see what a budget loses;
    `BOGDClassifier` is the same with one.

    Not for unlimited streams: it stores every example inside the margin.

    While a model lives, `mutate` or assignment may change `learning_rate`.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    learning_rate
        Size of a step.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.
    average
        Whether to predict by the mean of the iterates, late ones weighing more, instead of by the
        last; a number: by a mean over about so many examples. It removes the noise of constant
        steps on a stationary stream in random order, and is far worse with drift or where examples
        in a row are alike. Learning is the same: see `last_iterate_one`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.KernelOGDClassifier(rb.kernels.RBF(4.0))
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 89...%

    How many it has stored by now:

    >>> model["KernelOGDClassifier"].n_support_vectors > 1000
    True

    References
    ----------
    [^1]: [Kivinen, J., Smola, A. and Williamson, R., 2004. Online learning with kernels. IEEE Transactions on Signal Processing 52.](https://doi.org/10.1109/TSP.2004.830991)

    """  # noqa: E501

    algorithm = OGD

    def __init__(
        self,
        kernel: Kernel | None = None,
        learning_rate: float = 0.5,
        classes: tuple[Any, ...] | None = None,
        average: bool | float = False,
    ):
        super().__init__(locals())


class KernelOGDRegressor(Averaging, BudgetRegressor):
    """Gradient descent on the squared error with a constant step, without a budget.

    Kept for comparison: it grows without limit. Errors up to `epsilon` have no loss. It never
    removes a vector, so memory and time grow with the stream. Targets should be of order one: put a
    `TargetStandardScaler` around the pipeline.

    Not for unlimited streams: it stores every example with an error above `epsilon`.

    While a model lives, `mutate` or assignment may change `learning_rate` and `epsilon`.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.5/d")`.
    learning_rate
        Share of the error that a step removes.
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
    ...     preprocessing.StandardScaler() | rb.KernelOGDRegressor()
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    How many it has stored by now, of 1001:

    >>> model.regressor["KernelOGDRegressor"].n_support_vectors > 500
    True

    References
    ----------
    [^1]: [Kivinen, J., Smola, A. and Williamson, R., 2004. Online learning with kernels. IEEE Transactions on Signal Processing 52.](https://doi.org/10.1109/TSP.2004.830991)
    [^2]: The guide, [regression](guide/regression.md).

    """  # noqa: E501

    algorithm = OGD

    def __init__(
        self,
        kernel: Kernel | None = None,
        learning_rate: float = 0.2,
        epsilon: float = 0.1,
        average: bool | float = False,
    ):
        super().__init__(locals())
