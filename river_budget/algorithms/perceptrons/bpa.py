"""Passive-aggressive learning on a budget (BPA)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ...core import memory
from ...core.passes.perceptrons import bpa as core
from ...kernels import RBF, Kernel
from ...model.algorithm import After, Algorithm, Files, shrink_by_pass, unchanged
from ...model.estimators import BudgetClassifier
from ...parameters import FINITE, Fixed, Mutable, one_of, positive

__all__ = ["BPAClassifier"]

_CODES = {"simple": core.SIMPLE, "nearest": core.NEAREST, "projection": core.PROJECTION}


def _check_neighbours(model: Any, count: int) -> None:
    """Check the slots of the nearest neighbours, where -1 means none."""
    if not memory.views(model._block).head.per_vector:
        return
    neighbours = memory.views(model._block).per_vector[core.NEIGHBOUR, :count]
    whole = neighbours == np.floor(neighbours)
    if not (whole & (neighbours >= -1.0) & (neighbours < count)).all():
        raise ValueError("its vectors have neighbours that do not exist")


def _keep_budget(model: Any, united: bool) -> None:
    shrink_by_pass(model, united and model.update != "nearest")


def _find_neighbours(model: Any, parts: list[Any]) -> None:
    if model.update == "nearest":
        shrink_by_pass(model, False)  # removes nothing any more, and finds neighbours


class BPAClassifier(BudgetClassifier):
    """Budgeted passive-aggressive learning: the step and the removal as one problem.

    Each example with a margin below 1 gets a step just long enough for margin 1, but at most `C`. A
    full model removes the vector whose contribution others can best take over: the newcomer alone
    (`"simple"`), also the vector's nearest neighbour (`"nearest"`), or all remaining vectors
    (`"projection"`).

    "simple" takes as long as removing a vector and needs a `C` made for the stream, "nearest" takes
    a little longer and does not need it, "projection" takes time in proportion to the square of the
    budget.

    While a model lives, `mutate` or assignment may change `budget` and `C`.

    Not for noisy streams with a large `C`: a step that corrects every mistake in full learns the
    noise.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("1.5/d")`.
    C
        The longest step. The papers use 1, with which the model fits noise.
    update
        Which vectors take over the contribution of a removed one: "simple", "nearest" or
        "projection".
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BPAClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 89...%

    With the simpler rule, for the newcomer alone, and steps of up to 1 as in the papers it is a
    little worse:

    >>> model = preprocessing.StandardScaler() | rb.BPAClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), C=1.0, update="simple"
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 87...%

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2010. Online passive-aggressive algorithms on a budget. AISTATS.](https://proceedings.mlr.press/v9/wang10b.html)

    """

    algorithm = Algorithm(
        core.learn,
        core.STATE,
        shrink=core.shrink_to_budget,
        header={
            "per_vector": lambda model: core.NEIGHBOUR_ROWS if model.update == "nearest" else 0,
            "factored": lambda model: int(model.update == "projection"),
        },
        start={"code": lambda model: _CODES[model.update]},
        kernel=RBF("1.5/d"),
        # neighbours do not depend on classes
        after=After(budget=_keep_budget, union=_find_neighbours, promotion=unchanged),
        files=Files(ranges={"per_vector": FINITE}, check=_check_neighbours, whole_factor=False),
    )

    C = Mutable(positive)
    update = Fixed(one_of(*_CODES))

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        C: float = 0.45,
        update: Literal["simple", "nearest", "projection"] = "nearest",
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(locals())
