"""Enumerations whose integers stand for tasks, kernels and maintenance strategies in compiled
code.
"""

from __future__ import annotations

import enum


class Task(enum.IntEnum):
    """What a model learns: it determines the number of outputs and what targets are."""

    BINARY = 0  # one output, targets -1 and +1
    MULTICLASS = 1  # one output per class, targets are column numbers
    REGRESSION = 2  # one output, targets are numbers


class Kernel(enum.IntEnum):
    """Kernel functions k(a, b)."""

    RBF = 0
    LAPLACIAN = 1
    POLYNOMIAL = 2
    LINEAR = 3
    CUSTOM = 4


class Maintenance(enum.IntEnum):
    """How a model at its budget makes room for a new vector."""

    REMOVE_OLDEST = 0
    REMOVE_RANDOM = 1
    REMOVE_SMALLEST = 2
    PROJECT = 3
    MERGE = 4


class Strategy(enum.IntEnum):
    """Groups of maintenance strategies.

    Each group has its own compiled pass, which contains no code of the other groups.
    """

    REMOVE = 0  # removing vectors
    PAIRS = 1  # merging pairs
    MANY = 2  # merging more than two at once
    FACTOR = 3  # projecting, with a factor of the Gram matrix


class Method(enum.IntEnum):
    """How more than two vectors are merged into one."""

    CASCADE = 0
    GRADIENT = 1


class Choice(enum.IntEnum):
    """Which vector is projected onto the others."""

    SMALLEST = 0
    BEST = 1


class Objective(enum.IntEnum):
    """The objective that the merged vector optimises."""

    DEGRADATION = 0
    EQ21 = 1
