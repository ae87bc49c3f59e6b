"""What a pass notices about its stream and the user should know. Each is noted once in the life of a model.

head.alarm is what is due: the pass stops at the next example, and Python says it (model/stream_warnings.py). head.said are the
bits of what was said already.
"""

from __future__ import annotations

from ..block.codes import Task
from ..compiling.jit import compiled

REGRESSION = int(Task.REGRESSION)
FAR_FROM_ALL, ONE_CLASS, FAR_TARGETS, DIVERGED, MANY_NAMES = 1, 2, 4, 8, 16  # bits
MANY_FAR = 10  # examples in a row that no vector is near to
MANY_OF_ONE = 1000  # examples with one target
SETTLED = 100  # examples until the size of targets is judged
LEAST_SIZE, MOST_SIZE = 0.01, 100.0  # of targets that the defaults are made for
RATE = 0.01  # of running means
WORSE = 10.0  # times the error of predicting 0 is no learning any more


@compiled
def watch(model, score, y):
    """Look at the next target and the first score that its example had."""
    head = model.head
    if head.task == REGRESSION:
        _watch_size(model, abs(y), abs(y - score))
    elif head.judged <= MANY_OF_ONE:
        if head.judged == 1:
            head.first_target = y
        if head.equal == head.judged - 1 and y == head.first_target:
            head.equal = head.judged
            if head.equal == MANY_OF_ONE:
                head.alarm |= ONE_CLASS & ~head.said


@compiled
def _watch_size(model, size, error):
    head = model.head
    rate = RATE if head.target_size > 0.0 else 1.0
    head.target_size += rate * (size - head.target_size)
    head.error_size += rate * (error - head.error_size)
    usual = head.target_size == 0.0 or LEAST_SIZE <= head.target_size <= MOST_SIZE
    if head.judged == SETTLED and not usual:
        head.alarm |= FAR_TARGETS & ~head.said
    if head.judged > 2 * SETTLED and head.error_size > WORSE * head.target_size:
        head.alarm |= DIVERGED & ~head.said


@compiled
def far_from_all(model):
    """Whether the kernel of an example, whose row is at hand, with every vector has vanished, for the
    MANY_FAR-th time in a row: a user who has not scaled the features should know."""
    head = model.head
    if head.count == 0 or head.bounded == 0 or head.said & FAR_FROM_ALL:
        return False
    for j in range(head.count):
        if model.row[j] != 0.0:
            head.vanished = 0
            return False
    head.vanished += 1
    if head.vanished < MANY_FAR:
        return False
    head.alarm |= FAR_FROM_ALL & ~head.said
    return True
