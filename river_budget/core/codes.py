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


class Need(enum.IntFlag):
    """What a model, or a call, may need of the functions that passes share (core/shared.py)."""

    EXAMPLES = enum.auto()  # what is present in them
    PRODUCTS = enum.auto()  # of an example and rows of a table
    KERNEL = enum.auto()
    OTHER_KERNELS = enum.auto()  # than the Gaussian one
    LISTS = enum.auto()  # vectors that are stored so
    HEAVY = enum.auto()  # vectors
    CLASSES = enum.auto()  # several, with probabilities
    LITERAL = enum.auto()  # equation (21) of a paper as printed
    AUTO = enum.auto()  # learners without settings
    AUTO_CLASSES = enum.auto()
    AUTO_NUMBERS = enum.auto()
    LISTED_EXAMPLES = enum.auto()
    NAMES = enum.auto()  # dicts with some of the names, or new ones
    TOGETHER = enum.auto()  # examples that are scored together
    NARROW = enum.auto()  # vectors in float32


# What follows from the fields of a block, and what streams may call for, whatever the parameters
OF_BLOCKS = Need.OTHER_KERNELS | Need.CLASSES | Need.LITERAL | Need.LISTS | Need.HEAVY | Need.NARROW
OF_EXAMPLES = Need.LISTED_EXAMPLES | Need.NAMES
OF_STREAMS = Need.TOGETHER | Need.LISTS | Need.HEAVY


def with_streams(needs: Need) -> Need:
    """What a class needs, and what streams may call for."""
    classes = Need(0) if needs & Need.AUTO else Need.CLASSES
    return needs | OF_EXAMPLES | classes | (OF_STREAMS if needs & Need.KERNEL else Need(0))
