"""What a Mixture and a Refitted share: a lock, and calls for many examples, which do what loops
over single ones do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from river import base

from ..inputs.batches import Batch
from ..inputs.frames import as_list
from ..inputs.targets import array_of, weight
from ..model.lock import lock_of

MOST_AT_ONCE = 1000  # examples of which the opinions are computed in one call
OF_THIS_PROCESS = {"_lock", "_last", "_tally"}  # attributes that no copy gets


class ManyRows(base.Estimator):
    """An estimator with a lock, and the methods for many examples.

    A subclass has `foresee`, with which it computes the opinions on the next examples in one call:
    libraries for batches take a millisecond for a call and little for a row.
    """

    learning_predicts = False  # whether learning an example needs a prediction of it

    def _begin(self) -> None:
        """Set the state of a model that has learned nothing."""
        self._start_lock()

    def _start_lock(self) -> None:
        self._lock: Any = lock_of(self, "_lock")
        self._last: Any = None  # what was computed for the last examples, if it can still be used

    def rows_until_fit(self) -> int:
        """How many examples can be learned before something is fitted anew."""
        raise NotImplementedError

    def foresee(self, examples: Sequence[dict[Any, Any]]) -> None:
        """Compute what stays the same until `rows_until_fit` examples are learned, for these
        objects only.
        """
        raise NotImplementedError

    def check_many(self, examples: Sequence[dict[Any, Any]], targets: Sequence[Any]) -> None:
        """Raise an error for the first example or target that cannot be learned."""
        raise NotImplementedError

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The prediction of one example."""
        raise NotImplementedError

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example."""
        raise NotImplementedError

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """`learn_one` of each row of a frame or a 2-D array."""
        self._learn_rows(list(Batch(X).dicts()), y, w, predict=False)

    def predict_then_learn_many(self, X: Any, y: Any, w: Any = None) -> Any:
        """The predictions of each row before it is learned, exactly as a loop of `predict_one` and
        `learn_one` gives them.
        """
        batch = Batch(X)
        found = self._learn_rows(list(batch.dicts()), y, w, predict=True)
        return batch.series(array_of(found), getattr(y, "name", None))

    def _learn_rows(self, examples: list[Any], y: Any, w: Any, predict: bool) -> list[Any]:
        targets, n = as_list(y), len(examples)
        done: list[Any] = []
        weights = [1.0] * n if w is None else [weight(each) for each in as_list(w)]
        if not n == len(targets) == len(weights):
            raise ValueError(f"there must be {n} targets and weights, one for each example")
        with self._lock:
            self.check_many(examples, targets)
            while len(done) < n:
                some = slice(len(done), len(done) + min(self.rows_until_fit(), MOST_AT_ONCE))
                if predict or self.learning_predicts:
                    self.foresee(examples[some])
                for x, target, each in zip(
                    examples[some], targets[some], weights[some], strict=True
                ):
                    done.append(self.predict_one(x) if predict else None)
                    self.learn_one(x, target, each)
            self.foresee([])
        return done

    def predict_many(self, X: Any) -> Any:
        """`predict_one` of each row of a frame or a 2-D array."""
        batch = Batch(X)
        found = self._each_row(batch, self.predict_one)
        return batch.series(array_of(found), None)

    def _each_row(self, batch: Batch, predict: Any) -> list[Any]:
        examples = list(batch.dicts())
        with self._lock:
            self.foresee(examples)
            found = [predict(x) for x in examples]
            self.foresee([])
        return found

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = vars(self).items()
            return {name: value for name, value in state if name not in OF_THIS_PROCESS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start_lock()


def best_of(shares: dict[Any, float]) -> Any:
    """The most probable label; of two that are equal the second, positive one. None before any
    label is known.
    """
    if not shares:
        return None
    labels = list(shares)
    if len(labels) == 2:
        return labels[shares[labels[1]] >= shares[labels[0]]]
    return max(labels, key=shares.__getitem__)


class ManyProbabilities(ManyRows):
    """The same of a classifier, and its labels with their numbers, in the order of arrival."""

    def _begin(self) -> None:
        super()._begin()
        self._labels: dict[Any, int] = {}

    @property
    def _multiclass(self) -> bool:
        return True

    def number_of(self, label: Any) -> int:
        """The number of a label, which is known from now on. With a first boolean both are
        known.
        """
        if not self._labels and isinstance(label, bool):
            self._labels = {False: 0, True: 1}
        return self._labels.setdefault(label, len(self._labels))

    def predict_proba_one(self, x: dict[Any, Any], **further: Any) -> dict[Any, float]:
        """The probabilities of all known labels."""
        raise NotImplementedError

    def predict_one(self, x: dict[Any, Any], **further: Any) -> Any:
        """The most probable label; None before any is known."""
        return best_of(self.predict_proba_one(x))

    def predict_proba_many(self, X: Any) -> Any:
        """`predict_proba_one` of each row of a frame or a 2-D array."""
        batch = Batch(X)
        found = self._each_row(batch, self.predict_proba_one)
        labels = dict.fromkeys(label for row in found for label in row)
        columns = {label: np.array([row.get(label, 0.0) for row in found]) for label in labels}
        return batch.table(columns)
