"""Encode the predictions that wait in a Delayed: [number, key of the row, [label, probability, frequency], ...] of each."""

from __future__ import annotations

import array
from typing import Any

from ...wrappers.delayed import KEY_BYTES, LEAST, Held
from ..errors import damaged
from .kinds import COUNT, NAME, Kind, Reading, Row, Writing, list_of, real, whole

KEY = whole(0, 256**KEY_BYTES - 1)
SHARES = Row(NAME, real(LEAST / 2**20, 1.0), real(0.0, 1.0))


class HeldRows(Kind):
    """A row for each prediction, with their numbers in order."""

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return [
            [COUNT.encoded(one.number, write), KEY.encoded(one.key, write)]
            + [
                SHARES.encoded(each, write)
                for each in zip(one.labels, one.own, one.usual, strict=True)
            ]
            for one in owner._held.values()
        ]

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        before = -1
        for row in list_of(node, read):
            number, key, *shares = list_of(row, read)
            each = [SHARES.decoded(one, None, read) for one in shares]
            if len(each) == 1 or len({label for label, _, _ in each}) < len(each):
                raise damaged("a prediction has one label only, or one twice")
            labels, own, usual = zip(*each, strict=True) if each else ((), (), ())
            place = COUNT.decoded(number, None, read), KEY.decoded(key, None, read)
            if place[0] <= before or owner.n_held >= owner.max_held:
                raise damaged("it holds more predictions than it may")
            before = place[0]
            owner.keep(Held(*place, labels, array.array("d", own), array.array("d", usual)))
