"""Many examples at a time: from a batch to calls of a pass, in parts, with what a model needs between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from ...core.compiling import by_address
from ...core.compiling.needs import Need
from ..inputs.batches import Batch, refuse_if_not_finite
from ..inputs.features import FeatureIndex
from ..protocols import Rows
from ..stream_warnings import say
from .calls import AT_A_TIME, Call, idle_workspace

MANY = 64  # examples: fewer are not worth compiling what computes several kernel rows together


class ManyAtOnce:
    """What a model does with the examples of a batch, whose targets are checked. The rest is up to StreamModel."""

    block: Any
    features: FeatureIndex
    takes_lists: bool
    needs: ClassVar[Need]
    scoring_pass: ClassVar[Any]
    pass_holder: Any
    add_features: Callable[..., None]
    most_entries: ClassVar[int] = 2**18  # of a sparse matrix that are looked at together

    @property
    def n_outputs(self) -> int:
        raise NotImplementedError

    def run_pass(self, rows: Rows, targets: Any, weights: Any, scores: Rows) -> None:
        """The pass over all rows; where it waits, the model is prepared for what comes."""
        self._make_ready_for(rows)
        workspace = idle_workspace()
        call, done = Call(self.block, rows, targets, weights, scores, workspace=workspace), 0
        ready = len(rows) <= AT_A_TIME
        while done < len(rows):
            stop = min(done + AT_A_TIME, len(rows))
            if not ready:
                call.move(self.block, done, stop)
            ready = False
            done += call.run(self.pass_holder.learning_pass)
            if done < stop and not (say(self) or self.add_slots()):
                refuse_if_not_finite(rows, done)
                self.prepare()
        workspace.give_back()

    def _make_ready_for(self, rows: Any) -> None:
        """Compile what lets many rows share work."""
        if len(rows) >= MANY and self.needs & Need.KERNEL and not by_address.ready & Need.TOGETHER:
            by_address.make_ready(Need.TOGETHER)

    def add_slots(self) -> bool:
        """Room for the numbers of an example, where a pass has stopped because there is none."""
        return False

    def prepare(self) -> None:
        """Give a pass what it waits for."""
        raise NotImplementedError

    def _score_batch(self, batch: Batch) -> Rows:
        while True:
            features, block = self.features, self.block
            if batch.lists is None and features.in_place(batch.names):
                rows = batch.scaled_values(features)
            else:
                rows = batch.examples(features) if self.takes_lists else batch.rows(features)
            n_outputs = self.n_outputs
            if block is self.block:  # else another thread has changed all of them
                scores, done = self._scores_by(block, rows, n_outputs)
                if done == len(rows) or batch.checked:
                    return scores
                batch.check()

    def _score_rows(self, rows: Any) -> Rows:
        """The scores of rows that have been made for the model as it is."""
        return self._scores_by(self.block, rows, self.n_outputs)[0]

    def _scores_by(self, block: Any, rows: Any, n_outputs: int) -> tuple[Rows, int]:
        """Scores, and how many there are before a row that is not finite."""
        scores = np.zeros((len(rows), n_outputs))
        if block is None:
            return scores, len(rows)
        self._make_ready_for(rows)
        workspace = idle_workspace()
        done = Call(block, rows, scores=scores, workspace=workspace).run(self.scoring_pass)
        workspace.give_back()
        return scores, done

    def parts_of(self, batch: Batch) -> Iterator[tuple[int, int, Any]]:
        """The examples of a batch, whose features become known, in parts: where each begins and ends, and its rows."""
        for first, last in batch.parts(self.most_entries):
            yield first, last, self.rows_of(batch.part(first, last))

    def run_parts(self, batch: Batch, targets: Any, weights: Any, scores: Rows) -> None:
        """The pass over a batch, in parts."""
        for first, last, rows in self.parts_of(batch):
            some = slice(first, last)
            self.run_pass(rows, targets[some], weights[some], scores[some])

    def rows_of(self, batch: Batch) -> Any:
        """The examples of a batch whose features become known."""
        if batch.lists is None and self.block is not None and self.features.in_place(batch.names):
            return batch.scaled_values(self.features)
        if self.block is None:
            self.add_features(batch.names_in_use())
        elif batch.adds_names(self.features.places):
            used = batch.names_in_use()
            new = [name for name in used if name not in self.features.places]
            if new:
                self.add_features(new, used)
        return batch.examples(self.features) if self.takes_lists else batch.rows(self.features)
