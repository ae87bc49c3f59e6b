"""The loss, the direction of the gradient step, and whether the prediction was wrong, from scores and target.

A step adds a multiple of k(x, .) to the outputs `plus` (added) and `minus` (subtracted, -1: none):
    binary       sign = y           plus = 0   minus = -1     loss = 1 - y f
    multi-class  sign = 1           plus = y   minus = s      loss = 1 - (f_y - f_s)
    regression   sign = sign(y - f) plus = 0   minus = -1     loss = |y - f| - epsilon
with s the first of the other classes with the highest score (Crammer and Singer's runner-up).
"""

from __future__ import annotations

import numpy as np

from ..block.codes import Task
from ..block.limits import LONGEST_STEP
from ..compiling.jit import compiled

BINARY, MULTICLASS, REGRESSION = int(Task.BINARY), int(Task.MULTICLASS), int(Task.REGRESSION)


@compiled(always_inlined=True)
def loss_and_direction(model, scores, target, epsilon):
    """(loss, sign, plus, minus); the loss is not truncated at 0."""
    task = model.head.task
    if task == BINARY:
        return 1.0 - target * scores[0], target, 0, -1
    if task == MULTICLASS:
        y = np.int64(target)
        s = runner_up(scores, y)
        return 1.0 - (scores[y] - scores[s]), 1.0, y, s
    residual = target - scores[0]
    return abs(residual) - epsilon, 1.0 if residual >= 0.0 else -1.0, 0, -1


@compiled
def runner_up(scores, y):
    """The first output other than y with the highest score."""
    best = 1 if y == 0 else 0
    for r in range(best + 1, scores.shape[0]):
        if r != y and scores[r] > scores[best]:
            best = r
    return best


@compiled(always_inlined=True)
def squared_length(minus):
    """|direction|^2"""
    return 2.0 if minus >= 0 else 1.0


@compiled(always_inlined=True)
def mistaken(model, scores, loss, sign, plus, minus):
    """Whether the prediction is wrong; in regression, whether the loss is positive."""
    task = model.head.task
    if task == BINARY:
        return (scores[0] >= 0.0) != (sign > 0.0)
    if task == MULTICLASS:  # the first of equal highest scores is predicted
        return scores[minus] > scores[plus] or (scores[minus] == scores[plus] and minus < plus)
    return loss > 0.0


@compiled(always_inlined=True)
def clamp_step(step):
    """A step of at most LONGEST_STEP, for steps that do more than go into coefficients (`add_to` clamps those)."""
    return min(step, LONGEST_STEP)


@compiled(always_inlined=True)
def step_length(model, loss, epsilon):
    """The length of a gradient step: the residual in regression (squared loss), else 1."""
    return loss + epsilon if model.head.task == REGRESSION else 1.0


@compiled(always_inlined=True)
def clipped(length, clip):
    """The length of a step, limited to `clip` (Huber's loss) if `clip` is positive."""
    return clip if 0.0 < clip < length else length
