"""What compiled code relies on in a model that comes from a file: that places, links and sums are
in their ranges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import SUM, rejoin
from ...core.passes.auto.linear_models import MOST_VARIANCE
from ...core.passes.auto.noise import SUM as SUM_OF_NOISE
from ...core.passes.auto.scaling import CLIP, LARGEST_VALUE
from ...core.passes.auto.squared_loss import LONGEST_STRETCH, OUTERMOST_QUANTILE
from ...core.passes.auto.target_means import MOST_KEPT
from ...inputs.features import Category
from ...model.algorithm import Files
from ...model.calls import run_once
from ...parameters import COUNT, FINITE

LARGE = 1e153  # of sums and weights, whose squares are finite
RANGES = {
    **dict.fromkeys(("rounds", "features", "recent_place", "hard_place", "archived"), COUNT),
    "second_order": (-1, core.MOST_SQUARED),
    "words": (0, 1),
    "held": COUNT,
    "means": (0, core.MOST_MEANS),
    "watches": (0, core.KEEPS),
    "residual": (0.0, 1.0),
    **dict.fromkeys(("average", "last", "lowest", "highest"), (-LARGEST_VALUE, LARGEST_VALUE)),
    **dict.fromkeys(("variance", "squared_error", "latest_error", "length"), (0.0, LARGE**2)),
    **dict.fromkeys(("apart", "blend_error"), (0.0, LARGE**2)),
    "products": (-(LARGE**2), LARGE**2),
    "absolute_error": (0.0, LARGE),
    "stretch": (-LONGEST_STRETCH, LONGEST_STRETCH),
    "per_vector": FINITE,
}


def check(model: Any, count: int) -> None:
    """Raise ValueError for a state from a file that cannot be."""
    check_tables(model)
    if model._of_words:
        check_words(model)
        return
    state, n = model._state_record(), model._n_means + len(model._features)
    squared = min(n, core.MOST_SQUARED)
    check_means(model)
    if state.second_order not in (-1, squared) or state.held or state.words:
        raise ValueError("its linear model is out of range, or it holds names")
    hard = model._budget_in_use // 2
    recent = model._budget_in_use - hard
    n_recent = min(count, recent)
    for place, n, most in (
        (state.recent_place, n_recent, recent),
        (state.hard_place, count - n_recent, hard),
    ):
        if place != (place % most if n == most > 0 else n):
            raise ValueError("the next place of its memory is out of range")
    check_memory(model, count)
    model._hold()
    names = model._features.in_rows
    model.algorithm.columns.write(model, names, range(len(names)))
    bins = model._table("bins").copy()
    run_once(model, rejoin)
    model._table("bins")[:] = bins


FILES = Files(ranges=RANGES, check=check, scored_rows=True)


def check_tables(model: Any) -> None:
    """Raise for numbers of which compiled code would take a root or a logarithm, or that
    overflow.
    """
    room, bounds = model._tables, {"moments": LARGE**2, "metric": 1e9}
    bounds |= {"covariance": 10.0 * MOST_VARIANCE}
    bounds |= dict.fromkeys(("first_rows", "values"), math.inf)  # as they came
    for name, table in model.algorithm.columns.tables(model).items():
        if float(np.abs(table).max(initial=0)) > bounds.get(name, LARGE):
            raise ValueError("some of its weights are out of range")
    metric = room["metric"]
    sums = [
        metric[core.IMPORTANCE],
        metric[core.SQUARE],
        room["linear_sums"],
        room["bins"][:, SUM:],
    ]
    more = [room["prior"], room["calibration"][core.MASS], np.diag(room["covariance"])]
    more += [room["reference"][core.UNIT], room["noise"][SUM_OF_NOISE]]
    if any((table < 0.0).any() for table in (*sums, *more)):
        raise ValueError("some of its weights or sums of squares are negative")
    if np.abs(room["moments"][core.MEAN]).max(initial=0.0) > LARGEST_VALUE:
        raise ValueError("means of its features are out of range")
    most = OUTERMOST_QUANTILE
    if (np.diff(room["quantiles"][0], prepend=-most, append=most) < 0.0).any():
        raise ValueError("the quantiles of its errors are out of range")
    if not np.isin(room["unseen"], (0.0, 1.0)).all():
        raise ValueError("the classes that it has not seen are no classes")
    if np.linalg.eigvalsh(room["mixer"][core.CURVATURE :]).min() <= 0.0:
        raise ValueError("the curvature of its mixer is not positive")


def check_means(model: Any) -> None:
    """Raise for kept rows, or sums of targets by value, that cannot be."""
    room, names = model._tables, model._features.in_rows
    counts, texts, coded = room["counts"], room["texts"], room["coded"][0]
    of_numbers, of_texts = coded[coded != core.TEXTS], 1 + np.flatnonzero(coded == core.TEXTS)
    in_use = np.flatnonzero(texts[core.COLUMN])
    good = (
        np.isin(of_numbers, np.arange(len(names))).all()
        and len(np.unique(of_numbers)) == len(of_numbers)
        and set(texts[core.COLUMN, in_use]) == set(of_texts)
        and (in_use < len(names)).all()
        and all(type(names[place]) is Category for place in in_use)
        and (counts >= 0.0).all()
        and (texts[core.NUMBER] >= 0.0).all()
        and (np.count_nonzero(counts, axis=1) <= MOST_KEPT).all()
        and all((np.abs(room[name]) <= LARGE).all() for name in ("sums", "counts", "texts"))
        and (model._watches != core.KEEPS or model._state_record().rounds <= core.FIRST_ROWS)
    )
    if not good:
        raise ValueError("what it knows of targets by value is out of range")


def check_memory(model: Any, count: int) -> None:
    """Raise for rows of memory and archive, or links between them, that cannot be."""
    block, tables = memory.views(model._block), model.algorithm.columns.tables(model)
    stored = block.per_vector
    held, errors = stored[core.IN_ARCHIVE, :count], stored[core.SQUARED_ERROR, :count]
    (targets, weights), links = tables["archived"], tables["links"]
    kept = np.arange(len(links))
    if not np.isin(links, np.arange(len(model._table("links")))).all():
        raise ValueError("the links of its archive are out of range")
    if not (np.isin(held, kept).all() and len(np.unique(held)) == count):
        raise ValueError("its examples are not in its archive")
    if not ((weights > 0.0).all() and (errors >= 0.0).all()):
        raise ValueError("weights or squared errors of its examples are out of range")
    if hasattr(model, "_labels"):
        labels = len(model._labels.known) if model._n_outputs > 1 else 2
        good = np.isin(targets, np.arange(labels))
    else:
        good = np.abs(targets) <= LARGEST_VALUE
    if not good.all():
        raise ValueError("the targets of its examples are out of range")
    if any((np.abs(rows) > CLIP).any() for rows in (tables["archive"], block.vectors)):
        raise ValueError("its examples are out of range")
    if (np.abs(block.coefficients) > LARGE).any():
        raise ValueError("its coefficients are out of range")


def check_words(model: Any) -> None:
    """Raise for names, or what a model of words knows of them, that cannot be."""
    state, room, vectors = model._state_record(), model._tables, memory.views(model._block).vectors
    names = np.vstack([room["word_bias"], vectors])
    seen, counts = names[1:, core.SEEN], names[:, core.WEIGHTS + 2 * model._n_outputs :]
    # in regression the second count is a sum of deviations
    sums = (counts, room["word_totals"]) if hasattr(model, "_labels") else (counts[:, :1],)
    good = (
        (state.words, state.second_order, state.features) == (1, -1, 0)
        and (state.recent_place, state.hard_place) == (0, 0)
        and state.held == np.count_nonzero(seen)
        and not vectors[model._features.vacant].any()
        and seen.max(initial=0.0) <= state.rounds
        and all((table >= 0.0).all() for table in (names[:, : core.WEIGHTS], *sums))
        and (np.abs(names) <= LARGEST_VALUE).all()
        and (np.abs(room["word_totals"]) <= LARGEST_VALUE).all()
    )
    if not good:
        raise ValueError("its names, or what it knows of them, are out of range")
