"""Delayed: honest probabilities where labels come late.

A model that is asked about a row knows none of the labels that are still on their way. What its
probabilities are worth shows only when the label of that row comes. So `Delayed` holds each
prediction until then.

What it held is mixed from the classifier's probabilities p and those that the labels so far allow
by themselves, f (label_shares.py: their shares, or nearly equal ones where labels come in runs): s
p + (1 - s) f, where s says how far p can be trusted. Several s compete with f alone, which stays
the best where the rows say nothing. Each s gains the logarithm of its probability of the label that
came over that of f, and what is returned is the mean over all, weighted by their prior weights
times the exponential of their evidence (Bayes' rule).

Were labels not late, evidence would be the gain, and the mean would lose at most the logarithm of
the prior weight of f, and so next to nothing against it. But predictions that wait side by side may
be wrong side by side, as the same labels were missing to all of them. Of `together` such
predictions all together count as one: evidence is the gain divided by this number, and the prior
weight of all s together is about 1 / together, so that what is lost against f does not grow with
the lag. Where the classifier is as often surprised as it says and surprises follow each other by
chance, one prediction says nothing of the next, and `together` is 1; where surprises resemble those
just before them, it grows to 1.5 times the lag.
"""

from __future__ import annotations

import array
import functools
import hashlib
import math
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from river import base

from ..inputs.batches import Batch
from ..inputs.features import at_once, nothing
from ..inputs.frames import as_list
from ..inputs.targets import array_of, plain
from ..messages.stream_warnings import warn
from ..model.lock import lock_of
from ..parameters import ChecksNames, is_missing, whole
from .label_shares import LabelShares

__all__ = ["Delayed"]

TRUST = (0.25, 0.5, 0.75, 1.0)  # s
MOST_TOGETHER = 1.5  # times the lag
# of surprises that are correlated by 1/6 with those before, as many as the lag are one
LIKENESS = 6.0
# the correlation that is taken for true at first, as if of so many surprises
FIRST_LIKENESS, FIRST_WEIGHT = 0.7, 20.0
RECENT = 0.2  # the rate of the mean of recent surprises
LARGEST_SURPRISE = 5.0  # standard deviations
FORGETTING = 2e-4  # of correlations, so that a change of the stream is noticed
# 1 / the prior weight of an s is 31 + 5 together, where the prior weight of f is 1
PRIOR, PRIOR_TOGETHER = 31.0, 5.0
FAINT = 1e-4  # the share of p until a label has said anything: it keeps the order
MOST_EVIDENCE = 30.0  # more is forgotten, for the same reason
LEAST = (
    1e-3  # the share of 1/C in each probability of the classifier, so that no logarithm is infinite
)
FAR = 10**6  # rows ahead, of which the last label says nothing
KEY_BYTES = 6
UNASKED_IN_A_ROW = 1000  # labels without a held prediction, after which there is a warning


class Held(NamedTuple):
    """A prediction that waits."""

    number: int
    key: int  # of the row
    labels: tuple[Any, ...]
    model_probabilities: array.array[float]  # the probabilities of the classifier ...
    base_rates: array.array[float]  # ... and those that labels alone allow


class Delayed(ChecksNames, base.Wrapper[base.Estimator], base.MiniBatchClassifier):
    """Holds predictions until their labels come, and learns from them what the probabilities are
    worth.

    A classifier that learns quickly trusts the last labels it has seen. If labels come late, the
    stream may have changed since, and what it is almost certain of is wrong half of the time. This
    wrapper compares each prediction with its label when that comes, and calibrates: it moves the
    probabilities towards the shares of the labels so far (towards equal ones where labels come in
    long runs), as far as earlier predictions were overconfident. It begins near these shares, so
    expect little of it for the first labels; and where labels come at once, the classifier alone
    does as well.

    It works in `evaluate.progressive_val_score(..., delay=...)`, and in any loop that calls
    `predict_proba_one(x)` or `predict_one(x)` when a row comes, and `learn_one(x, y)` when its
    label does. A row is recognised by its values: put `Delayed` around a whole pipeline, not behind
    a scaler, which would change them in the meantime. Rows that are learned without having been
    predicted teach the classifier, and nothing about its probabilities.

    Not for regressors. Nor does it make a classifier right more often: where the last labels matter
    most, a linear model may be better.

    Parameters
    ----------
    classifier
        Any classifier with `predict_proba_one`, or a pipeline that ends in one.
    max_held
        The largest number of predictions that wait for their labels. More replace the oldest.

    Examples
    --------

    Half of the time everything is reversed, and labels come 100 rows late:

    >>> import random
    >>> from river import evaluate, metrics
    >>> import river_budget as rb

    >>> rng, state, stream = random.Random(1), False, []
    >>> for _ in range(3000):
    ...     state ^= rng.random() < 0.01
    ...     x = rng.gauss(0, 1)
    ...     stream.append(({"x": x}, (x > 0) ^ state))
    >>> model = rb.AutoKernelClassifier(seed=1)
    >>> evaluate.progressive_val_score(stream, model, metrics.LogLoss(), delay=100)
    LogLoss: 0.99...
    >>> model = rb.Delayed(rb.AutoKernelClassifier(seed=1))
    >>> evaluate.progressive_val_score(stream, model, metrics.LogLoss(), delay=100)
    LogLoss: 0.69...

    References
    ----------
    [^1]: [Weinberger, M. J. and Ordentlich, E., 2002. On delayed prediction of individual sequences. IEEE Transactions on Information Theory 48.](https://doi.org/10.1109/TIT.2002.1013136)

    """  # noqa: E501

    _hands_on_to = "classifier"  # each example as it is

    def __init__(self, classifier: base.Estimator, max_held: int = 10_000):
        whole(1)("max_held", max_held)
        if not hasattr(classifier, "predict_proba_one"):
            raise TypeError(f"{type(classifier).__name__} is no classifier with probabilities")
        self.classifier: Any = classifier
        self.max_held = max_held
        self._gains = [0.0] * len(TRUST)
        self._likeness = [FIRST_WEIGHT * FIRST_LIKENESS, FIRST_WEIGHT]  # see _note_surprise
        self._recent = 0.0  # mean of recent surprises
        self._shares = LabelShares()
        self._learned = self._asked = self._unasked = 0
        self._lag = 0  # predictions made between the last label and its own
        self._held: OrderedDict[int, Held] = OrderedDict()  # by their numbers
        self._waiting: dict[int, deque[int]] = {}  # {key of a row: numbers of its predictions}
        self._last_key = self._last_learned = -1  # the last row's key, labels learned by then
        self._lock = lock_of(self, "_lock")

    @property
    def _wrapped_model(self) -> Any:
        return self.classifier

    @property
    def n_held(self) -> int:
        """The number of predictions that wait for their labels."""
        return len(self._held)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model  # here, as it takes longer to load than this package

        yield {"classifier": linear_model.LogisticRegression()}

    # one example

    def predict_proba_one(self, x: Any, **further: Any) -> dict[Any, float]:
        """The probabilities of the labels, which are held until the label of this row comes."""
        guess = self.classifier.predict_proba_one(x, **further)
        known = guess if len(guess) > 1 else {}
        with self._lock:
            # one that says nothing is held too, or its label would be taken for that of a later row
            # with these values
            held = self._hold(_key(x), known)
            return dict(zip(guess, self._mixed(held), strict=True)) if known else guess

    def predict_one(self, x: Any, **further: Any) -> Any:
        """The most probable label, whose probability is held as by `predict_proba_one`.

        Until a label has told what the classifier is worth, its own: shares of labels know nothing
        of the row.
        """
        found = self.predict_proba_one(x, **further)
        if not any(self._gains):
            return self.classifier.predict_one(x, **further)
        best = max(found.values(), default=0.0)
        labels = [label for label, share in found.items() if share == best]
        return labels[0] if len(labels) == 1 else self.classifier.predict_one(x, **further)

    def learn_one(self, x: Any, y: Any, **further: Any) -> None:
        """Learn an example, and from the prediction that was held for it what probabilities are
        worth.

        `further`: other arguments of the classifier's `learn_one`, such as `w`.
        """
        self.classifier.learn_one(x, y, **further)
        y = plain(y)
        with self._lock:
            numbers = self._waiting.get(_key(x))
            if numbers:
                self._unasked = 0
                held = self._taken(numbers[0])
                self._lag = self._asked - held.number - 1
                self._weigh(held, y)
            elif self._asked:
                self._note_unasked()
            # in one step: Ctrl-C comes before it or after it
            shares = self._shares.copy()
            shares.learn(y)
            vars(self).update(_learned=self._learned + 1, _shares=shares)

    def _hold(self, key: int, guess: dict[Any, float]) -> Held:
        """Hold a prediction. One that repeats the last one, as for its label and its probability,
        is held once.
        """
        n, labels = len(guess), tuple(guess)
        total = sum(guess.values())
        model_probabilities = array.array(
            "d", ((1.0 - LEAST) * p / total + LEAST / n for p in guess.values())
        )
        # before the label of a prediction has come, nobody knows how late labels are
        ahead = 1 + self._lag if any(self._gains) else FAR
        base_rates = array.array("d", self._shares.forecast(labels, ahead) if n else ())
        held = Held(self._asked, key, labels, model_probabilities, base_rates)
        if (self._last_key, self._last_learned) != (key, self._learned):
            last = {"_last_key": key, "_last_learned": self._learned, "_asked": self._asked + 1}
            self.keep(held, functools.partial(vars(self).update, last))
            if len(self._held) > self.max_held:
                self._taken(next(iter(self._held)))
        return held

    def keep(self, held: Held, then: Callable[[], Any] = nothing) -> None:
        """Let a prediction wait, and do what belongs to it, in one step."""
        numbers = self._waiting.setdefault(held.key, deque())
        at_once(
            functools.partial(self._held.__setitem__, held.number, held),
            functools.partial(numbers.append, held.number),
            then,
        )

    def _taken(self, number: int) -> Held:
        """A prediction, which is held no longer; the oldest one of its row."""
        held = self._held[number]
        numbers = self._waiting[held.key]
        at_once(functools.partial(self._held.pop, number), numbers.popleft)
        if not numbers:
            del self._waiting[held.key]
        return held

    def _weigh(self, held: Held, y: Any) -> None:
        """Learn from a label what its prediction was worth."""
        if y not in held.labels:
            return
        place = held.labels.index(y)
        by_model, by_rate = held.model_probabilities[place], held.base_rates[place]
        self._note_surprise(held.model_probabilities, by_model)
        gains = [
            gain + math.log(trust * by_model / by_rate + 1.0 - trust)
            for gain, trust in zip(self._gains, TRUST, strict=True)
        ]
        most = MOST_EVIDENCE * self._together()
        over = max(0.0, max(gains) - most)
        self._gains = [max(gain - over, -most) for gain in gains]

    def _together(self) -> float:
        """How many predictions that wait side by side are worth one."""
        products, squares = self._likeness
        alike = max(products, 0.0) / max(squares, 1.0)
        return 1.0 + min(MOST_TOGETHER, LIKENESS * alike) * self._lag

    def _note_surprise(self, shares: Sequence[float], found: float) -> None:
        """Measure how autocorrelated the surprises are: by the products of each with the mean of
        those before.

        A surprise is how far the logarithm of the probability of the label that came, `found`, was
        from its expectation under these probabilities, in standard deviations under them.
        """
        logarithms = [math.log(share) for share in shares]
        mean = sum(map(operator.mul, shares, logarithms))
        spread = math.sqrt(
            sum(share * (each - mean) ** 2 for share, each in zip(shares, logarithms, strict=True))
        )
        surprise = (math.log(found) - mean) / spread if spread > 0.0 else 0.0
        surprise = min(max(surprise, -LARGEST_SURPRISE), LARGEST_SURPRISE)
        products, squares = self._likeness
        products += surprise * self._recent - FORGETTING * products
        squares += surprise * surprise - FORGETTING * squares
        self._likeness = [products, squares]
        self._recent += RECENT * (surprise - self._recent)

    def _mixed(self, held: Held) -> list[float]:
        """The probabilities to return: the mean over all s and f alone."""
        own = FAINT
        if any(self._gains):
            together = self._together()
            prior = PRIOR + PRIOR_TOGETHER * together
            evidence = (min(gain / together, MOST_EVIDENCE) for gain in self._gains)
            odds = [math.exp(each) / prior for each in evidence]
            own = sum(map(operator.mul, odds, TRUST)) / (1.0 + sum(odds))
        return [
            own * p + (1.0 - own) * f
            for p, f in zip(held.model_probabilities, held.base_rates, strict=True)
        ]

    def _note_unasked(self) -> None:
        """Count a label that came without a prediction, and warn if many did in a row."""
        self._unasked += 1
        if self._unasked == UNASKED_IN_A_ROW:
            warn(
                self,
                f"of the last {UNASKED_IN_A_ROW:,} labels none belonged to a prediction that is "
                "held, so nothing is learned "
                "about probabilities. Are rows changed between prediction and label, as by a "
                "scaler in front (it belongs "
                f"inside), or do more than max_held={self.max_held:,} wait?",
            )

    # many examples

    def learn_many(self, X: Any, y: Any, w: Any = None, **further: Any) -> None:
        """`learn_one` of each row of a frame or a 2-D array."""
        batch, labels = Batch(X), as_list(y)
        each = [{}] * len(batch) if w is None else [{"w": weight} for weight in as_list(w)]
        if not len(batch) == len(labels) == len(each):
            raise ValueError(f"there must be {len(batch)} labels and weights, one for each example")
        for x, label, own in zip(batch.as_given(), labels, each, strict=True):
            self.learn_one(x, label, **own, **further)

    def predict_many(self, X: Any, **further: Any) -> Any:
        """`predict_one` of each row of a frame or a 2-D array."""
        batch = Batch(X)
        return batch.series(
            array_of([self.predict_one(x, **further) for x in batch.as_given()]), None
        )

    def predict_proba_many(self, X: Any, **further: Any) -> Any:
        """`predict_proba_one` of each row of a frame or a 2-D array."""
        batch = Batch(X)
        found = [self.predict_proba_one(x, **further) for x in batch.as_given()]
        labels = dict.fromkeys(label for row in found for label in row)
        columns = {label: np.array([row.get(label, 0.0) for row in found]) for label in labels}
        return batch.table(columns)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = self.__dict__ | {"_held": self._held.copy()}
            state["_waiting"] = {key: numbers.copy() for key, numbers in self._waiting.items()}
            state["_shares"] = self._shares.copy()
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = lock_of(self, "_lock")


def _key(x: Any) -> int:
    """A digest of the values of a row, the same for equal numbers of different types and in every
    process.
    """
    if isinstance(x, str):
        content = x.encode(errors="backslashreplace")
    else:
        names, content = _order(*x)
        try:
            values = array.array("d", map(x.__getitem__, names))
            if math.isnan(sum(values)):
                raise ValueError("a gap is None in a frame")
            if 0.0 in values:  # or -0.0, which is equal to it
                values = array.array("d", (value or 0.0 for value in values))
            content += values.tobytes()
        except (TypeError, ValueError, OverflowError):  # not all values are numbers
            text = repr([_plain(x[name]) for name in names])
            content += text.encode(errors="backslashreplace")
    digest = hashlib.blake2b(content, digest_size=KEY_BYTES)
    return int.from_bytes(digest.digest(), "little")


@functools.lru_cache(maxsize=256, typed=True)
def _order(*names: Any) -> tuple[list[Any], bytes]:
    """The names of a row in an order that does not depend on theirs, and a digest of them."""
    found = sorted(names, key=_text_of)
    text = f"[{', '.join(map(_text_of, found))}]"
    return found, hashlib.blake2b(text.encode(errors="backslashreplace"), digest_size=16).digest()


def _text_of(name: Any) -> str:
    """A name as text: 1, 1.0 and True are one key of a dict, and "1" is another."""
    return repr(name) if isinstance(name, str) else _plain(name)


def _plain(value: Any) -> str:
    if is_missing(value):
        return "None"
    try:
        return repr(float(value) + 0.0)
    except (TypeError, ValueError, OverflowError):
        return repr(value)
