"""A kernel expansion in a block of memory: what all models are, whatever their task.

What reaches the compiled pass is always the same: rows, targets, weights. It returns the scores before each
row was learned, so a learning pass is also a progressive validation.

A pass stops at a row that it cannot learn and returns its number: either the row is not finite, which is an
error, or there is no room for another vector, which happens only without a budget and asks for a larger
block. So one example needs no check in Python.
"""

from __future__ import annotations

import copy
import math
import secrets
from typing import Any, ClassVar

import numpy as np
from river import base

from .calls import Call, Seat, Seats
from .core import block as blocks
from .core.rows import decide
from .core.views import carver
from .features import Batch, FeatureIndex
from .kernels import RBF, Kernel
from .parameters import Mutable, instance_of, optional, whole

FIRST_CAPACITY = 64  # of a model without a budget
GROWTH = 2  # factor by which it grows
SPARE_FEATURES = 0.25  # share of memory rows in reserve once features have begun to appear


class BudgetModel(base.Estimator):
    """A kernel expansion in a block. Subclasses say which pass they use."""

    _learn: ClassVar[Any]  # the compiled pass
    _shrink: ClassVar[Any]  # compiled: maintain until a smaller budget is kept
    _state: ClassVar[
        np.dtype[Any]
    ]  # the pass's own numbers; fields named as parameters follow them
    _extras: ClassVar[int] = 0  # further numbers that the pass keeps of every vector
    _decide: ClassVar[Any] = staticmethod(decide)  # the compiled scoring of rows

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
            head = blocks.views(self._block).head
            head.budget = blocks.UNLIMITED if value is None else value
            if head.count > head.budget:
                Call(self._block).of(self._shrink)
            self._resize(capacity=self._capacity(head.count))

    def _write_parameters(self) -> None:
        """The pass's own numbers that are parameters; NaN stands for None."""
        own = self._own()
        for name in set(self._state.names or ()).intersection(self._parameters()):
            value = getattr(self, name)
            own[name] = math.nan if value is None else value

    def _start(self) -> dict[str, Any]:
        """The pass's other numbers, where they do not start at 0."""
        return {}

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
        own = self._own()
        for name, value in self._start().items():
            own[name] = value

    def _own(self) -> Any:
        """The algorithm's own numbers."""
        return carver(self._state, 0)(blocks.views(self._block).own)

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
        elif n > blocks.views(self._block).head.width:
            self._resize(width=n + int(SPARE_FEATURES * n))
        self._seats = Seats()

    def _new_seat(self) -> Seat:
        return Seat(self._block, len(self._features), self._outputs)

    @property
    def _outputs(self) -> int:
        return 1

    # learning and scoring

    def _run(self, rows: Any, targets: Any, weights: Any, scores: Any) -> None:
        """The pass over all rows, with a larger block where it asks for one."""
        done = 0
        while True:
            rest = (array[done:] for array in (rows, targets, weights, scores))
            done += Call(self._block, *rest).of(self._learn)
            if done == len(rows):
                return
            head = blocks.views(self._block).head
            self._resize(capacity=blocks.columns_for(GROWTH * int(head.capacity)))

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
            seat.values[:] = memoryview(row[0])
        seat.target[0] = target
        seat.weight[0] = w
        if self._learn(seat.addresses):
            self._seats.append(seat)
        else:
            self._features.reject(x)
            self._run(*seat.arrays[2:])

    def _score_row(self, x: dict[Any, Any]) -> Any:
        """f(x), a list with one number per output."""
        if self._block is None:
            self._features.reject(x)
            return [0.0] * self._outputs
        try:
            seat = self._seats.pop()
        except IndexError:
            seat = self._new_seat()
        features = self._features
        if not (features.pack(x, seat.values) or features.pack_some(x, seat.values)):
            return self._score_rows(features.row(x))[0].tolist()
        if not self._decide(seat.addresses):
            self._features.reject(x)
        scores = seat.scores.tolist()  # before another thread may take the seat
        self._seats.append(seat)
        return scores

    def _score_rows(self, rows: Any) -> Any:
        scores = np.zeros((len(rows), self._outputs))
        if self._block is not None:
            Call(self._block, rows, scores=scores).of(self._decide)
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
        return 0 if self._block is None else int(blocks.views(self._block).head.count)

    def support_vectors(self) -> list[dict[str, Any]]:
        """The support vectors, oldest first.

        Each is a dict of `features` (those that are not 0), `coefficients` (a number, or one per class) and
        `arrival`, its place in the order in which vectors came into the model; a vector made by merging
        counts as new.
        """
        if self._block is None:
            return []
        model = blocks.views(self._block)
        n = int(model.head.count)
        coefficients = model.head.scale * model.coefficients[:, :n]
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
