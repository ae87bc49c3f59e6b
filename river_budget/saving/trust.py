"""Check a model from a file for everything that compiled code assumes, before compiled code runs on it.

Compiled code uses some of these numbers as indexes and loop bounds without a check, and some loops do not end
on NaN. This file checks what all models have in common; models must check the rest (`check_restored_state`,
`check_restored_rows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.block import blocks
from ..core.block.codes import Kernel
from ..core.block.limits import BOUND
from ..model.expansions.expansion import BudgetModel
from ..model.inputs.sparse_examples import vectors_of
from .errors import SavedModelError, damaged

NORM_ROUNDING = 1e-9  # the relative error that a stored squared length may have


def check_parameters(model: Any) -> None:
    """Refuse very large values of parameters that users may set to any number."""
    for owner in (model, model.kernel_in_use, getattr(model.kernel_in_use, "kernel", None)):
        for name, limit in getattr(owner, "file_limits", {}).items():
            if getattr(owner, name) > limit:
                raise SavedModelError(f"{name} above {limit} in a file is refused")


def check_declared(model: Any) -> None:
    """Require that each integer of a record is a parameter, a constant, or checked by the model."""
    whole = {name for name in model.state_type.names if model.state_type[name].kind in "iu"}
    open_fields = whole.difference(model.parameters(), model.initial_state(), model.checked_fields)
    if open_fields:
        raise NotImplementedError(
            f"{type(model).__name__} keeps {', '.join(sorted(open_fields))} and does not say what a file may set "
            "it to: name it in checked_fields, and check it in check_restored_state"
        )


def size_of(fields: Mapping[str, Any]) -> int:
    """The bytes of a block with these header fields and of the scratch space that its passes need."""
    return blocks.block_size(fields) + blocks.scratch_size(fields)


def check_state(model: Any, count: int) -> None:
    """Check the state of a model whose block has been filled from a file."""
    check_declared(model)
    if isinstance(model, BudgetModel):
        _check_vectors(model, count)
    try:
        model.check_restored_state(count)
        if blocks.views(model.block).head.per_vector:  # models that only predict have none
            model.check_restored_rows(count)
    except ValueError as error:
        raise damaged(str(error)) from None


def _check_vectors(model: Any, count: int) -> None:
    """Check that arrival numbers differ, and that the norms are those of the vectors."""
    block = blocks.views(model.block)
    arrivals = block.arrivals[:count]
    if count and not 0 <= arrivals.min() <= arrivals.max() < block.head.arrived:
        raise damaged("its vectors have come from the future")
    if len(np.unique(arrivals)) < count:
        raise damaged("two of its vectors have come at once")
    if block.head.kernel == Kernel.CUSTOM:  # norms are values of a user's function
        if not (np.abs(block.norms[:count]) <= BOUND).all():
            raise damaged("its norms are out of range")
        return
    laplacian = block.head.kernel == Kernel.LAPLACIAN
    lists, norms = vectors_of(model.block), block.norms[:count]
    owners = np.repeat(np.arange(count), np.diff(lists.starts))
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.abs(lists.values) if laplacian else lists.values**2
        expected = np.bincount(owners, lengths, count)
        near = np.abs(norms - expected) <= NORM_ROUNDING * expected + np.finfo(float).tiny
    if not (near | (norms == expected)).all():
        raise damaged("its norms are not those of its vectors")
