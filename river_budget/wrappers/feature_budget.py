"""FeatureBudget: a transformer that passes on only the most frequent feature names."""

from __future__ import annotations

import heapq
import math
from typing import Any

from river import base

from ..inputs.features import in_order
from ..parameters import ChecksNames, check_example, optional, positive, whole

__all__ = ["FeatureBudget"]

LARGEST_COUNT = 1e100  # larger counts are scaled down


class FeatureBudget(ChecksNames, base.Transformer):
    """Passes on the most frequent features, at most `max_features` of them.

    For streams in which new names keep coming (words, identifiers, one-hot columns), in front of
    models that remember every name, such as River's linear models. It counts names by the algorithm
    Space-Saving: if there are too many, a new name replaces the rarest one and takes over its
    count. So a name that makes up more than one in `max_features` of all occurrences is always
    among them, and memory is bounded. Counts decay, so names that no longer occur are dropped.

    A feature occurs in an example if its value is not 0.

    Not for limiting the memory of this package's models: these forget names that no support vector
    uses. Nor for rare but informative names: it only counts how often a name occurs.

    Parameters
    ----------
    max_features
        The largest number of names.
    half_life
        The number of examples after which an occurrence counts half. None: no decay.

    Examples
    --------

    >>> from river import feature_extraction, linear_model
    >>> import river_budget as rb

    >>> model = (
    ...     feature_extraction.BagOfWords()
    ...     | rb.FeatureBudget(max_features=1000)
    ...     | linear_model.LogisticRegression()
    ... )

    >>> budget = rb.FeatureBudget(2)
    >>> for x in [{"a": 1}, {"a": 1, "b": 1}, {"a": 1, "c": 1}]:
    ...     budget.learn_one(x)
    >>> budget.transform_one({"a": 5, "b": 6, "c": 7})
    {'a': 5, 'c': 7}

    References
    ----------
    [^1]: [Metwally, A., Agrawal, D. and El Abbadi, A., 2005. Efficient computation of frequent and top-k elements in data streams. ICDT.](https://doi.org/10.1007/978-3-540-30570-5_27)

    """  # noqa: E501

    def __init__(self, max_features: int = 1000, half_life: float | None = None):
        whole(1)("max_features", max_features)
        optional(positive)("half_life", half_life)
        self.max_features = max_features
        self.half_life = half_life
        self._counts: dict[Any, float] = {}
        self._weight = 1.0  # weight of a new occurrence: it grows, instead of all counts shrinking
        self._growth = 1.0 if half_life is None else math.exp2(1.0 / half_life)
        # (count, arrival number, name) for every name; a count may be outdated, that is, too low
        self._rarest: list[tuple[float, int, Any]] = []
        self._arrivals = 0

    def learn_one(self, x: dict[Any, Any]) -> None:
        """Count the features of an example."""
        check_example(x)
        counts, weight, new = self._counts, self._weight, []
        for name, value in x.items():
            if value:
                if name in counts:
                    counts[name] += weight
                else:
                    new.append(name)
        for name in in_order(new) if len(new) > 1 else new:
            self._take_in(name)
        self._weight *= self._growth
        if self._weight > LARGEST_COUNT:
            self._renormalise()

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """The example without the features that are not kept."""
        check_example(x)
        counts = self._counts
        return {name: value for name, value in x.items() if name in counts}

    def count_of(self, name: Any) -> float:
        """How often a feature has occurred, weighted by decay: never too low, and 0 if it is not
        kept.
        """
        return self._counts.get(name, 0.0) / self._weight

    def kept(self) -> list[list[Any]]:
        """(name, count, arrival number) of every name kept, in order of arrival; counts are not
        divided by the present weight.
        """
        found = [[name, self._counts[name], at] for _, at, name in self._rarest]
        return sorted(found, key=lambda row: row[2])

    def restore(self, kept: list[tuple[Any, float, float]], weight: float) -> None:
        """The inverse of `kept`. `weight`: that of a new occurrence."""
        self._counts = {name: count for name, count, _ in kept}
        self._rarest = [(count, int(arrival), name) for name, count, arrival in kept]
        heapq.heapify(self._rarest)
        self._arrivals = max((arrival for _, arrival, _ in self._rarest), default=-1) + 1
        self._weight = weight

    def _take_in(self, name: Any) -> None:
        count = self._weight
        if len(self._counts) >= self.max_features:
            count += self._give_up_rarest()
        self._counts[name] = count
        heapq.heappush(self._rarest, (count, self._arrivals, name))
        self._arrivals += 1

    def _give_up_rarest(self) -> float:
        """Drop the rarest name, of equal ones the oldest. Returns its count."""
        while True:
            count, arrival, name = heapq.heappop(self._rarest)
            now = self._counts[name]
            if now <= count:
                del self._counts[name]
                return now
            heapq.heappush(self._rarest, (now, arrival, name))

    def _renormalise(self) -> None:
        for name in self._counts:
            self._counts[name] /= self._weight
        self._rarest = [
            (count / self._weight, arrival, name) for count, arrival, name in self._rarest
        ]
        self._weight = 1.0
