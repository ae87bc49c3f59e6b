"""Projectron and Projectron++: a mistake close to the span of the support is projected on it, not stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.block import blocks
from ...core.budget import class_projection
from ...core.passes.perceptrons import projectron as core
from ...kernels import RBF, Kernel
from ...model.estimators.estimators import BudgetClassifier, BudgetRegressor
from ...model.expansions.expansion import BudgetModel
from ...parameters import FINITE, Mutable, not_negative, one_of, optional, positive, whole

__all__ = ["ProjectronClassifier", "ProjectronPPClassifier", "ProjectronRegressor"]


class _Projectron(BudgetModel):
    learning_pass = staticmethod(core.learn)
    shrinking_pass = staticmethod(core.shrink_to_budget)
    state_type = core.STATE

    budget = Mutable(optional(whole(1)))

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {"factored": 1}

    def initial_state(self) -> dict[str, Any]:
        return {"eager": 0, "by_class": 0}


class _ByClass(_Projectron, BudgetClassifier):
    """A classifier with the parameter `span`."""

    span: str

    ranges = {"per_vector": FINITE}

    def _set_span(self, span: str) -> None:
        """Check and set the parameter."""
        one_of("all", "class")("span", span)
        self.span = span

    @property
    def per_vector_rows(self) -> int:  # type: ignore[override]
        return class_projection.ROWS if self.span == "class" else 0

    @property
    def whole_factor(self) -> bool:  # type: ignore[override]
        return self.span == "class"

    def initial_state(self) -> dict[str, Any]:
        by_class = int(self.span == "class")
        return super().initial_state() | {"learning_rate": 1.0, "by_class": by_class}

    def after_promotion(self) -> None:
        """With two classes, every vector belongs to both of them."""
        super().after_promotion()
        if self.span == "class":
            block = blocks.views(self.block)
            n = block.head.count
            lower = np.tril(block.factor[:n, :n])
            block.factor[:n, :n] = lower + np.tril(lower, -1).T
            block.per_vector[class_projection.FIRST, :n] = 1.0
            block.per_vector[class_projection.SECOND, :n] = 2.0
            block.per_vector[class_projection.DIAGONAL, :n] = np.diagonal(lower)

    def check_restored_state(self, count: int) -> None:
        """Check the classes of the vectors, where 0 means none."""
        classes = blocks.views(self.block).per_vector[: class_projection.DIAGONAL, :count]
        if not np.isin(classes, np.arange(self.n_outputs + 1)).all():
            raise ValueError("its vectors belong to classes that do not exist")


class ProjectronClassifier(_ByClass):
    """A kernel Perceptron that projects a mistake on its support instead of storing it.

    It stores mistakes until the model is full, and then projects; with a `threshold`, it also projects
    mistakes near the span of the support, so that the support grows only by different ones. The support is
    chosen early and never changes: take it for stationary streams, not for drift.

    An update takes time in proportion to the square of the budget, as the projection solves a linear system.

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
        What a mistake is projected on. "all": all support vectors. "class": its part for each class, on the
        vectors that were stored for this class, as in the program of Orabona et al.; that needs less time and
        loses more. With two classes it makes no difference, as every vector belongs to both.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error. None: the positive label is True, or else
        the second one that occurs.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.ProjectronClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 86...%

    With a threshold and no budget the support grows only by mistakes unlike it, and soon stops growing:

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

    threshold = Mutable(not_negative)

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        threshold: float = 0.0,
        span: str = "all",
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(kernel, classes)
        self._set_span(span)
        self.budget = budget
        self.threshold = threshold


class ProjectronRegressor(_Projectron, BudgetRegressor):
    """The rule of `ProjectronClassifier` for regression.

    Every error above `epsilon` counts as a mistake, and the step is `learning_rate` up or down. Targets
    should be of order one: put a `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `threshold`, `learning_rate` and
    `epsilon`.

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

    usual_kernel = RBF("0.7/d")
    threshold = Mutable(not_negative)
    learning_rate = Mutable(positive)
    epsilon = Mutable(not_negative)

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        threshold: float = 0.01,
        learning_rate: float = 0.2,
        epsilon: float = 0.1,
    ):
        super().__init__(kernel, None)
        self.budget = budget
        self.threshold = threshold
        self.learning_rate = learning_rate
        self.epsilon = epsilon


class ProjectronPPClassifier(_ByClass):
    """Projectron++: also learns from margin errors, by projection only.

    A correct prediction with too small a margin is projected in part, and never stored. That makes it the
    most accurate Perceptron of this package for the same budget. An update takes time in proportion to the
    square of the budget, and there are more updates than in `ProjectronClassifier`.

    While a model lives, `mutate` or assignment may change `budget` and `threshold`.

    Not for drift, nor for budgets of thousands: every update costs their square.

    Parameters
    ----------
    budget
        The largest number of support vectors. None: no limit but what `threshold` sets.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("1/d")`.
    threshold
        The squared distance to the span of the support up to which a mistake is projected; it also says
        how much of a margin error is. None stands for the rule of 2016, which needs a budget: every mistake is
        stored until the budget is full.
    span
        What a mistake is projected on. "all": all support vectors. "class": its part for each class, on the
        vectors that were stored for this class, as in the program of Orabona et al.; that needs less time and
        loses more. With two classes it makes no difference, as every vector belongs to both.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error. None: the positive label is True, or else
        the second one that occurs.

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

    """

    usual_kernel = RBF()
    threshold = Mutable(optional(not_negative))

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        threshold: float | None = None,
        span: str = "all",
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(kernel, classes)
        self._set_span(span)
        self.budget = budget
        self.threshold = threshold
        self._check_together()

    def _check_together(self, **parameters: Any) -> None:
        both = self.__dict__ | parameters
        if both["threshold"] is None and both["budget"] is None:
            raise ValueError("threshold must be a number where budget is None")
        if both["threshold"] is None and both["span"] == "class":
            raise ValueError("threshold must be a number where span is 'class'")

    def initial_state(self) -> dict[str, Any]:
        return super().initial_state() | {"eager": 1}
