"""Calls of compiled passes: the arrays that passes take, and calls for one example, which are made
once and reused.

A pass gets the arguments that it names: `m` (core/memory.py), `states`, the algorithm's own record
as an array of one, `rows`, the examples, and what the columns of a model give in `extra_arguments`.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import memory
from ..core.compiling import arguments_of
from ..core.compiling import entry_of as compiled_entry
from ..inputs.features import EXACT, SUMS, FeatureIndex, packer_of
from ..inputs.frames import writable
from ..inputs.lists import Lists
from ..messages.first_use import announced

Block = NDArray[np.uint8]  # the memory of a model, see core/memory.py
Matrix = NDArray[np.float64]  # two-dimensional: examples, scores, support vectors, coefficients
EXAMPLES_PER_CALL = 2**10  # Python answers Ctrl-C between the calls of a pass


def rows_for(rows: Any, targets: Any, weights: Any, scores: Any) -> memory.Rows:
    """Examples, a matrix of float64 or Lists, as passes take them."""
    targets, weights = writable(targets), writable(weights)
    if type(rows) is Lists:
        return memory.Rows(rows.starts, rows.places, rows.values, targets, weights, scores)
    return memory.dense(writable(rows), targets, weights, scores)


class Workspace:
    """The arguments of passes over a block, with scratch space that no other call uses
    meanwhile.
    """

    __slots__ = ("arguments",)

    def __init__(self, model: Any, block: Block):
        self.arguments: dict[str, Any] = {
            "m": memory.cut(block),
            "states": memory.state_of(block, model.algorithm.state),
            **model.algorithm.columns.extra_arguments(model, block),
        }

    def move(self, model: Any, block: Block) -> None:
        """Use the same scratch space for the block of another model of the same sizes."""
        self.arguments |= {
            "m": memory.cut(block, self.arguments["m"]),
            "states": memory.state_of(block, model.algorithm.state),
            **model.algorithm.columns.extra_arguments(model, block),
        }

    def arguments_of(self, compiled: Any, rows: memory.Rows | None = None) -> tuple[Any, ...]:
        """What a pass takes."""
        given = self.arguments if rows is None else self.arguments | {"rows": rows}
        return tuple(given[name] for name in arguments_of(compiled))

    def run(self, compiled: Any, rows: memory.Rows | None = None) -> Any:
        """Run a pass over examples, or one that takes none; returns how many it has processed."""
        arguments = self.arguments_of(compiled, rows)
        kind = tuple(argument is None for argument in self.arguments["m"][-3:])
        return _entry(compiled, kind, arguments)(*arguments)


_entries: dict[Any, Any] = {}


def entry_of(compiled: Any, arguments: tuple[Any, ...]) -> Any:
    """The machine code of a pass for these arguments; on a terminal it is said if that takes
    long.
    """
    with announced():
        return compiled_entry(compiled, arguments)


def _entry(compiled: Any, kind: tuple[bool, ...], arguments: tuple[Any, ...]) -> Any:
    """The machine code of a pass. Types of arguments differ in nothing but `kind`: which parts of
    `m` are None.
    """
    key = compiled, kind
    found = _entries.get(key)
    if found is None:
        found = _entries[key] = entry_of(compiled, arguments)
    return found


def run_once(model: Any, compiled: Any, block: Block | None = None) -> None:
    """Run a pass that takes no examples over the model's block, or over another one."""
    Workspace(model, model._block if block is None else block).run(compiled)


def run_over(
    model: Any, compiled: Any, block: Block, rows: Any, scores: Matrix, targets: Any = None
) -> int:
    """Run a pass over all examples, in parts; returns how many it has processed."""
    work, n, done = Workspace(model, block), len(rows), 0
    zeros = np.zeros(n) if targets is None else targets
    while done < n:
        some = slice(done, min(done + EXAMPLES_PER_CALL, n))
        count = work.run(compiled, rows_for(rows[some], zeros[some], zeros[some], scores[some]))
        done += count
        if count < some.stop - some.start:
            break
    return done


def _array_and_view(*shape: int) -> tuple[Any, Any]:
    """(array of zeros, memoryview of it as a sequence of numbers)"""
    array: Any = np.zeros(shape)
    return array, memoryview(array.reshape(-1))


@functools.cache
def class_of_passes(learn: Any, score: Any, kind: tuple[bool, ...] = ()) -> Any:
    """A class that holds these passes, for arguments of one kind (`_entry`): what a class refers to
    is not counted as the memory of a model.
    """
    passes = type("Passes", (), {})
    for name, compiled in (("learn", learn), ("score", score)):
        setattr(passes, name, staticmethod(functools.partial(_first_call, passes, name, compiled)))
    return passes


def _first_call(passes: Any, name: str, compiled: Any, *arguments: Any) -> Any:
    """Call a pass, which compiles it, and let later calls go past numba's choice of a signature:
    half of a call's time.
    """
    entry = entry_of(compiled, arguments)
    setattr(passes, name, staticmethod(entry))
    return entry(*arguments)


class Prepared:
    """A call for one example, made once and reused.

    Single numbers are read and written through memoryviews, which is twice as fast as through
    arrays.
    """

    __slots__ = (
        *("arrays", "arrived", "block", "learning", "passes", "scores", "scoring", "target"),
        *("values", "weight", "work"),
        *("version", "lent", "new", "places", "total", "x"),
    )
    learning: tuple[Any, ...]  # the arguments of passes.learn
    scoring: tuple[Any, ...]  # the arguments of passes.score
    x: dict[
        Any, float
    ]  # the example that is written in it, but for a row that was written by `try_write`
    total: Any  # of its values as they came
    version: Any  # of the model for which it was written
    places: list[int]  # of its names, where it is a list
    new: Collection[Any]  # those of its names that have no place
    lent: bool  # whether further ones have places only until the example is learned

    def __init__(self, model: Any, block: Block, rows: Any):
        self.block = block
        self.x, self.version, self.places, self.new, self.lent = {}, None, [], (), False
        self.total = 0.0  # of the values of x
        self.arrived = memoryview(memory.field_of(block, "arrived"))  # how many vectors so far
        targets, self.target = _array_and_view(1)
        weights, self.weight = _array_and_view(1)
        scores, self.scores = _array_and_view(1, model._n_outputs)
        self.arrays = rows, targets, weights, scores
        self.work = Workspace(model, block)
        own, (learn, score) = rows_for(*self.arrays), (model._learning_pass, model._scoring_pass)
        kind = tuple(argument is None for argument in self.work.arguments["m"][-3:])
        self.passes = class_of_passes(learn, score, kind)
        self.learning = () if learn is None else self.work.arguments_of(learn, own)
        self.scoring = self.work.arguments_of(score, own)

    def learn(self) -> int:
        """Learn the example; returns whether it was learned."""
        learned: int = self.passes.learn(*self.learning)
        return learned

    def score(self) -> list[float]:
        """The scores of the example."""
        self.weight[0] = (
            0.0  # where one pass scores and learns, examples of weight 0 are only scored
        )
        self.passes.score(*self.scoring)
        scores: list[float] = self.scores.tolist()
        return scores


class Unwritten:
    """An example of a model that has no memory yet."""

    __slots__ = ("new", "x")
    block = version = None

    def __init__(self, x: dict[Any, float]):
        self.x = self.new = x


class PreparedRow(Prepared):
    """A call for one example with all known features."""

    __slots__ = ("get", "length", "write")

    def __init__(self, model: Any, block: Block, features: FeatureIndex):
        rows, self.values = _array_and_view(1, features.width)
        self.length, self.get = features.reader()
        self.write = functools.partial(packer_of(features.width), self.values, 0)
        super().__init__(model, block, rows)

    def try_write(self, x: dict[Any, Any]) -> bool:
        """Write an example, if it has exactly the known names, and numbers as values; returns
        whether it has.
        """
        # other kinds of dicts may invent values: a Counter has 0 for every name
        if type(x) is not dict or len(x) != self.length:
            return False
        try:
            total = sum(values := self.get(x), 0.0)
            if type(total) in SUMS and math.isfinite(total):
                self.write(*values)
                return True
        except Exception:  # other names or values, which are read one by one or refused there
            pass
        return False


@functools.lru_cache(4096)
def _packers_of(n: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """Functions that pack n values, and start, end and n places, into memory."""
    return struct.Struct(f"{n}d").pack_into, struct.Struct(f"{n + 2}q").pack_into


class PreparedList(Prepared):
    """A call for one example with only some of the features; it takes time in proportion to
    these.
    """

    __slots__ = ("bounds", "room")

    def __init__(self, model: Any, block: Block, room: int):
        self.room = room
        values, self.values = _array_and_view(room)
        whole: Any = np.zeros(room + 2, np.int64)
        whole[1] = room
        self.bounds = memoryview(whole)  # start, end and places
        super().__init__(model, block, Lists(whole[:2], whole[2:], values))

    def holds(self, x: dict[Any, Any]) -> bool:
        """Whether this example is written in the call, by a prediction.

        Also equal values may be others: they are, if they have another sum, or not all are numbers
        of a common type.
        """
        try:
            if type(x) is not dict or x != self.x:
                return False
            total = sum(values := x.values(), 0.0)
            plain = type(total) is float or EXACT.issuperset(map(type, values))
            return plain and bool(total == self.total)
        except Exception:  # a value that cannot be compared
            return False

    def write(self, values: Collection[float], places: list[int]) -> None:
        """Write the values of an example's features, and their places, into the call."""
        n = len(places)
        pack_values, pack_places = _packers_of(n)
        pack_values(self.values, 0, *values)
        pack_places(self.bounds, 0, 0, n, *places)
