"""Problems with a stream that a pass detects and the user should know of, each reported once in the life of a model.

A bit in head.alarm is a warning that is due: the pass stops before the next example, and Python issues the warning
(model/stream_warnings.py). The bits of head.said are the warnings issued so far.
"""

from __future__ import annotations

from ..block.codes import Task
from ..compiling.jit import compiled

REGRESSION = int(Task.REGRESSION)
FAR_FROM_ALL, ONE_CLASS, FAR_TARGETS, DIVERGED, MANY_NAMES = 1, 2, 4, 8, 16  # bits
MANY_FAR = 10  # consecutive examples whose kernel values with all vectors are 0
MANY_OF_ONE = 1000  # first examples that all have the same target
SETTLED = 100  # examples before the size of targets is judged
LEAST_SIZE, MOST_SIZE = 0.01, 100.0  # sizes of targets that the default parameters are made for
RATE = 0.01  # of the exponential running means
WORSE = 10.0  # a model with so many times the error of predicting 0 has diverged


@compiled
def watch(model, score, y):
    """Check the target and the first score of an example for warnings. Modifies the header."""
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
    """Update the running means of |target| and |error|, and raise the alarms of regression. Modifies the header."""
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
    """Whether the kernel row in model.row is 0 throughout, for the FAR_IN_A_ROW-th example in a row.

    Then the features are probably not scaled, and a warning is due. Modifies head.vanished and head.alarm.
    """
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
