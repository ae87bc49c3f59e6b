"""Kernel expansions as operators: kernel values of all vectors, times their coefficients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algorithms.features.sketch import constant_columns
from ..core import memory
from ..core.codes import Kernel as Code
from ..core.expansion.kernels import BOUND, CANCELS
from ..core.trigonometry import FARTHEST_ANGLE
from .graph import Graph, NamedMatrix, Tensor, not_exported


def rows_for(model: Any, names: list[Any], n: int) -> Any:
    """The table of the block with a row for each of these names: zeros for features that the model
    does not know.
    """
    places, vectors, known = model._features.places, memory.views(model._block).vectors, set(names)
    used = vectors[:, :n].any(axis=1)
    missing = [name for name, place in places.items() if used[place] and name not in known]
    if missing:
        raise ValueError(
            f"feature {missing[0]!r} of {model!r} does not come out of what stands before it"
        )
    rows = np.zeros((len(names), n))
    for i, name in enumerate(names):
        if name in places:
            rows[i] = vectors[places[name], :n]
    return rows


def expansion(graph: Graph, model: Any, columns: NamedMatrix, coefficients: Any) -> Tensor:
    """The sums of kernels with these coefficients, which have a row for each column of the
    result.
    """
    head = memory.views(model._block).head
    used = coefficients.any(axis=0)
    vectors = rows_for(model, columns.names, coefficients.shape[1])[:, used]
    weights = np.ascontiguousarray(coefficients[:, used].T)
    x = columns.tensor
    if scales := getattr(model._kernel_in_use, "scales", None):
        x = x * np.array([float(scales.get(name, 1.0)) for name in columns.names])
    if head.kernel == Code.LINEAR and not head.normalised:
        return graph.node("MatMul", x, vectors @ weights)  # one vector is enough
    norms = memory.views(model._block).norms[: len(used)][used]
    values = kernel_values(graph, head, x, vectors, norms)
    if not head.normalised or head.bounded:
        return graph.node("MatMul", values, weights)
    lengths = norms  # k(z, z)
    if head.kernel == Code.POLYNOMIAL:
        with np.errstate(over="ignore"):
            lengths = (head.gamma * norms + head.coef0) ** head.degree
    lengths = np.clip(lengths, 0.0, BOUND)
    inverse = np.divide(1.0, np.sqrt(lengths), where=lengths > 0.0, out=np.zeros(len(lengths)))
    sums = graph.node("MatMul", values, weights * inverse[:, None])
    return _normalised(graph, head, x, sums)


def kernel_values(graph: Graph, head: Any, x: Tensor, vectors: Any, norms: Any) -> Tensor:
    """k(x, z) for every example x and every column z of `vectors`, which have these norms."""
    gamma = head.gamma
    if head.kernel == Code.RBF and (norms > CANCELS / gamma).any():
        differences = x.unsqueezed(2) - vectors[None]
        distance = (differences * differences).total(axis=1)
        return graph.node("Exp", distance * -gamma)
    if head.kernel == Code.RBF:  # 2 x.z - |z|^2 - |x|^2
        norms = graph.node("ReduceSumSquare", vectors, axes=[0])
        products = graph.node("Gemm", x, vectors, norms, alpha=2.0, beta=-1.0)
        length = graph.node("ReduceSumSquare", x, axes=[1])
        nearness = graph.node("Min", products - length, 0.0)
        return graph.node("Exp", nearness * gamma)
    if head.kernel == Code.LAPLACIAN:
        distance = graph.node("Abs", x.unsqueezed(2) - vectors[None]).total(axis=1)
        return graph.node("Exp", distance * -gamma)
    if head.kernel == Code.POLYNOMIAL:
        base = graph.node("Gemm", x, gamma * vectors, np.array([head.coef0]))
        return _bounded(graph, graph.node("Pow", base, float(head.degree)))
    if head.kernel == Code.LINEAR:
        return _bounded(graph, x @ vectors)
    raise not_exported("a kernel of one's own")


def _bounded(graph: Graph, values: Tensor) -> Tensor:
    """Values of a kernel without bound, clamped as in the model; NaN is where both signs
    overflowed.
    """
    numbers = graph.node("Where", graph.node("IsNaN", values), 0.0, values)
    return graph.node("Clip", numbers, -BOUND, BOUND)


def _normalised(graph: Graph, head: Any, x: Tensor, sums: Tensor) -> Tensor:
    """The sums divided by sqrt(k(x, x)), or 0 where k(x, x) is not positive."""
    length = graph.node("ReduceSumSquare", x, axes=[1])
    if head.kernel == Code.POLYNOMIAL:
        base = length * head.gamma + head.coef0
        length = graph.node("Pow", base, float(head.degree))
    root = graph.node("Sqrt", graph.node("Clip", length, 0.0, BOUND))
    return graph.node("Where", root > 0.0, sums / root, 0.0)


def waves(graph: Graph, model: Any, columns: NamedMatrix) -> Tensor:
    """All random waves of a model: first the cosines, then the sines."""
    block = model.algorithm.columns.block_for(
        model, columns.names
    )  # alive for as long as its views
    drawn = memory.views(block).vectors[:, : model.n_components].copy()
    turned = columns.tensor @ drawn
    near = graph.node("LessOrEqual", graph.node("Abs", turned), FARTHEST_ANGLE)
    angles = graph.node("Where", near, turned, 0.0)
    half = graph.node("Sin", angles * 0.5)  # older runtimes have no cosine of float64
    return graph.node("Concat", 1.0 - half * half * 2.0, graph.node("Sin", angles), axis=1)


def sketch(graph: Graph, model: Any, columns: NamedMatrix) -> Tensor:
    """The sketch of products: multiply Fourier transforms, which are linear in an example, and
    transform back.
    """
    block = model.algorithm.columns.block_for(
        model, columns.names
    )  # alive for as long as its views
    head, n = memory.views(block).head, model.n_components
    drawn = memory.views(block).vectors[:, : head.count]
    constant = constant_columns(model, head.random)
    factors = np.append(np.full(len(drawn), math.sqrt(head.gamma)), math.sqrt(head.coef0))
    product: tuple[Tensor, ...] = ()
    for k in range(0, head.count, 2):
        places, signs = np.vstack([drawn, constant])[:, k : k + 2].T
        table = np.zeros((len(factors), n))
        table[np.arange(len(factors)), places.astype(int)] = signs * factors
        waves = np.fft.rfft(table)
        a, b = (
            graph.node("Gemm", columns.tensor, part[:-1], part[-1])
            for part in (np.ascontiguousarray(waves.real), np.ascontiguousarray(waves.imag))
        )
        if product:
            real, imaginary = product
            a, b = real * a - imaginary * b, real * b + imaginary * a
        product = a, b
    real, imaginary = product
    unit = model.scale * np.eye(n // 2 + 1)
    return real @ np.fft.irfft(unit, n) + imaginary @ np.fft.irfft(1j * unit, n)
