"""Budget maintenance: what a full model does with one support vector too many.

From fast to accurate: `RemoveOldest`, `RemoveRandom` and `RemoveSmallest` remove one vector,
`Merge` replaces two or more by one between them, `Project` spreads the contribution of one over all
others. Merging keeps most of the accuracy in time linear in the budget; projection takes the square
of the budget.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .core import codes
from .parameters import Value, one_of, whole

__all__ = ["Merge", "Project", "RemoveOldest", "RemoveRandom", "RemoveSmallest"]


def __dir__() -> list[str]:
    return __all__


class Maintenance(Value):
    """Base class of all strategies."""

    _code: int  # a code in core/block/codes.py, or in core/budget/removal.py
    needs_rbf: ClassVar[bool] = False

    @property
    def kind(self) -> codes.Strategy:
        """The kind of strategy, which determines the pass of a model."""
        return codes.Strategy.REMOVE

    def header_fields(self, n_features: int = 0) -> dict[str, Any]:
        return {"maintenance": self._code, "factored": 0, "arity": 2, "method": 0, "objective": 0}


class RemoveOldest(Maintenance):
    """Remove the oldest vector.

    Not for stationary streams: old vectors may still be right.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(
    ...     budget=30, kernel=rb.kernels.RBF(4.0), maintenance=rb.maintenance.RemoveOldest()
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 79...%

    References
    ----------
    [^1]: [Wang, Z., Crammer, K. and Vucetic, S., 2010. Multi-class Pegasos on a budget. ICML.](https://icml.cc/Conferences/2010/papers/331.pdf)
    [^2]: The guide, [drift](guide/drift.md).

    """

    _code = codes.Maintenance.REMOVE_OLDEST


class RemoveRandom(Maintenance):
    """Remove any of the old vectors, all equally likely.

    Not for stationary streams: it removes vectors that are still needed.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(
    ...     budget=30, kernel=rb.kernels.RBF(4.0), maintenance=rb.maintenance.RemoveRandom(), seed=1
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 7...%

    References
    ----------
    [^1]: [Wang, Z., Crammer, K. and Vucetic, S., 2010. Multi-class Pegasos on a budget. ICML.](https://icml.cc/Conferences/2010/papers/331.pdf)
    [^2]: The guide, [drift](guide/drift.md).

    """

    _code = codes.Maintenance.REMOVE_RANDOM


class RemoveSmallest(Maintenance):
    """Remove the vector with the smallest contribution; among equal ones, the oldest.

    Not for stationary streams: the contribution of a removed vector is lost. With decay, as in
    `BSGDClassifier`, the smallest is mostly the oldest.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(
    ...     budget=30, kernel=rb.kernels.RBF(4.0), maintenance=rb.maintenance.RemoveSmallest()
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 79...%

    References
    ----------
    [^1]: [Wang, Z., Crammer, K. and Vucetic, S., 2010. Multi-class Pegasos on a budget. ICML.](https://icml.cc/Conferences/2010/papers/331.pdf)
    [^2]: The guide, [drift](guide/drift.md).

    """

    _code = codes.Maintenance.REMOVE_SMALLEST


class Project(Maintenance):
    """Replace one vector by its projection on all others.

    The remaining vectors get the coefficients that are optimal by least squares. Time and memory
    grow with the square of the budget.

    Not for large budgets: 1000 vectors need a table of 8 MB, and each update takes a million
    multiplications.

    Parameters
    ----------
    choice
        Which vector to remove: `"smallest"` is the one with the smallest contribution, `"best"` the
        one whose projection changes the model least (equation 17 of the paper), which is seldom
        much better.

    Examples
    --------

    Nearly as good as merging, with any kernel:

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(
    ...     budget=30, kernel=rb.kernels.Laplacian(2.0), maintenance=rb.maintenance.Project()
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: [Wang, Z., Crammer, K. and Vucetic, S., 2010. Multi-class Pegasos on a budget. ICML.](https://icml.cc/Conferences/2010/papers/331.pdf)

    """

    _code = codes.Maintenance.PROJECT
    kind = codes.Strategy.FACTOR

    def __init__(self, choice: Literal["smallest", "best"] = "smallest"):
        one_of("smallest", "best")("choice", choice)
        self.choice = choice

    def header_fields(self, n_features: int = 0) -> dict[str, Any]:
        choice = codes.Choice[self.choice.upper()]
        return super().header_fields() | {"factored": 1, "choice": choice}


class Merge(Maintenance):
    """Replace the vector with the smallest contribution and its best partners by a single new
    vector.

    Needs the Gaussian kernel (`RBF`).

    Not for kernels other than `RBF`.

    Parameters
    ----------
    arity
        How many vectors become one. With 3 or more, a merge makes room for several examples at
        once, so the search for partners runs less often. That saves time with large budgets on data
        that need fewer vectors (adult: no less accurate and a fifth faster, a third with thousands
        of vectors), and loses accuracy where every vector is needed (two to three points on ijcnn1,
        five to eight on a checkerboard): try 2 first.
    method
        How three or more are merged: `"cascade"` merges two, the result with the third and so on,
        `"gradient"` finds one point for all of them by gradient ascent.
    objective
        What the new vector optimises: `"degradation"` is the change of the model, `"eq21"` the
        criterion printed in the paper of 2010, which differs with more than one class and is kept
        to repeat its figures (pairs only).

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(
    ...     budget=30, kernel=rb.kernels.RBF(4.0), maintenance=rb.maintenance.Merge()
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88...%

    References
    ----------
    [^1]: [Wang, Z., Crammer, K. and Vucetic, S., 2010. Multi-class Pegasos on a budget. ICML.](https://icml.cc/Conferences/2010/papers/331.pdf)
    [^2]: [Qaadan, S. and Glasmachers, T., 2018. Multi-merge budget maintenance for stochastic gradient descent SVM training.](https://arxiv.org/abs/1806.10179)

    """  # noqa: E501

    _code = codes.Maintenance.MERGE
    needs_rbf = True

    def __init__(
        self,
        arity: int = 2,
        method: Literal["cascade", "gradient"] = "cascade",
        objective: Literal["degradation", "eq21"] = "degradation",
    ):
        whole(2)("arity", arity)
        one_of("cascade", "gradient")("method", method)
        one_of("degradation", "eq21")("objective", objective)
        if objective == "eq21" and arity > 2:
            raise ValueError(f"objective 'eq21' is defined for pairs, not for arity={arity}")
        self.arity = arity
        self.method = method
        self.objective = objective

    @property
    def kind(self) -> codes.Strategy:
        many = self.arity > 2 or self.objective == "eq21"
        return codes.Strategy.MANY if many else codes.Strategy.PAIRS

    def header_fields(self, n_features: int = 0) -> dict[str, Any]:
        return super().header_fields() | {
            "arity": self.arity,
            "method": codes.Method[self.method.upper()],
            "objective": codes.Objective[self.objective.upper()],
        }
