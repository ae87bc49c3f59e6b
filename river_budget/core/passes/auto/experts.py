"""The experts over one memory, before a loss makes opinions of what they say.

OWN          the prior, or the last target: of the loss alone
QUICK, SLOW  linear models by AdaGrad, with two rates; SQUARES one by recursive least squares (linear_models.py)
BINS         random binning (binning.py)
NEAR         the vote of the nearest rows of the memory (memory.py)
KERNEL       kernel gradient descent on the rows of the memory (metric.py)
FAR          the vote of the nearest rows of memory and archive (archive.py)
"""

from __future__ import annotations

from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS, WHOLE
from ...compiling.needs import Need
from ...examples.call import row_of
from ...simd.vector_ops import LANES
from .archive import archive_row, find_far
from .binning import bin_scores, find_cells, join_new_features
from .linear_models import RATES, least_squares_scores, linear_scores, squared_row
from .memory import find_nearest, store_row
from .metric import compute_distances, kernel_scores
from .scaling import learn_moments, scale
from .tables import (
    BINS,
    KERNEL,
    QUICK,
    desk_of,
    found_of,
    state_at,
)

SOFTNESS = 8.0  # beta of both votes
HEAVIEST_EXAMPLE = 1e3


# Results of a prediction, which learning the same row next need not compute again. They stay on the desk, with the
# row and the number of rounds that the model had learned; for another row, or a model that has learned since, they are
# computed again. The desk lies in scratch space, not in the model: code that gives the space to another model clears
# `model.note` (model/calls/calls.py).


@compiled
def is_predicted(model, state, x):
    """Whether the desk holds the results for this row and this state of the model."""
    if found_of(model).version != state.rounds + 1.0:
        return False
    raw, different = desk_of(model).raw, 0
    if x.shape[0] < state.features:  # another thread has added a feature
        return False
    for f in range(state.features):
        different += raw[f] != x[f]
    return different == 0


@compiled
def mark_predicted(model, state):
    """Record that the desk holds the results for this row."""
    found_of(model).version = state.rounds + 1.0


@compiled
def linear_row(model, state):
    """x+, in whole vectors."""
    return desk_of(model).wide[: (state.features + LANES) // LANES * LANES]


@shared(Need.AUTO, NOTHING, MODEL, NUMBERS, WHOLE)
def consult_experts(model, x, far_steps):
    """Scale the row, and write what follows from it: scores of the experts that have some, to desk.scores and
    desk.squares, and the neighbours of those that vote, to desk.near and desk.far."""
    state, desk, found = state_at(model.state), desk_of(model), found_of(model)
    scores = desk.scores
    d = scale(model, state, x)
    row = linear_row(model, state)
    for u in range(len(RATES)):
        linear_scores(model, u, row, row_of(scores, QUICK + u))
    if state.second_order >= 0:
        least_squares_scores(model, squared_row(state, row), desk.squares)
    find_cells(model, desk.scaled)
    bin_scores(model, row_of(scores, BINS))
    compute_distances(model, state, desk.scaled)
    kernel_scores(model, d, row_of(scores, KERNEL))
    near = find_nearest(model)
    found.near, found.far = near, find_far(model, state, near, far_steps)


@compiled
def store(model, state, target, hard, w, squared_error, kernel_rate):
    """Store the row in memory and archive, with its coefficients in the kernel, and take its features over."""
    desk, far = desk_of(model), int(found_of(model).far)
    errors, scaled = row_of(desk.errors, KERNEL), desk.scaled
    place = store_row(model, state, scaled, target, hard, w, squared_error)
    archive_row(model, state, desk.far, far, scaled, target, w)
    for c in range(errors.shape[0]):
        model.coefficients[c, place] = kernel_rate * errors[c]
    join_new_features(model, state)
    learn_moments(model, state)
