"""Nyström features: a map for linear models; NOGD has a linear model inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import layout as blocks
from ..core import nystroem as core
from ..kernels import RBF, Kernel
from ..model.base import changes_the_model
from ..model.calls import FreeRows
from ..model.expansion import BudgetModel
from ..model.features import Batch
from ..model.shells import Transformer
from ..parameters import Mutable, optional, positive, whole

__all__ = ["Nystroem"]

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


class NystroemBasis(BudgetModel):
    """What is common to the map and to NOGD: a support, and in time a basis of its functions."""

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

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {"per_vector": self._largest_rank + 1}

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == "budget" and self.block is not None:
            self.resize_block(per_vector=self._largest_rank + 1)

    checked_fields = ("kept", "stage")

    def check_restored_rows(self, count: int) -> None:
        """A basis may hold any numbers."""

    def check_restored_state(self, count: int) -> None:
        state = self.state_record()
        most = min(count, self._largest_rank)
        if not (core.GATHERING <= state.stage <= core.LINEAR and 0 <= state.kept <= most):
            raise ValueError("its basis has another size")

    def _learn_basis(self) -> None:
        """The orthogonal functions that the support spans best, as many as the rank allows."""
        self.resize_block(per_vector=self._largest_rank + 1)
        gram = self.gram()
        n = len(gram)
        values, vectors = _spectrum(gram, self._largest_rank)
        basis = blocks.views(self.block).per_vector
        basis[:] = 0.0
        basis[: len(values), :n] = (vectors / np.sqrt(values)).T
        basis[len(values), : len(values)] = values
        state = self.state_record()
        state.kept, state.stage = len(values), core.PREPARED

    def fit_budget(self) -> None:
        """Keep the vectors with the largest weights, and of the function what they span."""
        model, gram = blocks.views(self.block), self.gram()
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
        if self.state_record().stage != core.GATHERING:
            self._learn_basis()


class Nystroem(NystroemBasis, Transformer):
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

    learning_pass = staticmethod(core.gather)
    scoring_pass = staticmethod(core.transform)
    scores_with_per_vector = True

    usual_kernel = RBF("2/d")
    file_defaults = {"scale": 1.0}

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
        return int(self.state_record().kept) if self._ready else 0

    def named(self, scores: Any) -> None:
        """Landmarks have no coefficients."""

    def _feature_names(self) -> list[str]:
        return [f"nystroem_{j}" for j in range(self.n_outputs)]

    @changes_the_model
    def learn_one(self, x: dict[Any, Any]) -> None:
        """Store the example as a landmark while there is room."""
        if self._ready:
            self.features.check(x)
        else:
            self._learn_row(x, 0.0, 1.0)
            self._finish()

    @changes_the_model
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
            self.free_rows = FreeRows()

    def check_restored_state(self, count: int) -> None:
        super().check_restored_state(count)
        self._ready = bool(self.state_record().stage != core.GATHERING)
