"""The experts over one memory, before a loss makes opinions of their scores (examples/auto_kernel.md, Experts).

OWN          the prior, or the last target: of the loss alone
QUICK, SLOW  linear models by AdaGrad, with two rates; SQUARES one by recursive least squares (linear_models.py)
BINS         random binning (binning.py)
NEAR         the vote of the nearest rows of the memory (memory.py)
KERNEL       kernel gradient descent on the rows of the memory (metric.py)
FAR          the vote of the nearest rows of memory and archive (archive.py)
"""

from __future__ import annotations

import numpy as np

from ...compiling import inlined, inner
from ...expansion.kernels import padded
from .archive import MANY_COLUMNS, MORE_STEPS, STEPS, archive_row, find_far, hold
from .binning import bin_scores, find_cells, join_bins
from .linear_models import N_RATES, linear_scores
from .memory import find_nearest, note_facts, recent_places
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
    PLAIN,
    QUICK,
    SCALED,
    SQUARED_ERROR,
    WIDE,
)

SOFTNESS = 8.0  # beta of both votes; with few classes that of the far one is TRAINED (log_loss.py)
HEAVIEST_EXAMPLE = 1e3


# Results of a prediction, which learning the same row next need not compute again. They stay on the desk, with the
# row and the version of the model: the number of rounds that it had learned, plus 1. For another row, or a model that has
# learned since, they are computed again.


@inner
def is_predicted(state, found, raw, x):
    """Whether the desk holds the results for this row and this state of the model."""
    different = 0
    if found.version == state.rounds + 1.0:
        for f in range(state.features):
            different += raw[f] != x[f]
        return different == 0
    return False


@inlined
def consult_models(state, features, models, row, hits, scores, x):
    """Scale the row, and write the scores of experts that need no memory. Returns how many features have varied."""
    scaled, wide = row[SCALED], row[WIDE]
    varying = scale(features.moments, row, x, state.features, state.rounds)
    for u in range(N_RATES):
        linear_scores(models.linear, N_RATES, u, wide, scores[QUICK + u])
    if state.second_order >= 0:
        linear_scores(models.squares, 1, 0, wide, scores[PLAIN])
    find_cells(models.slots, scaled, hits)
    bin_scores(models.cells, hits[CELL], scores[BINS])
    return varying


@inlined
def consult_memory(m, state, metric, archive, search, row, varying, opinions):
    """Write the scores of the kernel, and the neighbours. Overwrites m.row, m.logs and m.buffer."""
    count, distances, near, found = m.head[0].count, m.row, search.near, opinions.found[0]
    weights, x, scores = metric[IMPORTANCE], row[SCALED], opinions.scores
    n, d, steps = padded(count), state.features, STEPS
    compute_distances(m.vectors, weights, x, distances, n, d)
    kernel_scores(m.coefficients, distances, m.logs, n, varying, scores[KERNEL])
    found.near = find_nearest(distances, count, m.logs, m.buffer, m.per_vector[IN_ARCHIVE], near)
    if scores.shape[1] >= MANY_COLUMNS:
        steps = MORE_STEPS
    found.far = find_far(archive, search, weights, x, found.near, d, steps)
    note_facts(near, found.near, archive.facts)
    note_facts(search.far, found.far, archive.facts)


# Learning


@inlined
def store(m, state, archive, far, row, opinions, target, hard, w, squared_error, kernel_rate):
    """Store the row in memory and archive, with its coefficients in the kernel, the errors times a rate. A hard row that is
    overwritten moves to the other half of the memory."""
    memory, head, place, errors = (
        m.per_vector,
        m.head[0],
        state.recent_place,
        opinions.errors[KERNEL],
    )
    recent = recent_places(head)
    if place < head.count:
        if memory[HARD, place] != 0.0 and head.budget > recent:
            move_to_hard(m, state, archive.held, place, recent + state.hard_place)
            state.hard_place = (state.hard_place + 1) % (head.budget - recent)
        else:
            hold(archive.held, np.int64(memory[IN_ARCHIVE, place]))
    head.count = max(head.count, place + 1)
    state.recent_place = (place + 1) % recent
    number = archive_row(archive, state, row[SCALED], target, w, far, opinions.found[0].far)
    memory[IN_ARCHIVE, place], memory[HARD, place] = number, 1.0 if hard else 0.0
    memory[ARRIVAL, place], memory[SQUARED_ERROR, place] = state.rounds, squared_error
    for c in range(errors.shape[0]):
        m.coefficients[c, place] = kernel_rate * errors[c]
    for f in range(state.features):
        m.vectors[f, place] = row[SCALED, f]


@inlined
def move_to_hard(m, state, held, place, other):
    """Move a row from the recent half of the memory to the place `other` in the hard half, over what is there."""
    head, memory = m.head[0], m.per_vector
    if other < head.count:
        hold(held, np.int64(memory[IN_ARCHIVE, other]))
    for f in range(state.features):
        m.vectors[f, other] = m.vectors[f, place]
    for c in range(m.coefficients.shape[0]):
        m.coefficients[c, other] = m.coefficients[c, place]
    for k in range(memory.shape[0]):
        memory[k, other] = memory[k, place]
    head.count = max(head.count, other + 1)


@inlined
def keep_moments(state, features, models, row):
    """Take over the moments of the present row. Bins look at features that begin to vary with it."""
    for f in range(state.features):
        if row[ORIENTATION, f] != 0.0 and features.moments[ORIENTATION, f] == 0.0:
            join_bins(models.slots, models.cells, f, features.keys[f])
        for k in range(features.moments.shape[0]):
            features.moments[k, f] = row[k, f]
