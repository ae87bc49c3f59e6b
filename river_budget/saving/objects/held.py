"""Encode what a Delayed holds: [number, key of the row, [label, probability, share], ...] of each
prediction, and labels.
"""

from __future__ import annotations

import array
from typing import Any

from ...wrappers.delayed import KEY_BYTES, LEAST, Held
from ...wrappers.label_shares import LEAST_SHARE, MOST_AGAINST, RENEWALS, LabelShares
from ..errors import damaged
from .kinds import COUNT, NAME, Codec, Reading, Table, TupleOf, Writing, list_of, real, whole

KEY = whole(0, 256**KEY_BYTES - 1)
SHARES = TupleOf(NAME, real(LEAST / 2**20, 1.0), real(LEAST_SHARE / 2**20, 1.0))
DRAWS = Table(TupleOf(*[real(0.0, 2.0**53)] * len(RENEWALS)))
EVIDENCE = TupleOf(*[real(-MOST_AGAINST, MOST_AGAINST)] * len(RENEWALS))
LABELS = TupleOf(
    COUNT, NAME, EVIDENCE, DRAWS
)  # how many, the last one, and what was learned of them


class HeldRows(Codec):
    """A row for each prediction, with their numbers in order."""

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return [
            [COUNT.encoded(one.number, write), KEY.encoded(one.key, write)]
            + [
                SHARES.encoded(each, write)
                for each in zip(one.labels, one.model_probabilities, one.base_rates, strict=True)
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


class Shares(Codec):
    """What labels alone say."""

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        found = owner._shares
        return LABELS.encoded((found.n, found.last, found.evidence, found.draws), write)

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        found = owner._shares = LabelShares()
        found.n, found.last, found.evidence, found.draws = LABELS.decoded(node, None, read)
        if bool(found.n) != bool(found.draws) or (found.n and found.last not in found.draws):
            raise damaged("the labels that it has counted do not belong together")
