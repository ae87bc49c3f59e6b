"""Products of an example with all support vectors.

They are sums over the features that both have (core/sweeps.py), in the order of the keys: so it makes no difference
to the last bit where zeros stand between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .codes import Need
from .examples import places_of, values_of
from .jit import compiled
from .lanes import fused
from .layout import TOGETHER
from .listed import add_listed_products
from .narrow_products import (
    narrow_products,
    narrow_products_of_some,
    narrow_products_together,
    widen,
)
from .numba_types import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE, f64_matrix
from .registers import LANES
from .shared import shared
from .sweeps import MOST, WIDE, compiled_sweep

MOST_TOGETHER = (
    4 if WIDE else 1
)  # groups of vectors, whose sums with all these find room in registers


def _product(builder: Any, numbers: Sequence[Any], vectors: Any, total: Any) -> Any:
    (value,) = numbers
    return fused(builder, value, vectors, total)


def _products(groups: int) -> Any:
    """A function for so many groups of vectors."""

    def products(vectors: Any, x: Any, row: Any, column: int) -> None:
        """row[j] = <vector j, x> for the vectors from a column on"""
        some = slice(column, column + LANES * groups)
        row[some] = 0.0
        for place, value in zip(places_of(x), values_of(x), strict=True):
            row[some] += value * vectors[place, some]

    compiled_sweep(products, groups, _product)
    return products


def _products_together(groups: int) -> Any:
    """The same for TOGETHER examples, of which x is the first."""

    def products(vectors: Any, x: Any, rows: Any, column: int) -> None:
        """rows[k, j] = <vector j, example k> for the vectors from a column on"""
        examples, some = f64_matrix(x[1], TOGETHER, x[2]), slice(column, column + LANES * groups)
        rows[:TOGETHER, some] = 0.0
        for i, place in enumerate(places_of(x)):
            rows[:TOGETHER, some] += examples[:, i, None] * vectors[place, some]

    compiled_sweep(products, groups, _product, TOGETHER)
    return products


_1, _2, _3, _4, _5, _6, _7, _8 = (_products(groups) for groups in range(1, 9))
_together_1, _together_2, _together_3, _together_4 = (
    _products_together(groups) for groups in range(1, 5)
)


@shared(Need.PRODUCTS, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def dot_products(model, x, row, n):
    """row[j] = <vector j, x> for j < n, a multiple of LANES"""
    if model.head.slots:
        for j in range(n):
            row[j] = 0.0
        add_listed_products(model, x, row)
        multiply(model, row, n)
        return
    if model.head.narrow:
        narrow_products(model, x, row, n)
        widen(row, n)
        return
    vectors, left, column = model.vectors, n // LANES, 0
    parts = (left + MOST - 1) // MOST
    while left > 0:
        groups = (left + parts - 1) // parts  # parts of about the same size
        if groups == 8:
            _8(vectors, x, row, column)
        elif groups == 7:
            _7(vectors, x, row, column)
        elif groups == 6:
            _6(vectors, x, row, column)
        elif groups == 5:
            _5(vectors, x, row, column)
        elif groups == 4:
            _4(vectors, x, row, column)
        elif groups == 3:
            _3(vectors, x, row, column)
        elif groups == 2:
            _2(vectors, x, row, column)
        else:
            _1(vectors, x, row, column)
        left -= groups
        column += LANES * groups
        parts -= 1
    multiply(model, row, n)


@compiled(always_inlined=True)
def multiply(model, row, n):
    """From products with what is stored to those with the vectors."""
    if model.head.heavy:
        for j in range(n):
            row[j] *= model.multipliers[j]


@compiled
def products_of_eight(model, x, row, column):
    """The same for the eight vectors from a column on, of a table; of a narrow one they stay float32."""
    if model.head.narrow:
        narrow_products_of_some(model, x, row, column)
        return
    _1(model.vectors, x, row, column)


@compiled
def products_together(model, x, rows, n):
    """rows[k, j] = <vector j, example k> for TOGETHER examples with the same features, of which x is the first, to the
    same bits; float32 in a narrow model"""
    if model.head.narrow:
        narrow_products_together(model, x, rows, n)
        return
    vectors, left, column = model.vectors, n // LANES, 0
    parts = (left + MOST_TOGETHER - 1) // MOST_TOGETHER
    while left > 0:
        groups = (left + parts - 1) // parts
        if groups == 4:
            _together_4(vectors, x, rows, column)
        elif groups == 3:
            _together_3(vectors, x, rows, column)
        elif groups == 2:
            _together_2(vectors, x, rows, column)
        else:
            _together_1(vectors, x, rows, column)
        left -= groups
        column += LANES * groups
        parts -= 1
