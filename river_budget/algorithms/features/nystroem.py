"""Nyström features: a map for linear models; NOGD has a linear model inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.block import blocks
from ...core.passes.features import nystroem as core
from ...kernels import Kernel
from ...model.calls.calls import Rows
from ...model.estimators.estimators import Transformer
from ...model.expansions.expansion import BudgetModel
from ...model.inputs.batches import Batch
from ...model.inputs.lists import set_vectors, vectors_of
from ...model.lock import marked
from ...parameters import COUNT, FINITE, Mutable, optional, positive, whole
from .first_width import WidthOfFirst

__all__ = ["Nystroem"]

NEGLIGIBLE = 1e-12  # eigenvalues, relative to the largest
DEPENDENT = 1e-10  # squared distance of a landmark to the span of others, relative to its length
TINIEST = 1e-60  # smaller eigenvalues and Gram matrices count as 0


def _spectrum(gram: Any, rank: int) -> tuple[Any, Any]:
    """The largest eigenvalues that are not negligible, at most `rank`, and their eigenvectors as columns."""
    from scipy.linalg import eigh  # imported here, as only these models need it

    n = len(gram)
    unit = max(float(np.abs(gram).max()), TINIEST)  # LAPACK fails with entries of 1e100
    values, vectors = eigh(gram / unit, subset_by_index=[max(0, n - rank), n - 1])
    values, vectors = unit * values[::-1], vectors[:, ::-1]
    kept = values > max(NEGLIGIBLE * values[0], TINIEST)
    return values[kept], vectors[:, kept]


class NystroemBasis(WidthOfFirst, BudgetModel):
    """Base class of the map and of NOGD: a support, and once it is full an orthonormal basis of its span."""

    state_type = core.STATE

    budget = Mutable(whole(1))

    def _set_parameters(self, budget: int, rank: int | None) -> None:
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

    def capacity_for(self, count: int) -> int:
        """The whole budget at once, as the code that fills it does not check for room."""
        return blocks.columns_for(self.budget + 1)

    @property
    def _basis_rows(self) -> int:
        return self._largest_rank + 1

    def mean_rows(self) -> Any:
        """The coefficients of a mean of iterates, behind the basis."""
        return np.zeros((0, 0))

    def header_fields(self, n_features: int) -> dict[str, Any]:
        fields = super().header_fields(n_features)
        return fields | {"per_vector": self._basis_rows + self.per_vector_rows}

    def resize_block(self, **sizes: int) -> None:
        means = self.mean_rows().copy()
        outputs = sizes.get("outputs", len(means)) if len(means) else 0
        super().resize_block(**sizes | {"per_vector": self._basis_rows + outputs})
        if len(means):
            moved = blocks.views(self.block).per_vector[self._basis_rows :]
            moved[:] = 0.0
            columns = min(means.shape[1], moved.shape[1])
            moved[: len(means), :columns] = means[:, :columns]

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == "budget" and self.block is not None:
            if self.state_record().kept > self._largest_rank:  # not in sums of few vectors
                self._learn_basis()
            self.resize_block()

    ranges = {"kept": COUNT, "stage": (core.GATHERING, core.FRESH), "per_vector": FINITE}

    def check_restored_state(self, count: int) -> None:
        state = self.state_record()
        most = min(count, self._largest_rank)
        last = core.LINEAR if getattr(self, "eta_linear", None) is None else core.FRESH
        if state.stage > last or state.kept > most:
            raise ValueError("its basis has another size")

    def _learn_basis(self) -> None:
        """Compute the basis: the orthonormal functions of the support with the largest eigenvalues, at most `rank`."""
        self.resize_block()
        gram = self.gram()
        n = len(gram)
        values, vectors = _spectrum(gram, self._largest_rank)
        basis = blocks.views(self.block).per_vector[: self._basis_rows]
        basis[:] = 0.0
        basis[: len(values), :n] = (vectors / np.sqrt(values)).T
        basis[len(values), : len(values)] = values
        state = self.state_record()
        state.kept, state.stage = len(values), core.PREPARED

    def fit_budget(self) -> None:
        """Keep the vectors with the largest weights, and project the function on their span."""
        model, gram = blocks.views(self.block), self.gram()
        n, budget = len(gram), self.budget
        weight = np.sum(model.coefficients[:, :n] ** 2, axis=0) * np.diag(gram)
        kept = np.sort(np.argsort(-weight, kind="stable")[:budget])
        values, vectors = _spectrum(gram[np.ix_(kept, kept)], budget)
        tables = model.coefficients, self.mean_rows()
        projected = []
        for table in tables:
            inside = (table[:, :n] @ gram[:, kept]) @ vectors if len(table) else table[:, :0]
            projected.append((inside / values) @ vectors.T if len(table) else inside)
        set_vectors(self.block, vectors_of(self.block).copies_of(kept))
        for row in (model.norms, model.arrivals):
            row[:budget] = row[kept]
        for table, coefficients in zip(tables, projected, strict=True):
            table[:] = 0.0
            if len(table):
                table[:, :budget] = coefficients
        model.head.count = budget
        if self.state_record().stage != core.GATHERING:
            self._learn_basis()


class Nystroem(NystroemBasis, Transformer):
    """Nyström features: a linear model behind them becomes a kernel machine that adapts to the data.

    The first `budget` different examples become landmarks; the features of an example follow from its kernel
    values with them, and inner products of features approximate the kernel. Each landmark adds one feature, so
    that a linear model behind the map learns from the second example on; with a `rank` the features are the
    most important directions, and the map returns none before the last landmark is stored. Afterwards the map
    does not change. It takes any kernel. With the same number of features it approximates the kernel better
    than random waves (`RandomFourier`), as long as the first examples are typical.

    While a model lives, `mutate` or assignment may change `budget`.

    Not for streams whose examples drift away from the first ones: landmarks never change.

    Parameters
    ----------
    budget
        The number of landmarks. Once all are stored, a smaller number takes effect and a larger one does not.
    rank
        The number of features: the most important directions only. None: as many as the landmarks span.
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

    """

    learning_pass = staticmethod(core.gather)
    scoring_pass = staticmethod(core.transform)
    scores_with_per_vector = True
    _prefix = "nystroem"

    def __init__(
        self,
        budget: int = 100,
        rank: int | None = None,
        kernel: Kernel | None = None,
        scale: float = 7.0,
    ):
        super().__init__(kernel, None)
        positive("scale", scale)
        self.scale = scale
        self._set_parameters(budget, rank)
        self._ready = False

    @property
    def n_outputs(self) -> int:
        return 0 if self.block is None else int(self.state_record().kept)

    def named(self, scores: Rows) -> None:
        """Landmarks have no coefficients."""

    @marked
    def learn_one(self, x: dict[Any, Any]) -> None:
        """Store the example as a landmark while there is room."""
        x = self.features.taken(x)
        with self.lock.for_a_change():
            if not self._ready:
                self._learn_taken(x, 0.0, 1.0)
                self._finish()
            self._count(1)

    @marked
    def learn_many(self, X: Any) -> None:
        """Learn the examples in their order, exactly as a loop of `learn_one`."""
        batch = Batch(X)
        batch.check_scaled(self.features)
        if not self._ready:
            self._gather(batch)
        with self.lock.for_a_change():
            if not self._ready:
                self._finish()
            self._count(len(batch))

    def _finish(self) -> None:
        """Add a direction for each new landmark; with a `rank`, compute the directions after the last landmark.

        The last landmark completes the map.
        """
        if self.block is None:
            return
        complete = self.n_support_vectors == self.budget
        if self.rank is None:
            self._add_directions()
        elif complete:
            self._learn_basis()
        if complete:
            self.state_record().stage = core.PREPARED
            self._ready = True
        self.forget_prepared()

    def _add_directions(self) -> None:
        """Add for each new landmark its part orthogonal to those before it, scaled to length 1.

        These are rows of the inverse of the Cholesky factor of K, which later landmarks do not change. A landmark
        that is (nearly) a combination of those before it gets a row of zeros.
        """
        state, basis = self.state_record(), blocks.views(self.block).per_vector
        first, n = int(state.kept), self.n_support_vectors
        gram = self.gram() if first < n else np.zeros((0, 0))
        for i in range(first, n):
            above = basis[:i, :i]
            inside = above @ gram[:i, i]
            residual = gram[i, i] - inside @ inside
            basis[i] = 0.0
            if residual > DEPENDENT * gram[i, i]:
                basis[i, :i], basis[i, i] = -(inside @ above), 1.0
                basis[i] /= np.sqrt(residual)
        state.kept = n

    def fit_budget(self) -> None:
        super().fit_budget()
        if self.rank is None and not self._ready:
            self.state_record().kept = 0
            self._add_directions()
        self.forget_prepared()

    def check_restored_state(self, count: int) -> None:
        super().check_restored_state(count)
        self._ready = bool(self.state_record().stage != core.GATHERING)
