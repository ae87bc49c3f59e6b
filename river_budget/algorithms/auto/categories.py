"""Which features of AutoKernelRegressor get a column of target means, and how a model gets these columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.passes.auto import tables as core
from ...core.passes.auto.target_means import LEAST_VALUES, MOST_NAMES


def decide(model: Any) -> None:
    """After its first rows: begin anew with these columns and learn the rows again, if there are such features."""
    rows = model._table("first_rows")[:, : 2 + len(model.features)].copy()
    coded = coded_in(rows[:, 2:])
    if not coded:  # a block without the kept rows would be another one, for a few kilobytes
        model.watches = model.state_record().watches = core.DECIDED
        return
    twin = model.twin()
    twin.n_means, twin.watches = len(coded), 0
    names = twin.features.in_rows
    twin.create_block(len(coded) + len(names))
    twin._table("coded")[0] = coded
    twin.algorithm.columns.write(twin, names, range(len(names)))
    targets, weights = rows[:, 0].copy(), rows[:, 1].copy()
    twin.run_pass(rows[:, 2:].copy(), targets, weights, np.empty((len(rows), 1)))
    model.adopt(twin)


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
