"""Problems of a stream that a pass detects and reports to the user, each once per model.

A bit in head.alarm is a warning that is due: the pass stops before the next example, and Python issues the
warning (messages/stream_warnings.py). The bits of head.said are the warnings issued so far.
"""

from __future__ import annotations

from ..block.codes import Task
from ..compiling.jit import compiled

REGRESSION = int(Task.REGRESSION)
# bits of head.alarm
FAR_FROM_ALL, ONE_CLASS, FAR_TARGETS, DIVERGED, LONG_VECTORS, MANY_NAMES, FULL_TABLE = (
    2**bit for bit in range(7)
)
FAR_IN_A_ROW = 10  # consecutive examples whose kernel values with all vectors are 0
EXAMPLES_OF_ONE_CLASS = 1000  # from the first one on, all with the same target
EXAMPLES_BEFORE_JUDGING = 100  # examples before the size of targets is judged
# The default parameters suit targets of this size
SMALLEST_USUAL_TARGET, LARGEST_USUAL_TARGET = 0.01, 100.0
MEANS_RATE = 0.01  # weight of the newest example in the running means
DIVERGED_TIMES = 10.0  # a model whose error is so many times that of predicting 0 has diverged


@compiled
def check_target(model, score, y):
    """Check the target and the first score of an example for warnings. Modifies the header."""
    head = model.head
    if head.task == REGRESSION:
        _check_size(model, abs(y), abs(y - score))
    elif head.judged <= EXAMPLES_OF_ONE_CLASS:
        if head.judged == 1:
            head.first_target = y
        if head.equal == head.judged - 1 and y == head.first_target:
            head.equal = head.judged
            if head.equal == EXAMPLES_OF_ONE_CLASS:
                head.alarm |= ONE_CLASS & ~head.said


@compiled
def _check_size(model, size, error):
    """Update the running means of |target| and |error|, and raise the alarms of regression.

    Modifies the header.
    """
    head = model.head
    rate = MEANS_RATE if head.target_size > 0.0 else 1.0
    head.target_size += rate * (size - head.target_size)
    head.error_size += rate * (error - head.error_size)
    usual = (
        head.target_size == 0.0 or SMALLEST_USUAL_TARGET <= head.target_size <= LARGEST_USUAL_TARGET
    )
    if head.judged == EXAMPLES_BEFORE_JUDGING and not usual:
        head.alarm |= FAR_TARGETS & ~head.said
    if (
        head.judged > 2 * EXAMPLES_BEFORE_JUDGING
        and head.error_size > DIVERGED_TIMES * head.target_size
    ):
        head.alarm |= DIVERGED & ~head.said


@compiled
def far_from_all(model):
    """Whether all kernel values in model.row are 0, for the FAR_IN_A_ROW-th example in a row.

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
    if head.vanished < FAR_IN_A_ROW:
        return False
    head.alarm |= FAR_FROM_ALL & ~head.said
    return True
