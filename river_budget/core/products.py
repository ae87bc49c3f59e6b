"""Products of one example, or of two, with all support vectors: most of what a kernel row costs.

The inner loops run over the vectors, which lie side by side in memory. One product is added after the other, in the
order of the keys, so that it makes no difference to the last bit where zeros stand between them, nor how many features
a sweep takes.
"""

from __future__ import annotations

from .examples import places_of, values_of
from .jit import FUSED, compiled
from .linked import add_listed_products


@compiled(fastmath=FUSED, always_inlined=True)
def dot_products(model, x, n):
    """row[j] = <vector j, x> for j < n, eight features at a sweep, then four, then one"""
    row, places, values = model.row, places_of(x), values_of(x)
    for j in range(n):
        row[j] = 0.0
    if model.head.slots:
        add_listed_products(model, places, values, row)
        return
    features, vectors, i = places.shape[0], model.vectors, 0
    while i + 8 <= features:
        x_a, x_b, x_c, x_d = values[i], values[i + 1], values[i + 2], values[i + 3]
        v_a, v_b = vectors[places[i]], vectors[places[i + 1]]
        v_c, v_d = vectors[places[i + 2]], vectors[places[i + 3]]
        x_e, x_f, x_g, x_h = values[i + 4], values[i + 5], values[i + 6], values[i + 7]
        v_e, v_f = vectors[places[i + 4]], vectors[places[i + 5]]
        v_g, v_h = vectors[places[i + 6]], vectors[places[i + 7]]
        for j in range(n):
            total = row[j] + x_a * v_a[j]
            total = total + x_b * v_b[j]
            total = total + x_c * v_c[j]
            total = total + x_d * v_d[j]
            total = total + x_e * v_e[j]
            total = total + x_f * v_f[j]
            total = total + x_g * v_g[j]
            row[j] = total + x_h * v_h[j]
        i += 8
    while i + 4 <= features:
        x_a, x_b, x_c, x_d = values[i], values[i + 1], values[i + 2], values[i + 3]
        v_a, v_b = vectors[places[i]], vectors[places[i + 1]]
        v_c, v_d = vectors[places[i + 2]], vectors[places[i + 3]]
        for j in range(n):
            total = row[j] + x_a * v_a[j]
            total = total + x_b * v_b[j]
            total = total + x_c * v_c[j]
            row[j] = total + x_d * v_d[j]
        i += 4
    while i < features:
        x_a, v_a = values[i], vectors[places[i]]
        for j in range(n):
            row[j] += x_a * v_a[j]
        i += 1


@compiled(fastmath=FUSED, always_inlined=True)
def dot_products_of_two(model, places, x, y, row_x, row_y, n):
    """The same for two stored vectors in one sweep, as fetching the features takes longer than using them."""
    vectors, features = model.vectors, places.shape[0]
    for j in range(n):
        row_x[j] = 0.0
        row_y[j] = 0.0
    if model.head.slots:
        add_listed_products(model, places, x, row_x)
        add_listed_products(model, places, y, row_y)
        return
    i = 0
    while i + 4 <= features:
        x_a, x_b, x_c, x_d = x[i], x[i + 1], x[i + 2], x[i + 3]
        y_a, y_b, y_c, y_d = y[i], y[i + 1], y[i + 2], y[i + 3]
        v_a, v_b = vectors[places[i]], vectors[places[i + 1]]
        v_c, v_d = vectors[places[i + 2]], vectors[places[i + 3]]
        for j in range(n):
            total, other = row_x[j] + x_a * v_a[j], row_y[j] + y_a * v_a[j]
            total, other = total + x_b * v_b[j], other + y_b * v_b[j]
            total, other = total + x_c * v_c[j], other + y_c * v_c[j]
            row_x[j], row_y[j] = total + x_d * v_d[j], other + y_d * v_d[j]
        i += 4
    while i < features:
        x_a, y_a, v_a = x[i], y[i], vectors[places[i]]
        for j in range(n):
            row_x[j] += x_a * v_a[j]
            row_y[j] += y_a * v_a[j]
        i += 1
