"""The budget Perceptron of Crammer, Kandola and Singer (CKS)."""

from __future__ import annotations

from typing import Any

from ...core import memory
from ...core.passes.perceptrons import budget_perceptron as core
from ...kernels import Kernel
from ...model.algorithm import After, Algorithm, Files
from ...model.estimators import BudgetClassifier
from ...parameters import FINITE, Mutable, finite

__all__ = ["BudgetPerceptronClassifier"]


def _keep_scores(model: Any, parts: list[Any]) -> None:
    """The scores of the support vectors of a sum."""
    kept = memory.views(model._block).per_vector[0]
    kept[: model.n_support_vectors] = model._scores_of_vectors()[:, 0]


class BudgetPerceptronClassifier(BudgetClassifier):
    """The budget Perceptron of Crammer, Kandola and Singer (CKS): it removes the easiest vectors.

    Kept for comparison: on noisy streams it is worse than a constant prediction. A full model
    removes the vector that would have the largest margin without itself. Good on data without
    noise. On noisy data it collects examples that cannot be learned, mislabelled ones among them:
    then take `Forgetron` or `BSGDClassifier`. Binary only.

    Not for noise, nor for more than two classes.

    While a model lives, `mutate` or assignment may change `budget` and `margin`.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    margin
        Examples with a margin up to this size are learned; 0: only mistakes.
    classes
        The two labels, if they are known in advance: the negative one first. None: the positive
        label is True, or else the second one that occurs.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BudgetPerceptronClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 61...%

    Where no label is wrong it does better:

    >>> from river.datasets import synth

    >>> sine = synth.Sine(classification_function=2, seed=1).take(2000)
    >>> evaluate.progressive_val_score(sine, model.clone(), metrics.Accuracy())
    Accuracy: 9...%

    References
    ----------
    [^1]: [Crammer, K., Kandola, J. and Singer, Y., 2003. Online classification on a budget. NIPS.](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)

    """

    algorithm = Algorithm(
        core.learn,
        core.STATE,
        shrink=core.shrink_to_budget,
        header={"per_vector": 1},  # the scores of the support vectors
        binary=True,
        after=After(union=_keep_scores),
        files=Files(ranges={"per_vector": FINITE}),
    )

    margin = Mutable(finite)

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        margin: float = 0.0,
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(locals())
