"""What a model does with an example of just the known features: two functions, made for the model as it is.

They find all that they need in their own variables, and look nothing up in the model. Any change of its block, its
features or its labels makes them obsolete.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from typing import Any

from .calls import PreparedRow

Score = Callable[[dict[Any, Any]], Any]
Learn = Callable[[dict[Any, Any], float, float], Any]
NO_NUMBERS = (KeyError, struct.error, TypeError, OverflowError)


def nothing(*example: Any) -> None:
    """In the place of either, while there are none: the example goes another way."""


class AtOnce:
    """The two functions of a model. A copy of a model begins without: theirs would change the original."""

    __slots__ = ("learn", "score")

    def __init__(self, score: Score = nothing, learn: Learn = nothing):
        self.score, self.learn = score, learn

    def __reduce__(self) -> Any:
        return AtOnce, ()


def at_once(names: Sequence[Any], rows: list[PreparedRow], scoring: Any, learning: Any) -> AtOnce:
    """Both functions return the scores of an example, before it is learned; or None if it must go another way,
    and then nothing has happened.

    `rows`: calls for one example with these features that no thread is using.
    """
    n = len(names)
    get: Any = operator.itemgetter(*names) if n > 1 else None
    pack_into, pop, append = struct.Struct(f"{n}d").pack_into, rows.pop, rows.append

    def score(x: dict[Any, Any]) -> Any:
        if len(x) != n:
            return None
        try:
            row = pop()
        except IndexError:
            return None
        addresses, values, scores, _, _ = row.parts
        try:
            pack_into(values, 0, *get(x))
            found = scores.tolist() if scoring(addresses) else None
        except NO_NUMBERS:
            found = None
        append(row)
        return found

    def learn(x: dict[Any, Any], target: float, w: float) -> Any:
        if len(x) != n:
            return None
        try:
            row = pop()
        except IndexError:
            return None
        addresses, values, scores, targets, weights = row.parts
        try:
            pack_into(values, 0, *get(x))
            targets[0] = target
            weights[0] = w
            found = scores.tolist() if learning(addresses) else None
        except NO_NUMBERS:
            found = None
        append(row)
        return found

    return AtOnce(score, learn) if n > 1 else AtOnce()
