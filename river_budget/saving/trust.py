"""Check a model from a file for everything that compiled code assumes, before compiled code runs on
it.

Compiled code uses some of these numbers as indexes and loop bounds without a check, and some loops
do not end on NaN. What a number may be stands in tables: NUMBERS for what all models have, and the
ranges of an algorithm for its parameters, its own numbers and its tables. What depends on several
of them the algorithm checks itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import memory, own_tables
from ..core.codes import Kernel
from ..core.expansion.kernels import BOUND
from ..core.expansion.support import HUGE_SCALE, TINY_SCALE
from ..core.rounds.calibration import LARGEST_BONUS, STEEPEST
from ..model.expansion import BudgetModel
from ..parameters import COUNT, FINITE
from . import plain
from .archive import Source
from .errors import SavedModelError, damaged

RANDOM = (0, 2**64 - 1)
CURVATURE = (0.0, 1e15)  # real ones are far smaller
# numbers of the header of a block, and what they may be
NUMBERS: dict[str, tuple[float, float]] = {
    "count": COUNT,
    "width": COUNT,
    "arrived": COUNT,
    "random": RANDOM,
    "repairs": COUNT,
    "n_examples": COUNT,
    "gamma": (0.0, FINITE[1]),
    "scale": (TINY_SCALE, HUGE_SCALE),
    "slope": (0.0, STEEPEST),
    "top_bonus": (0.0, LARGEST_BONUS),
    "slope_curvature": CURVATURE,
    "top_bonus_curvature": CURVATURE,
    "cross_curvature": (-CURVATURE[1], CURVATURE[1]),
}
MOST_PLACES = 2**26  # of a table of vectors
NORM_ROUNDING = 1e-9  # the relative error that a stored squared length may have


# numbers and tables


def number(value: Any, name: str, least: float, most: float = math.inf) -> Any:
    """A number of a file within its range, which is one of whole numbers or of others."""
    whole = isinstance(least, int)
    try:  # whole numbers are text, as many readers of JSON cannot represent those of 64 bits
        found = int(value) if whole and len(value) < 21 else plain.decoded(value)
    except (ValueError, TypeError):
        found = None
    if type(found) is not (int if whole else float):
        raise damaged(f"{name} is no such number")
    if not least <= found <= most:
        raise damaged(f"{name} is out of range")
    return found


def numbers(values: Any) -> dict[str, Any]:
    """The numbers of the header of a block."""
    if not isinstance(values, dict) or values.keys() != NUMBERS.keys():
        raise damaged("a part of its state is missing")
    found = {name: number(values[name], name, *limits) for name, limits in NUMBERS.items()}
    if found["slope"] > 0.0 and not found["slope_curvature"] > 0.0:
        raise damaged("slope_curvature is out of range")
    return found


def table(source: Source, folder: int, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """A table of a file, of finite numbers; squared lengths may overflow."""
    found = source.array(f"{folder}/{name}", shape, dtype.kind)
    if np.isnan(found).any() or (name != "norms" and np.isinf(found).any()):
        raise damaged(f"its {name} are not finite")
    return found


def size_of(fields: Mapping[str, Any]) -> int:
    """The bytes of a block with these header fields and of the scratch space that its passes
    need.
    """
    return memory.block_size(fields) + memory.scratch_size(fields)


# the ranges of a class


def ranges_of(owner: Any) -> dict[str, tuple[float, float]]:
    """The ranges that an algorithm, or the class of a kernel, declares."""
    kinds = [vars(kind).get("ranges", {}) for kind in reversed(type(owner).__mro__)]
    if getattr(owner, "average", False):
        kinds.append({"per_vector": FINITE})  # means of coefficients
    if hasattr(owner, "algorithm"):
        kinds.append(owner.algorithm.files.ranges)
    return {name: limits for ranges in kinds for name, limits in ranges.items()}


def check_declared(model: Any) -> None:
    """Require that each integer of a record is a parameter, a constant, or has a range."""
    kinds = model.algorithm.state
    whole = {name for name in kinds.names if kinds[name].kind in "iu"}
    ranges = ranges_of(model)
    missing = whole.difference(model._parameters(), model.algorithm.start, ranges)
    rows, _ = own_tables.rows_and_squares(model.algorithm.columns.own)  # which may be any numbers
    if model._block is not None and memory.views(model._block).head.per_vector > rows:
        missing |= {"per_vector"}.difference(ranges)
    if missing:
        raise NotImplementedError(
            f"{type(model).__name__} keeps {', '.join(sorted(missing))} and does not say in its "
            "ranges what a file may "
            "set it to"
        )


def check_parameters(model: Any) -> None:
    """Refuse very large values of parameters that users may set to any number."""
    kernel = model._kernel_in_use
    values = {name: getattr(model, name) for name in model._parameters()}
    for owner in (model, kernel, getattr(kernel, "kernel", kernel)):
        given = values if owner is model else vars(owner)
        for name, (_, most) in ranges_of(owner).items():
            if name in given and given[name] > most:
                raise SavedModelError(f"{name} above {most} in a file is refused")


def check_state(model: Any, count: int) -> None:
    """Check the state of a model whose block has been filled from a file."""
    check_declared(model)
    block, record = memory.views(model._block), model._state_record()
    tables = model.algorithm.columns.tables(model)
    for name, (least, most) in ranges_of(model).items():
        if name in record.dtype.names:
            values = record[name]
        elif name == "per_vector":
            values = block.per_vector[:, :count]
        else:
            values = tables.get(name, least)
        if not np.all((values >= least) & (values <= most)):
            raise damaged(f"its {name} is out of range")
    if isinstance(model, BudgetModel):
        _check_vectors(model, count)
    try:
        model.algorithm.files.check(model, count)
    except ValueError as error:
        raise damaged(str(error)) from None


def _check_vectors(model: Any, count: int) -> None:
    """Check that arrival numbers differ, and that the norms are those of the vectors."""
    block = memory.views(model._block)
    arrivals = block.arrivals[:count]
    if count and not 0 <= arrivals.min() <= arrivals.max() < block.head.arrived:
        raise damaged("an arrival number of its vectors is out of range")
    if len(np.unique(arrivals)) < count:
        raise damaged("two of its vectors have the same arrival number")
    if block.head.kernel == Kernel.CUSTOM:  # norms are values of a user's function
        if not (np.abs(block.norms[:count]) <= BOUND).all():
            raise damaged("its norms are out of range")
        return
    laplacian, norms = block.head.kernel == Kernel.LAPLACIAN, block.norms[:count]
    with np.errstate(over="ignore", invalid="ignore"):
        table = block.vectors[:, :count]
        expected = np.abs(table).sum(0) if laplacian else np.einsum("ij,ij->j", table, table)
        near = np.abs(norms - expected) <= NORM_ROUNDING * expected + np.finfo(float).tiny
    if not (near | (norms == expected)).all():
        raise damaged("its norms are not those of its vectors")
