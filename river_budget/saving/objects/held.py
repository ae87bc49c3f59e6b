"""Encode the predictions that wait in a Delayed: [number, key of the row, [label, probability, frequency], ...] of each."""

from __future__ import annotations

import itertools
from typing import Any

from ...delayed import KEY_BYTES, LEAST
from ..errors import damaged
from .kinds import COUNT, NAME, Kind, Reading, Row, Writing, list_of, real, whole

KEY = whole(0, 256**KEY_BYTES - 1)
SHARES = Row(NAME, real(LEAST / 2**20, 1.0), real(0.0, 1.0))


class HeldRows(Kind):
    """The rows of `Delayed.held`, with their numbers in order."""

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return [
            [COUNT.encoded(number, write), KEY.encoded(key, write)]
            + [SHARES.encoded(each, write) for each in shares]
            for number, key, *shares in owner.held()
        ]

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        found = []
        for row in list_of(node, read):
            number, key, *shares = list_of(row, read)
            each = [SHARES.decoded(one, None, read) for one in shares]
            if len({label for label, _, _ in each}) < max(len(each), 2):
                raise damaged("a prediction has no two labels")
            found.append([COUNT.decoded(number, None, read), KEY.decoded(key, None, read), *each])
        numbers = [row[0] for row in found]
        if len(found) > owner.max_held or any(a >= b for a, b in itertools.pairwise(numbers)):
            raise damaged("it holds more predictions than it may")
        owner.restore(found)
