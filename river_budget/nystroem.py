"""Nyström features: as a map for linear models, and with a linear model inside (NOGD)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .calls import Seats
from .core import block as blocks
from .core import nystroem as core
from .estimator import BudgetClassifier, BudgetRegressor
from .expansion import BudgetModel
from .features import Batch
from .kernels import Kernel
from .parameters import Mutable, not_negative, optional, positive, whole
from .transformer import Transformer
from .union import gram_of

__all__ = ["NOGDClassifier", "NOGDRegressor", "Nystroem"]

NEGLIGIBLE = 1e-12  # eigenvalues, relative to the largest
TINIEST = 1e-60  # eigenvalue: a Gram matrix of less is one of zeros


def _spectrum(gram: Any, rank: int) -> tuple[Any, Any]:
    """The largest eigenvalues, as far as they are not negligible, and their eigenvectors as columns."""
    from scipy.linalg import eigh  # here, as only these models need it

    n = len(gram)
    unit = max(float(np.abs(gram).max()), TINIEST)  # LAPACK cannot bear 1e100
    values, vectors = eigh(gram / unit, subset_by_index=[max(0, n - rank), n - 1])
    values, vectors = unit * values[::-1], vectors[:, ::-1]
    kept = values > max(NEGLIGIBLE * values[0], TINIEST)
    return values[kept], vectors[:, kept]


class _Nystroem(BudgetModel):
    """What is common to the map and to NOGD: a support, and in time a basis of its functions."""

    _state = core.STATE

    budget = Mutable(whole(1))

    def _begin(self, budget: int, rank: int | None) -> None:
        optional(whole(1))("rank", rank)
        self.rank = rank
        self.budget = budget
        self._check_together()

    def _check_together(self, **parameters: Any) -> None:
        budget = (self.__dict__ | parameters)["budget"]
        if self.rank is not None and self.rank > budget:
            raise ValueError(f"rank={self.rank} must be at most budget={budget}")

    @property
    def _largest_rank(self) -> int:
        return self.budget if self.rank is None else self.rank

    def _header(self, n_features: int) -> dict[str, Any]:
        return super()._header(n_features) | {"extras": self._largest_rank + 1}

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == "budget" and self._block is not None:
            self._resize(extras=self._largest_rank + 1)

    def _restored(self, count: int) -> None:
        own = self._own()
        most = min(count, self._largest_rank)
        if not (core.GATHERING <= own.stage <= core.LINEAR and 0 <= own.kept <= most):
            raise ValueError("its basis has another size")

    def _learn_basis(self) -> None:
        """The orthogonal functions that the support spans best, as many as the rank allows."""
        self._resize(extras=self._largest_rank + 1)
        gram = gram_of(self)
        n = len(gram)
        values, vectors = _spectrum(gram, self._largest_rank)
        basis = blocks.views(self._block).extras
        basis[:] = 0.0
        basis[: len(values), :n] = (vectors / np.sqrt(values)).T
        basis[len(values), : len(values)] = values
        own = self._own()
        own.kept, own.stage = len(values), core.PREPARED

    def _make_smaller(self) -> None:
        """Keep the vectors with the largest weights, and of the function what they span."""
        model, gram = blocks.views(self._block), gram_of(self)
        n, budget = len(gram), self.budget
        weight = np.sum(model.coefficients[:, :n] ** 2, axis=0) * np.diag(gram)
        kept = np.sort(np.argsort(-weight, kind="stable")[:budget])
        values, vectors = _spectrum(gram[np.ix_(kept, kept)], budget)
        inside = (model.coefficients[:, :n] @ gram[:, kept]) @ vectors
        coefficients = (inside / values) @ vectors.T
        for table in (model.vectors, model.norms, model.arrivals):
            table[..., :budget] = table[..., kept]
        model.coefficients[:] = 0.0
        model.coefficients[:, :budget] = coefficients
        model.head.count = budget
        if self._own().stage != core.GATHERING:
            self._learn_basis()


class _NOGD(_Nystroem):
    _learn = staticmethod(core.learn)

    learning_rate = Mutable(positive)

    def _reduce(self) -> None:
        self._make_smaller()

    def _inherit(self, parts: list[Any]) -> None:
        """A support that was frozen in one of the models is frozen: with a basis of its own."""
        super()._inherit(parts)
        gathering = all(part.model._own().stage == core.GATHERING for part in parts)
        if self.n_support_vectors and not gathering:
            self._learn_basis()

    @property
    def _largest_rank(self) -> int:
        return max(1, round(0.2 * self.budget)) if self.rank is None else self.rank

    def _prepare(self) -> None:
        self._learn_basis()


class NOGDClassifier(_NOGD, BudgetClassifier):
    """Gradient descent on the hinge loss over Nyström features.

    The first `budget` examples with a loss become support vectors, as in `KernelOGDClassifier`. Then the
    support is frozen: its `rank` most important functions become features, and from there on a linear model
    learns on them. Nothing is forgotten, and no update can hurt the support. It is accurate and steady where
    the first examples are typical of all; on a stream that drifts away from them prefer a model that replaces
    its vectors (`BSGDClassifier`, `ForgetronClassifier`).

    Parameters
    ----------
    budget
        The number of support vectors. Once the support is frozen, a smaller budget takes effect and a
        larger one does not.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    rank
        The number of features. None: a fifth of the budget.
    learning_rate
        Size of a step.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.NOGDClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), rank=60
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        rank: int | None = None,
        learning_rate: float = 0.2,
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(kernel, classes)
        self._begin(budget, rank)
        self.learning_rate = learning_rate


class NOGDRegressor(_NOGD, BudgetRegressor):
    """Gradient descent on the squared error over Nyström features.

    Errors up to `epsilon` count nothing. Targets should be of order one: put a `TargetStandardScaler` around
    the pipeline.

    Parameters
    ----------
    budget
        The number of support vectors. Once the support is frozen, a smaller budget takes effect and a
        larger one does not.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    rank
        The number of features. None: a fifth of the budget.
    learning_rate
        Share of the error that a step removes.
    epsilon
        Errors up to this size are none.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.NOGDRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """

    epsilon = Mutable(not_negative)

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        rank: int | None = None,
        learning_rate: float = 0.2,
        epsilon: float = 0.1,
    ):
        super().__init__(kernel, None)
        self._begin(budget, rank)
        self.learning_rate = learning_rate
        self.epsilon = epsilon


class Nystroem(_Nystroem, Transformer):
    """Nyström features: a linear model behind them becomes a kernel machine that knows the data.

    The first `budget` examples, each counted once, become landmarks; from then on an example is described by
    how similar it is to them, in `rank` features whose inner products approximate the kernel. Until then
    nothing comes out, and later nothing changes. Any kernel will do. For the same number of features it is
    closer to the kernel than random waves are (`RandomFourier`), as long as the first examples are typical.

    Parameters
    ----------
    budget
        The number of landmarks. Once they are there, a smaller number takes effect and a larger one does not.
    rank
        The number of features: the most important directions only. None: as many as the landmarks span.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.

    Examples
    --------

    >>> from river import datasets, evaluate, linear_model, metrics, optim, preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler()
    ...     | rb.Nystroem(100, kernel=rb.kernels.RBF(4.0))
    ...     | linear_model.LogisticRegression(optim.SGD(1.0))
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: [Williams, C. and Seeger, M., 2001. Using the Nyström method to speed up kernel machines. NIPS 13.](https://papers.nips.cc/paper/1866-using-the-nystrom-method-to-speed-up-kernel-machines)

    """

    _learn = staticmethod(core.gather)
    _decide = staticmethod(core.transform)
    _scores_with_extras = True

    def __init__(self, budget: int = 100, rank: int | None = None, kernel: Kernel | None = None):
        super().__init__(kernel, None)
        self._begin(budget, rank)
        self._ready = False

    @property
    def _outputs(self) -> int:
        return int(self._own().kept) if self._ready else 0

    def _named(self, scores: Any) -> None:
        """Landmarks have no coefficients."""

    def _feature_names(self) -> list[str]:
        return [f"nystroem_{j}" for j in range(self._outputs)]

    def learn_one(self, x: dict[Any, Any]) -> None:
        """Store the example as a landmark while there is room."""
        if self._ready:
            self._features.check(x)
        else:
            self._learn_row(x, 0.0, 1.0)
            self._finish()

    def learn_many(self, X: Any) -> None:
        """Learn the examples in their order, exactly as a loop of `learn_one`."""
        batch = Batch(X)
        if not self._ready:
            self._gather(batch)
            self._finish()

    def _finish(self) -> None:
        """With the last landmark comes the basis."""
        if self.n_support_vectors == self.budget:
            self._learn_basis()
            self._ready = True
            self._seats = Seats()

    def _restored(self, count: int) -> None:
        super()._restored(count)
        self._ready = bool(self._own().stage != core.GATHERING)
