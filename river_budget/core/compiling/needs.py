"""Which functions that passes share a model, or a call, may need (core/compiling/by_address.py)."""

from __future__ import annotations

import enum


class Need(enum.IntFlag):
    """What a model, or a call, may need of the functions that passes share (core/compiling/by_address.py)."""

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
