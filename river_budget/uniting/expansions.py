"""Weighted sums of our own models: check that they agree, unite parameters, features, classes and
vectors.

The sum has the parameters of the first model. The models themselves transfer what an algorithm
stores besides its function (`After.union`).
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.features.maps import Transformer
from ..core import memory
from ..core.budget import united as core
from ..core.expansion.support import LARGEST
from ..core.rounds.calibration import STEEPEST
from ..inputs.batches import Batch
from ..inputs.features import FeatureIndex, in_order
from ..model.algorithm import check_kept
from ..model.calls import run_once, run_over
from ..model.expansion import BudgetModel

# Parameters that may differ: sizes and classes are united; the seed has no effect on a kernel
# expansion; for kernels the gamma in use is compared.
UNITED = {"budget", "window", "classes", "seed", "kernel", "gamma"}


# What must be equal


def check_alike(models: list[Any], source: Any) -> None:
    """Raise ValueError if models differ in parameters that must be equal, or have a span for each
    class.
    """
    if getattr(source, "span", "all") == "class":  # a vector has room in two factors only
        raise ValueError(
            f"models of {type(source).__name__} cannot be merged if their span is 'class': in a "
            "sum vectors would "
            "belong to more than two classes"
        )
    union = source.algorithm.after.union
    if isinstance(source, BudgetModel) and not isinstance(source, Transformer):
        check_kept(source, union, "in a sum", "union", ("per_vector", "factored"))
    expected, differing = _settings(source), {}
    for model in models:
        for name, value in _settings(model).items():
            if name in expected and not _agree(value, expected[name]):
                differing[name] = f"{name} ({expected[name]!r} and {value!r})"
    if differing:
        raise ValueError(
            f"models of {type(source).__name__} cannot be merged if they differ in "
            + ", ".join(differing.values())
        )


def _settings(model: Any) -> dict[str, Any]:
    """The parameters that determine a model's function and cannot change."""
    free = UNITED | model._mutable_attributes
    settings = {name: getattr(model, name) for name in model._parameters() if name not in free}
    if "maintenance" in settings:
        settings["maintenance"] = model._strategy
    kernel, learned = model._kernel_in_use, model._block is not None
    if learned and hasattr(kernel, "gamma"):
        kernel = type(kernel)(**vars(kernel) | {"gamma": memory.views(model._block).head.gamma})
    settings["kernel"] = kernel
    # random waves may be drawn again if there is no seed and nobody has seen them
    drawn = learned or isinstance(model, Transformer) or getattr(model, "seed", None) is not None
    if drawn and not isinstance(model, BudgetModel):
        settings["seed"] = model._entropy
    return settings


def _agree(a: Any, b: Any) -> bool:
    """Whether settings are equal. A kernel whose gamma is still a text, such as "auto", agrees with
    any number.
    """
    open_widths = {isinstance(getattr(kernel, "gamma", 0.0), str) for kernel in (a, b)}
    return bool(a == b) or (type(a) is type(b) and len(open_widths) == 2)


# What is united


def takes_budget(model: Any) -> bool:
    """Whether a parameter limits the number of vectors; the landmarks of a map stay."""
    is_expansion = isinstance(model, BudgetModel) and not isinstance(model, Transformer)
    return is_expansion and model.algorithm.columns.limit in model._parameters()


def distinct(names: Iterable[Iterable[Any]]) -> list[Any]:
    """All names, in the order of their first appearance."""
    return list(dict.fromkeys(name for some in names for name in some))


def unite_labels(result: Any, models: list[Any]) -> None:
    labels = result._labels
    known = distinct([labels.known, *(model._labels.known for model in models)])
    if labels.closed and len(known) > len(labels.known):
        raise ValueError(
            f"classes={result.classes!r} of the first model lack {known[len(labels.known)]!r}, "
            "which "
            "another model knows"
        )
    if labels.binary and len(known) > 2:
        raise ValueError(
            f"classes of all models together must be two, not {known!r}: {type(result).__name__} "
            "separates no more"
        )
    result._labels = labels.with_known(known)


def columns_of(model: Any, result: Any) -> Any:
    """The matrix that maps the outputs of a model (rows) to those of the sum (columns)."""
    if not hasattr(model, "_labels"):
        return np.eye(memory.views(model._block).head.outputs)
    known, names = model._labels.known, result._labels.known
    if len(names) <= 2:
        return np.array([[1.0 if known[0] == names[0] else -1.0]])
    columns = np.eye(len(names))[[names.index(label) for label in known]]
    # the one output of two labels becomes two, as when a model learns a third class
    return columns if len(known) > 2 else [[-0.5, 0.5][: len(known)]] @ columns


# The sum


@dataclasses.dataclass
class WeightedModel:
    """One model of a sum, with its weight."""

    model: Any
    weight: float
    columns: Any  # (outputs of the model x outputs of the sum), from `columns_of`

    @property
    def block(self) -> Any:
        return memory.views(self.model._block)


def weighted_sum(models: list[Any], weights: list[float], budget: int | None) -> Any:
    """A new model f = sum_i weight_i f_i, reduced to its budget. What has weight 0 adds its names
    and labels only.
    """
    models = [model._snapshot() for model in models]
    source = next((model for model in models if model._block is not None), models[0])
    check_alike(models, source)
    result = models[0].clone()
    if takes_budget(result):
        limits = [model._budget_in_use for model in models]
        if budget is None and None not in limits:
            budget = max(limits)
        result = result.clone({result.algorithm.columns.limit: budget})
    result._entropy, result._target_name = source._entropy, source._target_name
    if hasattr(result, "_labels"):
        unite_labels(result, models)
    parts = [
        WeightedModel(model, weight, columns_of(model, result))
        for model, weight in zip(models, weights, strict=True)
        if model._block is not None and weight != 0.0
    ]
    if parts:
        (_add_expansions if isinstance(result, BudgetModel) else _add_waves)(result, parts)
        _continue_records(result, parts)
    return result


def _continue_records(result: Any, parts: list[WeightedModel]) -> None:
    """Counters continue from the largest: models that began as copies have counted the same
    rounds.
    """
    state = result._state_record()
    counters = {"averaged", *result.algorithm.counters}
    for name in counters.intersection(state.dtype.names):
        state[name] = max(part.model._state_record()[name] for part in parts)
    result.algorithm.after.union(result, parts)


def _create_block(result: Any, parts: list[WeightedModel], **sizes: int) -> None:
    """An empty block for the features of a sum, with the kernel and the random numbers of the first
    part.
    """
    heads = [part.block.head for part in parts]
    fields = {name: getattr(heads[0], name) for name in ("gamma", "random")} | sizes
    for name in ("repairs", "n_examples"):
        fields[name] = max(getattr(head, name) for head in heads)
    result._create_block(max(len(result._features), 1), **fields | _calibration(parts))


def _calibration(parts: list[WeightedModel]) -> dict[str, float]:
    """1 / slope is the scale of the scores, and scales add up as scores do; of the rest the sum has
    the means.
    """
    used = [(abs(part.weight), part.block.head) for part in parts if part.block.head.slope > 0.0]
    if not used:
        return {}
    total, scale = sum(w for w, _ in used), sum(w / head.slope for w, head in used)
    return {"slope": min(max(1.0 / scale, 1.0 / STEEPEST), STEEPEST)} | {
        name: sum(w / total * getattr(head, name) for w, head in used)
        for name in ("top_bonus", "slope_curvature", "top_bonus_curvature", "cross_curvature")
    }


# Random waves


def _add_waves(result: Any, parts: list[WeightedModel]) -> None:
    """Add models with equal waves: the weights of their cosines and sines add up."""
    columns = result.algorithm.columns
    names = in_order(distinct(part.model._features for part in parts))
    # of very many, none need be kept: their frequencies are drawn again when they come back
    names = names if len(names) <= columns.most_names(result) else []
    result._features = result._index_of(names)
    _create_block(result, parts)
    columns.draw(result, result._block, names, range(len(names)))
    block = memory.views(result._block)
    for part in parts:
        for name in ("coefficients", "per_vector"):
            sums, table = getattr(block, name), getattr(part.block, name)
            if sums.size:  # a feature map has no weights
                # several rows of numbers for each output
                rows = table.reshape(len(part.columns), -1, table.shape[1])
                rows = np.einsum("or,okj->rkj", part.columns, rows)
                sums += part.weight * rows.reshape(sums.shape)
    _check_size(block.coefficients, block.per_vector)


def _check_size(*tables: Any) -> None:
    if not all((np.abs(table) <= LARGEST).all() for table in tables):
        raise ValueError("weights are too large: the sum of the models is out of range")


# Expansions


def _add_expansions(result: Any, parts: list[WeightedModel]) -> None:
    """Insert all vectors with their coefficients, then reduce them to the budget."""
    result._features = result._index_of(in_order(distinct(_names(part.model) for part in parts)))
    vectors = _united(parts, result._features)
    n, n_marks = len(vectors), len(result.algorithm.columns.marks)
    n_coefficients = result._n_outputs * (2 if getattr(result, "average", False) else 1)
    rows = np.reshape([vector.row for vector in vectors], (n, len(result._features)))
    coefficients = np.reshape([vector.coefficients for vector in vectors], (n, n_coefficients))
    _check_size(coefficients)
    # SBP, the only model with marks, has kernel values in `factor`, and fills it in when it is
    # united
    factored = 0 if n_marks else result._header_fields(1).get("factored", 0)
    _create_block(result, parts, capacity=memory.columns_for(n + 1), factored=factored)
    absorb = core.absorb_projecting if factored else core.absorb
    run_over(result, absorb, result._block, rows, coefficients)
    block = memory.views(result._block)
    for place, vector in enumerate(vectors):
        block.per_vector[list(result.algorithm.columns.marks), place] = vector.marks
    if block.head.count > block.head.budget:
        _keep_budget(result)
    result._resize_block(capacity=result._capacity_for(memory.views(result._block).head.count))


def _keep_budget(model: BudgetModel) -> None:
    """Reduce a sum by the model's own maintenance, or by removing the smallest vectors if that
    loses less.

    Each step of merging loses less than a removal, but if few of many vectors remain the steps
    together may lose more. This has not been observed with projections.
    """
    if memory.views(model._block).head.factored:
        model.algorithm.after.budget(model, True)
        return
    union, removed = copy.copy(model), copy.copy(model)
    model.algorithm.after.budget(model, True)
    run_once(removed, core.remove_lightest)
    if _explained(union, removed) > _explained(union, model):
        model._block = removed._block


def _explained(f: Any, g: Any) -> float:
    """|f|^2 - |f - g|^2 = <g, 2 f - g>"""
    rows = g._vector_rows()
    return float(
        np.sum(g._coefficient_columns().T * (2.0 * f._scores_at(rows) - g._scores_at(rows)))
    )


class Vector(NamedTuple):
    """A support vector on its way into a sum."""

    # Later vectors in the same model: arrival numbers of models that have stored different numbers
    # of vectors cannot be compared
    age: int
    key: Any  # what equal vectors share
    row: Any
    marks: Any  # the label and so on of an example in a window, as the sum has them
    # of the model's function, and behind them those of the mean of its iterates if it keeps one
    coefficients: Any


def _united(parts: list[WeightedModel], features: FeatureIndex) -> list[Vector]:
    """All vectors, oldest first: equal ones as one, as old as the newest of them.

    Those whose coefficients cancel are dropped, except for the examples of a window.
    """
    vectors = [vector for part in parts for vector in _vectors(part, features)]
    united: dict[Any, Vector] = {}
    for vector in sorted(vectors, key=lambda vector: -vector.age):
        equal = united.pop(vector.key, None)  # the newer one has its place behind all others
        total = vector.coefficients if equal is None else equal.coefficients + vector.coefficients
        united[vector.key] = vector._replace(coefficients=total)
    return [each for each in united.values() if len(each.marks) or each.coefficients.any()]


def _vectors(part: WeightedModel, features: FeatureIndex) -> Iterator[Vector]:
    """The vectors of a model, with a column for each of these features and each output of the
    sum.
    """
    model, block, known = part.model, part.block, part.model._features
    n = block.head.count
    batch = Batch.of(known.in_rows, model._vector_rows()[:, sorted(known.places.values())])
    rows = batch.known(features, False) + 0.0  # -0.0 becomes 0.0
    marks = block.per_vector[list(model.algorithm.columns.marks), :n]  # a copy
    if len(marks):  # the label, whose positive class may be the negative one of the sum
        marks[0] *= part.columns[0, 0]
    tables = [model._coefficient_columns()]
    if getattr(model, "average", False):
        tables.append(model._mean_rows()[:, :n])
    coefficients = part.weight * np.hstack([table.T @ part.columns for table in tables])
    ages = (block.head.arrived - block.arrivals[:n]).tolist()
    # a window may hold an example more than once
    occurrences: Counter[Any] = Counter()
    for age, row, own, a in zip(ages, rows, marks.T + 0.0, coefficients, strict=True):
        key = bytes(row), bytes(own)
        occurrences[key] += len(own) > 0
        yield Vector(age, (key, occurrences[key]), row, own, a)


def _names(model: Any) -> list[Any]:
    """The names of a model; where it forgets some, those that a vector uses."""
    if not model._takes_lists:
        names: list[Any] = model._features.in_rows
        return names
    block = memory.views(model._block)
    used = block.vectors[:, : block.head.count].any(axis=1)
    return [name for name, place in model._features.places.items() if used[place]]
