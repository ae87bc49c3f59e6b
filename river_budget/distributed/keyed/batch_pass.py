"""Many models of this package, one after the other, over the rows that a shard was sent.

A compiled pass over a few rows takes little time; coding the rows and preparing the call takes fifty times as
long. So both are done once for all models that share their indexes of features and labels. From model to model
only the addresses in the call change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.calls.calls import Call, Workspace
from ...model.estimators.checks import predictions_of
from ...model.inputs.batches import Batch
from ...model.inputs.targets import Targets
from .chunks import ShardRows


class BatchPass:
    """The rows of a shard as arrays, coded for the models that share the indexes of this one.

    `learning_pass` is the same for all of these models. None: rows are only scored.
    """

    def __init__(self, model: Any, rows: ShardRows, workspace: Workspace, learning_pass: Any):
        self.features, self.labels = model.features, getattr(model, "labels", None)
        self.learning_pass = learning_pass
        names = rows.names or []
        self.fits: bool = self.features.knows(dict.fromkeys(names)) and not self.features.loose
        if not self.fits:
            return
        n = len(rows)
        codes = np.zeros(n) if learning_pass is None else self._coded(rows)
        weights = np.ones(n) if rows.weights is None else rows.weights
        self.scores = np.zeros((n, model.n_outputs))
        self.arrays = (
            Batch.of(names, rows.examples).rows(self.features),
            codes,
            weights,
            self.scores,
        )
        self.unknown = np.concatenate([[0], np.cumsum(np.isnan(codes))]).tolist()
        self.call = Call(model.block, *self.arrays, workspace=workspace)

    def _coded(self, rows: ShardRows) -> Any:
        targets = Targets(rows.targets, len(rows))
        if self.labels is None:
            return targets.numbers()
        return targets.coded(self.labels, 0, len(targets.values))[0]

    def takes(self, start: int, stop: int) -> bool:
        """Whether all features and labels of these rows are in the indexes already."""
        if not self.fits:
            return False
        new: bool = self.unknown[start] < self.unknown[stop]
        return not new

    def learn(self, model: Any, start: int, stop: int) -> None:
        """Learn rows. Their scores before are kept."""
        self.call.move(model.block, start, stop)
        done = start + self.call.run(self.learning_pass)
        if done < stop:  # the model needs a larger block, or another basis
            model.run_pass(*(array[done:stop] for array in self.arrays))

    def score(self, model: Any, start: int, stop: int) -> None:
        """Score rows."""
        self.call.move(model.block, start, stop)
        self.call.run(model.scoring_pass)

    def predictions(self) -> list[Any]:
        """Predictions from the scores. They are meaningful for rows that have been learned or scored here."""
        return predictions_of(self.labels, self.scores)
