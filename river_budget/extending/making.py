"""`algorithm`: what a class holds of an author's functions; `each_example`; and what a method of
such a class reads.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ..core import own_tables as _own
from ..core.compiling import arguments_of, attributes_in, of_user
from ..core.expansion.examples import example
from ..core.expansion.kernels import kernel_row, norm_of
from ..core.expansion.support import add_to, insert, rescale
from ..core.memory import record
from ..core.rounds.observe import learn_rows, learn_rows_with, observe
from ..kernels import RBF
from ..model.algorithm import After, Algorithm, Files, unchanged
from ..model.stored import Vectors
from .rules import made, merge_pair, project_smallest

NO_RULE = (
    "the round has left more vectors than the budget, and `keep` removes none: "
    "algorithm(round_of, keep=remove_oldest)"
)
NOT_A_NUMBER = (
    "a score is NaN: the round has written a coefficient that is no number, or a number of the "
    "record is none"
)

# What `algorithm` makes passes of: templates, in which the names of an author's functions stand for
# these


def _nothing(m, state):
    """No rule: a model without a budget, or a round that keeps it."""


def _learn(m, states, rows):
    """The learning pass of an algorithm: its round for every example, and its rule while there are
    too many vectors.
    """
    return learn_rows(m, states, rows, observe, step)  # type: ignore[name-defined]  # noqa: F821


def _learn_with(m, states, own, rows):
    """The same with own tables."""
    return learn_rows_with(m, states, own, rows, observe, step)  # type: ignore[name-defined]  # noqa: F821


def _step(m, state, x, norm, f, y, w):
    """A round, and then the rule until the budget is kept."""
    if f[0] != f[0]:
        raise RuntimeError(NOT_A_NUMBER)
    round_of(m, state, x, norm, f, y, w)  # type: ignore[name-defined]  # noqa: F821
    while m.head[0].count > m.head[0].budget:
        before = m.head[0].count
        keep(m, state)  # type: ignore[name-defined]  # noqa: F821
        if m.head[0].count >= before:
            raise RuntimeError(NO_RULE)


def _step_with(m, state, own, x, norm, f, y, w):
    """The same with own tables."""
    if f[0] != f[0]:
        raise RuntimeError(NOT_A_NUMBER)
    round_of(m, state, own, x, norm, f, y, w)  # type: ignore[name-defined]  # noqa: F821
    while m.head[0].count > m.head[0].budget:
        before = m.head[0].count
        keep(m, state, own)  # type: ignore[name-defined]  # noqa: F821
        if m.head[0].count >= before:
            raise RuntimeError(NO_RULE)


def _shrink(m, states):
    """The rule for a budget that a user has made smaller."""
    while m.head[0].count > m.head[0].budget:
        before = m.head[0].count
        keep(m, states[0])  # type: ignore[name-defined]  # noqa: F821
        if m.head[0].count >= before:
            raise RuntimeError("`keep` removes no vector")


def _shrink_with(m, states, own):
    """The same with own tables."""
    while m.head[0].count > m.head[0].budget:
        before = m.head[0].count
        keep(m, states[0], own)  # type: ignore[name-defined]  # noqa: F821
        if m.head[0].count >= before:
            raise RuntimeError("`keep` removes no vector")


def _round_without(m, state, own, x, norm, f, y, w):
    """A round that does not look at own tables."""
    function(m, state, x, norm, f, y, w)  # type: ignore[name-defined]  # noqa: F821


def _keep_without(m, state, own):
    """A rule that does not look at own tables."""
    function(m, state)  # type: ignore[name-defined]  # noqa: F821


def _results(m, states, rows):
    """The pass of `each_example`."""
    for t in range(rows.scores.shape[0]):
        x = example(m, rows, t)
        norm = norm_of(m, x)
        kernel_row(m, x, norm)
        function(m, states[0], x, norm, rows.scores[t])  # type: ignore[name-defined]  # noqa: F821
    return rows.scores.shape[0]


def _results_with(m, states, own, rows):
    """The same with own tables."""
    for t in range(rows.scores.shape[0]):
        x = example(m, rows, t)
        norm = norm_of(m, x)
        kernel_row(m, x, norm)
        function(m, states[0], own, x, norm, rows.scores[t])  # type: ignore[name-defined]  # noqa: F821
    return rows.scores.shape[0]


def _taking_own(function: Any, template: Any, own: Any) -> Any:
    """A function as passes with own tables call it, whether it takes them or not."""
    takes, name = "own" in arguments_of(function), f"{function.__module__}.{function.__qualname__}"
    if takes and not own:
        raise TypeError(
            f"{name} takes own tables: declare them, as algorithm(..., own={{'gram': ('B', 'B')}})"
        )
    if takes or not own:
        # inlined, as a function with one large caller: a rule of one's own is compiled once less
        return of_user(getattr(function, "py_func", function), inline="always")
    return of_user(made(template, f"{name} alone", function=function), inline="always")


def algorithm(
    round_of: Any,
    fields: str = "",
    keep: Any = None,
    own: Mapping[str, Any] | None = None,
    needs_rbf: bool = False,
    **options: Any,
) -> Algorithm:
    """What a class of an algorithm holds as `algorithm`.

    round_of
        A compiled function (m, state, x, norm, f, y, w) of one example; with own tables (m, state,
        own, x, norm, f, y, w).
    fields
        The names of the numbers that it keeps in `state`. A field with the name of a parameter has
        the parameter's value.
    keep
        A compiled function (m, state), or (m, state, own), that removes at least one vector, called
        while there are more than the budget: behind a round, and when a user makes the budget
        smaller. Then no vector is new, and m.row is that of no example.
    own
        {name: shape} of tables of numbers that belong to the model, which functions see as
        `own.name`. A shape is ("B",), a number of each vector, (3, "B"), or ("B", "B"), one of each
        pair. `remove` moves them with the vectors; what is behind the last vector is 0.
    needs_rbf
        Whether the functions are for a Gaussian kernel only, as those that read `m.logs` or merge.
    options
        Further fields of `Algorithm`.
    """
    if own and keep in (merge_pair, project_smallest):
        raise ValueError(
            f"{keep.__name__} makes a vector for which nobody computes own tables: write a rule of "
            "your own"
        )
    name = f"{round_of.__module__}.{round_of.__qualname__}"
    for function in (round_of, keep) if keep else (round_of,):
        _check_tables(function, own, options.get("header", {}), keep)
    templates: Any = (_learn_with, _step_with, _shrink_with) if own else (_learn, _step, _shrink)
    learn, step, shrink = templates
    if own:
        options.setdefault("columns", Vectors(own=dict(own)))
    if needs_rbf or keep is merge_pair:
        options["together"] = _needing_rbf(name, options.get("together"))
    if keep is project_smallest:
        options |= _with_factor(options)
    round_of = _taking_own(round_of, _round_without, own)
    rule = _taking_own(of_user(_nothing) if keep is None else keep, _keep_without, own)
    inside = of_user(made(step, f"step of {name}", round_of=round_of, keep=rule), inline="always")
    compiled_pass = of_user(made(learn, f"learn {name}", step=inside))
    if keep is not None:
        options.setdefault("shrink", of_user(made(shrink, f"shrink {name}", keep=rule)))
    return Algorithm(compiled_pass, record(f"f8 {fields or 'unused'}"), **options)


UNNAMED = {"per_vector": "per_vector", "squares": "squares", "factor": "factored"}


def _check_tables(function: Any, own: Any, header: Mapping[str, Any], keep: Any) -> None:
    """Raise for a function that names a table which has no rows in this model: it would write to
    other memory.
    """
    named = attributes_in(function)
    for table, field in UNNAMED.items():
        if table in named and not (own or header.get(field) or keep is project_smallest):
            raise TypeError(
                f"{function.__module__}.{function.__qualname__} uses m.{table}, which has no rows: "
                f"declare own={{'labels': ('B',)}}, or header={{{field!r}: 1}}"
            )


def _needing_rbf(name: str, together: Any) -> Callable[[Mapping[str, Any]], None]:
    """A check of the parameter `kernel`, before another one."""

    def check_kernel(parameters: Mapping[str, Any]) -> None:
        if not isinstance(kernel := parameters.get("kernel") or RBF(), RBF):
            raise ValueError(f"{name} needs a Gaussian kernel (RBF), not kernel={kernel!r}")
        if together is not None:
            together(parameters)

    return check_kernel


def _with_factor(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of an algorithm that keeps a factor of the Gram matrix: sums of models compute their
    own.
    """
    files = options.get("files", Files())
    return {
        "header": {"factored": 1, **options.get("header", {})},
        "after": options.get("after", After(union=unchanged)),
        "files": dataclasses.replace(files, whole_factor=False),
    }


# Further passes, and own tables, for methods of a class


def each_example(function: Any) -> Any:
    """Decorator: a compiled pass that writes numbers of examples, from a function of one example.

    The function takes (m, state, x, norm, f), or (m, state, own, x, norm, f), and writes f; m.row
    has the kernel values of x. `results_of` runs the pass; as Algorithm(score=...) it predicts.
    """
    template = _results_with if "own" in arguments_of(function) else _results
    name = f"results of {function.__module__}.{function.__qualname__}"
    return of_user(made(template, name, function=of_user(function, inline="always")))


def results_of(model: Any, compiled_pass: Any, x: dict[Any, Any], n: int = 1) -> list[float] | None:
    """The n numbers that a pass of `each_example` writes for an example, and None before the model
    has learned one.
    """
    found: list[float] | None = model._run_on_one(compiled_pass, x, n)
    return found


def state_of(model: Any) -> Any:
    """The record of a model: `state_of(model).mistakes` is what its round has as `state.mistakes`,
    and to assign it changes the model. None before the model has learned an example.
    """
    return None if model._block is None else model._state_record()


def own_tables(model: Any) -> Any:
    """The own tables of a model as a named tuple of arrays, for methods and functions of `After`:
    writing to them changes the model. None before the model has learned an example.
    """
    if model._block is None:
        return None
    return _own.own_tables(model._block, model.algorithm.columns.own)


# Losses


def _descent(m, state, x, norm, f, y, w):
    """A round of gradient descent: f <- (1 - eta lambda) f - eta w l'(f) k(x, .)"""
    if f.shape[0] > 1:
        raise RuntimeError(
            "a loss of f and y is for regression and for two classes: algorithm(..., binary=True)"
        )
    _, derivative = loss_of(f[0], y, state)  # type: ignore[name-defined]  # noqa: F821
    rescale(m, max(1.0 - state.learning_rate * state.l2, 0.0))
    if derivative != 0.0:
        add(m, x, norm, 0, -1, -w * state.learning_rate * derivative)  # type: ignore[name-defined]  # noqa: F821


def _store(m, x, norm, plus, minus, amount):
    """`add_or_project` without projecting: x becomes a vector."""
    add_to(m, insert(m, x, norm), plus, minus, amount)
    return True


def _loss_without(f, y, state):
    """A loss without parameters."""
    return function(f, y)  # type: ignore[name-defined]  # noqa: F821


def descent_on(loss: Any, add: Any = None) -> Any:
    """A round of gradient descent on a loss of yours, for `algorithm` with the fields
    "learning_rate l2".

    loss
        A compiled function (f, y) -> (loss, its derivative by f), or (f, y, state) if it has
        parameters.
    add
        How an example is stored: `add_or_project` where the rule is `project_smallest`.
    """
    name = f"{loss.__module__}.{loss.__qualname__}"
    if "state" not in arguments_of(loss):
        loss = of_user(made(_loss_without, f"{name} alone", function=loss), inline="always")
    how, add = ("", of_user(_store)) if add is None else (f" by {add.__qualname__}", add)
    return of_user(
        made(_descent, f"descent on {name}{how}", loss_of=loss, add=add), inline="always"
    )
