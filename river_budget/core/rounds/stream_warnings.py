"""Problems of a stream that a pass detects and reports to the user, each once per model.

A bit in head.alarm is a warning that is due: the pass stops before the next example, and Python
issues the warning (messages/stream_warnings.py). The bits of head.warned are the warnings issued so
far.
"""

from __future__ import annotations

from ..codes import Task
from ..compiling import inlined, inner

REGRESSION = int(Task.REGRESSION)
# bits of head.alarm
FAR_FROM_ALL, ONE_CLASS, FAR_TARGETS, DIVERGED, LONG_VECTORS, MANY_NAMES, FULL_TABLE = (
    2**bit for bit in range(7)
)
FAR_IN_A_ROW = 10  # consecutive examples whose kernel values with all vectors are 0
EXAMPLES_OF_ONE_CLASS = 1000  # from the first one on, all with the same target
EXAMPLES_BEFORE_JUDGING = 100  # examples before the size of targets is judged
# The default parameters suit targets of this size
SMALLEST_USUAL_TARGET, LARGEST_USUAL_TARGET = 0.01, 30.0
MEANS_RATE = 0.01  # weight of the newest example in the running means
DIVERGED_TIMES = 10.0  # a model whose error is so many times that of predicting 0 has diverged


@inner
def check_target(head, score, y):
    """Check the target and the first score of an example for warnings. Modifies the header."""
    n = head.n_examples
    if head.task != REGRESSION:
        if n == 1:
            head.first_target = y
        if n <= EXAMPLES_OF_ONE_CLASS and head.same_label_run == n - 1 and y == head.first_target:
            head.same_label_run = n
            if n == EXAMPLES_OF_ONE_CLASS:
                head.alarm |= ONE_CLASS & ~head.warned
        return
    rate = MEANS_RATE if head.target_size > 0.0 else 1.0
    head.target_size += rate * (abs(y) - head.target_size)
    head.error_size += rate * (abs(y - score) - head.error_size)
    size = head.target_size
    usual = size == 0.0 or SMALLEST_USUAL_TARGET <= size <= LARGEST_USUAL_TARGET
    if n == EXAMPLES_BEFORE_JUDGING and not usual:
        head.alarm |= FAR_TARGETS & ~head.warned
    if n > 2 * EXAMPLES_BEFORE_JUDGING and head.error_size > DIVERGED_TIMES * size:
        head.alarm |= DIVERGED & ~head.warned


@inlined
def is_far_from_all(m):
    """Whether all kernel values in m.row are 0, for the FAR_IN_A_ROW-th example in a row.

    Then the features are probably not scaled, and a warning is due. Modifies head.far_streak and
    head.alarm.
    """
    head = m.head[0]
    if head.count == 0 or head.bounded == 0 or head.warned & FAR_FROM_ALL:
        return False
    for j in range(head.count):
        if m.row[j] != 0.0:
            head.far_streak = 0
            return False
    head.far_streak += 1
    if head.far_streak < FAR_IN_A_ROW:
        return False
    head.alarm |= FAR_FROM_ALL & ~head.warned
    return True
