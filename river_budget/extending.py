"""What an algorithm of your own needs, in one import (the guide: examples/extending.md).

`algorithm` makes what a class holds of a function of one example and, if there is a budget, of a rule that removes vectors.
`Classifier` and `Regressor` are the base classes; `Mutable`, `Fixed` and the checks declare parameters; `register` lets
files hold the class. The functions that such a function calls are those of the algorithms of this package:

    loss_and_direction, is_mistake           what the scores mean for the target
    insert, add_to, rescale, remove          change the support
    remove_oldest, remove_random, remove_smallest, merge_pair      rules for `keep`
    row_of_vector, self_kernel, along_row, weight_of               look at it
"""

from __future__ import annotations

import types
from typing import Any

from .core.budget.merging import merge, nobody
from .core.budget.strategies import NOT_EXACT, NOT_NEWEST
from .core.compiling import of_user
from .core.expansion.kernels import along_row, row_of_vector, self_kernel
from .core.expansion.support import add_to, insert, lightest, oldest, remove, rescale, weight_of
from .core.memory import record
from .core.random_numbers import below
from .core.rounds.losses import is_mistake, loss_and_direction
from .core.rounds.observe import learn_rows, observe
from .model.algorithm import After, Algorithm, Files, unchanged
from .model.estimators import BudgetClassifier as Classifier
from .model.estimators import BudgetRegressor as Regressor
from .parameters import (
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
from .saving import register

__all__ = [
    "After",
    "Algorithm",
    "Classifier",
    "Files",
    "Fixed",
    "Mutable",
    "Regressor",
    "add_to",
    "algorithm",
    "along_row",
    "boolean",
    "compiled",
    "insert",
    "is_mistake",
    "loss_and_direction",
    "merge_pair",
    "not_negative",
    "one_of",
    "optional",
    "positive",
    "register",
    "remove",
    "remove_oldest",
    "remove_random",
    "remove_smallest",
    "rescale",
    "row_of_vector",
    "self_kernel",
    "share",
    "unchanged",
    "weight_of",
    "whole",
]

compiled = of_user


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


def _nothing(m, state):
    """No rule: a model without a budget, or a round that keeps it."""


def _learn(m, states, rows):
    """The learning pass of an algorithm: its round for every example, and its rule while there are too many vectors."""
    return learn_rows(m, states, rows, observe, step)  # type: ignore[name-defined]  # noqa: F821


def _step(m, state, x, norm, f, y, w):
    """A round, and then the rule until the budget is kept."""
    head = m.head[0]
    round_of(m, state, x, norm, f, y, w)  # type: ignore[name-defined]  # noqa: F821
    while head.count > head.budget:
        before = head.count
        keep(m, state)  # type: ignore[name-defined]  # noqa: F821
        if head.count >= before:
            raise RuntimeError(
                "the round has left more vectors than the budget, and `keep` removes none: algorithm(round_of, keep=remove_oldest)"
            )


def _shrink(m, states):
    """The rule for a budget that a user has made smaller."""
    while m.head[0].count > m.head[0].budget:
        before = m.head[0].count
        keep(m, states[0])  # type: ignore[name-defined]  # noqa: F821
        if m.head[0].count >= before:
            raise RuntimeError("`keep` removes no vector")


def _made(template: Any, name: str, **names: Any) -> Any:
    """A copy of a function in which these names stand for these values.

    A closure would do the same, but numba finds no compiled closure on the disk again.
    """
    known = {**template.__globals__, **names}
    made = types.FunctionType(template.__code__, known, name)
    made.__module__, made.__qualname__, made.__doc__ = __name__, name, template.__doc__
    return made


def algorithm(round_of: Any, fields: str = "", keep: Any = None, **options: Any) -> Algorithm:
    """What a class of an algorithm holds as `algorithm`.

    round_of
        A compiled function (m, state, x, norm, f, y, w) of one example.
    fields
        The names of the numbers that it keeps in `state`. A field with the name of a parameter has the parameter's value.
    keep
        A compiled function (m, state) that removes at least one vector, called while there are more than the budget.
    options
        Further fields of `Algorithm`.
    """
    name = f"{round_of.__module__}.{round_of.__qualname__}"
    rule = of_user(_nothing) if keep is None else keep
    step = of_user(_made(_step, f"step of {name}", round_of=round_of, keep=rule), inline="always")
    learn = of_user(_made(_learn, f"learn {name}", step=step))
    if keep is not None:
        options.setdefault("shrink", of_user(_made(_shrink, f"shrink {name}", keep=keep)))
    return Algorithm(learn, record(f"f8 {fields or 'unused'}"), **options)
