"""The memory of a model, and how compiled code gets it: as one tuple of arrays, made once in
Python.

A model is one block of bytes: a header, the algorithm's own record, and tables. `cut` makes arrays
that share this memory, and arrays of scratch space beside it. Compiled functions take the tuple
`m`, or some of its arrays.

A vector's slot is its column in all tables; the slots in use are 0 .. head.count - 1. In the
columns behind them coefficients are 0 and other numbers finite. A place is the row of a feature in
`vectors`. The header, the record and every table begin at multiples of 64 bytes.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from . import custom_kernels
from .codes import Kernel

LANES = 8  # capacities are multiples of it: a loop over the vectors has no tail
# what tables measure
SIZES = ("capacity", "width", "outputs", "per_vector", "squares", "factored", "room")
# The fields of the header, `head = m.head[0]` in a pass:
#
# count       vectors that are stored, in the slots 0 .. count - 1
# budget      how many there may be; UNLIMITED without one
# capacity    how many the tables have room for: more than the budget
# arrived     arrival numbers given so far: the next vector gets this one
# outputs     scores of an example: 1 for two classes and regression, else one for each class
# task        BINARY, MULTICLASS or REGRESSION of `codes.Task`
# width       features that the tables have room for
# scale       by which all coefficients are to be multiplied
# n_examples  examples learned
# random      the state of the random numbers: draw them by `uniform` and `below`
# kernel, gamma, coef0, degree, normalised, bounded      the kernel; bounded: k(x, x) = 1 for all x
# custom      the number of a user's kernel function, or 0
# maintenance, arity, method, objective, choice          the parameter `maintenance`
# per_vector, squares, factored                          rows and squares of further tables
# room        bytes of AutoKernel's own tables
# repairs     how often a drifted factor or norm was computed again
# slope, top_bonus, slope_curvature, top_bonus_curvature, cross_curvature      of probabilities
# alarm, warned, same_label_run, far_streak, first_target, target_size, error_size      of warnings
# stamp       of the layout
_INTEGERS = (
    f"stamp {' '.join(SIZES)} arity count budget arrived task kernel custom bounded degree "
    "normalised maintenance method "
    "objective choice repairs n_examples alarm warned same_label_run far_streak"
)
_REALS = (
    "gamma coef0 scale slope top_bonus slope_curvature top_bonus_curvature cross_curvature "
    "first_target target_size "
    "error_size"
)


def record(*fields: str) -> Any:
    """The type of a record: each argument names a type, as "f8", and the fields that have it, in
    their order.
    """
    pairs = [(name, kind) for kind, *names in map(str.split, fields) for name in names]
    return np.dtype((np.record, pairs))


HEAD = record(f"i8 {_INTEGERS}", "u8 random", f"f8 {_REALS}")
STATE_AT = -(-HEAD.itemsize // 64) * 64
STATE_SIZE = 192  # bytes reserved for the algorithm's own record
TABLES_AT = STATE_AT + STATE_SIZE
UNLIMITED = 2**62  # the budget of a model without one

WORK_ROWS, ROUGH_ROWS = 6, 8


class Model(NamedTuple):
    """What passes take as `m`. The tables of the block come first, then scratch space."""

    head: Any  # (1,): one record, `head = m.head[0]`
    # (width, capacity): the vectors; the values of one feature side by side, so that one
    # instruction works on many vectors
    vectors: Any
    # (outputs, capacity): without head.scale, by which the model is multiplied; 0 behind the last
    # vector
    coefficients: Any
    norms: Any  # (capacity,): the norm of each vector; k(v, v) is `self_kernel(m, m.norms[j])`
    arrivals: Any  # (capacity,): the arrival number of each vector: the smallest is the oldest
    # (per_vector, capacity): the algorithm's own rows, behind them a mean of the iterates, if one
    # is kept
    per_vector: Any
    squares: Any  # (squares, capacity, capacity): the algorithm's own numbers of pairs of vectors
    # (factored capacity, capacity): W, the inverse of the Cholesky factor of the Gram matrix, for
    # models that project
    factor: Any
    row: Any  # (capacity,): kernel values of an example with all vectors
    logs: Any  # (capacity,): their logarithms, for Gaussian and Laplacian kernels
    buffer: Any  # (capacity,): free, but many functions overwrite it
    work: Any  # (WORK_ROWS, capacity): free, but those that merge and project overwrite it
    rough: Any  # (ROUGH_ROWS, capacity), float32: estimates of merging
    last: Any  # (outputs,): the scores of the last iterate, where a mean predicts
    places: Any  # (width,): 0, 1, ..
    whole: Any  # (width,): an example with its zeros
    near: Any  # (width + 1,): places of the present features of an example
    values: Any  # (width + 1,): their values
    own_places: Any  # (width + 1,): places of the features of a vector that is read
    own_values: Any  # (width + 1,): their values
    group: Any  # for merging more than two: a Group, else None
    # None if the kernel is Gaussian, else 1: passes are compiled without the other kernels
    other: Any
    function: Any  # the kernel function of a user, else None


class Group(NamedTuple):
    """Scratch space of a merge of `arity` vectors, the members."""

    members: Any  # (arity,): their slots
    distances: Any  # (arity, arity): gamma |x_i - x_j|^2
    shares: Any  # (3, arity): of the merged vector z = sum_i share_i x_i; two rows for an ascent
    coefficients: Any  # (arity + 2, outputs): of the members, of z, of a trial
    points: Any  # (arity, width): the members


class Rows(NamedTuple):
    """Examples for a pass. If all have all features, `starts` is empty and `places` is 0, 1, ..;
    else example t has the features places[starts[t] : starts[t + 1]]. The place of a name that the
    model does not know is -1.
    """

    starts: Any
    places: Any
    values: Any  # one example behind the other
    targets: Any  # (n,): -1 and 1 for two classes, column numbers for more, numbers in regression
    weights: Any  # (n,)
    scores: Any  # (n, outputs): results


def block_tables(h: Any) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """{name: (type, shape)} of the tables of a block with these sizes, in the order of Model."""
    c, reals = h["capacity"], np.float64
    return {
        "vectors": (reals, (h["width"], c)),
        "coefficients": (reals, (h["outputs"], c)),
        "norms": (reals, (c,)),
        "arrivals": (np.int64, (c,)),
        "per_vector": (reals, (h["per_vector"], c)),
        "squares": (reals, (h["squares"], c, c)),
        "factor": (reals, (h["factored"] * c, c)),
        "room": (reals, (h["room"],)),
    }


def scratch_tables(h: Any) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """The same of the scratch space."""
    c, d, reals = h["capacity"], h["width"], np.float64
    return {
        **dict.fromkeys(("row", "logs", "buffer"), (reals, (c,))),
        "work": (reals, (WORK_ROWS, c)),
        "rough": (np.float32, (ROUGH_ROWS, -(-c // 16) * 16)),
        "last": (reals, (h["outputs"],)),
        "places": (np.int64, (d,)),
        "whole": (reals, (d,)),
        "near": (np.int64, (d + 1,)),
        "values": (reals, (d + 1,)),
        "own_places": (np.int64, (d + 1,)),
        "own_values": (reals, (d + 1,)),
    }


def group_tables(h: Any) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """The same of Group."""
    m, reals = h["arity"], np.float64
    return {
        "members": (np.int64, (m,)),
        "distances": (reals, (m, m)),
        "shares": (reals, (3, m)),
        "coefficients": (reals, (m + 2, h["outputs"])),
        "points": (reals, (m, h["width"])),
    }


def _nbytes(kind: Any, shape: tuple[int, ...]) -> int:
    """Bytes of a table, in whole cache lines."""
    nbytes: int = -(-math.prod(shape) * np.dtype(kind).itemsize // 64) * 64
    return nbytes


@functools.lru_cache(256)  # many models have the same sizes
def _layout(*sizes: int) -> tuple[dict[str, tuple[int, Any, tuple[int, ...]]], int]:
    """({table: (its offset, type, shape)}, the size of the block)"""
    end, found = TABLES_AT, {}
    for name, (kind, shape) in block_tables(dict(zip(SIZES, sizes, strict=True))).items():
        found[name] = (end, kind, shape)
        end += _nbytes(kind, shape)
    return found, end


def zeros(nbytes: int) -> Any:
    """An array of zero bytes that starts at a multiple of 64."""
    raw = np.zeros(nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + nbytes]


def table(kind: Any, shape: tuple[int, ...]) -> Any:
    """A table of zeros that starts at a multiple of 64 bytes."""
    nbytes = math.prod(shape) * np.dtype(kind).itemsize
    return zeros(nbytes).view(kind).reshape(shape)


def columns_for(vectors: int) -> int:
    """The capacity for so many vectors."""
    return LANES * max(1, -(-vectors // LANES))


# Making blocks


def _sizes_of(fields: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(int(fields.get(name, 0)) for name in SIZES)


def block_size(fields: Mapping[str, Any]) -> int:
    """Bytes of a block with these header fields."""
    return _layout(*_sizes_of(fields))[1]


def scratch_size(fields: Mapping[str, Any]) -> int:
    """Bytes of the scratch space beside such a block."""
    sizes = dict(zip(SIZES, _sizes_of(fields), strict=True)) | {"arity": fields.get("arity", 2)}
    tables = scratch_tables(sizes) | (
        group_tables(sizes) if _merges_many(sizes["arity"], fields) else {}
    )
    return sum(_nbytes(*each) for each in tables.values())


def _merges_many(arity: int, fields: Any) -> bool:
    """Whether a model needs a Group: it merges more than two vectors, or places the merged one by
    equation (21).
    """
    return bool(arity > 2 or fields.get("objective", 0))


def allocate(**fields: Any) -> Any:
    """A new block with these header fields; all else is 0."""
    block = zeros(block_size(fields))
    head = views(block).head
    for name, value in fields.items():
        setattr(head, name, int(value) if HEAD[name].kind != "f" else float(value))
    return block


def resized(block: Any, **sizes: int) -> Any:
    """A copy of a block with other sizes in its header; new rows and columns of its tables are 0.

    The table `room` is all 0: the algorithm, which alone knows what is in it, fills it again.
    """
    old = views(block)
    fields = {name: getattr(old.head, name) for name in HEAD.names} | sizes
    copy = allocate(**fields)
    copy[STATE_AT:TABLES_AT] = block[STATE_AT:TABLES_AT]
    new = views(copy)
    for name in _layout(*_sizes_of(fields))[0]:
        source, target = getattr(old, name), getattr(new, name)
        corner = tuple(map(slice, map(min, source.shape, target.shape)))
        if name != "room":
            target[corner] = source[corner]
    return copy


def aligned(block: Any) -> Any:
    """A copy of a block that starts at a multiple of 64 bytes."""
    copy = zeros(len(block))
    copy[:] = block
    return copy


@functools.cache
def stamp_of(kind: Any) -> int:
    """A hash of the layout of blocks whose algorithm has this record.

    A pass over a block of another layout would read the wrong numbers, so models compare this hash
    first.
    """
    if np.dtype(kind).itemsize > STATE_SIZE:  # the record would overlap the tables
        raise TypeError(
            f"the state of an algorithm may take {STATE_SIZE} bytes, not {np.dtype(kind).itemsize}"
        )
    layout, _ = _layout(*range(101, 101 + len(SIZES)))
    described = repr((HEAD.descr, STATE_AT, STATE_SIZE, layout, np.dtype(kind).descr))
    return int.from_bytes(hashlib.sha256(described.encode()).digest()[:7], "little")


# Reading blocks


_C_TYPES: dict[str, Any] = {"i": ctypes.c_int64, "u": ctypes.c_uint64, "f": ctypes.c_double}


class Head(ctypes.Structure):
    """The header of a block for Python: attributes that read and write its fields as Python
    numbers.

    A numpy record takes fifty times as long for a field.
    """

    _fields_ = [(name, _C_TYPES[HEAD[name].kind]) for name in HEAD.names or ()]


def head_of(block: Any) -> Any:
    """The header of a block, which keeps the block alive."""
    return Head.from_buffer(block)


class Views:
    """A block for Python: its header, and its tables as arrays. Each of them keeps the block
    alive.
    """

    __slots__ = ("block", "head")

    def __init__(self, block: Any):
        self.block, self.head = block, head_of(block)

    def __getattr__(self, name: str) -> Any:
        head = self.head
        layout, _ = _layout(*(getattr(head, size) for size in SIZES))
        if name not in layout:
            raise AttributeError(f"a block has no table {name!r}")
        at, kind, shape = layout[name]
        return np.ndarray(shape, kind, self.block, at)


def views(block: Any) -> Views:
    """The header and the tables of a block as attributes."""
    return Views(block)


def state_of(block: Any, kind: Any) -> Any:
    """The algorithm's own record, as an array of one, which shares the memory of the block."""
    return block[STATE_AT : STATE_AT + kind.itemsize].view(kind)


def field_of(block: Any, field: str) -> Any:
    """An integer field of the header as an array of length 1: writing to it changes the block."""
    at = HEAD.fields[field][1]
    return block[at : at + 8].view(np.int64)


def cut(block: Any, like: Model | None = None) -> Model:
    """The arrays of a block, with new scratch space; or with that of another model of the same
    sizes.
    """
    head = head_of(block)
    sizes = {name: getattr(head, name) for name in (*SIZES, "arity")}
    layout, _ = _layout(*(sizes[name] for name in SIZES))
    tables = {
        name: np.ndarray(shape, kind, block, at)
        for name, (at, kind, shape) in layout.items()
        if name != "room"  # AutoKernel cuts it
    }
    tables["head"] = block[: HEAD.itemsize].view(HEAD)
    if like is not None:
        return like._replace(**tables)
    tables |= {name: table(*each) for name, each in scratch_tables(sizes).items()}
    tables["places"][:] = np.arange(sizes["width"])
    group = None
    if _merges_many(sizes["arity"], {"objective": head.objective}):
        group = Group(**{name: table(*each) for name, each in group_tables(sizes).items()})
    other = None if head.kernel == Kernel.RBF else 1
    function = custom_kernels.function_for(head.custom) if head.kernel == Kernel.CUSTOM else None
    return Model(**tables, group=group, other=other, function=function)


def sizes_of(block: Any) -> tuple[int, ...]:
    """What determines the arrays of a block: models with equal ones may share scratch space."""
    head = head_of(block)
    return (
        *(getattr(head, name) for name in SIZES),
        head.arity,
        head.objective,
        head.kernel,
        head.custom,
    )


NOTHING: Any = np.zeros(0, np.int64)


def dense(values: Any, targets: Any, weights: Any, scores: Any) -> Rows:
    """Examples from a matrix with a row for each."""
    return Rows(NOTHING, np.arange(values.shape[1]), values.reshape(-1), targets, weights, scores)
