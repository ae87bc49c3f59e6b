"""Numerical limits that all kernels share, and the columns that loops over the support run over."""

from __future__ import annotations

from ..compiling.jit import REORDERED, compiled
from .codes import Kernel

RBF, LAPLACIAN = int(Kernel.RBF), int(Kernel.LAPLACIAN)
POLYNOMIAL, LINEAR, CUSTOM = int(Kernel.POLYNOMIAL), int(Kernel.LINEAR), int(Kernel.CUSTOM)
# The kernels that kernel_row computes; a model with another one is refused when it is loaded
KERNELS = (RBF, LAPLACIAN, POLYNOMIAL, LINEAR, CUSTOM)
FARTHEST = 1e9  # the largest value of gamma times a squared distance, also for an overflowed one
HUGE = 1e300  # if the norm of an example is below it, all its features are finite
BOUND = 1e100  # kernels without a bound of their own have their values clamped to it
LEAST = 1e-60  # a vector with a smaller squared length counts as zero
# From this value of gamma times a squared norm on, distances are sums of squared differences:
# cancellation in |v|^2 + |x|^2 - 2 <v, x> would lose their digits. (The other vector is as long, or so
# far away that its kernel value is 0.)
CANCELS = 1e4
# The same limit for products in float32, which are then computed in float64; and a norm from which they
# could overflow
CANCELS_NARROW, LARGEST_NARROW_NORM = 16.0, 1e20


@compiled(always_inlined=True)
def padded_count(model):
    """The number of support vectors, rounded up to a multiple of eight.

    A scalar tail of a vectorised loop costs more than one more iteration. The columns beyond the support have
    coefficients 0.
    """
    return (model.head.count + 7) & ~7


@compiled(always_inlined=True)
def cancels(model, norm):
    """Whether distances between vectors of this norm must be sums of squared differences (see CANCELS)."""
    head = model.head
    if head.narrow:
        return head.gamma * norm > CANCELS_NARROW or norm > LARGEST_NARROW_NORM
    return head.gamma * norm > CANCELS


@compiled(fastmath=REORDERED)
def log_of_distance(distance, gamma):
    """-gamma distance, where a distance that rounding made negative counts as 0.

    An overflowed distance stays infinite or NaN, for which exp_of returns 0.
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
