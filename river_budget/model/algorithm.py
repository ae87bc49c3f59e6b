"""Algorithm: what the estimators, files and sums of models know of an algorithm, as data.

An estimator holds one as the class attribute `algorithm`, and overrides nothing. The tables of
fields in the guide (examples/extending) are made of the comments here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core import memory
from ..core.budget.united import project_cheapest, remove_lightest
from ..core.codes import Maintenance, Strategy
from ..core.expansion.scoring import score, score_mean
from ..kernels import Kernel
from .calls import run_once
from .stored import Vectors


def nothing(*given: Any) -> None:
    """There is nothing to do, or to check."""


def unchanged(*given: Any) -> None:
    """What is kept for vectors needs no change: an algorithm says so, as without a word it is
    refused.
    """


def check_kept(model: Any, declared: Any, doing: str, field: str, names: tuple[str, ...]) -> None:
    """Raise if an algorithm keeps numbers of its own for vectors, and does not say what becomes of
    them.
    """
    header = model.algorithm.header
    kept = [name for name in names if name in header and value_of(header[name], model)]
    kept += list(model.algorithm.columns.own)
    if kept and declared is nothing:
        raise NotImplementedError(
            f"{type(model).__name__} keeps numbers of its own in {' and '.join(kept)}, and does "
            "not say what becomes of "
            f"them {doing}: Algorithm(after=After({field}=...))"
        )


def _kind_of(model: Any, united: bool) -> Strategy:
    """The kind of strategy that makes a model smaller; pairs are merged in a sum, where merging
    more would lose more.
    """
    kind: Strategy = model._strategy.kind
    return Strategy.PAIRS if united and kind is Strategy.MANY else kind


def shrink_by_pass(model: Any, united: bool) -> None:
    """Apply the maintenance until a smaller budget is kept; in a sum of models to what changes it
    least.
    """
    head = memory.head_of(model._block)
    if united and head.maintenance != Maintenance.MERGE:
        run_once(model, project_cheapest if head.factored else remove_lightest)
        return
    shrink = model.algorithm.shrink
    if shrink is None:
        raise NotImplementedError(
            f"{type(model).__name__} has no pass that keeps a smaller budget: "
            "Algorithm(shrink=...), or a rule: "
            "extending.algorithm(round_of, keep=extending.remove_oldest)"
        )
    run_once(model, shrink[_kind_of(model, united)] if isinstance(shrink, Mapping) else shrink)


@dataclass(frozen=True)
class After:
    """What an algorithm does after a change to its model."""

    change: Callable[[Any, str], None] = nothing  # (model, name): a parameter has another value
    # (model): there is a third class, and coefficients a of one output are (-a/2, a/2, 0). Without
    # it, rows of numbers of vectors refuse one (`unchanged`: they need not change)
    promotion: Callable[[Any], None] = nothing
    # (model, united): there are more vectors than the budget; united: in a sum of models
    budget: Callable[[Any, bool], None] = shrink_by_pass
    # (model, parts): it became a sum of models, whose own tables are to be written. Without it,
    # numbers of vectors refuse `rb.merge`
    union: Callable[[Any, list[Any]], None] = nothing


@dataclass(frozen=True)
class Files:
    """What a file may contain."""

    # {name: (least, most)} of parameters, fields of the record, `per_vector` and own tables; a
    # whole number in the record needs one
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    # (model, count): raise ValueError for a state in its ranges that compiled code could not bear
    check: Callable[[Any, int], None] = nothing
    # whether `factor` has numbers above its diagonal; None: if it is the algorithm's own
    whole_factor: Any = None
    # whether scoring needs `per_vector` or own tables: files of models that only predict keep them
    scored_rows: bool = False


@dataclass(frozen=True)
class Algorithm:
    """An algorithm: its passes, its memory, and functions of a model for what is special in it.

    A value in `header` and `start` may be a function of the model.
    """

    # the compiled pass; with the parameter `maintenance`, or `span`, {kind of it: pass}; None for
    # a map that is drawn
    learn: Any
    state: Any  # the record; a field with a parameter's name holds the parameter's value
    # the compiled pass that keeps a budget that has been made smaller, or {kind of maintenance:
    # pass}
    shrink: Any = None
    # fields of the header, as `factored`, and `per_vector`, how many numbers the pass keeps of
    # every vector without a name
    header: Mapping[str, Any] = field(default_factory=dict)
    # fields of the record that do not begin with 0; whole numbers among them never change
    start: Mapping[str, Any] = field(default_factory=dict)
    score: Any = score  # the compiled pass that only scores: expansions need none
    # the same by the mean of the iterates, for models with the parameter `average`
    mean: Any = score_mean
    # fields of the record that count up: a sum of models goes on from the largest
    counters: tuple[str, ...] = ()
    kernel: Kernel | None = None  # the kernel where the parameter is None, if not that of the task
    binary: bool = False  # whether it separates two classes only
    # what the columns of the tables are, and how names come and go
    columns: Any = field(default_factory=Vectors)
    # ({parameter: value}): raise ValueError for parameters that are fine alone and not together
    together: Callable[[Mapping[str, Any]], None] = nothing
    # (model): give what a stopped pass waits for, if not for more room
    prepare: Callable[[Any], None] | None = None
    after: After = After()  # what follows a change of the model
    files: Files = Files()  # what a file may contain


def values_of(fields: Mapping[str, Any], model: Any) -> dict[str, Any]:
    """The fields with their values for a model."""
    return {name: value_of(value, model) for name, value in fields.items()}


def value_of(value: Any, model: Any) -> Any:
    """A value, or that of a function of the model."""
    return value(model) if callable(value) else value
