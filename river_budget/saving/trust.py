"""What compiled code takes for granted: checked before it may see a model from a file.

It trusts the numbers of a model as indexes and as counts of rounds, and it does not look for an end that
NaN would keep away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..batch_perceptron import SBPClassifier
from ..core import batch_perceptron as sbp
from ..core import block as blocks
from ..core import passive_aggressive as bpa
from ..core.codes import Kernel
from ..core.losses import LONGEST
from ..core.rows import BOUND
from ..expansion import BudgetModel
from ..kernels import Polynomial
from ..passive_aggressive import BPAClassifier
from .errors import SavedModelError

DEGREE, STEPS = 10_000, 1_000_000  # rounds of one kernel value, and after one example
LARGE = 1e200  # far beyond what the batch Perceptron gets to, and products of it do not overflow
ROUNDING = 1e-9  # of a squared length


def damaged(reason: str) -> SavedModelError:
    return SavedModelError(f"the file is damaged: {reason}")


def check_parameters(model: Any) -> None:
    """Parameters that may be any number, and are no use when they are very large."""
    if isinstance(model.kernel, Polynomial) and model.kernel.degree > DEGREE:
        raise SavedModelError(f"a polynomial of a degree above {DEGREE} in a file is refused")
    if getattr(model, "steps", 0) > STEPS:
        raise SavedModelError(f"more than {STEPS} steps for each example in a file are refused")


def size_of(fields: Mapping[str, Any]) -> int:
    """Bytes of a block with these header fields, and of the scratch space that its passes need."""
    sizes = {name: int(fields.get(name, 0)) for name in (*blocks.SIZES, "arity")}
    arity = sizes.pop("arity")
    tables = sizes["capacity"] * sum(blocks.rows_of(**sizes))
    scratch = blocks.scratch_size(sizes["capacity"], sizes["width"], sizes["outputs"], arity)
    further = int(fields.get("room", 0)) + int(fields.get("desk", 0))
    return 8 * (tables + scratch + further)


def check_state(model: Any, count: int) -> None:
    """The state of a model whose block has been filled."""
    if isinstance(model, BudgetModel):
        _check_vectors(model, count)
    try:
        model._restored(count)
    except ValueError as error:
        raise damaged(str(error)) from None
    if blocks.views(model._block).head.extras == 0:  # as in models that only predict
        return
    if isinstance(model, SBPClassifier):
        _check_window(model, count)
    elif isinstance(model, BPAClassifier):
        _check_neighbours(model, count)


def _check_vectors(model: Any, count: int) -> None:
    """Arrivals are different, and norms those of the vectors."""
    block = blocks.views(model._block)
    arrivals = block.arrivals[:count]
    if count and not 0 <= arrivals.min() <= arrivals.max() < block.head.arrived:
        raise damaged("its vectors have come from the future")
    if len(np.unique(arrivals)) < count:
        raise damaged("two of its vectors have come at once")
    laplacian = block.head.kernel == Kernel.LAPLACIAN
    vectors, norms = np.abs(block.vectors[:, :count]), block.norms[:count]
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.sum(vectors if laplacian else vectors**2, axis=0)
        near = np.abs(norms - expected) <= ROUNDING * expected + np.finfo(float).tiny
    if not (near | (norms == expected)).all():
        raise damaged("its norms are not those of its vectors")


def _check_window(model: Any, count: int) -> None:
    """A search for a water level would not end among numbers that are not finite."""
    block, own = blocks.views(model._block), model._own()
    labels, pulls = block.extras[sbp.LABELS, :count], block.extras[sbp.PULLS, :count]
    if not (np.abs(labels) == 1.0).all() or np.sum(labels > 0.0) != own.positives:
        raise damaged("its window has other labels")
    if not ((pulls >= 0.0) & (pulls <= LONGEST)).all():
        raise damaged("the weights of its window are out of range")
    if not _all_within(LARGE, block.coefficients, block.extras, own.norm2, own.bias, own.last_bias):
        raise damaged("its window is out of range")
    if not _all_within(BOUND, block.factor):
        raise damaged("its factor is out of range")


def _all_within(bound: float, *tables: Any) -> bool:
    return all((np.abs(table) <= bound).all() for table in tables)


def _check_neighbours(model: Any, count: int) -> None:
    """The places of neighbours, which are -1 for none."""
    neighbours = blocks.views(model._block).extras[bpa.NEIGHBOUR, :count]
    whole = neighbours == np.floor(neighbours)
    if not (whole & (neighbours >= -1.0) & (neighbours < count)).all():
        raise damaged("its vectors have neighbours that do not exist")
