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
    MEAN,
    ORIENTATION,
    PLACE,
    PLAIN,
    QUICK,
    ROW,
    SCALED,
    SQUARED_ERROR,
    VARIANCE,
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
def consult_experts(m, state, room, desk, x):
    """Scale the row, and write what follows from it: scores of the experts that have some, and the neighbours of those
    that vote. Overwrites m.row, m.logs and m.buffer."""
    scores, found, d, n = desk.scores, desk.found[0], state.features, padded(m.head[0].count)
    scaled, wide, weights = desk.features[SCALED], desk.features[WIDE], room.metric[IMPORTANCE]
    varying = scale(room.moments, desk.features, x, d, state.rounds)
    for u in range(N_RATES):
        linear_scores(room.linear.weights, N_RATES, u, wide, scores[QUICK + u])
    if state.second_order >= 0:
        linear_scores(room.squares.weights, 1, 0, wide, scores[PLAIN])
    find_cells(room.bins.slots, scaled, desk.hits)
    bin_scores(room.bins.cells, desk.hits[CELL], scores[BINS])
    compute_distances(m.vectors, weights, scaled, m.row, n, d)
    kernel_scores(m.coefficients, m.row, m.logs, n, varying, scores[KERNEL])
    near = find_nearest(m.row, m.head[0].count, m.logs, m.buffer, desk.near)
    for k in range(near):
        desk.near[ROW, k] = m.per_vector[IN_ARCHIVE, np.int64(desk.near[PLACE, k])]
    steps = MORE_STEPS if scores.shape[1] >= MANY_COLUMNS else STEPS
    found.near, found.far = near, find_far(room.archive, desk, weights, near, d, steps)
    note_facts(desk.near, near, room.archive.facts)
    note_facts(desk.far, found.far, room.archive.facts)


@inlined
def store(m, state, room, desk, target, hard, w, squared_error, kernel_rate):
    """Store the row in memory and archive, with its coefficients in the kernel, and take its features over: bins look at
    those that begin to vary with it. A hard row that is overwritten moves to the other half of the memory."""
    memory, head, held, features = m.per_vector, m.head[0], room.archive.held, desk.features
    place, recent = state.recent_place, recent_places(head)
    if place < head.count:
        if memory[HARD, place] != 0.0 and head.budget > recent:
            move_to_hard(m, state, held, place, recent + state.hard_place)
            state.hard_place = (state.hard_place + 1) % (head.budget - recent)
        else:
            hold(held, np.int64(memory[IN_ARCHIVE, place]))
    head.count = max(head.count, place + 1)
    state.recent_place = (place + 1) % recent
    memory[IN_ARCHIVE, place] = archive_row(
        room.archive, state, features[SCALED], target, w, desk.far, desk.found[0].far
    )
    memory[HARD, place], memory[ARRIVAL, place] = 1.0 if hard else 0.0, state.rounds
    memory[SQUARED_ERROR, place] = squared_error
    for c in range(desk.errors.shape[1]):
        m.coefficients[c, place] = kernel_rate * desk.errors[KERNEL, c]
    for f in range(state.features):
        m.vectors[f, place] = features[SCALED, f]
        if features[ORIENTATION, f] != 0.0 and room.moments[ORIENTATION, f] == 0.0:
            join_bins(room.bins, f, room.keys[f])
    for f in range(state.features):
        room.moments[MEAN, f], room.moments[VARIANCE, f] = features[MEAN, f], features[VARIANCE, f]
        room.moments[ORIENTATION, f] = features[ORIENTATION, f]


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
