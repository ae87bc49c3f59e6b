"""Small integers by which kernels, tasks and maintenance reach the compiled layer."""

from __future__ import annotations

import enum


class Task(enum.IntEnum):
    """What the scores are for."""

    BINARY = 0  # one output, targets -1 and +1
    MULTICLASS = 1  # one output per class, targets are column numbers
    REGRESSION = 2  # one output, targets are numbers


class Kernel(enum.IntEnum):
    """k(a, b)."""

    RBF = 0
    LAPLACIAN = 1
    POLYNOMIAL = 2
    LINEAR = 3
    CUSTOM = 4


class Maintenance(enum.IntEnum):
    """How a full model makes room."""

    REMOVE_OLDEST = 0
    REMOVE_RANDOM = 1
    REMOVE_SMALLEST = 2
    PROJECT = 3
    MERGE = 4


class Strategy(enum.IntEnum):
    """Which pass a maintenance needs: compiled with one of these as a constant, a pass leaves out the rest."""

    REMOVE = 0  # removing vectors
    PAIRS = 1  # merging pairs
    MANY = 2  # merging more than two at once
    FACTOR = 3  # projecting, with a factor of the Gram matrix


class Method(enum.IntEnum):
    """How more than two vectors become one."""

    CASCADE = 0
    GRADIENT = 1


class Choice(enum.IntEnum):
    """Which vector is projected on the others."""

    SMALLEST = 0
    BEST = 1


class Objective(enum.IntEnum):
    """What the place of a merged vector optimises."""

    DEGRADATION = 0
    EQ21 = 1
