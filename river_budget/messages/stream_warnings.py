"""The warnings about a stream: texts for the alarms that passes raise
(core/rounds/stream_warnings.py).
"""

from __future__ import annotations

import pathlib
import sys
import warnings
from typing import Any

from river import compose

from ..core import memory
from ..core.rounds.stream_warnings import (
    DIVERGED,
    DIVERGED_TIMES,
    EXAMPLES_OF_ONE_CLASS,
    FAR_FROM_ALL,
    FAR_IN_A_ROW,
    FAR_TARGETS,
    FULL_TABLE,
    LONG_VECTORS,
    MANY_NAMES,
    ONE_CLASS,
)

PACKAGE = str(pathlib.Path(__file__).resolve().parent.parent)
COMPOSE = str(pathlib.Path(compose.__file__).parent)

NAMES_TIMES = 10  # so many times the features of the first example are words or categories


class StreamWarning(UserWarning):
    """A model has noticed that its stream is not what it is made for.

    All kernel values are 0, the first thousand examples were of one class, targets are not of the
    order of 1, learning has diverged, merged vectors have become so long that merging is slow, the
    table of vectors is full, the width of a kernel counts the features of a first example that had
    few of them, or a `Guard` has skipped a hundred examples in a row. Each model gives each warning
    once, and goes on learning as without it.

    Not for invalid values, which raise an error.

    Examples
    --------

    >>> import warnings
    >>> import river_budget as rb

    >>> model = rb.BSGDClassifier(kernel=rb.kernels.RBF(1.0))
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     for i in range(50):
    ...         model.learn_one({"metres": 1000.0 * i}, i % 3 == 0)
    >>> [warning.category.__name__ for warning in found]
    ['StreamWarning']

    `warnings.filterwarnings("ignore", category=rb.StreamWarning)` silences all.

    References
    ----------
    [^1]: The guide, [which kernel, and how wide](guide/choosing_a_kernel.md).

    """


# {0}: the usual size of a target
TEXTS = {
    FAR_FROM_ALL: f"the last {FAR_IN_A_ROW} examples are so far from all support vectors that every kernel value is 0, so "  # noqa: E501
    "nothing that was learned applies to them. Features of this size need a "
    "preprocessing.StandardScaler in front, or a "
    "kernel with a smaller gamma",
    FAR_TARGETS: "targets of about {0:.3g} are far from the order of one that steps and tolerances are made for. Put the "  # noqa: E501
    "model into a preprocessing.TargetStandardScaler",
    DIVERGED: f"predictions are more than {DIVERGED_TIMES:g} times as wrong as always predicting 0 would be: learning has "  # noqa: E501
    "diverged. A smaller learning_rate may help, scaled features and targets, or another model",
    LONG_VECTORS: "merged vectors have many times as many features as an example, and each merge takes time for all of "  # noqa: E501
    "them. On documents maintenance=RemoveOldest() or RemoveSmallest() is much faster, or "
    "AutoKernel",
    MANY_NAMES: "gamma='c/d' counts the features of the first example, and more than ten times as many have come since, as "  # noqa: E501
    "words or categories do. Give gamma a number: RBF(0.5 / n), where an example has about n "
    "features",
    FULL_TABLE: "the table of support vectors has reached 64 MB, so the smallest numbers in it are dropped. Fewer features "  # noqa: E501
    "(feature_extraction.FeatureHasher, rb.FeatureBudget), a smaller budget, removal instead of "
    "merging, or AutoKernel "
    "avoid this",
    ONE_CLASS: f"the first {EXAMPLES_OF_ONE_CLASS} examples were all of one class, so there was nothing to learn. Is the "  # noqa: E501
    "stream sorted, or the target the right column?",
}


def issue_warnings(model: Any) -> bool:
    """Issue the warnings for the alarms of a model; returns whether there were any. Resets
    head.alarm.
    """
    head = memory.views(model._block).head
    due = head.alarm
    if not due:
        return False
    head.alarm, head.warned = 0, head.warned | due
    for alarm, text in TEXTS.items():
        if due & alarm:
            warn(model, text.format(head.target_size))
    return True


def issue_once(model: Any, alarm: int) -> None:
    """Issue the warning for an alarm, unless the model has given it."""
    head = memory.views(model._block).head
    head.alarm |= alarm & ~head.warned
    issue_warnings(model)


def warn_of_width(model: Any) -> None:
    """Warn where a model approximates a kernel with gamma="c/d", and most features were not in the
    first example.
    """
    kernel = model._kernel_in_use
    if not isinstance(getattr(kernel, "gamma", None), str):
        return
    head = memory.views(model._block).head
    in_the_first = kernel.header_fields(1)["gamma"] / head.gamma
    if len(model._features) > NAMES_TIMES * in_the_first:
        issue_once(model, MANY_NAMES)


def warn(model: Any, text: str) -> None:
    """Give a warning, in the line of the first caller outside this package and River's
    pipelines.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith((PACKAGE, COMPOSE)):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"{type(model).__name__}: {text}", StreamWarning, stacklevel=level)
