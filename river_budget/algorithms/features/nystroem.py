"""Nyström features: a map for linear models; NOGD has a linear model inside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.features import nystroem as core
from ...inputs.batches import batch_of
from ...kernels import Kernel
from ...model.algorithm import After, Algorithm, Files
from ...model.expansion import BudgetModel
from ...model.lock import changes_the_model, mutating
from ...model.stored import Vectors
from ...parameters import COUNT, FINITE, Fixed, optional, whole
from .maps import Transformer, numbered

__all__ = ["Nystroem"]

NEGLIGIBLE = 1e-12  # eigenvalues, relative to the largest
DEPENDENT = 1e-10  # squared distance of a landmark to the span of others, relative to its length
TINIEST = 1e-60  # smaller eigenvalues and Gram matrices count as 0


def _spectrum(gram: Any, rank: int) -> tuple[Any, Any]:
    """The largest eigenvalues that are not negligible, at most `rank`, and their eigenvectors as
    columns.
    """
    from scipy.linalg import eigh  # imported here, as only these models need it

    n = len(gram)
    unit = max(float(np.abs(gram).max()), TINIEST)  # LAPACK fails with entries of 1e100
    values, vectors = eigh(gram / unit, subset_by_index=[max(0, n - rank), n - 1])
    values, vectors = unit * values[::-1], vectors[:, ::-1]
    kept = values > max(NEGLIGIBLE * values[0], TINIEST)
    return values[kept], vectors[:, kept]


def _largest_rank(model: Any) -> int:
    """How many directions the basis has; in a linear model by default a fifth of the budget."""
    if model.rank is not None:
        return int(model.rank)
    share = 1.0 if model.algorithm.learn is core.gather else 0.2
    return int(max(1, round(share * model.budget)))


def _basis_rows(model: Any) -> int:
    return _largest_rank(model) + 1


def _resize(model: Any) -> None:
    """Make room for the basis; the coefficients of a mean of iterates stay behind it."""
    means = model._mean_rows().copy()
    model._resize_block(per_vector=_basis_rows(model) + len(means))
    if len(means):
        moved = memory.views(model._block).per_vector[_basis_rows(model) :]
        columns = min(means.shape[1], moved.shape[1])
        moved[:] = 0.0
        moved[:, :columns] = means[:, :columns]


def check_rank(parameters: Mapping[str, Any]) -> None:
    rank, budget = parameters["rank"], parameters["budget"]
    if rank is not None and rank > budget:
        raise ValueError(f"rank={rank} must be at most budget={budget}")


def check_basis(model: Any, count: int) -> None:
    state = model._state_record()
    most = min(count, _largest_rank(model))
    last = core.LINEAR if getattr(model, "eta_linear", None) is None else core.FRESH
    if state.stage > last or state.kept > most:
        raise ValueError("its basis has another size")


def resize_basis(model: Any, name: str) -> None:
    """Another budget may mean another rank."""
    if name == "budget" and model._block is not None:
        if model._state_record().kept > _largest_rank(model):  # not in sums of few vectors
            learn_basis(model)
        _resize(model)


def learn_basis(model: Any) -> None:
    """Compute the basis: the orthonormal functions of the support with the largest eigenvalues, at
    most `rank`.
    """
    _resize(model)
    gram = model._gram()
    n = len(gram)
    values, vectors = _spectrum(gram, _largest_rank(model))
    basis = memory.views(model._block).per_vector[: _basis_rows(model)]
    basis[:] = 0.0
    basis[: len(values), :n] = (vectors / np.sqrt(values)).T
    basis[len(values), : len(values)] = values
    state = model._state_record()
    state.kept, state.stage = len(values), core.PREPARED


def keep_budget(model: Any, united: bool) -> None:
    """Keep the vectors with the largest weights, and project the function on their span."""
    block, gram = memory.views(model._block), model._gram()
    n, budget = len(gram), model.budget
    weight = np.sum(block.coefficients[:, :n] ** 2, axis=0) * np.diag(gram)
    kept = np.sort(np.argsort(-weight, kind="stable")[:budget])
    values, vectors = _spectrum(gram[np.ix_(kept, kept)], budget)
    tables = block.coefficients, model._mean_rows()
    inside = [table[:, :n] @ gram[:, kept] @ vectors for table in tables]
    model._keep_vectors(kept)
    for table, products in zip(tables, inside, strict=True):
        table[:] = 0.0
        table[:, :budget] = (products / values) @ vectors.T
    if model._state_record().stage != core.GATHERING:
        learn_basis(model)


def _keep_landmarks(model: Any, united: bool) -> None:
    keep_budget(model, united)
    if model.rank is None and not model._ready:
        model._state_record().kept = 0
        model._add_directions()
    model._replace()


def _check_map(model: Any, count: int) -> None:
    check_basis(model, count)
    model._ready = bool(model._state_record().stage != core.GATHERING)


# A support, and once it is full an orthonormal basis of its span: the map; NOGD has a linear model
# behind it
BASIS = Algorithm(
    core.gather,
    core.STATE,
    score=core.transform,
    header={"per_vector": _basis_rows},
    columns=Vectors(room=math.inf, approximates=True),  # what fills it does not check for room
    together=check_rank,
    after=After(change=resize_basis, budget=_keep_landmarks),
    files=Files(
        ranges={"kept": COUNT, "stage": (core.GATHERING, core.FRESH), "per_vector": FINITE},
        check=_check_map,
        scored_rows=True,
    ),
)


class Nystroem(BudgetModel, Transformer):
    """Nyström features: a linear model behind them becomes a kernel machine that adapts to the
    data.

    The first `budget` different examples become landmarks; the features of an example follow from
    its kernel values with them, and inner products of features approximate the kernel. Each
    landmark adds one feature, so that a linear model behind the map learns from the second example
    on; with a `rank` the features are the most important directions, and the map returns none
    before the last landmark is stored. Afterwards the map does not change. It takes any kernel.
    With the same number of features it approximates the kernel better than random waves
    (`RandomFourier`), as long as the first examples are typical.

    While a model lives, `mutate` or assignment may change `budget`.

    Not for streams whose examples drift away from the first ones: landmarks never change.

    Parameters
    ----------
    budget
        The number of landmarks. Once all are stored, a smaller number takes effect and a larger one
        does not.
    rank
        The number of features: the most important directions only. None: as many as the landmarks
        span.
    kernel
        One of `river_budget.kernels`; None stands for `RBF()`.
    scale
        The largest length of the feature vectors that it returns: see `RandomFourier`.

    Examples
    --------

    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler()
    ...     | rb.Nystroem(100, kernel=rb.kernels.RBF(4.0))
    ...     | linear_model.LogisticRegression()
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    The inner product of two landmarks is their kernel:

    >>> features = rb.Nystroem(2, kernel=rb.kernels.RBF(0.5), scale=1.0)
    >>> a, b = {"x": 1.0, "y": 0.0}, {"x": 0.0, "y": 1.0}
    >>> for x in (a, b):
    ...     features.learn_one(x)
    >>> a, b = features.transform_one(a), features.transform_one(b)
    >>> round(sum(a[i] * b[i] for i in a), 4)  # exp(-0.5 * 2)
    0.3679

    References
    ----------
    [^1]: [Williams, C. and Seeger, M., 2001. Using the Nyström method to speed up kernel machines. NIPS 13.](https://papers.nips.cc/paper/1866-using-the-nystrom-method-to-speed-up-kernel-machines)

    """  # noqa: E501

    algorithm = BASIS

    rank = Fixed(optional(whole(1)))

    def __init__(
        self,
        budget: int = 100,
        rank: int | None = None,
        kernel: Kernel | None = None,
        scale: float = 7.0,
    ):
        super().__init__(locals())
        self._ready = False

    def _feature_names(self) -> list[str]:
        return numbered("nystroem", self._n_outputs)

    @property
    def _n_outputs(self) -> int:
        return 0 if self._block is None else int(self._state_record().kept)

    @mutating
    def learn_one(self, x: dict[Any, Any]) -> None:
        """Store the example as a landmark while there is room."""
        self._learn_landmark(self._call_with(x))

    @mutating
    def learn_many(self, X: Any) -> None:
        """Learn the examples in their order, exactly as a loop of `learn_one`."""
        batch = batch_of(X).scaled(self._features)
        if not self._ready:
            n = len(batch)
            self._run_parts(batch, np.zeros(n), np.ones(n), np.empty((n, 0)))
        self._count_landmarks(len(batch))

    @changes_the_model
    def _learn_landmark(self, call: Any) -> None:
        if not self._ready:
            self._learn_call(call, 0.0, 1.0)
            self._finish()
        self._count(1)

    @changes_the_model
    def _count_landmarks(self, n: int) -> None:
        if not self._ready:
            self._finish()
        self._count(n)

    def _finish(self) -> None:
        """Add a direction for each new landmark; with a `rank`, compute the directions after the
        last landmark.

        The last landmark completes the map.
        """
        if self._block is None:
            return
        complete = self.n_support_vectors == self.budget
        if self.rank is None:
            self._add_directions()
        elif complete:
            learn_basis(self)
        if complete:
            self._state_record().stage = core.PREPARED
            self._ready = True
        self._replace()

    def _add_directions(self) -> None:
        """Add for each new landmark its part orthogonal to those before it, scaled to length 1.

        These are rows of the inverse of the Cholesky factor of K, which later landmarks do not
        change. A landmark that is (nearly) a combination of those before it gets a row of zeros.
        """
        state, basis = self._state_record(), memory.views(self._block).per_vector
        first, n = int(state.kept), self.n_support_vectors
        gram = self._gram() if first < n else np.zeros((0, 0))
        for i in range(first, n):
            above = basis[:i, :i]
            inside = above @ gram[:i, i]
            residual = gram[i, i] - inside @ inside
            basis[i] = 0.0
            if residual > DEPENDENT * gram[i, i]:
                basis[i, :i], basis[i, i] = -(inside @ above), 1.0
                basis[i] /= np.sqrt(residual)
        state.kept = n
