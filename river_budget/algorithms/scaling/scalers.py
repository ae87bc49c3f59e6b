"""StandardScaler and MinMaxScaler: River's numbers, in compiled code."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from river import base

from ...core.passes.scaling import CENTERING, NEVER, RANGES, STANDARDISING
from ...inputs.batches import Batch
from ...parameters import ChecksNames
from .columns import Example, Statistics, copied

__all__ = ["MinMaxScaler", "StandardScaler"]


class Scaler(ChecksNames, base.Transformer):
    """A transformer that keeps three numbers of every feature: its count, and two that depend on
    the class.
    """

    initial: ClassVar[tuple[float, float, float]]  # the numbers of a feature before its first value
    scaling: int  # what compiled code does (core/passes/scaling.py)

    def __init__(self) -> None:
        self._columns = Statistics(self.scaling, self.initial)

    def as_river(self) -> Any:
        """River's scaler with the same statistics."""
        raise NotImplementedError

    def take_from(self, theirs: Any) -> None:
        """Take over the statistics of River's scaler."""
        raise NotImplementedError

    def learn_one(self, x: Example) -> None:
        """Update the statistics by the values of an example."""
        row = self._columns.run(x, learned=True)
        row.pool.append(row)

    def transform_one(self, x: Example) -> dict[Any, float]:
        """The example with its values scaled."""
        found = x.copy() if type(x) is dict else copied(x)
        row = self._columns.run(found, learned=False)
        found |= zip(row.names, row.values)  # noqa: B905  # `strict` takes a fifth of the time
        row.pool.append(row)
        return found

    def table(self) -> list[list[Any]]:
        """[name, count, two other numbers] for every feature."""
        return self._columns.learned()

    def set_table(self, rows: list[list[Any]]) -> None:
        """The inverse of `table`: replaces all statistics."""
        self._columns = Statistics(self.scaling, self.initial, rows)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_columns": copy.copy(self._columns)}


class StandardScaler(Scaler, base.MiniBatchTransformer):
    """Scales features to mean 0 and variance 1, as River's class of this name, faster from about
    ten features on.

    Means and variances are those of all examples so far. The numbers are River's up to rounding,
    from `learn_one`, `learn_many` and both in any order, and so are the names of attributes: you
    only need to change the import. Any number of threads may use one scaler.

    `learn_many` and `transform_many` take frames and 2-D arrays. In a pipeline of River, the model
    behind learns a batch as scaled by the statistics after this batch; a loop of `learn_one` scales
    each row by those up to it, as do `rb.predict_then_learn_many` and
    `rb.TargetStandardScaler.learn_many`.

    Values become floats: text raises an error that names the feature, and the statistics of numpy's
    float32 values are computed in double precision. A NaN makes the statistics of its feature NaN,
    as in River: `rb.Guard` in front keeps it out.

    Not for windows: River's scaler has a `window_size`.

    Parameters
    ----------
    with_std
        Whether to divide by the standard deviation.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics
    >>> import river_budget as rb

    >>> model = rb.StandardScaler() | rb.BSGDClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 8...%

    >>> scaler = rb.StandardScaler()
    >>> for value in (1.0, 3.0, 8.0):
    ...     scaler.learn_one({"a": value})
    >>> scaler.transform_one({"a": 4.0, "new": 5.0})
    {'a': 0.0, 'new': 0.0}
    >>> scaler.means
    {'a': 4.0}

    References
    ----------
    [^1]: [Welford, B. P., 1962. Note on a method for calculating corrected sums of squares and products. Technometrics 4.](https://doi.org/10.1080/00401706.1962.10490022)

    """  # noqa: E501

    initial = NEVER, 0.0, 0.0  # count, mean, variance

    def __init__(self, with_std: bool = True):
        self.with_std = with_std
        self.scaling = STANDARDISING if with_std else CENTERING
        super().__init__()

    @property
    def counts(self) -> dict[Any, int]:
        """The number of values of each feature."""
        return {name: int(count) for name, count, _, _ in self.table()}

    @property
    def means(self) -> dict[Any, float]:
        """The mean of each feature."""
        return {name: mean for name, _, mean, _ in self.table()}

    @property
    def vars(self) -> dict[Any, float]:
        """The variance of each feature."""
        return {name: variance for name, _, _, variance in self.table()}

    def learn_many(self, X: Any) -> None:
        """Learn the rows of a frame or a 2-D array, exactly as a loop of `learn_one`."""
        batch = Batch(X)
        if not batch.all_numbers:
            batch.refuse_bad()
        self._columns.learn_rows(batch.names, batch.matrix())

    def transform_many(self, X: Any) -> Any:
        """A frame of the same kind, or for a 2-D array an array, with its values scaled.

        As in River, values of a feature that has not varied so far are only centred here.
        """
        batch = Batch(X)
        if not batch.all_numbers:
            batch.refuse_bad(missing_too=False)
        _, means, variances = self._columns.numbers_of(batch.names)
        # below 0 by rounding, in statistics that River's `learn_many` has made
        deviations = [v**0.5 if v > 0.0 else 1.0 for v in variances.tolist()]
        scaled = (batch.matrix() - means) / (deviations if self.with_std else 1.0)
        columns = dict(zip(batch.names, scaled.T, strict=True))
        return scaled if batch.frame is None else batch.table(columns)

    def as_river(self) -> Any:
        """River's scaler with the same statistics."""
        from river import preprocessing  # here, as it takes longer to load than this package

        theirs = preprocessing.StandardScaler(with_std=self.with_std)
        for name, count, mean, variance in self.table():
            theirs.counts[name], theirs.means[name] = int(count), mean
            if self.with_std:
                theirs.vars[name] = variance
        return theirs

    def take_from(self, theirs: Any) -> None:
        """Take over the statistics of River's scaler."""
        self.set_table(
            [
                [name, count, theirs.means[name], theirs.vars[name]]
                for name, count in theirs.counts.items()
            ]
        )


class MinMaxScaler(Scaler):
    """Scales features to the range from 0 to 1, as River's class of this name, faster from about
    ten features on.

    The smallest and the largest value of all examples so far become 0 and 1. The numbers are
    River's. Values become floats: text is an error that names the feature. NaN is left out of the
    statistics.

    A value of a feature that was never learned becomes NaN, as in River; for models of this package
    it counts as absent.

    Not for outliers, which move all other values close together: use `StandardScaler`. Not for
    windows: River's scaler has a `window_size`.

    Examples
    --------

    >>> import river_budget as rb

    >>> scaler = rb.MinMaxScaler()
    >>> for value in (1.0, 3.0, 9.0):
    ...     scaler.learn_one({"a": value})
    >>> scaler.transform_one({"a": 3.0})
    {'a': 0.25}

    References
    ----------
    [^1]: The guide, [what a kernel learner does](guide/README.md).

    """

    initial = NEVER, np.inf, -np.inf  # count, least, largest
    scaling = RANGES

    def __init__(self) -> None:
        super().__init__()

    @property
    def min(self) -> dict[Any, float]:
        """The smallest value of each feature."""
        return {name: low for name, _, low, _ in self.table()}

    @property
    def max(self) -> dict[Any, float]:
        """The largest value of each feature."""
        return {name: high for name, _, _, high in self.table()}

    def as_river(self) -> Any:
        """River's scaler with the same statistics."""
        from river import preprocessing  # here, as it takes longer to load than this package

        theirs = preprocessing.MinMaxScaler()
        for name, _, low, high in self.table():
            theirs.min[name].min, theirs.max[name].max = low, high
        return theirs

    def take_from(self, theirs: Any) -> None:
        """Take over the statistics of River's scaler."""
        self.set_table(
            [[name, 1.0, low.get(), theirs.max[name].get()] for name, low in theirs.min.items()]
        )
