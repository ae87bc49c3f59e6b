"""Which groups of shared functions a model may need, so that the others need not be compiled."""

from __future__ import annotations

import enum


class Need(enum.IntFlag):
    """Groups of shared functions (core/compiling/by_address.py); a model needs some of them."""

    EXAMPLES = enum.auto()  # gather the features that are present in examples
    PRODUCTS = enum.auto()  # inner products of an example with the rows of a table
    KERNEL = enum.auto()  # kernel expansions
    OTHER_KERNELS = enum.auto()  # their kernels other than the Gaussian one: follows from the block
    AUTO = enum.auto()  # AutoKernel
    AUTO_CLASSES = enum.auto()  # AutoKernel for classification
    AUTO_NUMBERS = enum.auto()  # AutoKernel for regression
