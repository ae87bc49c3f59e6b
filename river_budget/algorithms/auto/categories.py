"""Which features of AutoKernelRegressor get a column of target means, and how a model gets these
columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.auto import tables as core
from ...core.passes.auto.target_means import LEAST_VALUES, MOST_NAMES


def decide(model: Any) -> None:
    """After its first rows: begin anew with these columns and learn the rows again, if there are
    such features.
    """
    rows = model._table("first_rows")[:, : 2 + len(model._features)].copy()
    coded = coded_in(rows[:, 2:])
    if not coded:  # a block without the kept rows would be another one, for a few kilobytes
        model._watches = model._state_record().watches = core.DECIDED
        return
    changed = model._snapshot()
    changed._n_means, changed._watches = len(coded), 0
    names = changed._features.in_rows
    changed._create_block(len(coded) + len(names))
    # the same as if the columns had been there from the first example on
    memory.head_of(changed._block).gamma = memory.head_of(model._block).gamma
    changed._table("coded")[0] = coded
    changed.algorithm.columns.write(changed, names, range(len(names)))
    targets, weights = rows[:, 0].copy(), rows[:, 1].copy()
    changed._run_pass(rows[:, 2:].copy(), targets, weights, np.empty((len(rows), 1)))
    model._swap_in(changed)


def coded_in(rows: Any) -> list[int]:
    """The places of features whose values may be names."""
    whole = (rows == np.round(rows)).all(axis=0)
    n = rows.shape[1]
    found: list[int] = []
    most = core.MOST_MEANS if n > core.MOST_SQUARED else min(core.MOST_MEANS, core.MOST_SQUARED - n)
    for f in np.flatnonzero(whole).tolist():
        if len(found) < most and LEAST_VALUES <= len(np.unique(rows[:, f])) <= MOST_NAMES:
            found.append(f)
    return found
