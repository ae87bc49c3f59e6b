"""Check that models can be merged, and unite their budgets, feature names and classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.block import blocks
from ..kernels import Kernel
from ..model.estimators.estimators import Transformer
from ..model.expansions.expansion import BudgetModel

# Parameters that may differ: sizes and classes are united; the seed has no effect on a kernel expansion; for
# kernels the gamma in use is compared.
UNITED = {"budget", "window", "classes", "seed", "kernel", "gamma"}


# What must be equal


def check_alike(models: list[Any], source: Any) -> None:
    """Raise ValueError if models differ in parameters that must be equal."""
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
    gamma = float(blocks.views(model.block).head.gamma)
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
        if budget is not None:
            raise ValueError(f"budget={budget!r}: {type(first).__name__} has none")
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
        return np.eye(int(blocks.views(model.block).head.outputs))
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
