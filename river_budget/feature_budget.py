"""A bound on the number of names: a transformer that keeps those that matter."""

from __future__ import annotations

import heapq
import math
from typing import Any

from river import base

from .model.inputs.example_forms import check_example
from .model.inputs.features import in_order
from .parameters import optional, positive, whole

__all__ = ["FeatureBudget"]

LARGEST_COUNT = 1e100  # counts beyond are brought back to ones


class FeatureBudget(base.Transformer):
    """Lets through the features that have occurred most, and as many of them as are allowed.

    For streams in which new names keep coming (words, identifiers, one-hot columns), in front of models that remember
    every name, such as River's linear models. The names are counted as they come (Space-Saving): when there are too many, the rarest
    gives its place and its count to the newcomer. So a name that makes up more than one in `max_features` of all is never
    missed, and memory is bounded. Counts fade, so that names which have gone out of use leave.

    A feature occurs in an example if its value is not 0.

    Not for keeping the memory of this package's models small: these give up names that no support vector uses. Nor for
    rare names that tell much: it knows how often a name comes and not what it says.

    Parameters
    ----------
    max_features
        The largest number of names.
    half_life
        After so many examples an occurrence counts half. None: all count the same for ever.

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

    """

    def __init__(self, max_features: int = 1000, half_life: float | None = None):
        whole(1)("max_features", max_features)
        optional(positive)("half_life", half_life)
        self.max_features = max_features
        self.half_life = half_life
        self._counts: dict[Any, float] = {}
        self._weight = 1.0  # of an occurrence now: it grows, instead of all counts shrinking
        self._growth = 1.0 if half_life is None else math.exp2(1.0 / half_life)
        # (count, number of arrival, name) for every name; the counts may be old ones, which are lower
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
        """What is left of an example."""
        check_example(x)
        counts = self._counts
        return {name: value for name, value in x.items() if name in counts}

    def count_of(self, name: Any) -> float:
        """How often a feature has occurred, in occurrences of now; never too low, and 0 if it is not kept."""
        return self._counts.get(name, 0.0) / self._weight

    def kept(self) -> list[list[Any]]:
        """Every name with its count, in units of its own, and the number of its arrival."""
        return [[name, self._counts[name], at] for _, at, name in self._rarest]

    def restore(self, kept: list[tuple[Any, float, float]], weight: float) -> None:
        """The inverse; an occurrence now weighs so much."""
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
        """Its count. Of those that are equally rare the one goes that came first."""
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
