"""Kernel learners without settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.block import blocks
from ...core.block.codes import Task
from ...core.compiling.needs import Need
from ...core.passes.auto import classify as classes_core
from ...core.passes.auto import regress as numbers_core
from ...core.passes.auto import tables as core
from ...model.estimators.estimators import Classifier, Regressor
from .inspection import Inspected

__all__ = ["AutoKernelClassifier", "AutoKernelRegressor"]


class AutoKernelClassifier(Inspected, Classifier):
    """A kernel classifier without settings: for the end of a pipeline, and with nothing in front of it.

    It takes features in any unit, also with heavy tails (amounts, durations), learns which of them matter,
    follows drift, and its probabilities can be used as they are. A memory holds the recent examples and older
    ones that were hard to predict; behind it an archive of the latest thousands is searched along links. Votes
    of the nearest work on both, kernels of three widths on the memory, with a weight for each feature that is
    learned from every example. Linear models, random binning and trees need no memory. A mixer weighs the
    opinions of all of these by a Newton step.

    Time and memory for an example are the same from the first to the last. Both grow with `budget`, the
    number of features and the number of classes. A missing feature counts as 0, as everywhere in this
    package. A weight above 1000 counts as 1000.

    Not for a small memory (three to seven megabytes, and fifteen with 26 classes or 100 features), nor for
    thousands of features: then take `BSGDClassifier`, or a linear model.

    While a model lives, `mutate` or assignment may change `budget`.

    Parameters
    ----------
    budget
        The largest number of stored examples, one half for recent ones and one for hard ones. Twelve times as
        many are archived: they vote where they are near, at a cost that does not grow with their number.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error. None: of booleans True is the positive one,
        of other labels the second that comes.
    seed
        For the random binning, whose bins of a feature depend on its name and the seed only.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics
    >>> import river_budget as rb

    >>> model = rb.AutoKernelClassifier(seed=1)
    >>> evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    Accuracy: 95...%

    Which feature matters most at the end of this stream:

    >>> weights = model.importances()
    >>> max(weights, key=weights.get)
    'region-centroid-row'

    References
    ----------
    [^1]: [Rahimi, A. and Recht, B., 2007. Random features for large-scale kernel machines. NIPS 20.](https://people.eecs.berkeley.edu/~brecht/papers/07.rah.rec.nips.pdf)
    [^2]: The guide, [choosing a model](guide/choosing_a_model.md).

    """

    learning_pass = staticmethod(classes_core.learn)
    needs = Need.AUTO | Need.AUTO_CLASSES
    scoring_pass = staticmethod(classes_core.decide)
    _experts = (
        "prior",
        "linear quick",
        "linear slow",
        "bins coarse",
        "bins fine",
        "vote far",
        "vote sharp",
        "kernel wide",
        "kernel middle",
        "kernel narrow",
        "least squares",
        "trees",
    )

    def __init__(
        self,
        budget: int = 1000,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(None, classes, seed)
        self.budget = budget

    @property
    def _columns(self) -> int:
        return self.n_outputs

    def _first_weight(self, experts: int) -> float:
        return classes_core.FIRST_WEIGHTS / experts

    def _set_parameters(self) -> None:
        super()._set_parameters()
        self.state_record().residual = 0.1
        n_classes = max(self._columns, 2)
        self._room.prior[:] = 1.0 / n_classes
        self._room.least_squares[:, 0] = 1.0 / n_classes

    def _may_be_targets(self, targets: Any) -> bool:
        labels = len(self.labels.known) if self._columns > 1 else 2
        return bool(np.isin(targets, np.arange(labels)).all())

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:  # type: ignore[override]
        """The probabilities of the mixture, calibrated on the stream by how often it was right."""
        return super().predict_proba_one(x)

    def promote(self, before: int) -> None:
        """A new label gets columns of zeros; the third also gives the first class its own column."""
        promoted = before == 1
        if promoted:
            negative, alone = self._first_column()
        self.resize_block(outputs=core.KERNEL_WIDTHS * self.n_outputs, task=Task.MULTICLASS)
        model = blocks.views(self.block)
        if promoted:
            model.coefficients[core.KERNEL_WIDTHS : 2 * core.KERNEL_WIDTHS] = alone
            model.coefficients[: core.KERNEL_WIDTHS] = -alone
            for name, table in negative.items():
                self._two_columns(name, table)

    def _first_column(self) -> tuple[dict[str, Any], Any]:
        """What the one column of two classes holds: copies of tables, and of the coefficients."""
        tables = {
            name: self._table(name).copy()
            for name in ("linear_weights", "least_squares", "bins", "leaves")
        }
        return tables, blocks.views(self.block).coefficients.copy()

    def _two_columns(self, name: str, old: Any) -> None:
        """A table with one column for the second class gets one for the first, which is its negative."""
        new = self._table(name)
        if name == "linear_weights":
            new[2:4], new[:2] = old, -old
        elif name in ("bins", "leaves"):
            new[:, 1], new[:, 0] = old[:, 0], -old[:, 0]
        else:
            new[1], new[0] = old[0], -old[0]
            new[0, 0] += 1.0  # the values of both add up to 1


class AutoKernelRegressor(Inspected, Regressor):
    """A kernel regressor without settings: for features and targets in any unit.

    The same memory, metric and mixer as in `AutoKernelClassifier`, with experts that predict numbers. There
    is no need to scale features or targets.

    `predict_one(x, with_dist=True)` returns a normal distribution. Its spread is that of the errors made on
    similar examples and of late, stretched such that nine in ten targets lie in the interval of 90 %.

    Not for a small memory (it takes three to seven megabytes), nor for thousands of features: then take
    `BSGDRegressor`.

    While a model lives, `mutate` or assignment may change `budget`.

    Parameters
    ----------
    budget
        The largest number of stored examples, one half for recent ones and one for hard ones. Twelve times as
        many are archived: they vote where they are near, at a cost that does not grow with their number.
    seed
        For the random binning, whose bins of a feature depend on its name and the seed only.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics
    >>> import river_budget as rb

    >>> model = rb.AutoKernelRegressor(seed=1)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.2...

    >>> x, y = next(iter(datasets.TrumpApproval()))
    >>> model.predict_one(x, with_dist=True)
    𝒩(μ=..., σ=...)

    References
    ----------
    [^1]: [Rahimi, A. and Recht, B., 2007. Random features for large-scale kernel machines. NIPS 20.](https://people.eecs.berkeley.edu/~brecht/papers/07.rah.rec.nips.pdf)
    [^2]: The guide, [regression](guide/regression.md).

    """

    learning_pass = staticmethod(numbers_core.learn)
    needs = Need.AUTO | Need.AUTO_NUMBERS
    scoring_pass = staticmethod(numbers_core.decide)
    _experts = (
        "late mean",
        "last target",
        "linear",
        "bins coarse",
        "bins fine",
        "vote far",
        "vote sharp",
        "kernel wide",
        "kernel middle",
        "kernel narrow",
        "least squares",
        "trees",
    )

    def __init__(self, budget: int = 1000, seed: int | None = None):
        super().__init__(None, seed)
        self.budget = budget

    def _first_weight(self, experts: int) -> float:
        return 1.0 / (experts - 1)

    def predict_one(self, x: dict[Any, Any], with_dist: bool = False) -> Any:
        """The prediction, or with `with_dist=True` a normal distribution around it."""
        if not with_dist:
            return super().predict_one(x)
        from river import proba  # here, as it takes as long to load as this package and numba

        x = self.features.present(x)
        mean, spread = 0.0, 0.0
        if self.block is not None:
            (mean, spread), _, _ = self._computed(x, 2)
        return proba.Gaussian._from_state(n=1, m=mean, var=spread * spread, ddof=0)  # type: ignore[no-untyped-call]
