"""The loss, the direction of the gradient step, and whether the prediction was wrong, from scores
and target.

A step adds a multiple of k(x, .) to the outputs `plus` (added) and `minus` (subtracted, -1: none):
    binary       sign = y           plus = 0   minus = -1     loss = 1 - y f
    multi-class  sign = 1           plus = y   minus = s      loss = 1 - (f_y - f_s)
    regression   sign = sign(y - f) plus = 0   minus = -1     loss = |y - f| - epsilon
with s the first of the other classes with the highest score (Crammer and Singer's runner-up).
"""

from __future__ import annotations

import numpy as np

from ..codes import Task
from ..compiling import inner
from ..expansion.support import LONGEST_STEP

BINARY, MULTICLASS, REGRESSION = int(Task.BINARY), int(Task.MULTICLASS), int(Task.REGRESSION)


@inner
def loss_and_direction(head, f, y, epsilon):
    """(loss, sign, plus, minus) for the scores f and the target y. The loss is not truncated at 0;
    a step that lowers it is `add_to(m, j, plus, minus, sign * length)`.
    """
    if head.task == BINARY:
        return 1.0 - y * f[0], y, 0, -1
    if head.task == REGRESSION:
        return abs(y - f[0]) - epsilon, 1.0 if y >= f[0] else -1.0, 0, -1
    plus = np.int64(y)
    minus = 1 if plus == 0 else 0
    for r in range(minus + 1, f.shape[0]):
        minus = r if r != plus and f[r] > f[minus] else minus
    return 1.0 - (f[plus] - f[minus]), 1.0, plus, minus


@inner
def squared_length(minus):
    """|direction|^2"""
    return 2.0 if minus >= 0 else 1.0


@inner
def is_mistake(head, f, loss, sign, plus, minus):
    """Whether the prediction is wrong; in regression, whether the loss is positive."""
    if head.task == BINARY:
        return (f[0] >= 0.0) != (sign > 0.0)
    if head.task == MULTICLASS:  # the first of equal highest scores is predicted
        return f[minus] > f[plus] or (f[minus] == f[plus] and minus < plus)
    return loss > 0.0


@inner
def clamp_step(step):
    """A step of at most LONGEST_STEP, for steps that do more than go into coefficients (`add_to`
    clamps those).
    """
    return min(step, LONGEST_STEP)


@inner
def step_length(head, loss, epsilon):
    """The length of a gradient step: the residual in regression (squared loss), else 1."""
    return loss + epsilon if head.task == REGRESSION else 1.0


@inner
def clipped(length, clip):
    """The length of a step, limited to `clip` (Huber's loss) if `clip` is positive."""
    return clip if 0.0 < clip < length else length
