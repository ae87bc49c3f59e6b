"""Products of an example with all support vectors.

They are sums over the features that both have (core/simd/vector_sums.py), in the order of the keys: so it makes no difference
to the last bit where zeros stand between them.
"""

from __future__ import annotations

from typing import Any

from ..block.layout import TOGETHER
from ..compiling.array_views import f64_matrix
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE
from ..compiling.needs import Need
from ..examples.present_features import places_of, values_of
from ..simd.registers import DOUBLES, LANES
from ..simd.vector_sums import compiled_group, compiled_sweep, product_of
from .sparse import add_listed_products
from .table32_products import (
    narrow_products,
    narrow_products_of_some,
    narrow_products_together,
    widen,
)


def _sums(vectors: Any, x: Any, row: Any, n: int) -> None:
    """row[j] = <vector j, x> for j < n"""
    row[:n] = 0.0
    for place, value in zip(places_of(x), values_of(x), strict=True):
        row[:n] += value * vectors[place, :n]


def _sums_of_eight(vectors: Any, x: Any, row: Any, column: int) -> None:
    """The same for the eight vectors from a column on."""
    _sums(vectors[:, column:], x, row[column:], LANES)


def _sums_together(vectors: Any, x: Any, rows: Any, n: int) -> None:
    """The same for TOGETHER examples, of which x is the first."""
    examples = f64_matrix(x[1], TOGETHER, x[2])
    rows[:TOGETHER, :n] = 0.0
    for i, place in enumerate(places_of(x)):
        rows[:TOGETHER, :n] += examples[:, i, None] * vectors[place, :n]


_product = product_of(DOUBLES)
compiled_sweep(_sums, _product)
compiled_group(_sums_of_eight, _product)
compiled_sweep(_sums_together, _product, TOGETHER)


@shared(Need.PRODUCTS, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def dot_products(model, x, row, n):
    """row[j] = <vector j, x> for j < n, a multiple of LANES"""
    if model.head.slots:
        for j in range(n):
            row[j] = 0.0
        add_listed_products(model, x, row)
    elif model.head.narrow:
        narrow_products(model, x, row, n)
        widen(row, n)
        return
    else:
        _sums(model.vectors, x, row, n)
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
    _sums_of_eight(model.vectors, x, row, column)


@compiled
def products_together(model, x, rows, n):
    """rows[k, j] = <vector j, example k> for TOGETHER examples with the same features, of which x is the first, to the
    same bits; float32 in a narrow model"""
    if model.head.narrow:
        narrow_products_together(model, x, rows, n)
        return
    _sums_together(model.vectors, x, rows, n)
