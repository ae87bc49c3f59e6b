"""Gradient descent with kernels: without a budget (OGD), and with one (BOGD)."""

from __future__ import annotations

from typing import Any

from .core import bogd, ogd
from .core.codes import Maintenance
from .estimator import BudgetClassifier, BudgetRegressor
from .expansion import BudgetModel
from .kernels import Kernel
from .parameters import Mutable, not_negative, one_of, optional, positive, whole

__all__ = ["BOGDClassifier", "BOGDRegressor", "KernelOGDClassifier", "KernelOGDRegressor"]


class KernelOGDClassifier(BudgetClassifier):
    """Gradient descent on the hinge loss with a constant step, without a budget.

    Every example inside the margin becomes a support vector: more accurate than the Perceptron, and larger.
    It never forgets, so memory and time grow with the stream. Choose it for short streams, or to see what
    a budget costs; `BOGDClassifier` is the same with one.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Size of a step.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.KernelOGDClassifier(rb.kernels.RBF(4.0))
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 90...%

    References
    ----------
    [^1]: [Kivinen, J., Smola, A. and Williamson, R., 2004. Online learning with kernels. IEEE Transactions on Signal Processing 52.](https://doi.org/10.1109/TSP.2004.830991)

    """

    _learn = staticmethod(ogd.learn)
    _state = ogd.STATE

    learning_rate = Mutable(positive)

    def __init__(
        self,
        kernel: Kernel | None = None,
        learning_rate: float = 0.2,
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(kernel, classes)
        self.learning_rate = learning_rate


class KernelOGDRegressor(BudgetRegressor):
    """Gradient descent on the squared error with a constant step, without a budget.

    Errors up to `epsilon` count nothing. It never forgets, so memory and time grow with the stream. Targets
    should be of order one: put a `TargetStandardScaler` around the pipeline.

    Parameters
    ----------
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Share of the error that a step removes.
    epsilon
        Errors up to this size are none.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.KernelOGDRegressor()
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    """

    _learn = staticmethod(ogd.learn)
    _state = ogd.STATE

    learning_rate = Mutable(positive)
    epsilon = Mutable(not_negative)

    def __init__(
        self, kernel: Kernel | None = None, learning_rate: float = 0.2, epsilon: float = 0.1
    ):
        super().__init__(kernel, None)
        self.learning_rate = learning_rate
        self.epsilon = epsilon


class _BOGD(BudgetModel):
    _learn = staticmethod(bogd.learn)
    _shrink = staticmethod(bogd.shrink_to_budget)
    _state = bogd.STATE
    _usual_removal: str

    budget = Mutable(whole(1))
    learning_rate = Mutable(positive)
    l2 = Mutable(not_negative)
    max_coefficient = Mutable(optional(positive))

    def _begin(
        self,
        budget: int,
        learning_rate: float,
        l2: float,
        removal: str | None,
        sampling: str,
        max_coefficient: float | None,
    ) -> None:
        optional(one_of("random", "oldest"))("removal", removal)
        one_of("uniform", "nonuniform")("sampling", sampling)
        if sampling == "nonuniform" and (removal or self._usual_removal) != "random":
            raise ValueError('sampling="nonuniform" needs removal="random"')
        self.removal = removal
        self.sampling = sampling
        self.budget = budget
        self.learning_rate = learning_rate
        self.l2 = l2
        self.max_coefficient = max_coefficient
        self._check_together()

    def _check_together(self, **parameters: Any) -> None:
        both = self.__dict__ | parameters
        check_decay(both["learning_rate"], both["l2"])

    def _header(self, n_features: int) -> dict[str, Any]:
        oldest = (self.removal or self._usual_removal) == "oldest"
        code = Maintenance.REMOVE_OLDEST if oldest else Maintenance.REMOVE_RANDOM
        return super()._header(n_features) | {"maintenance": code}

    def _start(self) -> dict[str, Any]:
        return {"nonuniform": int(self.sampling == "nonuniform")}


def check_decay(learning_rate: float, l2: float) -> None:
    if learning_rate * l2 > 1.0:
        raise ValueError(
            f"learning_rate * l2 must be at most 1, not {learning_rate!r} * {l2!r}: a model is multiplied "
            "by 1 - learning_rate * l2 at every example"
        )


class BOGDClassifier(_BOGD, BudgetClassifier):
    """Bounded online gradient descent: a random vector goes, and the others grow to make up for it.

    So the model stays the same on average, and an update is as cheap as a removal. With
    `sampling="nonuniform"` (BOGD++) vectors with large coefficients are kept for longer. It does well where
    classes are noisy; where they are not, its random growth costs more than it gains, and `BPAClassifier` or
    merging (`BSGDClassifier`) are better.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Size of a step.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 - learning_rate * l2.
    removal
        "random", or "oldest", which lets the others be. None: random.
    sampling
        "uniform", or "nonuniform" for BOGD++.
    max_coefficient
        In a full model no coefficient grows beyond this multiple of the learning rate. None: no limit.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error.
    seed
        For the draws.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BOGDClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), seed=1
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 7...%

    References
    ----------
    [^1]: [Zhao, P., Wang, J., Wu, P., Jin, R. and Hoi, S., 2012. Fast bounded online gradient descent algorithms for scalable kernel-based online learning. ICML.](https://arxiv.org/abs/1206.4633)

    """

    _usual_removal = "random"

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.2,
        l2: float = 0.0,
        removal: str | None = None,
        sampling: str = "uniform",
        max_coefficient: float | None = None,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(kernel, classes, seed)
        self._begin(budget, learning_rate, l2, removal, sampling, max_coefficient)


class BOGDRegressor(_BOGD, BudgetRegressor):
    """Gradient descent on the squared error with a budget: the oldest vector goes.

    With `removal="random"` the others grow as in `BOGDClassifier`; with squared errors that can grow without
    bound, so set `max_coefficient` then. Targets should be of order one: put a `TargetStandardScaler`
    around the pipeline.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Share of the error that a step removes.
    l2
        Strength of regularisation: at every example the model shrinks by the factor 1 - learning_rate * l2.
    removal
        "oldest" or "random". None: the oldest.
    sampling
        "uniform", or "nonuniform", which keeps large coefficients for longer.
    max_coefficient
        In a full model no coefficient grows beyond this multiple of the learning rate. None: no limit.
    epsilon
        Errors up to this size are none.
    seed
        For the draws.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.BOGDRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    """

    _usual_removal = "oldest"

    epsilon = Mutable(not_negative)

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        learning_rate: float = 0.2,
        l2: float = 0.0,
        removal: str | None = None,
        sampling: str = "uniform",
        max_coefficient: float | None = None,
        epsilon: float = 0.1,
        seed: int | None = None,
    ):
        super().__init__(kernel, seed)
        self._begin(budget, learning_rate, l2, removal, sampling, max_coefficient)
        self.epsilon = epsilon
