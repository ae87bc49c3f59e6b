"""Weighted sums of our own models: check that they agree, unite parameters, features, classes and vectors.

The sum has the parameters of the first model. The models themselves transfer what an algorithm stores besides
its function (`After.union`).
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.block import blocks
from ..core.budget import united as core
from ..core.expansion.support import LARGEST
from ..core.rounds.calibration import STEEPEST
from ..kernels import Kernel
from ..model.calls.calls import Call, Rows
from ..model.estimators.estimators import Transformer
from ..model.expansions.expansion import BudgetModel
from ..model.inputs.features import in_order

# Parameters that may differ: sizes and classes are united; the seed has no effect on a kernel expansion; for
# kernels the gamma in use is compared.
UNITED = {"budget", "window", "classes", "seed", "kernel", "gamma"}


# What must be equal


def check_alike(models: list[Any], source: Any) -> None:
    """Raise ValueError if models differ in parameters that must be equal, or have a span for each class."""
    if getattr(source, "span", "all") == "class":  # a vector has room in two factors only
        raise ValueError(
            f"models of {type(source).__name__} cannot be merged if their span is 'class': in a sum vectors would "
            "belong to more than two classes"
        )
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
    settings = {name: getattr(model, name) for name in model.parameters() if name not in free}
    if "maintenance" in settings:
        settings["maintenance"] = model.strategy
    settings["kernel"] = _kernel_in_use(model)
    if not isinstance(model, BudgetModel) and _has_drawn(model):
        settings["seed"] = model.entropy
    return settings


def _has_drawn(model: Any) -> bool:
    """Whether the random waves of a model must stay: those of a model that has not learned may be drawn again."""
    return model.block is not None or model.seed is not None or isinstance(model, Transformer)


def _kernel_in_use(model: BudgetModel) -> Kernel:
    """The kernel with the gamma in use; a model that has not learned may have a text such as "auto"."""
    kernel: Kernel = model.kernel_in_use
    if model.block is None or not hasattr(kernel, "gamma"):
        return kernel
    gamma = blocks.views(model.block).head.gamma
    in_use: Kernel = type(kernel)(**vars(kernel) | {"gamma": gamma})
    return in_use


def _agree(a: Any, b: Any) -> bool:
    open_widths = {isinstance(getattr(kernel, "gamma", 0.0), str) for kernel in (a, b)}
    return bool(a == b) or (type(a) is type(b) and len(open_widths) == 2)


# What is united


def limit_of(models: list[Any], budget: int | None) -> dict[str, Any]:
    """The parameter that limits the number of vectors."""
    first = models[0]
    if not (isinstance(first, BudgetModel) and first.budget_name in first.parameters()):
        return {}
    limits = [model.budget_in_use for model in models]
    if budget is None and None not in limits:
        budget = max(limits)
    return {first.budget_name: budget}


def distinct(names: Iterable[Iterable[Any]]) -> list[Any]:
    """All names, in the order of their first appearance."""
    return list(dict.fromkeys(name for some in names for name in some))


def unite_labels(result: Any, models: list[Any]) -> None:
    labels = result.labels
    known = distinct([labels.known, *(model.labels.known for model in models)])
    if labels.closed and len(known) > len(labels.known):
        raise ValueError(
            f"classes={result.classes!r} of the first model lack {known[len(labels.known)]!r}, which "
            "another model knows"
        )
    if labels.binary and len(known) > 2:
        raise ValueError(
            f"classes of all models together must be two, not {known!r}: {type(result).__name__} "
            "separates no more"
        )
    result.labels = labels.with_known(known)


def columns_of(model: BudgetModel, result: Any) -> Any:
    """The matrix that maps the outputs of a model (rows) to those of the sum (columns)."""
    if not hasattr(model, "labels"):
        return np.eye(blocks.views(model.block).head.outputs)
    known, names = model.labels.known, result.labels.known
    if len(names) <= 2:
        return np.array([[1.0 if known[0] == names[0] else -1.0]])
    columns = np.zeros((model.n_outputs, len(names)))
    for i, label in enumerate(known):
        if len(known) > 2:
            columns[i, names.index(label)] = 1.0
        else:  # the one output becomes two, as when a model learns a third class
            columns[0, names.index(label)] = -0.5 if i == 0 else 0.5
    return columns


# The sum


@dataclasses.dataclass
class Part:
    """One model of a sum, with its weight."""

    model: Any
    weight: float
    columns: Any  # (outputs of the model x outputs of the sum), from `columns_of`

    @property
    def block(self) -> Any:
        return blocks.views(self.model.block)

    @property
    def flipped(self) -> bool:
        """Whether the positive class of its only output is the negative class of the sum."""
        return bool(self.columns[0, 0] < 0.0)


def weighted_sum(models: list[Any], weights: list[float], budget: int | None) -> Any:
    """A new model f = sum_i weight_i f_i, reduced to its budget."""
    models = [model.twin() for model in models]
    learned = [model for model in models if model.block is not None]
    source = (learned or models)[0]
    check_alike(models, source)
    result = models[0].clone(limit_of(models, budget))
    result.entropy, result.target_name = source.entropy, source.target_name
    if hasattr(result, "labels"):
        unite_labels(result, models)
    if learned:
        parts = [
            Part(model, weight, columns_of(model, result))
            for model, weight in zip(models, weights, strict=True)
            if model.block is not None
        ]
        (_add_expansions if isinstance(result, BudgetModel) else _add_waves)(result, parts)
        _set_record(result, parts)
    return result


def _set_record(result: Any, parts: list[Part]) -> None:
    """Counters continue from the largest: models that began as copies have counted the same rounds."""
    state = result.state_record()
    counters = {"averaged", *result.algorithm.counters}
    for name in counters.intersection(state.dtype.names):
        state[name] = max(part.model.state_record()[name] for part in parts)
    result.algorithm.after.union(result, parts)


def _set_parameters(result: Any, parts: list[Part], names: list[Any], **sizes: int) -> None:
    """Set up an empty model with these features, and the kernel and the random numbers of the first part."""
    result.features = result.index_of(names)
    head = parts[0].block.head
    fields = {"gamma": head.gamma, "random": head.random, "width": max(len(names), 1), **sizes}
    result.create_block(max(len(names), 1), **fields)
    own_head = blocks.views(result.block).head
    own_head.repairs = max(part.block.head.repairs for part in parts)
    own_head.judged = max(part.block.head.judged for part in parts)
    _unite_links(own_head, parts)


def _unite_links(head: Any, parts: list[Part]) -> None:
    """Unite the calibrations: 1 / slope is the scale of the scores, and scales add up as scores do.

    The curvatures are the means of those of the parts.
    """
    used = [part for part in parts if part.weight != 0.0 and part.block.head.slope > 0.0]
    if not used:
        return
    sizes = sum(abs(part.weight) / part.block.head.slope for part in used)
    head.slope = min(max(1.0 / sizes, 1.0 / STEEPEST), STEEPEST)
    total = sum(abs(part.weight) for part in used)
    for name in ("lead", "slope_curvature", "lead_curvature", "cross_curvature"):
        mean = sum(abs(part.weight) / total * getattr(part.block.head, name) for part in used)
        setattr(head, name, mean)


# Random waves


def _add_waves(result: Any, parts: list[Part]) -> None:
    """Add models with equal waves: the weights of their cosines and sines add up."""
    known = [part.model.features for part in parts]
    names = in_order(distinct(known))
    # of very many, none need be kept: their frequencies are drawn again when they come back
    columns = result.algorithm.columns
    names = names if len(names) <= columns.most_names(result) else []
    _set_parameters(result, parts, names)
    columns.draw(result, result.block, names, range(len(names)))
    sums = blocks.views(result.block)
    tables = sums.coefficients, sums.per_vector
    for part in parts:
        for table, addend in zip(
            tables, (part.block.coefficients, part.block.per_vector), strict=True
        ):
            if not table.size:  # a feature map has no weights
                continue
            own, of_output = len(part.columns), len(table) // result.n_outputs
            rows = addend.reshape(own, of_output, -1)  # several rows of numbers for each output
            united = np.einsum("or,okj->rkj", part.columns, rows)
            table += part.weight * united.reshape(table.shape)
    _check_size(*tables)


def _check_size(*tables: Any) -> None:
    if not all((np.abs(table) <= LARGEST).all() for table in tables):
        raise ValueError("weights are too large: the sum of the models is out of range")


# Expansions


def _add_expansions(result: Any, parts: list[Part]) -> None:
    """Gather all vectors with their coefficients, then reduce them to the budget."""
    names = in_order(distinct(_names(part.model) for part in parts))
    rows, coefficients, marks = _folded(*_gathered(parts, names, result.n_outputs))
    averaged = bool(getattr(result, "average", False))
    coefficients = coefficients if averaged else coefficients[:, : result.n_outputs]
    _check_size(coefficients)
    marked = marks.shape[1] > 0
    # SBP, the only model with marks, has kernel values in `factor`, and fills it in when it is united
    factored = 0 if marked else result.header_fields(1).get("factored", 0)
    capacity = blocks.columns_for(len(rows) + 1)
    _set_parameters(result, parts, names, capacity=capacity, factored=factored)
    absorb = core.absorb_projecting if factored else core.absorb
    Call(result.block, np.ascontiguousarray(rows), scores=coefficients).run(absorb)
    block = blocks.views(result.block)
    if marked:
        block.per_vector[list(result.algorithm.columns.marks), : len(rows)] = marks.T
    if block.head.count > block.head.budget:
        _keep_budget(result)
    result.resize_block(capacity=result.capacity_for(blocks.views(result.block).head.count))


def _keep_budget(model: BudgetModel) -> None:
    """Reduce a sum by the model's own maintenance, or by removing the smallest vectors if that loses less.

    Each step of merging loses less than a removal, but if few of many vectors remain the steps together may
    lose more. This has not been observed with projections.
    """
    if blocks.views(model.block).head.factored:
        model.algorithm.after.budget(model, True)
        return
    union, removed = copy.copy(model), copy.copy(model)
    model.algorithm.after.budget(model, True)
    Call(removed.block).run(core.remove_lightest)
    if _explained(union, removed) > _explained(union, model):
        model.block = removed.block


def _explained(f: Any, g: Any) -> float:
    """|f|^2 - |f - g|^2 = <g, 2 f - g>"""
    rows = g.vector_rows()
    return float(np.sum(g.coefficient_columns().T * (2.0 * f.scores_at(rows) - g.scores_at(rows))))


def _gathered(parts: list[Part], names: list[Any], outputs: int) -> tuple[Any, ...]:
    """Rows, coefficients, marks (labels of a window) and owners of all vectors, oldest first.

    The age of a vector is the number of later vectors in the same model, as arrival numbers of models that have
    stored different numbers of vectors cannot be compared.
    """
    used = [part for part in parts if part.weight != 0.0]
    if not used:
        return np.zeros((0, len(names))), np.zeros((0, outputs)), np.zeros((0, 0)), np.zeros(0)
    rows = np.vstack([_rows(part, names) for part in used])
    coefficients = np.vstack([_coefficients(part) for part in used])
    marks = np.vstack([_marks(part).T for part in used])
    counts = [part.block.head.count for part in used]
    owners = np.repeat(np.arange(len(used)), counts)
    ages = [
        part.block.head.arrived - part.block.arrivals[:n]
        for part, n in zip(used, counts, strict=True)
    ]
    order = np.argsort(-np.concatenate(ages), kind="stable")
    return rows[order], coefficients[order], marks[order], owners[order]


def _marks(part: Part) -> Any:
    """The rows that belong to the examples of a window, as the sum has them: the labels, and others."""
    places = list(part.model.algorithm.columns.marks)
    marks = part.block.per_vector[places, : part.block.head.count]  # a copy
    if part.flipped and len(marks):
        marks[0] *= -1.0
    return marks


def _coefficients(part: Part) -> Any:
    """The coefficients of a model's function, and those of the mean of its iterates if it keeps one."""
    tables = [part.model.coefficient_columns()]
    if getattr(part.model, "average", False):
        tables.append(part.model.mean_rows()[:, : part.model.n_support_vectors])
    return part.weight * np.hstack([table.T @ part.columns for table in tables])


def _names(model: Any) -> list[Any]:
    """The names of a model; where it forgets some, those that a vector uses."""
    if not model.takes_lists:
        names: list[Any] = model.features.in_rows
        return names
    block = blocks.views(model.block)
    used = block.vectors[:, : block.head.count].any(axis=1)
    return [name for name, place in model.features.places.items() if used[place]]


def _rows(part: Part, names: list[Any]) -> Rows:
    """The vectors of a model, one row each, with a column for each of these names."""
    known, rows = part.model.features.places, np.zeros((part.block.head.count, len(names)))
    columns = [column for column, name in enumerate(names) if name in known]
    places = [known[names[column]] for column in columns]
    rows[:, columns] = part.block.vectors[places, : len(rows)].T
    return rows


def _folded(rows: Rows, coefficients: Rows, marks: Rows, owners: Any) -> tuple[Any, Any, Any]:
    """Combine equal vectors into one, as old as the newest of them; drop those whose coefficients cancel.

    Vectors with marks are the examples of a window: in the sample of one model an example may occur more than
    once, and stays even if its coefficients are 0.
    """
    # -0.0 becomes 0.0
    keys: list[Any] = list(zip(map(bytes, rows + 0.0), map(bytes, marks + 0.0), strict=True))
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
