"""Which groups of shared functions a model, or a call, may need, so that the others need not be compiled."""

from __future__ import annotations

import enum


class Need(enum.IntFlag):
    """Groups of shared functions (core/compiling/by_address.py); a model or a call needs some of them."""

    EXAMPLES = enum.auto()  # gather the features that are present in examples
    PRODUCTS = enum.auto()  # inner products of an example with the rows of a table
    KERNEL = enum.auto()  # kernel expansions
    OTHER_KERNELS = enum.auto()  # kernels other than the Gaussian one
    CLASSES = enum.auto()  # more than two classes, with probabilities
    LITERAL = enum.auto()  # equation (21) of a paper as printed
    AUTO = enum.auto()  # AutoKernel
    AUTO_CLASSES = enum.auto()  # AutoKernel for classification
    AUTO_NUMBERS = enum.auto()  # AutoKernel for regression
    LISTED_EXAMPLES = enum.auto()  # examples that come as lists of present features


# Needs that follow from the fields of a block; from the form of examples
OF_BLOCKS = Need.OTHER_KERNELS | Need.CLASSES | Need.LITERAL
OF_EXAMPLES = Need.LISTED_EXAMPLES


def with_streams(needs: Need) -> Need:
    """The needs of a class of models and those that streams may add: all that should be compiled ahead for it."""
    classes = Need(0) if needs & Need.AUTO else Need.CLASSES
    return needs | OF_EXAMPLES | classes
