"""The experts over one memory, before a loss makes opinions of their scores
(examples/auto_kernel.md, Experts).

OWN          the prior, or the last target: of the loss alone
QUICK, SLOW  linear models by AdaGrad, with two rates; SQUARES one by recursive least squares
             (linear_models.py)
BINS         random binning (binning.py)
NEAR         the vote of the nearest rows of the memory (memory.py)
KERNEL       kernel gradient descent on the rows of the memory (metric.py)
FAR          the vote of the nearest rows of memory and archive (archive.py)
"""

from __future__ import annotations

import numpy as np

from ...compiling import inlined, inner
from ...expansion.kernels import padded
from ...numerics import dot
from .archive import MANY_COLUMNS, MORE_STEPS, STEPS, archive_row, find_far, hold
from .binning import bin_scores, find_cells, join_bins
from .linear_models import N_RATES
from .memory import find_nearest, note_facts
from .metric import compute_distances, kernel_scores
from .scaling import scale
from .tables import (
    ARRIVAL,
    BINS,
    CELL,
    HARD,
    IMPORTANCE,
    IN_ARCHIVE,
    KERNEL,
    ORIENTATION,
    PLACE,
    QUICK,
    RAW,
    SCALED,
    SQUARED_ERROR,
    WIDE,
)

SOFTNESS = 8.0  # beta of both votes; with few classes that of the far one is TRAINED (log_loss.py)
HEAVIEST_EXAMPLE = 1e3


# Results of a prediction, which learning the same row next need not compute again. They stay on the
# desk, with the row and the version of the model: the number of rounds that it had learned, plus 1.
# For another row, or a model that has learned since, they are computed again.


@inner
def is_predicted(state, found, raw, x):
    """Whether the desk holds the results for this row and this state of the model."""
    different, first = 0, state.means
    if found.version == state.rounds + 1.0:
        for f in range(state.features - first):
            different += raw[first + f] != x[f]
        return different == 0
    return False


@inlined
def consult_models(state, features, models, row, hits, scores, x):
    """Scale the row, and write the scores of experts that need no memory. Returns how many features
    have varied.
    """
    wide, raw, first = row[WIDE], row[RAW], state.means
    for f in range(state.features - first):
        raw[first + f] = x[f]
    varying = scale(features.moments, row, state.features, state.rounds)
    for c in range(scores.shape[1]):
        for u in range(N_RATES):
            scores[QUICK + u, c] = dot(wide, models.linear[N_RATES * c + u], wide.shape[0])
    find_cells(models.slots, row[SCALED], hits)
    bin_scores(models.cells, hits[CELL], scores[BINS])
    return varying


@inlined
def consult_memory(memory, state, metric, archive, search, row, varying, opinions):
    """Write the scores of the kernel, and the neighbours."""
    distances, near, found = search.distances, search.near, opinions.found[0]
    weights, x, scores = metric[IMPORTANCE], row[SCALED], opinions.scores
    n, d, count = padded(memory.head[0].count), state.features, memory.head[0].count
    compute_distances(memory.vectors, weights, x, distances, n, d)
    kernel_scores(
        memory.coefficients, distances, search.kernels, search.places, n, varying, scores[KERNEL]
    )
    found.near = find_nearest(distances, count, search.kernels, search.places, near)
    numbers, places = memory.facts[IN_ARCHIVE], near[PLACE]
    for k in range(found.near):
        note_facts(near, k, numbers[np.int64(places[k])], archive.facts)
    steps = MORE_STEPS if scores.shape[1] >= MANY_COLUMNS else STEPS
    found.far = find_far(archive, search, weights, x, found.near, d, steps)


# Learning


@inlined
def store(memory, state, archive, far, row, opinions, target, hard, w, squared_error, kernel_rate):
    """Store the row in memory and archive, with its coefficients in the kernel, the errors times a
    rate. A hard row that is overwritten moves to the other half of the memory.
    """
    facts, vectors, coefficients = memory.facts, memory.vectors, memory.coefficients
    head, place, errors = memory.head[0], state.recent_place, opinions.errors[KERNEL]
    recent = head.budget - head.budget // 2
    if place < head.count:
        other = recent + state.hard_place
        if facts[HARD, place] == 0.0 or head.budget == recent:
            hold(archive.held, np.int64(facts[IN_ARCHIVE, place]))
        else:
            if other < head.count:
                hold(archive.held, np.int64(facts[IN_ARCHIVE, other]))
            move_column(vectors, place, other)
            move_column(coefficients, place, other)
            move_column(facts, place, other)
            head.count = max(head.count, other + 1)
            state.hard_place = (state.hard_place + 1) % (head.budget - recent)
    head.count = max(head.count, place + 1)
    state.recent_place = (place + 1) % recent
    number = archive_row(archive, state, row[SCALED], target, w, far, opinions.found[0].far)
    facts[IN_ARCHIVE, place], facts[HARD, place] = number, hard
    facts[ARRIVAL, place], facts[SQUARED_ERROR, place] = state.rounds, squared_error
    for c in range(errors.shape[0]):
        coefficients[c, place] = kernel_rate * errors[c]
    for f in range(state.features):
        vectors[f, place] = row[SCALED, f]


@inner
def move_column(table, place, other):
    """Overwrite a column of a table with another one."""
    for i in range(table.shape[0]):
        table[i, other] = table[i, place]


@inlined
def keep_moments(state, features, models, row):
    """Take over the moments of the present row. Bins look at features that begin to vary with
    it.
    """
    moments = features.moments
    for f in range(state.features):
        if row[ORIENTATION, f] != 0.0 and moments[ORIENTATION, f] == 0.0:
            join_bins(models.slots, models.cells, f, features.keys[f])
        for k in range(moments.shape[0]):
            moments[k, f] = row[k, f]
