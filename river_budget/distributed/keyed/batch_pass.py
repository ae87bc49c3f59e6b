"""Many models of ours, one after the other, over the rows of one part.

To call a compiled pass for a few rows costs little; to prepare a call costs fifty times as much. So it is
prepared once for all models that have the same features and the same labels: only the addresses change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import layout as blocks
from ...core.calls import BLOCK, ROWS, SCORES, SCRATCH, SIZE, TARGETS, WEIGHTS
from ...model.features import Batch
from ...model.targets import Targets
from .parts import Part


class Scratch:
    """Scratch space for calls of models of several sizes. (Equally large blocks may need different space.)"""

    def __init__(self) -> None:
        self.spaces: dict[int, Any] = {}

    def address(self, block: Any) -> int:
        size = blocks.scratch_in(block)
        space = self.spaces.get(size)
        if space is None:
            space = self.spaces[size] = blocks.scratch_for(block)
        return address_of(space)


def address_of(array: Any) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


class Bench:
    """The arrays of a part, coded as the models that share an index of features and labels need them."""

    def __init__(self, model: Any, part: Part, scratch: Scratch, learn: Any):
        self.pass_over = learn  # the same for all clones; None: rows are only scored
        self.labels = getattr(model, "labels", None)
        self.index = model.features
        self.outputs = model.n_outputs
        self.fits: bool = self.index._places.keys() >= set(part.names or ())
        if self.fits:
            self._lay_out(part, scratch)

    def _lay_out(self, part: Part, scratch: Scratch) -> None:
        n = len(part)
        self.scratch = scratch
        self.rows = self.index.rows(Batch.of(part.names or [], part.rows))
        self.scores = np.zeros((n, self.outputs))
        self.codes = np.zeros(n) if self.pass_over is None else self._coded(part, n)
        self.weights = np.ones(n) if part.weights is None else part.weights
        self.unknown = np.concatenate([[0], np.cumsum(np.isnan(self.codes))]).tolist()
        arrays = {ROWS: self.rows, TARGETS: self.codes, WEIGHTS: self.weights, SCORES: self.scores}
        self.bases = {place: address_of(array) for place, array in arrays.items()}
        self.call = np.array([0, 0, *[0] * 4, 0, self.rows.shape[1], self.outputs])

    def _coded(self, part: Part, n: int) -> Any:
        targets = Targets(part.targets, n)
        return targets.numbers() if self.labels is None else targets.coded(self.labels, 0)[0]

    def takes(self, start: int, stop: int) -> bool:
        """Whether these rows bring nothing that a model would have to make room for in its indexes."""
        if not self.fits:
            return False
        new: bool = self.unknown[start] < self.unknown[stop]
        return not new

    def _address(self, block: Any, start: int, stop: int) -> Any:
        width, outputs, bases = self.rows.shape[1], self.outputs, self.bases
        call = self.call
        call[BLOCK] = address_of(block)
        call[SCRATCH] = self.scratch.address(block)
        call[ROWS] = bases[ROWS] + 8 * start * width
        call[TARGETS] = bases[TARGETS] + 8 * start
        call[WEIGHTS] = bases[WEIGHTS] + 8 * start
        call[SCORES] = bases[SCORES] + 8 * start * outputs
        call[SIZE] = stop - start
        return call

    def learn(self, model: Any, start: int, stop: int) -> None:
        """Learn rows. Their scores before are kept."""
        done = start + self.pass_over(self._address(model.block, start, stop))
        if done < stop:  # the model needs a larger block, or another basis
            some = slice(done, stop)
            arrays = (self.rows, self.codes, self.weights, self.scores)
            model.run_pass(*(array[some] for array in arrays))

    def score(self, model: Any, start: int, stop: int) -> None:
        model.scoring_pass(self._address(model.block, start, stop))

    def predictions(self) -> list[Any]:
        """What the scores mean: right in the rows that have been learned or scored here."""
        found = self.scores[:, 0] if self.labels is None else self.labels.labels(self.scores)
        return found.tolist()  # type: ignore[no-any-return]
