"""Bounded online gradient descent (BOGD and BOGD++)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...core.codes import Maintenance
from ...core.passes.gradient import bogd as core
from ...kernels import Kernel
from ...model.algorithm import Algorithm
from ...model.estimators import BudgetClassifier, BudgetRegressor
from ...parameters import Fixed, Mutable, one_of, optional, positive
from .norma import check_decay

__all__ = ["BOGDClassifier", "BOGDRegressor"]


def _removal(parameters: Mapping[str, Any]) -> str:
    """The rule that is used: "random" or "oldest"."""
    removal, nonuniform = parameters["removal"], parameters["sampling"] == "nonuniform"
    if removal == "auto":
        return "random" if nonuniform else "oldest"
    return removal or ("oldest" if "epsilon" in parameters else "random")


def _check(parameters: Mapping[str, Any]) -> None:
    if parameters["sampling"] == "nonuniform" and _removal(parameters) != "random":
        raise ValueError('sampling="nonuniform" needs removal="random"')
    check_decay(parameters)


def _maintenance(model: Any) -> int:
    oldest = _removal(vars(model)) == "oldest"
    return Maintenance.REMOVE_OLDEST if oldest else Maintenance.REMOVE_RANDOM


BOGD = Algorithm(
    core.learn,
    core.STATE,
    shrink=core.shrink_to_budget,
    header={"maintenance": _maintenance},
    start={"nonuniform": lambda model: int(model.sampling == "nonuniform")},
    together=_check,
)


class BOGDClassifier(BudgetClassifier):
    """Bounded online gradient descent: removes the oldest vector, or a random one and enlarges the
    others.

    Kept for comparison: removing whole vectors loses much, so it is well behind `BSGDClassifier`.
    With `removal="random"`, the rule of the paper, it is poor on most streams without settings made
    for them.

    As the other coefficients grow, the expected model stays the same, and an update takes no longer
    than a removal. With `sampling="nonuniform"` (BOGD++) vectors with large coefficients stay
    longer. It does well where classes are noisy; where they are not, its random growth loses more
    than it gains, and `BPAClassifier` or merging (`BSGDClassifier`) are better.

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate`, `l2` and
    `max_coefficient`.

    Not for small budgets: each removal loses all that the vector contributed. `BSGDClassifier`
    merges instead.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    learning_rate
        Size of a step.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 -
        learning_rate * l2.
    removal
        "random", the rule of the paper, or "oldest", which leaves the other vectors as they are.
        "auto": the oldest, or a random one with nonuniform sampling. None: random.
    sampling
        "uniform", or "nonuniform" for BOGD++.
    max_coefficient
        In a full model no coefficient grows beyond this multiple of the learning rate. None: no
        limit.
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

    >>> model = preprocessing.StandardScaler() | rb.BOGDClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), seed=1
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 86...%

    Old vectors are lost: none of the first two thousand is left.

    >>> min(vector["arrival"] for vector in rb.support_vectors(model)) > 2000
    True

    References
    ----------
    [^1]: [Zhao, P., Wang, J., Wu, P., Jin, R. and Hoi, S., 2012. Fast bounded online gradient descent algorithms for scalable kernel-based online learning. ICML.](https://arxiv.org/abs/1206.4633)

    """  # noqa: E501

    algorithm = BOGD

    removal = Fixed(optional(one_of("random", "oldest", "auto")))
    sampling = Fixed(one_of("uniform", "nonuniform"))
    max_coefficient = Mutable(optional(positive))

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.5,
        l2: float = 0.0,
        removal: Literal["random", "oldest", "auto"] | None = "auto",
        sampling: Literal["uniform", "nonuniform"] = "uniform",
        max_coefficient: float | None = None,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(locals())


class BOGDRegressor(BudgetRegressor):
    """Gradient descent on the squared error with a budget: removes the oldest vector.

    Kept for comparison: removing whole vectors makes regression much worse. `BSGDRegressor` merges
    them.

    With `removal="random"` the other coefficients grow as in `BOGDClassifier`; with squared errors
    that can grow without bound, so set `max_coefficient` then. Targets should be of order one: put
    a `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate`, `l2`,
    `max_coefficient` and `epsilon`.

    Not for streams without a `TargetStandardScaler`, nor for small budgets.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.5/d")`.
    learning_rate
        Share of the error that a step removes.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 -
        learning_rate * l2.
    removal
        "oldest" or "random". None: the oldest.
    sampling
        "uniform", or "nonuniform", which keeps large coefficients longer.
    max_coefficient
        In a full model no coefficient grows beyond this multiple of the learning rate. None: no
        limit.
    epsilon
        Errors up to this size have no loss.
    seed
        Seed of the random numbers; None draws anew in every run.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.BOGDRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    Merging keeps what removal loses:

    >>> merging = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.BSGDRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), merging, metrics.MAE())
    MAE: 0.30...

    References
    ----------
    [^1]: [Zhao, P., Wang, J., Wu, P., Jin, R. and Hoi, S., 2012. Fast bounded online gradient descent algorithms for scalable kernel-based online learning. ICML.](https://arxiv.org/abs/1206.4633)
    [^2]: The guide, [regression](guide/regression.md).

    """  # noqa: E501

    algorithm = BOGD

    removal = Fixed(optional(one_of("random", "oldest", "auto")))
    sampling = Fixed(one_of("uniform", "nonuniform"))
    max_coefficient = Mutable(optional(positive))

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.2,
        l2: float = 0.0,
        removal: Literal["random", "oldest", "auto"] | None = None,
        sampling: Literal["uniform", "nonuniform"] = "uniform",
        max_coefficient: float | None = None,
        epsilon: float = 0.1,
        seed: int | None = None,
    ):
        super().__init__(locals())
