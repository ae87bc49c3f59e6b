"""Weighted sums of our own models: what becomes of parameters, features, classes and vectors.

The sum has the parameters of the first model. What an algorithm keeps besides its function is handed on by
the models themselves (`_inherit`).
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from typing import Any

import numpy as np

from .agreement import check_alike, columns_of, distinct, limit_of, unite_labels
from .calls import Call
from .core import block as blocks
from .core import union as core
from .core.nystroem import kernel_rows
from .core.rows import decide
from .core.support import LARGEST
from .expansion import BudgetModel
from .features import FeatureIndex


@dataclasses.dataclass
class Part:
    """A model that has learned, as a part of a sum."""

    model: Any
    weight: float
    columns: Any  # outputs of the model x outputs of the sum: where its scores go

    @property
    def block(self) -> Any:
        return blocks.views(self.model._block)

    @property
    def flipped(self) -> bool:
        """Whether its only output speaks for the other one of two classes."""
        return bool(self.columns[0, 0] < 0.0)


def weighted_sum(models: list[Any], weights: list[float], budget: int | None) -> Any:
    """A new model f = sum_i weight_i f_i, reduced to its budget."""
    learned = [model for model in models if model._block is not None]
    source = (learned or models)[0]
    check_alike(models, source)
    result = models[0].clone(limit_of(models, budget))
    result._entropy, result._target_name = source._entropy, source._target_name
    if hasattr(result, "_labels"):
        unite_labels(result, models)
    if learned:
        parts = [
            Part(model, weight, columns_of(model, result))
            for model, weight in zip(models, weights, strict=True)
            if model._block is not None
        ]
        (_add_expansions if isinstance(result, BudgetModel) else _add_waves)(result, parts)
        result._inherit(parts)
    return result


def _begin(result: Any, parts: list[Part], **sizes: int) -> None:
    """An empty model that knows all features, with the kernel and the random numbers of the first part."""
    result._features = FeatureIndex(distinct(part.model._features for part in parts))
    head = parts[0].block.head
    result._create(len(result._features), gamma=head.gamma, random=head.random, **sizes)
    own_head = blocks.views(result._block).head
    own_head.repairs = max(part.block.head.repairs for part in parts)


# Random waves


def _add_waves(result: Any, parts: list[Part]) -> None:
    """Equal waves: the weights of the cosines and sines add up."""
    _begin(result, parts)
    result._draw(result._block, list(result._features))
    sums = blocks.views(result._block)
    tables = sums.coefficients, sums.extras
    for part in parts:
        for table, addend in zip(tables, (part.block.coefficients, part.block.extras), strict=True):
            table += part.weight * (part.columns.T @ addend)
    _check_size(*tables)


def _check_size(*tables: Any) -> None:
    if not all((np.abs(table) <= LARGEST).all() for table in tables):
        raise ValueError("weights are too large: the sum of the models is out of range")


# Expansions


def _add_expansions(result: Any, parts: list[Part]) -> None:
    """All vectors with their coefficients, and then as many as the budget allows."""
    names = distinct(part.model._features for part in parts)
    rows, coefficients, marks = _folded(*_gathered(parts, names, result._outputs))
    _check_size(coefficients)
    marked = marks.shape[1] > 0
    # what has marks keeps a table of kernel values as its factor, and makes it at the end
    factored = 0 if marked else result._header(1).get("factored", 0)
    _begin(result, parts, capacity=blocks.columns_for(len(rows) + 1), factored=factored)
    absorb = core.absorb_apart if factored else core.absorb
    Call(result._block, rows, scores=coefficients).of(absorb)
    block = blocks.views(result._block)
    if marked:
        result._set_marks(marks.T)
    if block.head.count > block.head.budget:
        _keep_budget(result)
    result._resize(capacity=result._capacity(blocks.views(result._block).head.count))


def _keep_budget(model: Any) -> None:
    """Reduce by the model's own maintenance, or by removing the smallest where that loses less.

    Each step of merging loses less than a removal, but where few of many vectors are left the steps may
    add up to more. Projections have not been seen to.
    """
    if blocks.views(model._block).head.factored:
        model._reduce()
        return
    union, removed = copy.copy(model), copy.copy(model)
    model._reduce()
    Call(removed._block).of(core.remove_lightest)
    if _explained(union, removed) > _explained(union, model):
        model._block = removed._block


def _explained(f: Any, g: Any) -> float:
    """|f|^2 - |f - g|^2 = <g, 2 f - g>"""
    rows = _vectors_of(g)
    return float(np.sum(_coefficients_of(g).T * (2.0 * _scores_at(f, rows) - _scores_at(g, rows))))


def _gathered(parts: list[Part], names: list[Any], outputs: int) -> tuple[Any, ...]:
    """Rows, coefficients, marks and owners of all vectors, oldest first.

    Ages count from now, in vectors that came later into the same model: arrivals of models that have not
    stored equally many cannot be compared.
    """
    used = [part for part in parts if part.weight != 0.0]
    if not used:
        return np.zeros((0, len(names))), np.zeros((0, outputs)), np.zeros((0, 0)), np.zeros(0)
    rows = np.vstack([_rows(part, names) for part in used])
    coefficients = np.vstack(
        [part.weight * (_coefficients_of(part.model).T @ part.columns) for part in used]
    )
    marks = np.vstack([part.model._marks(part.flipped).T for part in used])
    counts = [int(part.block.head.count) for part in used]
    owners = np.repeat(np.arange(len(used)), counts)
    ages = [
        part.block.head.arrived - part.block.arrivals[:n]
        for part, n in zip(used, counts, strict=True)
    ]
    order = np.argsort(-np.concatenate(ages), kind="stable")
    return rows[order], coefficients[order], marks[order], owners[order]


def _rows(part: Part, names: list[Any]) -> Any:
    """Its vectors, with the features in this order."""
    n, known = int(part.block.head.count), list(part.model._features)
    places = {name: place for place, name in enumerate(names)}
    rows = np.zeros((n, len(names)))
    rows[:, [places[name] for name in known]] = part.block.vectors[: len(known), :n].T
    return rows


def _folded(rows: Any, coefficients: Any, marks: Any, owners: Any) -> tuple[Any, Any, Any]:
    """Equal vectors become one, as old as the newest; those whose coefficients cancel are left out.

    Vectors with marks are examples: those of one model are a sample in which an example may occur more than
    once, and one that has no coefficients is still an example.
    """
    keys: list[Any] = [row.tobytes() for row in np.hstack([rows, marks]) + 0.0]  # -0.0 becomes 0.0
    if marks.shape[1]:
        occurrences: Counter[Any] = Counter()
        for i, pair in enumerate(zip(owners.tolist(), keys, strict=True)):
            occurrences[pair] += 1
            keys[i] = keys[i], occurrences[pair]
    newest = {key: i for i, key in enumerate(keys)}
    kept = sorted(newest.values())
    places = {keys[i]: place for place, i in enumerate(kept)}
    sums = np.zeros((len(kept), coefficients.shape[1]))
    np.add.at(sums, [places[key] for key in keys], coefficients)
    rows, marks = rows[kept], marks[kept]
    if marks.shape[1]:
        return rows, sums, marks
    left = sums.any(axis=1)
    return rows[left], sums[left], marks[left]


# For the models


def _vectors_of(model: Any) -> Any:
    """One row each."""
    block = blocks.views(model._block)
    return np.ascontiguousarray(block.vectors[:, : block.head.count].T)


def _coefficients_of(model: Any) -> Any:
    """One column for each vector."""
    block = blocks.views(model._block)
    return block.head.scale * block.coefficients[:, : block.head.count]


def _scores_at(model: Any, rows: Any) -> Any:
    """The expansion alone, without what a model may add to it."""
    scores = np.empty((len(rows), int(blocks.views(model._block).head.outputs)))
    Call(model._block, rows, scores=scores).of(decide)
    return scores


def scores_of_vectors(model: Any) -> Any:
    """The expansion at its own vectors, one row each."""
    return _scores_at(model, _vectors_of(model))


def gram_of(model: Any) -> Any:
    """The kernel of every vector with every other."""
    rows = _vectors_of(model)
    values = np.empty((len(rows), len(rows)))
    Call(model._block, rows, scores=values).of(kernel_rows)
    return 0.5 * (values + values.T)


def squared_length(model: Any) -> float:
    """|w|^2, from scratch"""
    return max(float(np.sum(_coefficients_of(model).T * scores_of_vectors(model))), 0.0)
