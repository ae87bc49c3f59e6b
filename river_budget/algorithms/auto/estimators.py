"""Kernel learners without settings."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from ...core import memory
from ...core.codes import Task
from ...core.passes.auto import log_loss as classes_core
from ...core.passes.auto import squared_loss as numbers_core
from ...core.passes.auto import tables as core
from ...core.passes.auto.linear_models import N_RATES
from ...core.passes.auto.words import classes as word_classes
from ...core.passes.auto.words import numbers as word_numbers
from ...model.algorithm import After, Algorithm
from ...model.estimators import Classifier, Regressor
from .checks import FILES
from .inspection import Inspected
from .quantiles import at_levels
from .room import Room
from .tables import OF_ROWS

if TYPE_CHECKING:
    from .distributions import TargetDistribution

__all__ = ["AutoKernelClassifier", "AutoKernelRegressor"]


class AutoKernelClassifier(Inspected, Classifier):
    """A kernel classifier without settings, which needs no scaler, encoder or imputer in front of
    it.

    It takes features in any unit, learns which of them matter, follows drift, and its probabilities
    can be used as they are. A memory holds the recent examples and older ones that were hard to
    predict; behind it an archive of the latest thousands is searched along links. Votes of the
    nearest work on both, a kernel on the memory, with a weight for each feature that is learned
    from every example. Linear models and random binning need no memory. A mixer weighs the opinions
    of all of these by a Newton step.

    Time and memory for an example are the same from the first to the last. Both grow with `budget`,
    the number of features and the number of classes. A weight above 1000 counts as 1000.

    Text in a column is a category: a feature `(column, text)` that is 1. At most 64 of a column
    have a feature of their own, and 512 of all columns; all others share `(column, "<other>")`.
    None and NaN count as the mean of the column, and so does a number that is not there, but was in
    each of the first 32 examples; any other feature that is not there is 0. The number of such gaps
    is a feature too (the guide, [categories](guide/categories.md) and [missing
    values](guide/missing_values.md)).

    Documents are examples of few names out of very many: from 1024 names on it changes to words,
    with experts that need no dense rows (the guide, [text](guide/text.md)).

    Not for a small memory (two to four megabytes, and six to nine with 26 classes or 100 features),
    nor for rows of thousands of features that are all present: then take `BSGDClassifier`, or a
    linear model.

    While a model lives, `mutate` or assignment may change `budget`.

    Parameters
    ----------
    budget
        The largest number of stored examples, one half for recent ones and one for hard ones.
        Twelve times as many are archived: they vote where they are near, at a cost that does not
        grow with their number.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.
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

    algorithm = Algorithm(
        classes_core.learn,
        core.STATE,
        start={"residual": 0.1},
        columns=Room(),
        after=After(Inspected._after_change),
        files=FILES,
    )
    _word_passes: ClassVar[Any] = word_classes
    _experts = ("prior", *OF_ROWS)
    _word_experts = ("prior", "linear", "confident", "counts", "few counts")

    def __init__(
        self,
        budget: int = 1000,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(locals())

    def _first_weight(self, experts: int) -> float:
        return classes_core.FIRST_WEIGHTS / experts

    def _set_parameters(self) -> None:
        super()._set_parameters()
        n_classes = max(self._n_outputs, 2)
        tables = self._tables
        tables["prior"][:] = 1.0 / n_classes
        tables["unseen"][:] = 1.0
        tables["least_squares"][:, 0] = 1.0 / n_classes

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:  # type: ignore[override]
        """The probabilities of the mixture, calibrated on the stream by how often its predictions
        were right.

        That of a class of which no example was learned is 0.
        """
        return super().predict_proba_one(x)

    def _promote(self, before: int) -> None:
        """A new label gets columns of zeros; the third also gives the first class its own
        column.
        """
        if self._of_words:
            self._promote_names(before)
        else:
            self._resize_block(outputs=self._n_outputs, task=Task.MULTICLASS)
            if before == 1:
                self._split_column()
        self._table("unseen")[0, max(before, 2) :] = 1.0

    def _split_column(self) -> None:
        """The column of two classes becomes that of the second; the first has its negative."""
        rates = self._table("linear_weights").reshape(self._n_outputs, N_RATES, -1)
        bins, squares = self._table("bins").T, self._table("least_squares")
        for columns in (memory.views(self._block).coefficients, rates, bins, squares):
            columns[1] = columns[0]
            columns[0] *= -1.0
        squares[0, 0] += 1.0  # the values of both add up to 1


class AutoKernelRegressor(Inspected, Regressor):
    """A kernel regressor without settings: for features and targets in any unit.

    The same memory, metric and mixer as in `AutoKernelClassifier`, with experts that predict
    numbers. There is no need to scale features or targets, to encode text or to fill gaps: it reads
    tables as the classifier does.

    `predict_one(x, with_dist=True)` returns a distribution: a `proba.Gaussian` of River, also with
    `quantile` and `interval`. Its spread is that of the errors made on similar examples and of
    late, more or less as far as features tell how loud the noise is, and its quantiles are learned
    from the stream: intervals of 50, 80, 90, 95 and 99 % hold
    these shares of the targets, those in between about theirs. `predict_many(X, quantiles=...)`
    gives the quantiles of many examples.

    It follows a trend: least squares stand beside the mixture as far as they have been right. A
    feature of whole numbers may be a name, of a shop or an hour, and so is a text: if a column has
    3 to 60 values in the first 200 examples, it gets one more column, the mean of the targets that
    came with its value. The example after these 200 takes as long as they did, as the model learns
    them again with this column.

    From 1024 names on, of which examples have few, it changes to words (the guide,
    [text](guide/text.md)).

    Not for a small memory (it takes two to four megabytes), nor for rows of thousands of features
    that are all present: then take `BSGDRegressor`.

    While a model lives, `mutate` or assignment may change `budget`.

    Parameters
    ----------
    budget
        The largest number of stored examples, one half for recent ones and one for hard ones.
        Twelve times as many are archived: they vote where they are near, at a cost that does not
        grow with their number.
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
    >>> model.predict_one(x, with_dist=True).interval(0.8)
    Interval(lower=41..., upper=42...)

    References
    ----------
    [^1]: [Rahimi, A. and Recht, B., 2007. Random features for large-scale kernel machines. NIPS 20.](https://people.eecs.berkeley.edu/~brecht/papers/07.rah.rec.nips.pdf)
    [^2]: The guide, [regression](guide/regression.md).

    """

    algorithm = Algorithm(
        numbers_core.learn,
        core.STATE,
        columns=Room(),
        after=After(Inspected._after_change),
        files=FILES,
    )
    _word_passes: ClassVar[Any] = word_numbers
    _experts = ("last target", *OF_ROWS)
    _word_experts = ("last target", "linear", "confident", "means")

    def __init__(self, budget: int = 1000, seed: int | None = None):
        super().__init__(locals())
        self._watches = core.KEEPS

    def _first_weight(self, experts: int) -> float:
        return 1.0 / (experts - 1)

    @overload
    def predict_one(self, x: dict[Any, Any], with_dist: Literal[False] = False) -> float: ...

    @overload
    def predict_one(self, x: dict[Any, Any], with_dist: Literal[True]) -> TargetDistribution: ...

    def predict_one(self, x: dict[Any, Any], with_dist: bool = False) -> Any:
        """The prediction, or with `with_dist=True` the distribution of the target.

        The distribution is a `river.proba.Gaussian`: `mu` and `mode` are the prediction, `sigma`
        its spread, and `cdf`, `sample` and calls follow the quantiles that were learned. Beyond
        River's it has `quantile(level)`, and `interval(share)` with `lower`, `upper`, `width` and
        `y in interval`.
        """
        if not with_dist:
            return super().predict_one(x)
        from .distributions import TargetDistribution  # here, as River's proba takes long to load

        if self._block is None:
            return TargetDistribution(0.0, 0.0, self._reading())
        scores, (quantiles, spread) = self._score_row(x, True)
        return TargetDistribution(scores[0], spread, quantiles)

    def predict_many(self, X: Any, quantiles: Collection[float] | None = None) -> Any:
        """The predictions of many examples, or the quantiles of their targets at some levels
        between 0 and 1.

        `quantiles=(0.05, 0.5, 0.95)` gives the borders of the interval of 90 % and the median: a
        frame of the same kind with a column for each level, or of an array a dict of arrays.
        """
        if quantiles is None:
            return super().predict_many(X)
        levels, batch = list(quantiles), self._batch_of(X, predicted=True)
        scores, learned = self._scores_read(batch, n_scores=2)
        (mean, spread), units = scores.T, at_levels(learned, levels)
        return batch.table(
            {level: mean + spread * unit for level, unit in zip(levels, units, strict=True)}
        )

    def _reading_of(self, call: Any) -> Any:
        """And the spread of the prediction, which the pass leaves on the desk."""
        room, desk = call.work.arguments["room"], call.work.arguments["desk"]
        found = getattr(desk, "opinions", desk).found  # of words a desk has nothing else
        return room.mixing.quantiles.copy(), float(found["spread"][0])

    def _reading(self) -> Any:
        """Of errors in units of their spread, at the levels that are learned."""
        return core.NORMAL_QUANTILES if self._block is None else self._table("quantiles")[0].copy()
