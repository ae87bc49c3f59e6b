"""NORMA: gradient descent that adapts its margin, its tube or its threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.budget.strategies import shrink_removing
from ...core.codes import Maintenance
from ...core.passes.gradient import norma as core
from ...kernels import Kernel
from ...model.algorithm import After, Algorithm
from ...model.estimators import BudgetClassifier, BudgetRegressor
from ...parameters import Fixed, Mutable, not_negative, optional, share, whole

__all__ = ["NORMAClassifier", "NORMARegressor"]


def check_decay(parameters: Mapping[str, Any]) -> None:
    """Raise for a model that would shrink by a negative factor."""
    learning_rate, l2 = parameters["learning_rate"], parameters["l2"]
    if learning_rate * l2 > 1.0:
        raise ValueError(
            f"learning_rate * l2 must be at most 1, not {learning_rate!r} * {l2!r}: a model "
            "is multiplied by 1 - learning_rate * l2 at every example"
        )


def sum_levels(model: Any, parts: list[Any]) -> None:
    """The level of a sum is the weighted sum of the levels, as the level has the scale of the
    function.
    """
    levels = [part.weight * part.model._state_record().level for part in parts]
    model._state_record().level = sum(levels)


# The level is a margin or a tube, which a share nu of the examples ends up beyond
NORMA = Algorithm(
    core.learn,
    core.STATE,
    shrink=shrink_removing,
    header={"maintenance": Maintenance.REMOVE_OLDEST},
    start={"level": lambda model: getattr(model, "epsilon", 0.0)},
    binary=True,
    together=check_decay,
    after=After(union=sum_levels),
)


class NORMAClassifier(BudgetClassifier):
    """Gradient descent with decay and a margin that adapts until a share `nu` of the examples lies
    inside.

    Kept for comparison: without a width made for the stream it is well behind `BSGDClassifier`. Old
    examples decay, so removing the oldest loses little: with a `budget`, NORMA is fast and follows
    drift. Binary only.

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate`, `l2` and `nu`.

    Not for more than two classes, nor for streams where old examples stay relevant.

    Parameters
    ----------
    budget
        The largest number of support vectors: the newest are kept. None: no limit.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    learning_rate
        Size of a step.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 -
        learning_rate * l2.
    nu
        The share of examples that end up inside the margin, and become support vectors.
    classes
        The two labels, if they are known in advance: the negative one first. None: the positive
        label is True, or else the second one that occurs.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.NORMAClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    Only the newest are kept:

    >>> arrivals = sorted(vector["arrival"] for vector in rb.support_vectors(model))
    >>> arrivals[-1] - arrivals[0]
    99

    References
    ----------
    [^1]: [Kivinen, J., Smola, A. and Williamson, R., 2004. Online learning with kernels. IEEE Transactions on Signal Processing 52.](https://doi.org/10.1109/TSP.2004.830991)

    """  # noqa: E501

    algorithm = NORMA

    budget = Mutable(optional(whole(1)))
    nu = Mutable(share)

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.03,
        l2: float = 0.03,
        nu: float = 0.4,
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(locals())


class NORMARegressor(BudgetRegressor):
    """Gradient descent with decay and a tube that adapts until a share `nu` of the examples lies
    outside.

    All steps have the same size, whatever the error, so single outliers do little harm. Old
    examples decay, so removing the oldest loses little. Targets should be of order one: put a
    `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate`, `l2` and `nu`.

    Not for precise predictions: steps of constant size leave noise of this size.

    Parameters
    ----------
    budget
        The largest number of support vectors: the newest are kept. None: no limit.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.5/d")`.
    learning_rate
        Size of a step.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 -
        learning_rate * l2.
    nu
        The share of examples that end up outside the tube, and become support vectors.
    epsilon
        The width of the tube at the start.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.NORMARegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    One wrong target does little harm:

    >>> x, y = next(iter(datasets.TrumpApproval()))
    >>> inside = model.regressor["NORMARegressor"]
    >>> before = inside.predict_one(x)
    >>> inside.learn_one(x, 1e6)
    >>> abs(inside.predict_one(x) - before) < 1.0
    True

    References
    ----------
    [^1]: [Kivinen, J., Smola, A. and Williamson, R., 2004. Online learning with kernels. IEEE Transactions on Signal Processing 52.](https://doi.org/10.1109/TSP.2004.830991)

    """  # noqa: E501

    algorithm = NORMA

    budget = Mutable(optional(whole(1)))
    nu = Mutable(share)
    epsilon = Fixed(not_negative)

    def __init__(
        self,
        budget: int | None = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.3,
        l2: float = 0.03,
        nu: float = 0.4,
        epsilon: float = 0.1,
    ):
        super().__init__(locals())
