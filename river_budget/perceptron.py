"""Kernel Perceptrons: without a budget, and with the simplest rules to keep one."""

from __future__ import annotations

from typing import Any

from .core import block as blocks
from .core import budget_perceptron as cks
from .core import perceptron as core
from .core import removal
from .core.codes import Maintenance
from .estimator import BudgetClassifier, BudgetRegressor
from .expansion import BudgetModel
from .kernels import Kernel
from .parameters import Mutable, finite, not_negative, positive, whole
from .union import scores_of_vectors

__all__ = [
    "BudgetPerceptronClassifier",
    "KernelPerceptronClassifier",
    "KernelPerceptronRegressor",
    "RBPClassifier",
    "RBPRegressor",
]


class _Perceptron(BudgetModel):
    _learn = staticmethod(core.learn)
    _state = core.STATE


class _Classifier(_Perceptron, BudgetClassifier):
    def _start(self) -> dict[str, Any]:
        return {"learning_rate": 1.0}


class _Regressor(_Perceptron, BudgetRegressor):
    learning_rate = Mutable(positive)
    epsilon = Mutable(not_negative)


class KernelPerceptronClassifier(_Classifier):
    """The kernel Perceptron: every mistake becomes a support vector, for ever.

    The baseline that all budgets are measured against. It never forgets, so memory and time grow with the
    number of mistakes: on a noisy stream without limit. Choose it for short streams, or to see what a
    budget costs; otherwise one of the others.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.KernelPerceptronClassifier(rb.kernels.RBF(4.0))
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 86...%

    References
    ----------
    [^1]: [Freund, Y. and Schapire, R., 1999. Large margin classification using the Perceptron algorithm. Machine Learning 37.](https://doi.org/10.1023/A:1007662407062)

    """

    def __init__(self, kernel: Kernel | None = None, classes: tuple[Any, ...] | None = None):
        super().__init__(kernel, classes)


class KernelPerceptronRegressor(_Regressor):
    """The kernel Perceptron for regression: steps of one size towards the target, without a budget.

    Every error above `epsilon` adds a support vector with coefficient `learning_rate`, up or down. Memory
    and time grow with their number. Targets should be of order one: put a `TargetStandardScaler` around
    the pipeline.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Size of a step.
    epsilon
        Errors up to this size are none.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.KernelPerceptronRegressor()
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.39...

    """

    def __init__(
        self, kernel: Kernel | None = None, learning_rate: float = 0.1, epsilon: float = 0.1
    ):
        super().__init__(kernel, None)
        self.learning_rate = learning_rate
        self.epsilon = epsilon


class _RBP(BudgetModel):
    _shrink = staticmethod(removal.shrink_to_budget)

    budget = Mutable(whole(1))

    def _header(self, n_features: int) -> dict[str, Any]:
        return super()._header(n_features) | {"maintenance": Maintenance.REMOVE_RANDOM}


class RBPClassifier(_RBP, _Classifier):
    """The randomised budget Perceptron: a newcomer takes the place of a vector drawn at random.

    The cheapest budget there is, and by its authors' proof not a bad one when the target moves. It loses
    more than `Forgetron` or the projecting ones where the target stands still.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error.
    seed
        For the draws.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.RBPClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), seed=1
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: [Cavallanti, G., Cesa-Bianchi, N. and Gentile, C., 2007. Tracking the best hyperplane with a simple budget Perceptron. Machine Learning 69.](https://doi.org/10.1007/s10994-007-5003-0)

    """

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(kernel, classes, seed)
        self.budget = budget


class RBPRegressor(_RBP, _Regressor):
    """The randomised budget Perceptron for regression: see `RBPClassifier`.

    Targets should be of order one: put a `TargetStandardScaler` around the pipeline.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Size of a step.
    epsilon
        Errors up to this size are none.
    seed
        For the draws.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.RBPRegressor(budget=50, seed=1)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    """

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.1,
        epsilon: float = 0.1,
        seed: int | None = None,
    ):
        super().__init__(kernel, seed)
        self.budget = budget
        self.learning_rate = learning_rate
        self.epsilon = epsilon


class BudgetPerceptronClassifier(BudgetClassifier):
    """The budget Perceptron of Crammer, Kandola and Singer (CKS): what is easy is forgotten.

    A full model drops the vector that would be classified with the largest margin without itself. Good on
    clean data. On noisy data it collects the examples that cannot be learned, mislabelled ones among them:
    then take `Forgetron` or `BSGDClassifier`. Binary only.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    margin
        Examples with a margin up to this size are learned; 0: only mistakes.
    classes
        The two labels, if they are known in advance: the negative one first.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BudgetPerceptronClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0)
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 61...%

    References
    ----------
    [^1]: [Crammer, K., Kandola, J. and Singer, Y., 2003. Online classification on a budget. NIPS.](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)

    """

    _learn = staticmethod(cks.learn)
    _shrink = staticmethod(cks.shrink_to_budget)
    _state = cks.STATE
    _extras = 1  # the scores of the support vectors
    _binary = True

    budget = Mutable(whole(1))
    margin = Mutable(finite)

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        margin: float = 0.0,
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(kernel, classes)
        self.budget = budget
        self.margin = margin

    def _inherit(self, parts: list[Any]) -> None:
        super()._inherit(parts)
        kept = blocks.views(self._block).extras[0]
        kept[: self.n_support_vectors] = scores_of_vectors(self)[:, 0]
