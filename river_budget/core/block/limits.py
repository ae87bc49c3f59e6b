"""What holds for all kernels: which there are, how far numbers may go, and which columns are worked on."""

from __future__ import annotations

from ..compiling.jit import REORDERED, compiled
from .codes import Kernel

RBF, LAPLACIAN = int(Kernel.RBF), int(Kernel.LAPLACIAN)
POLYNOMIAL, LINEAR, CUSTOM = int(Kernel.POLYNOMIAL), int(Kernel.LINEAR), int(Kernel.CUSTOM)
KERNELS = (
    RBF,
    LAPLACIAN,
    POLYNOMIAL,
    LINEAR,
    CUSTOM,
)  # those that kernel_row knows; models of others are refused
FARTHEST = 1e9  # a squared distance times gamma, also where it has overflowed
HUGE = 1e300  # all features of an example with a norm below it are finite
BOUND = 1e100  # of the values of kernels that have no bound of their own
LEAST = 1e-60  # below this squared length a vector counts as zero
# a norm times gamma, from which distances come from differences: |v|^2 + |x|^2 - 2 <v, x> would lose what they have in
# common. A vector with a smaller norm is so far away that its kernel value is 0
CANCELS = 1e4
# The same for products in float32, which are computed in float64 then; and a norm from which on they could overflow
CANCELS_NARROW, TOO_LONG = 16.0, 1e20


@compiled(always_inlined=True)
def padded_count(model):
    """The number of columns to work on: the support, filled up to whole vectors of eight, as a loop's
    odd rest costs more than a round of it. The columns beyond the support have coefficients 0."""
    return (model.head.count + 7) & ~7


@compiled(always_inlined=True)
def cancels(model, norm):
    """Whether the distance of x from vectors of such norms must come from differences."""
    head = model.head
    if head.narrow:
        return head.gamma * norm > CANCELS_NARROW or norm > TOO_LONG
    return head.gamma * norm > CANCELS


@compiled(fastmath=REORDERED)
def log_of_distance(distance, gamma):
    """-gamma distance, where a rounding error below 0 counts as 0. An overflow stays what it is, infinite
    or NaN, and exp_of makes a 0 of it."""
    return -gamma * (0.0 if distance < 0.0 else distance)


@compiled(always_inlined=True)
def observed_distance(log):
    """The distance, times gamma, of which the logarithm of a kernel value speaks."""
    return -log if log > -FARTHEST else FARTHEST


@compiled(always_inlined=True)
def within(value, limit):
    """The value, or the nearest limit."""
    return limit if value > limit else -limit if value < -limit else value
