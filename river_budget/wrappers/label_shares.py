"""LabelShares: how probable each label is so many rows ahead, from the labels so far alone.

Where labels come in any order, this is their share so far. Where they come in runs, as those of a
state that lasts, a run says little more than one label of it, and whoever takes its share for that
of the rows ahead is almost certain, and wrong half of the time. So several persistences compete: a
label repeats the one before with probability 1 - r, and is drawn anew, by shares that are to be
found out, with probability r. Each r keeps its own count of what was drawn,

    draws[y] += r q(y) / P(y),   P(y) = r q(y) + (1 - r) [y is the last label],   q(y) = (draws[y] + k / 2) / total,

and is weighted by the product of the P(y) of the labels that came (Bayes' rule). The forecast for a
row that is `ahead` rows behind the last label is the mean over all r of s [y is the last label] +
(1 - s) q(y). There s is (1 - r)^(3 ahead): three times as far ahead, as little is known of how long
a state lasts while it does. A small r takes shares for equal until it has seen many more draws than
it has rows in a run: k = 1 / r.
"""  # noqa: E501

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

RENEWALS = tuple(2.0**-k for k in range(13))  # r
QUICK = 0.1  # with a larger r, labels are as good as drawn anew each time
PRIOR_OF_QUICK = 5.0  # and this is so much more likely at first
STUBBORNNESS = tuple(2.0 if r > QUICK else 1.0 / r for r in RENEWALS)  # k
STRETCH = 3  # see above
MOST_AGAINST = (
    30.0  # an r that is less likely by more than e^30 is kept at that, as the stream may change
)
FORGETTING, ROUND = 1e-4, 100  # the rate, and after how many labels what is forgotten is taken off
LEAST_SHARE = 1e-4  # the part of a forecast that is equal for all labels


class LabelShares:
    """The labels of a stream so far, by what persistences say of them."""

    def __init__(self) -> None:
        self.draws: dict[Any, list[float]] = {}
        self.evidence = [math.log(PRIOR_OF_QUICK) if r > QUICK else 0.0 for r in RENEWALS]
        self.last: Any = None
        self.n = 0

    def copy(self) -> LabelShares:
        found = LabelShares()
        found.draws = {label: list(draws) for label, draws in self.draws.items()}
        found.evidence, found.last, found.n = list(self.evidence), self.last, self.n
        return found

    def learn(self, y: Any) -> None:
        """Count a label."""
        own = self.draws.setdefault(y, [0.0] * len(RENEWALS))
        totals = self._totals(len(self.draws))
        repeats = self.n > 0 and y == self.last
        for i, r in enumerate(RENEWALS):
            drawn = r * (own[i] + 0.5 * STUBBORNNESS[i]) / totals[i]
            seen = drawn + (1.0 - r) if repeats else drawn
            if self.n:
                self.evidence[i] += math.log(seen)
            own[i] += drawn / seen if self.n else 1.0
        best = max(self.evidence)
        self.evidence = [max(each - best, -MOST_AGAINST) for each in self.evidence]
        self.last = y
        self.n += 1
        if self.n % ROUND == 0:
            self._forget()

    def forecast(self, labels: Sequence[Any], ahead: int) -> list[float]:
        """The probabilities of these labels so many rows behind the last one; equal before any
        label is known.
        """
        if self.draws.keys().isdisjoint(labels):
            return [1.0 / len(labels)] * len(labels)
        weights = [math.exp(each) for each in self.evidence]
        stays = [(1.0 - r) ** (STRETCH * ahead) for r in RENEWALS]
        each = [
            weight * (1.0 - stay) / total
            for weight, stay, total in zip(weights, stays, self._totals(len(labels)), strict=True)
        ]
        unseen = 0.5 * sum(map(operator.mul, each, STUBBORNNESS))
        found = []
        for label in labels:
            drawn = self.draws.get(label)
            share = unseen + (sum(map(operator.mul, each, drawn)) if drawn else 0.0)
            found.append(share + sum(map(operator.mul, weights, stays)) * (label == self.last))
        total, least = sum(found), LEAST_SHARE / len(labels)
        return [(1.0 - LEAST_SHARE) * share / total + least for share in found]

    def _totals(self, n_labels: int) -> list[float]:
        """Of the draws of all labels, with what is given to each before."""
        sums = map(sum, zip(*self.draws.values(), strict=True))
        return [each + 0.5 * n_labels * k for each, k in zip(sums, STUBBORNNESS, strict=True)]

    def _forget(self) -> None:
        kept = (1.0 - FORGETTING) ** ROUND
        for label, draws in self.draws.items():
            self.draws[label] = [each * kept for each in draws]
