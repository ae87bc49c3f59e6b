"""What an algorithm of your own needs, in one import (the guide: examples/extending.md).

`algorithm` makes what a class holds of a function of one example and, if there is a budget, of a
rule that removes vectors. `Classifier` and `Regressor` are the base classes; `Mutable`, `Fixed` and
the checks declare parameters; `register` lets files hold the class. The functions that such a
function calls are those of the algorithms of this package:

    loss_and_direction, is_mistake           what the scores mean for the target
    insert, add_to, rescale, remove          change the support
    remove_oldest, remove_random, remove_smallest, merge_pair      rules for `keep`
    row_of_vector, self_kernel, along_row, weight_of               look at it

`descent_on` makes a round of a loss, `each_example` a pass for a method, whose numbers `results_of`
gives. Tables beside the vectors: `algorithm(own=...)`, in Python `own_tables`. `check` asks of a
model what the tests of this package ask.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from ..core import own_tables as _own
from ..core.budget.merging import merge, nobody
from ..core.budget.strategies import NOT_EXACT, NOT_NEWEST
from ..core.compiling import arguments_of, of_user
from ..core.expansion.examples import example
from ..core.expansion.kernels import along_row, kernel_row, norm_of, row_of_vector, self_kernel
from ..core.expansion.support import add_to, insert, lightest, oldest, remove, rescale, weight_of
from ..core.memory import record
from ..core.random_numbers import below
from ..core.rounds.losses import is_mistake, loss_and_direction
from ..core.rounds.observe import learn_rows, learn_rows_with, observe
from ..model.algorithm import After, Algorithm, Files, unchanged
from ..model.estimators import BudgetClassifier as Classifier
from ..model.estimators import BudgetRegressor as Regressor
from ..model.stored import Vectors
from ..parameters import (
    Fixed,
    Mutable,
    boolean,
    not_negative,
    one_of,
    optional,
    positive,
    share,
    whole,
)
from ..saving import register
from .checking import check

__all__ = [
    "After",
    "Algorithm",
    "Classifier",
    "Files",
    "Fixed",
    "Mutable",
    "Regressor",
    "Vectors",
    "add_to",
    "algorithm",
    "along_row",
    "boolean",
    "check",
    "compiled",
    "descent_on",
    "each_example",
    "insert",
    "is_mistake",
    "loss_and_direction",
    "merge_pair",
    "not_negative",
    "one_of",
    "optional",
    "own_tables",
    "positive",
    "register",
    "remove",
    "remove_oldest",
    "remove_random",
    "remove_smallest",
    "rescale",
    "results_of",
    "row_of_vector",
    "self_kernel",
    "share",
    "unchanged",
    "weight_of",
    "whole",
]

compiled = of_user
NO_RULE = (
    "the round has left more vectors than the budget, and `keep` removes none: "
    "algorithm(round_of, keep=remove_oldest)"
)
NOT_A_NUMBER = (
    "a score is NaN: the round has written a coefficient that is no number, or a number of the "
    "record is none"
)


@of_user
def remove_oldest(m, state):
    """Remove the oldest vector."""
    remove(m, oldest(m))


@of_user
def remove_random(m, state):
    """Remove any vector but the last, which is the newcomer, all equally likely."""
    remove(m, below(m.head[0], m.head[0].count - 1))


@of_user
def remove_smallest(m, state):
    """Remove the vector whose removal changes the model least."""
    remove(m, lightest(m, m.buffer))


@of_user
def merge_pair(m, state):
    """Merge the lightest vector with its best partner (Gaussian kernel)."""
    merge(m, nobody(m), NOT_NEWEST, NOT_EXACT)


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


def _made(template: Any, name: str, **names: Any) -> Any:
    """A copy of a function in which these names stand for these values.

    A closure would do the same, but numba finds no compiled closure on the disk again.
    """
    known = {**template.__globals__, **names}
    made = types.FunctionType(template.__code__, known, name)
    made.__module__, made.__qualname__, made.__doc__ = __name__, name, template.__doc__
    return made


def _taking_own(function: Any, template: Any, own: Any) -> Any:
    """A function as passes with own tables call it, whether it takes them or not."""
    takes, name = "own" in arguments_of(function), f"{function.__module__}.{function.__qualname__}"
    if takes and not own:
        raise TypeError(
            f"{name} takes own tables: declare them, as algorithm(..., own={{'gram': ('B', 'B')}})"
        )
    if takes or not own:
        return function
    return of_user(_made(template, f"{name} alone", function=function), inline="always")


def algorithm(
    round_of: Any,
    fields: str = "",
    keep: Any = None,
    own: Mapping[str, Any] | None = None,
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
        while there are more than the budget.
    own
        {name: shape} of tables of numbers that belong to the model, which functions see as
        `own.name`. A shape is ("B",), a number of each vector, (3, "B"), or ("B", "B"), one of each
        pair. `remove` moves them with the vectors; what is behind the last vector is 0.
    options
        Further fields of `Algorithm`.
    """
    if own and keep is merge_pair:
        raise ValueError(
            "merge_pair makes a vector for which nobody computes own tables: write a rule of your "
            "own"
        )
    name = f"{round_of.__module__}.{round_of.__qualname__}"
    templates: Any = (_learn_with, _step_with, _shrink_with) if own else (_learn, _step, _shrink)
    learn, step, shrink = templates
    if own:
        options.setdefault("columns", Vectors(own=dict(own)))
    round_of = _taking_own(round_of, _round_without, own)
    rule = _taking_own(of_user(_nothing) if keep is None else keep, _keep_without, own)
    inside = of_user(_made(step, f"step of {name}", round_of=round_of, keep=rule), inline="always")
    compiled_pass = of_user(_made(learn, f"learn {name}", step=inside))
    if keep is not None:
        options.setdefault("shrink", of_user(_made(shrink, f"shrink {name}", keep=rule)))
    return Algorithm(compiled_pass, record(f"f8 {fields or 'unused'}"), **options)


# Further passes, and own tables, for methods of a class


def each_example(function: Any) -> Any:
    """Decorator: a compiled pass that writes numbers of examples, from a function of one example.

    The function takes (m, state, x, norm, f), or (m, state, own, x, norm, f), and writes f; m.row
    has the kernel values of x. `results_of` runs the pass; as Algorithm(score=...) it predicts.
    """
    template = _results_with if "own" in arguments_of(function) else _results
    name = f"results of {function.__module__}.{function.__qualname__}"
    return of_user(_made(template, name, function=of_user(function, inline="always")))


def results_of(model: Any, compiled_pass: Any, x: dict[Any, Any], n: int = 1) -> list[float] | None:
    """The n numbers that a pass of `each_example` writes for an example, and None before the model
    has learned one.
    """
    found: list[float] | None = model._run_on_one(compiled_pass, x, n)
    return found


def own_tables(model: Any) -> Any:
    """The own tables of a model as a named tuple of arrays, for a function of `After`: writing to
    them changes the model.
    """
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
        add_to(m, insert(m, x, norm), 0, -1, -w * state.learning_rate * derivative)


def _loss_without(f, y, state):
    """A loss without parameters."""
    return function(f, y)  # type: ignore[name-defined]  # noqa: F821


def descent_on(loss: Any) -> Any:
    """A round of gradient descent on a loss of yours, for `algorithm` with the fields
    "learning_rate l2".

    loss
        A compiled function (f, y) -> (loss, its derivative by f), or (f, y, state) if it has
        parameters.
    """
    name = f"{loss.__module__}.{loss.__qualname__}"
    if "state" not in arguments_of(loss):
        loss = of_user(_made(_loss_without, f"{name} alone", function=loss), inline="always")
    return of_user(_made(_descent, f"descent on {name}", loss_of=loss), inline="always")
