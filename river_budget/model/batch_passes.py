"""Learn and score batches: cut them into parts and calls of a pass, and prepare the model between
the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..inputs.batches import Batch, batch_of
from ..kernels import Custom
from ..messages.stream_warnings import issue_warnings
from .base import StreamModel
from .calls import EXAMPLES_PER_CALL, Matrix, Workspace, rows_for, run_over
from .lock import yield_lock

FEW_SCORED = 64  # so many examples are scored while other threads wait; more by a copy of the block


class Part(NamedTuple):
    """Examples that are learned at once."""

    first: int  # its number in the batch
    batch: Batch
    rows: Any  # the same as rows or lists of known features
    # the scores of the first example before its new names were known, where that makes a difference
    # and they are wanted
    before: Any = None


class ManyAtOnce(StreamModel):
    """How a model learns and scores a batch, whose targets and numbers have been checked."""

    def _batch_of(self, X: Any, predicted: bool = False) -> Batch:
        """A checked batch of the examples of a user."""
        return batch_of(X, predicted)

    def _run_pass(self, rows: Matrix, targets: Any, weights: Any, scores: Matrix) -> None:
        """Run the learning pass over all rows; where it stops, prepare the model and continue."""
        done, n, work = 0, len(rows), self._version.get("work") or Workspace(self, self._block)
        while done < n:
            some = slice(done, min(done + EXAMPLES_PER_CALL, n))
            examples = rows_for(rows[some], targets[some], weights[some], scores[some])
            done += work.run(self._learning_pass, examples)
            if done < some.stop and not issue_warnings(self):
                (self.algorithm.prepare or self.algorithm.columns.grow)(self)
                work = Workspace(self, self._block)

    def _reading(self) -> Any:
        """What turns scores into an answer, as the labels. Read with the lock that they are made
        with, as a thread that learns may change it.
        """

    def _score_batch(self, batch: Batch, score: Any = None, n_scores: int | None = None) -> Matrix:
        """The scores of a batch, with one state of the model."""
        return self._scores_read(batch, score, n_scores)[0]

    def _scores_read(
        self, batch: Batch, score: Any = None, n_scores: int | None = None
    ) -> tuple[Matrix, Any]:
        """(the scores of a batch, the `_reading` of them), with one state of the model.

        score, n_scores: another pass than that of predictions, another number of scores than one
        for each output. Many examples are scored by a copy of the block, so that threads that
        predict do not wait for each other.
        """
        columns = self.algorithm.columns
        if columns.draws and (self._block is None or self._features.unknown(batch.names_in_use())):
            found: tuple[Matrix, Any] = columns.scores(self, batch, score or self._scoring_pass)
            return found
        batch = batch.scaled(self._features)
        with self._lock.held:
            block, score, read = self._block, score or self._scoring_pass, self._reading()
            n_outputs = self._n_outputs if n_scores is None else n_scores
            rows = batch.known(self._features, self._takes_lists)
            if len(batch) <= FEW_SCORED or block is None:
                return scores_by(self, score, block, rows, n_outputs), read
            block = block.copy()
        return scores_by(self, score, block, rows, n_outputs), read

    def _score_rows(self, rows: Any) -> Matrix:
        """The scores of rows that were made for the present state of the model."""
        return scores_by(self, self._scoring_pass, self._block, rows, self._n_outputs)

    def _parts_of(self, batch: Batch, wanted: bool = False) -> Iterator[Part]:
        """The parts of a batch to be learned, whose features become known ones. wanted: scores from
        before it are wanted.

        Each is one change: the lock is given back when the next is asked for, and other threads get
        their turn.
        """
        for first, part in batch.parts(self.algorithm.columns.most_entries(self)):
            if first:
                yield_lock()
            lock = self._lock
            with lock.held:
                lock.refuse_nested()
                try:
                    lock.changing = True
                    for some in self._rows_in(part, wanted):
                        yield some._replace(first=first + some.first)
                finally:
                    lock.changing = False

    def _rows_in(self, part: Batch, wanted: bool) -> Iterator[Part]:
        """What is learned at once."""
        yield Part(0, part, self._rows_of(part))

    def _run_parts(
        self, batch: Batch, targets: Any, weights: Any, scores: Matrix, wanted: bool = False
    ) -> None:
        """Run the learning pass over a batch, in parts. Overwrites `scores`."""
        for part in self._parts_of(batch, wanted):
            some = slice(part.first, part.first + len(part.rows))
            self._run_pass(part.rows, targets[some], weights[some], scores[some])
            if part.before is not None:
                scores[part.first] = part.before

    def _rows_of(self, batch: Batch) -> Any:
        """The rows, or lists, of a batch to be learned. Adds its features to the known ones."""
        if self._block is None:
            for row in batch.matrix()[:1] if isinstance(self._kernel_in_use, Custom) else ():
                self._try_kernel(row)
            self._begin(batch.names_in_use(), len(batch.names))
        elif batch.fits(self._features):  # before names are looked up one by one
            return batch.rows
        elif new := self._features.unknown(batch.names_in_use()):
            self._add_features(new, batch.names_in_use())
        return batch.known(self._features, self._takes_lists)


def scores_by(model: Any, score: Any, block: Any, rows: Any, n_outputs: int) -> Matrix:
    """The scores of rows by a compiled pass."""
    scores: Matrix = np.zeros((len(rows), n_outputs))
    if block is not None:
        run_over(model, score, block, rows, scores)
    return scores
