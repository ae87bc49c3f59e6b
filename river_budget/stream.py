"""A model in a block of memory: what all models are, whatever their form and their task.

What reaches the compiled pass is always the same: rows, targets, weights. It returns the scores before each
row was learned, so a learning pass is also a progressive validation.

A pass stops at a row that it cannot learn and returns its number: either the row is not finite, which is an
error, or the model must be prepared for it, as one without a budget that needs a larger block. So one
example needs no check in Python.
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
from .features import Batch, FeatureIndex
from .kernels import RBF, Kernel
from .parameters import Mutable, instance_of, optional, whole

SPARE_FEATURES = 0.25  # share of memory rows in reserve once features have begun to appear


class StreamModel(base.Estimator):
    """A model in a block. Subclasses say which passes they use."""

    _learn: ClassVar[Any] = None  # the compiled pass; None: there is nothing to learn
    _state: ClassVar[
        np.dtype[Any]
    ]  # the pass's own numbers; fields named as parameters follow them
    _decide: ClassVar[Any]  # the compiled scoring of rows
    _scores_with_extras: ClassVar[bool] = False  # whether scoring looks at them
    _counters: ClassVar[tuple[str, ...]] = ()  # which of the pass's own numbers count up

    def __init__(self, kernel: Kernel | None, seed: int | None):
        optional(instance_of(Kernel))("kernel", kernel)
        optional(whole(0, math.inf))("seed", seed)
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
        if self._block is not None:
            self._write_parameters()

    def _write_parameters(self) -> None:
        """The pass's own numbers that are parameters; NaN stands for None."""
        own = self._own()
        for name in set(self._state.names or ()).intersection(self._parameters()):
            value = getattr(self, name)
            own[name] = math.nan if value is None else value

    def _start(self) -> dict[str, Any]:
        """The pass's other numbers, where they do not start at 0."""
        return {}

    # the block

    def _header(self, n_features: int) -> dict[str, Any]:
        """The header fields of a new block."""
        kernel = RBF() if self.kernel is None else self.kernel
        return kernel._header(n_features) | {"random": self._entropy, "scale": 1.0}

    def _create(self, n_features: int, **fields: Any) -> None:
        fields = self._header(n_features) | {"width": n_features} | fields
        self._block = blocks.allocate(**fields)
        self._furnish()
        self._write_parameters()
        own = self._own()
        for name, value in self._start().items():
            own[name] = value

    def _furnish(self) -> None:
        """Tables of the algorithm's own in the room of a new block get their places and what they begin with."""

    def _tables(self) -> dict[str, Any]:
        """Those of these tables that belong in a file, by name."""
        return {}

    def _restored(self, count: int) -> None:
        """The algorithm's own numbers come from a file: raise for what compiled code could not bear."""

    def _own(self) -> Any:
        """The algorithm's own numbers."""
        return blocks.own(self._block, self._state)

    def _inherit(self, parts: list[Any]) -> None:
        """The algorithm's own numbers, of a model that has become the sum of these parts (union.py).

        Counts go on from the largest: models that have begun as copies have counted the same rounds, which
        a sum would count again at every merging.
        """
        own = self._own()
        for name in self._counters:
            own[name] = max(part.model._own()[name] for part in parts)

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
        return Seat(self._teacher, self._block, len(self._features), self._outputs)

    @property
    def _outputs(self) -> int:
        return 1

    # learning and scoring

    @property
    def _teacher(self) -> Any:
        """The class whose `_learn` is the pass of this model. (The pass itself must not be held by a
        model: River would count all that belongs to a compiled function as the model's memory.)"""
        return type(self)

    def _run(self, rows: Any, targets: Any, weights: Any, scores: Any) -> None:
        """The pass over all rows; where it waits, the model is prepared for what comes."""
        done = 0
        while True:
            rest = (array[done:] for array in (rows, targets, weights, scores))
            done += Call(self._block, *rest).of(self._teacher._learn)
            if done == len(rows):
                return
            self._prepare()

    def _prepare(self) -> None:
        """Give a pass what it waits for."""
        raise NotImplementedError

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
        if seat.teacher._learn(seat.addresses):
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
            return self._score_strange(x)
        if not self._decide(seat.addresses):
            self._features.reject(x)
        scores = seat.scores.tolist()  # before another thread may take the seat
        self._seats.append(seat)
        return scores

    def _score_strange(self, x: dict[Any, Any]) -> Any:
        """f(x) where not all features are known."""
        return self._score_rows(self._features.row(x))[0].tolist()

    def _score_batch(self, batch: Batch) -> Any:
        return self._score_rows(self._features.rows(batch))

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

    def _named(self, scores: Any) -> Any:
        """Scores, or coefficients, as users see them."""
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
