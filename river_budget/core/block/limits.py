"""Numerical limits that all kernels share, and the number of columns in loops over the support vectors."""

from __future__ import annotations

from ..compiling.jit import REORDERED, compiled
from .codes import Kernel

RBF, LAPLACIAN = int(Kernel.RBF), int(Kernel.LAPLACIAN)
POLYNOMIAL, LINEAR, CUSTOM = int(Kernel.POLYNOMIAL), int(Kernel.LINEAR), int(Kernel.CUSTOM)
# The kernels that kernel_row computes; a file whose model has another kernel is refused
KERNELS = (RBF, LAPLACIAN, POLYNOMIAL, LINEAR, CUSTOM)
FARTHEST = 1e9  # gamma times a squared distance is at most this, also after overflow
HUGE = 1e300  # if the norm of an example is below it, all its features are finite
LONGEST_STEP = 1e100  # steps are clamped to it: coefficients stay finite even if the model diverges
BOUND = 1e100  # values of unbounded kernels are clamped to [-BOUND, BOUND]
LEAST = 1e-60  # a vector with a smaller squared length counts as zero
# If gamma |x|^2 is larger, distances are computed as sums of squared differences, since cancellation in
# |v|^2 + |x|^2 - 2 <v, x> would lose their digits. (It is enough to look at x: v is about as long, or so far
# away that its kernel value is 0.)
CANCELS = 1e4


@compiled(always_inlined=True)
def padded_count(model):
    """The number of support vectors, rounded up to a multiple of eight.

    The scalar tail of a vectorised loop takes longer than one more iteration. Columns behind the last support
    vector have coefficients 0.
    """
    return (model.head.count + 7) & ~7


@compiled(always_inlined=True)
def cancels(model, norm):
    """Whether distances between vectors of this norm must be sums of squared differences (see CANCELS)."""
    return model.head.gamma * norm > CANCELS


@compiled(fastmath=REORDERED)
def log_of_distance(distance, gamma):
    """-gamma distance; a distance that is negative by rounding counts as 0.

    A distance that overflowed stays infinite or NaN, for which exp_of returns 0.
    """
    return -gamma * (0.0 if distance < 0.0 else distance)


@compiled(always_inlined=True)
def observed_distance(log):
    """Gamma times the squared distance, from the logarithm of a kernel value; at most FARTHEST."""
    return -log if log > -FARTHEST else FARTHEST


@compiled(always_inlined=True)
def within(value, limit):
    """The value, clamped to [-limit, limit]."""
    return limit if value > limit else -limit if value < -limit else value
