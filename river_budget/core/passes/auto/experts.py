"""The experts over one memory, before a loss makes opinions of what they say.

OWN          the prior, or the last target: of the loss alone
QUICK, SLOW  linear models by AdaGrad, with two rates; SQUARES one by recursive least squares (linear_models.py)
BINS         random binning (binning.py)
NEAR         the vote of the nearest rows of the memory (memory.py)
KERNEL       kernel gradient descent on the rows of the memory (metric.py)
FAR          the vote of the nearest rows of memory and archive (archive.py)
"""

from __future__ import annotations

import numpy as np

from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.call import row_of
from .archive import archive_row, find_far, hold
from .binning import bin_scores, join_bins
from .linear_models import N_RATES, linear_scores
from .memory import find_nearest, recent_places
from .metric import compute_distances, kernel_scores
from .scaling import scale
from .tables import BINS, KERNEL, QUICK, desk_of, found_of, memory_of, room_of, state_at

SOFTNESS = 8.0  # beta of both votes; with few classes that of the far one is TRAINED (log_loss.py)
HEAVIEST_EXAMPLE = 1e3
ZERO, ONE = np.int64(0), np.int64(1)


# Results of a prediction, which learning the same row next need not compute again. They stay on the desk, with the
# row and the version of the model: the number of rounds that it had learned, plus 1. For another row, or a model that has
# learned since, they are computed again. The desk lies in scratch space, not in the model: code that gives the space to
# another model clears `model.note` (model/calls.py).


@compiled
def is_predicted(model, state, x):
    """Whether the desk holds the results for this row and this state of the model."""
    raw, different = desk_of(model).raw, 0
    if found_of(model).version != state.rounds + 1.0:
        return False
    for f in range(state.features):
        different += raw[f] != x[f]
    return different == 0


@shared(Need.AUTO, NOTHING, MODEL, NUMBERS)
def consult_experts(model, x):
    """Scale the row, and write what follows from it: scores of the experts that have some, to desk.scores and
    desk.squares, and the neighbours of those that vote, to desk.near and desk.far."""
    state, room, desk, found = (
        state_at(model.state),
        room_of(model),
        desk_of(model),
        found_of(model),
    )
    scores, row = desk.scores, desk.wide
    d = scale(model, state, x)
    for u in range(N_RATES):
        linear_scores(row, room.linear_weights, N_RATES, u, row_of(scores, QUICK + u))
    if state.second_order >= 0:
        linear_scores(row[: desk.gain.shape[0]], room.least_squares, ONE, ZERO, desk.squares)
    bin_scores(model, desk.scaled, row_of(scores, BINS))
    compute_distances(model, state, desk.scaled)
    kernel_scores(model, d, row_of(scores, KERNEL))
    near = find_nearest(model)
    found.near, found.far = near, find_far(model, state, near)


@compiled
def store(model, state, target, hard, w, squared_error, kernel_rate):
    """Store the row in memory and archive, with its coefficients in the kernel, and take its features over: bins look at
    those that begin to vary with it. A hard row that is overwritten moves to the other half of the memory."""
    desk, memory, head, old = (desk_of(model), memory_of(model), model.head, room_of(model).moments)
    place, recent, new = state.recent_place, recent_places(model), desk.new_moments
    full = place < head.count
    if full and memory.hard[place] != 0.0 and head.budget > recent:
        other = recent + state.hard_place
        if other < head.count:
            hold(model, np.uint64(memory.row[other]))
        for f in range(state.features):
            model.vectors[f, other] = model.vectors[f, place]
        for c in range(model.coefficients.shape[0]):
            model.coefficients[c, other] = model.coefficients[c, place]
        for k in range(model.per_vector.shape[0]):
            model.per_vector[k, other] = model.per_vector[k, place]
        head.count = max(head.count, other + 1)
        state.hard_place = (state.hard_place + 1) % (head.budget - recent)
    elif full:
        hold(model, np.uint64(memory.row[place]))
    head.count = max(head.count, place + 1)
    state.recent_place = (place + 1) % recent
    memory.row[place] = archive_row(model, state, target, w)
    memory.hard[place] = 1.0 if hard else 0.0
    memory.arrival[place], memory.squared_error[place] = state.rounds, squared_error
    for c in range(desk.errors.shape[1]):
        model.coefficients[c, place] = kernel_rate * desk.errors[KERNEL, c]
    for f in range(state.features):
        model.vectors[f, place] = desk.scaled[f]
        if new.orientation[f] != 0.0 and old.orientation[f] == 0.0:
            join_bins(model, f)
    for f in range(state.features):
        old.mean[f], old.variance[f] = new.mean[f], new.variance[f]
        old.orientation[f] = new.orientation[f]
