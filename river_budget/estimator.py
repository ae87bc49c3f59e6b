"""The River shells: the only place that knows dicts, frames and pickles.

A model is a block of memory (core/block.py) and two indexes, of features and of labels. What reaches the
compiled pass is always the same: rows, targets, weights. It returns the scores before each row was learned,
so a learning pass is also a progressive validation.

A pass stops at a row that it cannot learn and returns its number: either the row is not finite, which is an
error, or there is no room for another vector, which happens only without a budget and asks for a larger
block. So one example needs no check in Python.
"""

from __future__ import annotations

import copy
import secrets
from typing import Any, ClassVar

import numpy as np
from river import base

from .core import block as blocks
from .core.codes import Task
from .core.rows import decide
from .core.views import carver
from .features import Batch, FeatureIndex
from .kernels import RBF, Kernel
from .parameters import Mutable, instance_of, optional, whole
from .targets import Labels, Targets, check_classes, plain, real, weight, weights

FIRST_CAPACITY = 64  # of a model without a budget
GROWTH = 2  # factor by which it grows
SPARE_FEATURES = 0.25  # share of memory rows in reserve once features have begun to appear


def _numbers(*shape: int) -> tuple[Any, Any]:
    """An array of float64, and a view of its memory as a sequence of numbers."""
    array: Any = np.zeros(shape)
    return array, memoryview(array.reshape(-1))


class Seat:
    """Everything that one example needs to be passed to compiled code; made once, used again.

    Single numbers go in and out through memoryviews, which is twice as fast as through arrays.
    """

    __slots__ = (
        "f",
        "rows",
        "scores",
        "scratch",
        "target",
        "targets",
        "values",
        "weight",
        "weights",
    )

    def __init__(self, block: Any, n_features: int, n_outputs: int):
        self.scratch = blocks.scratch_for(block)
        self.rows, self.values = _numbers(1, n_features)
        self.scores, self.f = _numbers(1, n_outputs)
        self.targets, self.target = _numbers(1)
        self.weights, self.weight = _numbers(1)


class Seats(list[Seat]):
    """The seats that are free. A copy of a model makes its own."""

    def __deepcopy__(self, memo: Any) -> Seats:
        return Seats()


class BudgetModel(base.Estimator):
    """A kernel expansion in a block. Subclasses say which pass they use."""

    _learn: ClassVar[Any]  # the compiled pass
    _shrink: ClassVar[Any]  # compiled: maintain until a smaller budget is kept
    _state: ClassVar[
        np.dtype[Any]
    ]  # the pass's own numbers; fields named as parameters follow them
    _extras: ClassVar[int] = 0  # further numbers that the pass keeps of every vector

    def __init__(self, kernel: Kernel | None, seed: int | None):
        optional(instance_of(Kernel))("kernel", kernel)
        optional(whole(0))("seed", seed)
        self.kernel = kernel
        if "seed" in self._parameters():
            self.seed = seed
        self._entropy = secrets.randbits(64) if seed is None else int(seed) % 2**64
        self._features = FeatureIndex()
        self._block: Any = None
        self._seats = Seats()
        self._target_name: str | None = None

    # parameters

    @classmethod
    def _parameters(cls) -> tuple[str, ...]:
        code = cls.__init__.__code__  # type: ignore[misc]
        return code.co_varnames[1 : code.co_argcount]

    @property
    def _mutable_attributes(self) -> set[str]:
        return {
            name for name in self._parameters() if isinstance(getattr(type(self), name, 0), Mutable)
        }

    def _check_together(self, **parameters: Any) -> None:
        """Raise for parameters that are fine alone and not together."""

    def _change(self, name: str, value: Any) -> None:
        """A mutable parameter gets a new value, which takes effect at once."""
        self._check_together(**{name: value})
        self.__dict__[name] = value
        if self._block is None:
            return
        self._write_parameters()
        if name == "budget":
            head = blocks.views(self._block).head[0]
            head.budget = blocks.UNLIMITED if value is None else value
            if head.count > head.budget:
                self._shrink(self._block, blocks.scratch_for(self._block))
            self._resize(capacity=self._capacity(head.count))

    def _write_parameters(self) -> None:
        own = self._own()
        for name in set(self._state.names or ()).intersection(self._parameters()):
            own[name] = getattr(self, name)

    def _capacity(self, count: int) -> int:
        budget = getattr(self, "budget", None)
        if budget is None:
            return blocks.columns_for(max(FIRST_CAPACITY, count + 1))
        return blocks.columns_for(budget + 1)

    # the block

    def _header(self, n_features: int) -> dict[str, Any]:
        """The header fields of a new block."""
        budget = getattr(self, "budget", None)
        kernel = RBF() if self.kernel is None else self.kernel
        return kernel._header(n_features) | {
            "capacity": self._capacity(0),
            "budget": blocks.UNLIMITED if budget is None else budget,
            "extras": self._extras,
            "random": self._entropy,
            "scale": 1.0,
        }

    def _create(self, n_features: int) -> None:
        self._block = blocks.allocate(**self._header(n_features), width=n_features)
        self._write_parameters()

    def _own(self) -> Any:
        """The algorithm's own numbers."""
        return carver(self._state)(blocks.views(self._block).own, 0, 1)[0]

    def _resize(self, **sizes: int) -> None:
        self._block = blocks.resized(self._block, **sizes)
        self._seats = Seats()

    def _know(self, names: list[Any]) -> None:
        """Give new features their places."""
        first = self._block is None
        self._features.add(names)
        n = len(self._features)
        if first:
            self._create(n)
        elif n > blocks.views(self._block).head[0].width:
            self._resize(width=n + int(SPARE_FEATURES * n))
        self._seats = Seats()

    def _new_seat(self) -> Seat:
        return Seat(self._block, len(self._features), self._outputs)

    @property
    def _outputs(self) -> int:
        return 1

    # learning and scoring

    def _run(self, rows: Any, targets: Any, weights: Any, scores: Any, scratch: Any) -> None:
        """The pass over all rows, with a larger block where it asks for one."""
        done = 0
        while True:
            done += self._learn(
                self._block, scratch, rows[done:], targets[done:], weights[done:], scores[done:]
            )
            if done == len(rows):
                return
            head = blocks.views(self._block).head[0]
            self._resize(capacity=blocks.columns_for(GROWTH * int(head.capacity)))
            scratch = blocks.scratch_for(self._block)

    def _learn_row(self, x: dict[Any, Any], target: float, w: float) -> None:
        """Learn one example, whose target is checked and known."""
        if self._block is None:
            self._features.reject(x)
            self._know(list(x))
        try:  # popped and appended: each thread has a seat of its own
            seat = self._seats.pop()
        except IndexError:
            seat = self._new_seat()
        features = self._features
        if not (features.pack(x, seat.values) or features.pack_some(x, seat.values)):
            row = features.row(x)
            self._know(features.unknown(x))
            seat = self._new_seat()
            seat.rows[0] = row
        seat.target[0] = target
        seat.weight[0] = w
        done = self._learn(
            self._block, seat.scratch, seat.rows, seat.targets, seat.weights, seat.scores
        )
        if done:
            self._seats.append(seat)
        else:
            self._features.reject(x)
            self._run(seat.rows, seat.targets, seat.weights, seat.scores, seat.scratch)

    def _score_row(self, x: dict[Any, Any]) -> Any:
        """f(x), a list with one number per output."""
        if self._block is None:
            self._features.reject(x)
            return [0.0] * self._outputs
        try:
            seat = self._seats.pop()
        except IndexError:
            seat = self._new_seat()
        features, rows = self._features, seat.rows
        if not (features.pack(x, seat.values) or features.pack_some(x, seat.values)):
            rows = features.row(x)
        if not decide(self._block, seat.scratch, rows, seat.scores):
            self._features.reject(x)
        scores = seat.f.tolist()  # before another thread may take the seat
        self._seats.append(seat)
        return scores

    def _score_rows(self, rows: Any) -> Any:
        scores = np.zeros((len(rows), self._outputs))
        if self._block is not None:
            decide(self._block, blocks.scratch_for(self._block), rows, scores)
        return scores

    def _enter(self, batch: Batch) -> Any:
        """The rows of a batch whose features become known."""
        rows = self._features.rows(batch)
        new = set(batch.names).difference(self._features)
        if new or self._block is None:
            self._know(list(new))
        return rows

    # inspection

    @property
    def n_support_vectors(self) -> int:
        """How many support vectors the model holds."""
        return 0 if self._block is None else int(blocks.views(self._block).head[0].count)

    def support_vectors(self) -> list[dict[str, Any]]:
        """The support vectors, oldest first.

        Each is a dict of `features` (those that are not 0), `coefficients` (a number, or one per class) and
        `arrival`, its place in the order in which vectors came into the model; a vector made by merging
        counts as new.
        """
        if self._block is None:
            return []
        model = blocks.views(self._block)
        n = int(model.head[0].count)
        coefficients = model.head[0].scale * model.coefficients[:, :n]
        return [
            {
                "features": {
                    name: value
                    for name, value in zip(
                        self._features, model.vectors[:, j].tolist(), strict=False
                    )
                    if value != 0.0
                },
                "coefficients": self._named(coefficients[:, j]),
                "arrival": int(model.arrivals[j]),
            }
            for j in np.argsort(model.arrivals[:n])
        ]

    def _named(self, scores: Any) -> Any:
        return float(scores[0])

    @property
    def memory_usage(self) -> int:
        """Bytes that the model occupies: its block and its indexes."""
        return (0 if self._block is None else self._block.nbytes) + self._features.memory_usage

    # copies

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_seats": Seats()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("_features", "_labels"):  # a shallow copy would share them, but not the block
            if name in state:
                setattr(self, name, copy.copy(state[name]))
        if self._block is not None:
            self._block = blocks.aligned(self._block)


class BudgetClassifier(BudgetModel, base.MiniBatchClassifier):
    """Classifiers, binary and multi-class."""

    def __init__(
        self, kernel: Kernel | None, classes: tuple[Any, ...] | None, seed: int | None = None
    ):
        super().__init__(kernel, seed)
        check_classes(classes)
        self.classes = classes
        self._labels = Labels(classes)

    @property
    def _multiclass(self) -> bool:
        return self.classes is None or len(self.classes) > 2

    @property
    def _outputs(self) -> int:
        return self._labels.outputs

    def _header(self, n_features: int) -> dict[str, Any]:
        task = Task.BINARY if self._outputs == 1 else Task.MULTICLASS
        return super()._header(n_features) | {"task": task, "outputs": self._outputs}

    def _named(self, scores: Any) -> Any:
        return self._labels.named(scores)

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._labels.memory_usage

    def _meet(self, label: Any) -> None:
        """A new label; the third promotes the model from one output to one for every class."""
        before = self._outputs
        self._labels.add(label)
        if self._block is None or self._outputs == before:
            return
        self._resize(outputs=self._outputs)
        model = blocks.views(self._block)
        model.head[0].task = Task.MULTICLASS
        if before == 1:
            model.coefficients[:2] = 0.5 * model.coefficients[0] * np.array([[-1.0], [1.0]])
            self._promoted()

    def _promoted(self) -> None:
        """The one output a has become (-a/2, a/2, 0): for algorithms that keep norms."""

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        try:
            target = self._labels.codes[y]
        except (KeyError, TypeError):
            self._labels.check(y)
            self._features.reject(x)
            w = weight(w)
            label = plain(y)
            if label not in self._labels.codes:
                self._meet(label)
            target = self._labels.codes[label]
        self._learn_row(x, target, w if w == 1.0 else weight(w))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        return self._labels.label(self._score_row(x))

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Probabilities by a logistic or softmax link of the scores; they are not calibrated."""
        shares = self._labels.probabilities(np.array(self._score_row(x)))
        return {label: float(share) for label, share in shares.items()}

    def decision_function_one(self, x: dict[Any, Any]) -> Any:
        """The raw score: positive on the side of the positive class, or {class: score} from three on."""
        return self._named(self._score_row(x))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the examples in their order, exactly as a loop of `learn_one`."""
        self._learn_batch(Batch(X), y, w, predict=False)

    def predict_then_learn_many(self, X: Any, y: Any, w: Any = 1.0) -> Any:
        """The predictions of each example before it is learned: progressive validation in one call.

        Takes frames, and 2-D arrays whose columns are the features 0, 1, ... With boolean targets the
        labels are known from the start; otherwise predictions are None until the first label is.
        """
        return self._learn_batch(Batch(X), y, w, predict=True)

    def _learn_batch(self, batch: Batch, y: Any, w: Any, predict: bool) -> Any:
        targets, all_weights = Targets(y, len(batch)), weights(w, len(batch))
        targets.check(self._labels)
        self._target_name = targets.name
        if not len(batch):
            return batch.series(self._labels.labels(np.zeros((0, self._outputs))), targets.name)
        if not self._labels.known and targets.boolean:
            self._meet(True)
        rows, start, predictions = self._enter(batch), 0, []
        while start < len(batch):
            codes, count = targets.coded(self._labels, start)
            if count == 0:  # a new label: predict with the old ones, then learn with the new
                guess = self._labels.labels(self._score_rows(rows[start : start + 1]))
                self._meet(targets.values[start])
                codes, count = targets.coded(self._labels, start)
            else:
                guess = None
            stop = start + count
            scores = np.empty((count, self._outputs))
            scratch = blocks.scratch_for(self._block)
            self._run(rows[start:stop], codes[:count], all_weights[start:stop], scores, scratch)
            if predict:
                known = self._labels.labels(scores)
                predictions += [known] if guess is None else [guess, known[1:]]
            start = stop
        return batch.series(_joined(predictions), targets.name) if predict else None

    def predict_many(self, X: Any) -> Any:
        batch = Batch(X)
        scores = self._score_rows(self._features.rows(batch))
        return batch.series(self._labels.labels(scores), self._target_name)

    def predict_proba_many(self, X: Any) -> Any:
        batch = Batch(X)
        return batch.table(self._labels.probabilities(self._score_rows(self._features.rows(batch))))


def _joined(predictions: list[Any]) -> Any:
    """One array; of mixed types, an array of objects."""
    if len({part.dtype.kind for part in predictions}) > 1:
        predictions = [part.astype(object) for part in predictions]
    return np.concatenate(predictions)


class BudgetRegressor(BudgetModel, base.MiniBatchRegressor):
    """Regressors."""

    def _header(self, n_features: int) -> dict[str, Any]:
        return super()._header(n_features) | {"task": Task.REGRESSION, "outputs": 1}

    def learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> None:
        target = real(y)
        self._learn_row(x, target, w if w == 1.0 else weight(w))

    def predict_one(self, x: dict[Any, Any]) -> float:
        score: float = self._score_row(x)[0]
        return score

    def decision_function_one(self, x: dict[Any, Any]) -> float:
        """The prediction."""
        return self.predict_one(x)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the examples in their order, exactly as a loop of `learn_one`."""
        self.predict_then_learn_many(X, y, w)

    def predict_then_learn_many(self, X: Any, y: Any, w: Any = 1.0) -> Any:
        """The predictions of each example before it is learned: progressive validation in one call.

        Takes frames, and 2-D arrays whose columns are the features 0, 1, ...
        """
        batch = Batch(X)
        targets, all_weights = Targets(y, len(batch)), weights(w, len(batch))
        numbers = targets.numbers()
        self._target_name = targets.name
        scores = np.empty((len(batch), 1))
        if len(batch):
            rows = self._enter(batch)
            self._run(rows, numbers, all_weights, scores, blocks.scratch_for(self._block))
        return batch.series(scores[:, 0], targets.name)

    def predict_many(self, X: Any) -> Any:
        batch = Batch(X)
        scores = self._score_rows(self._features.rows(batch))
        return batch.series(scores[:, 0], self._target_name)
