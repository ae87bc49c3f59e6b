"""Projectron and Projectron++: a mistake close to the span of the support is projected on it, not
stored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ...core import memory
from ...core.budget import class_projection
from ...core.passes.perceptrons import projectron as core
from ...kernels import RBF, Kernel
from ...model.algorithm import After, Algorithm, Files, unchanged
from ...model.estimators import BudgetClassifier, BudgetRegressor
from ...parameters import FINITE, Fixed, Mutable, not_negative, one_of, optional, whole

__all__ = ["ProjectronClassifier", "ProjectronPPClassifier", "ProjectronRegressor"]


def _by_class(model: Any) -> bool:
    return bool(model.span == "class")


def _split_classes(model: Any) -> None:
    """With two classes, every vector belongs to both of them."""
    if _by_class(model):
        block = memory.views(model._block)
        n = block.head.count
        lower = np.tril(block.factor[:n, :n])
        block.factor[:n, :n] = lower + np.tril(lower, -1).T
        block.per_vector[class_projection.FIRST_CLASS, :n] = 1.0
        block.per_vector[class_projection.SECOND_CLASS, :n] = 2.0
        block.per_vector[class_projection.DIAGONAL, :n] = np.diagonal(lower)


def _check_classes(model: Any, count: int) -> None:
    """Check the classes of the vectors, where 0 means none."""
    classes = memory.views(model._block).per_vector[: class_projection.DIAGONAL, :count]
    if not np.isin(classes, np.arange(model._n_outputs + 1)).all():
        raise ValueError("its vectors belong to classes that do not exist")


def _check_threshold(parameters: Mapping[str, Any]) -> None:
    if parameters["threshold"] is None and parameters["budget"] is None:
        raise ValueError("threshold must be a number where budget is None")
    if parameters["threshold"] is None and parameters["span"] == "class":
        raise ValueError("threshold must be a number where span is 'class'")


PROJECTRON = Algorithm(
    core.learn,
    core.STATE,
    shrink=core.shrink_to_budget,
    header={"factored": 1},
    start={"eager": 0, "by_class": 0},
    # a sum computes this factor, of the inverse Gram matrix, anew
    after=After(union=unchanged),
    files=Files(whole_factor=False),
)
BY_CLASS = dataclasses.replace(
    PROJECTRON,
    learn={"all": core.learn, "class": core.learn_by_class},
    header={
        "factored": 1,
        "per_vector": lambda model: class_projection.ROWS if _by_class(model) else 0,
    },
    start={"learning_rate": 1.0, "eager": 0, "by_class": lambda model: int(_by_class(model))},
    after=After(promotion=_split_classes, union=unchanged),
    files=Files(ranges={"per_vector": FINITE}, check=_check_classes, whole_factor=_by_class),
)


class ProjectronClassifier(BudgetClassifier):
    """A kernel Perceptron that projects a mistake on its support instead of storing it.

    It stores mistakes until the model is full, and then projects; with a `threshold`, it also
    projects mistakes near the span of the support, so that the support grows only by different
    ones. The support is chosen early and never changes: take it for stationary streams, not for
    drift.

    An update takes time in proportion to the square of the budget, as the projection solves a
    linear system.

    While a model lives, `mutate` or assignment may change `budget` and `threshold`.

    Not for drift, nor for budgets of thousands: every update costs their square.

    Parameters
    ----------
    budget
        The largest number of support vectors. None: no limit but what `threshold` sets.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    threshold
        The squared distance to the span of the support up to which a mistake is projected.
    span
        What a mistake is projected on. "all": all support vectors. "class": its part for each
        class, on the vectors that were stored for this class, as in the program of Orabona et al.;
        that needs less time and loses more. With two classes it makes no difference, as every
        vector belongs to both.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.ProjectronClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 86...%

    With a threshold and no budget the support grows only by mistakes unlike it, and soon stops
    growing:

    >>> model = preprocessing.StandardScaler() | rb.ProjectronClassifier(
    ...     budget=None, kernel=rb.kernels.RBF(4.0), threshold=0.1
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 86...%
    >>> model["ProjectronClassifier"].n_support_vectors < 100
    True

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2009. Bounded kernel-based online learning. JMLR 10.](https://jmlr.org/papers/v10/orabona09a.html)

    """

    algorithm = BY_CLASS

    budget = Mutable(optional(whole(1)))
    threshold = Mutable(not_negative)
    span = Fixed(one_of("all", "class"))

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        threshold: float = 0.0,
        span: Literal["all", "class"] = "all",
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(locals())


class ProjectronRegressor(BudgetRegressor):
    """The rule of `ProjectronClassifier` for regression.

    Every error above `epsilon` counts as a mistake, and the step is `learning_rate` up or down.
    Targets should be of order one: put a `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `threshold`, `learning_rate`
    and `epsilon`.

    Not for drift, nor for budgets of thousands: every update costs their square.

    Parameters
    ----------
    budget
        The largest number of support vectors. None: no limit but what `threshold` sets.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.7/d")`.
    threshold
        The squared distance to the span of the support up to which a mistake is projected.
    learning_rate
        Size of a step.
    epsilon
        Errors up to this size have no loss.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.ProjectronRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    With a threshold it needs few vectors:

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.ProjectronRegressor(budget=None, threshold=0.1)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...
    >>> model.regressor["ProjectronRegressor"].n_support_vectors < 100
    True

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2009. Bounded kernel-based online learning. JMLR 10.](https://jmlr.org/papers/v10/orabona09a.html)
    [^2]: The guide, [regression](guide/regression.md).

    """

    algorithm = dataclasses.replace(PROJECTRON, kernel=RBF("0.7/d"))

    budget = Mutable(optional(whole(1)))
    threshold = Mutable(not_negative)

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        threshold: float = 0.01,
        learning_rate: float = 0.2,
        epsilon: float = 0.1,
    ):
        super().__init__(locals())


class ProjectronPPClassifier(BudgetClassifier):
    """Projectron++: also learns from margin errors, by projection only.

    A correct prediction with too small a margin is projected in part, and never stored. That makes
    it the most accurate Perceptron of this package for the same budget. An update takes time in
    proportion to the square of the budget, and there are more updates than in
    `ProjectronClassifier`.

    While a model lives, `mutate` or assignment may change `budget` and `threshold`.

    Not for drift, nor for budgets of thousands: every update costs their square.

    Parameters
    ----------
    budget
        The largest number of support vectors. None: no limit but what `threshold` sets.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("1/d")`.
    threshold
        The squared distance to the span of the support up to which a mistake is projected; it also
        says how much of a margin error is. None stands for the rule of 2016, which needs a budget:
        every mistake is stored until the budget is full.
    span
        What a mistake is projected on. "all": all support vectors. "class": its part for each
        class, on the vectors that were stored for this class, as in the program of Orabona et al.;
        that needs less time and loses more. With two classes it makes no difference, as every
        vector belongs to both.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.ProjectronPPClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88...%

    `ProjectronClassifier`, which does not learn from margin errors, is less accurate:

    >>> model = preprocessing.StandardScaler() | rb.ProjectronClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 86...%

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2009. Bounded kernel-based online learning. JMLR 10.](https://jmlr.org/papers/v10/orabona09a.html)
    [^2]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. JMLR 17.](https://jmlr.org/papers/v17/14-148.html)

    """  # noqa: E501

    algorithm = dataclasses.replace(
        BY_CLASS,
        start={**BY_CLASS.start, "eager": 1},
        kernel=RBF(),
        together=_check_threshold,
    )

    budget = Mutable(optional(whole(1)))
    threshold = Mutable(optional(not_negative))
    span = Fixed(one_of("all", "class"))

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        threshold: float | None = None,
        span: Literal["all", "class"] = "all",
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(locals())
