"""Read the support of a model, and build a model with a given support."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import river_budget as rb
from river_budget.core.block.blocks import views
from river_budget.model.inputs.sparse_examples import vectors_of


class Support(NamedTuple):
    """Vectors (one per row), their coefficients (one row each) and arrivals, oldest first."""

    X: np.ndarray
    A: np.ndarray
    arrivals: np.ndarray


def support(model):
    """A copy of the support, features in the order of `model.features`."""
    block = views(model.block)
    head, arrivals = block.head, block.arrivals
    n, width = int(head.count), len(model.features)
    order = np.argsort(arrivals[:n])
    coefficients = head.scale * block.coefficients[:, :n]
    X, A = vectors_of(model.block).table(width)[order], coefficients[:, order].T
    return Support(X.copy(), A.copy(), arrivals[order])


def row(model, x):
    """An example with known features as a row, with the columns of `support`."""
    return np.array([x.get(name, 0.0) for name in model.features])


def plain(kernel):
    """The plain reference function of a kernel."""
    from oracles import kernels as plain_kernels  # scripts in this folder lack that folder

    name, parameters = type(kernel).__name__.lower(), dict(vars(kernel))
    if "kernel" in parameters:
        parameters["kernel"] = plain(kernel.kernel)
    return getattr(plain_kernels, name)(**parameters)


def squared_length(X, A, kernel):
    """|w|^2 of the expansion with these vectors and coefficients."""
    return float(np.sum(A * (plain(kernel)(X, X) @ A)))


def error_of_factor(model):
    """How far W'W is from the inverse of the Gram matrix: the largest entry of W K W' - I."""
    block = views(model.block)
    n = int(block.head.count)
    X, W = block.vectors[:, :n].T, np.tril(block.factor[:n, :n])
    return np.abs(W @ plain(model.kernel)(X, X) @ W.T - np.eye(n)).max()


def holding(X, A, strategy, kernel):
    """A model with this support; coefficients have 1 column, or 3 and more."""
    X, A = np.asarray(X, float), np.asarray(A, float)
    n, outputs = A.shape
    classes = tuple(range(max(outputs, 2)))
    model = rb.BSGDClassifier(n, kernel, strategy, classes=classes, seed=1)
    model.learn_one(dict(enumerate(X[0].tolist())), 1, 0.0)  # weight 0: only creates the block
    block = views(model.block)
    block.head.count = block.head.arrived = n
    block.vectors[:, :n], block.coefficients[:, :n] = X.T, A.T
    laplacian = isinstance(kernel, rb.kernels.Laplacian)
    block.norms[:n] = np.sum(np.abs(X) if laplacian else X**2, axis=1)
    if isinstance(kernel, rb.kernels.Custom):
        block.norms[:n] = np.diag(plain(kernel)(X, X))
    block.arrivals[:n] = np.arange(n)
    if block.head.factored:
        block.factor[:n, :n] = np.linalg.inv(np.linalg.cholesky(plain(kernel)(X, X)))
    model.state_record().norm2 = squared_length(X, A, kernel)
    return model


def maintained(X, A, strategy, kernel):
    """`holding`, after maintenance has made room for one vector."""
    model = holding(X, A, strategy, kernel)
    model.budget = len(X) - 1
    return model


def check_nodes(block):
    """Every node is in the list of its vector, in order, and in the column of its feature, or in a free
    piece. (Reads fields as lists, which is fast: the fuzzer calls it after every operation.)"""
    head = block.head
    n, fresh, width, found = int(head.count), int(head.fresh), int(head.width), set()
    assert 1 <= fresh <= head.slots
    nodes = block.nodes[:fresh]
    after, before, value = (nodes[name].tolist() for name in ("after", "before", "value"))
    vector, feature = nodes["vector"].tolist(), nodes["feature"].tolist()
    places = list(zip(block.keys.tolist(), block.ties.tolist(), range(width), strict=False))
    assert not block.firsts[n:].any()
    for j, node in enumerate(block.firsts[:n].tolist()):
        last, behind = None, 0
        while node:
            assert node not in found
            assert before[node] == behind
            behind = node
            found.add(node)
            assert vector[node] == j
            assert math.isfinite(value[node])
            assert 0 <= feature[node] < width
            place = places[feature[node]]
            assert last is None or last < place
            node, last = after[node], place
    in_columns, in_pieces = set(), []
    for column, (first, n, kind) in enumerate(block.columns[:width].tolist()):
        piece = 2**kind // 2
        assert n <= piece
        assert (n > 0) == (piece > 0)
        in_columns.update(range(first, first + n))
        in_pieces += range(first, first + piece)
        assert all(feature[node] == column for node in range(first, first + n))
    assert in_columns == found
    for kind, (node, n) in enumerate(block.pieces.T.tolist()):
        for _ in range(n):
            in_pieces += range(node, node + 2**kind // 2)
            node = after[node]
        assert node == 0
    assert sorted(in_pieces) == list(range(1, fresh))
    assert len(in_pieces) - len(found) == head.freed


def check_lists(model):
    block = views(model.block)
    check_nodes(block)
    used = set(np.flatnonzero(block.columns["count"]).tolist())
    assert used <= set(model.features.places.values())
    assert len(vectors_of(model.block).places) == block.head.fresh - 1 - block.head.freed
