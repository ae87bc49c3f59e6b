"""A guard and what is behind it, for many examples: frames, arrays and sparse matrices with bad
cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs.batches import Batch
from ..inputs.frames import Frame, as_list
from ..inputs.targets import array_of
from .cells import chosen, first_bad, good_ones


class Gate:
    """A guard and the pipeline behind it, for many examples."""

    def __init__(self, guard: Any, behind: Any, whole: Any):
        self.guard, self.behind = guard, behind
        # both as one pipeline, for single examples
        self._whole = whole
        self._supervised = behind._supervised

    def learn_many(self, X: Any, y: Any = None, **params: Any) -> None:
        guard, batch = self.guard, Batch(X)
        given = params if y is None else {"y": y, **params}
        columns = {name: value for name, value in given.items() if hasattr(value, "__len__")}
        for name, column in columns.items():
            if len(column) != len(batch):
                raise ValueError(f"{name} must hold one value for each of {len(batch)} examples")
        if self._goes_row_by_row(batch):
            if guard.on_bad == "raise":
                for x in batch.as_given():
                    guard._refuse_bad(x)
            values = {name: as_list(column) for name, column in columns.items()}
            for t, x in enumerate(batch.as_given()):
                own = {name: column[t] for name, column in values.items()}
                self._whole.learn_one(x, **given | own)
        elif guard.on_bad == "skip":
            kept = np.flatnonzero(~batch.bad)
            if len(kept):
                left = {name: chosen(column, kept) for name, column in columns.items()}
                self.behind.learn_many(good_ones(batch, kept), **given | left)
            self._note_skipped(batch)
            if guard._lets_text:
                guard.learn_batch(batch)
        else:
            guard.learn_batch(batch)
            self.behind.learn_many(good_ones(batch), **given)

    def _goes_row_by_row(self, batch: Batch) -> bool:
        """Whether examples are learned one by one: where text passes, or bad values are replaced or
        left out.
        """
        changes = self.guard.on_bad in ("last", "absent")
        return self._reads_rows(batch) or bool(changes and batch.bad.any())

    def _reads_rows(self, batch: Batch) -> bool:
        """Whether the step behind sees the rows as they came: an encoder, or a model that takes
        text and gaps if there are any.
        """
        guard = self.guard
        return guard._lets_text and (bool(batch.bad.any()) or not guard._lets_gaps)

    def _note_skipped(self, batch: Batch) -> None:
        """Tell the guard which examples were skipped, and which not."""
        for t, bad in enumerate(batch.bad.tolist()):
            if found := first_bad(batch.example(t)) if bad else None:
                self.guard.note_skipped(*found)
            else:
                self.guard._in_a_row = 0

    def predict_many(self, X: Any) -> Any:
        batch, behind = Batch(X), self.behind
        if self._reads_rows(batch):
            every = [self._whole.predict_one(x) for x in batch.as_given()]
            return batch.series(array_of(every), None)
        ones = self._one_by_one(batch, behind.predict_one)
        if not ones:
            return behind.predict_many(good_ones(batch))
        found, kept, name = np.empty(len(batch), object), np.flatnonzero(~batch.bad), None
        if len(kept):
            many = behind.predict_many(good_ones(batch, kept))
            found[kept], name = as_list(many), getattr(many, "name", None)
        for t, prediction in ones.items():
            found[t] = prediction
        return batch.series(array_of(found.tolist()), name)

    def predict_proba_many(self, X: Any) -> Any:
        batch, behind = Batch(X), self.behind
        if self._reads_rows(batch):
            rows = [self._whole.predict_proba_one(x) for x in batch.as_given()]
            known = dict.fromkeys(label for row in rows for label in row)
            return batch.table(
                {one: np.array([row.get(one, 0.0) for row in rows]) for one in known}
            )
        ones = self._one_by_one(batch, behind.predict_proba_one)
        if not ones:
            return behind.predict_proba_many(good_ones(batch))
        kept = np.flatnonzero(~batch.bad)
        many = behind.predict_proba_many(good_ones(batch, kept)) if len(kept) else {}
        labels = many if isinstance(many, dict) else Frame(many).names
        # frames of some libraries have text as names of columns
        named = {str(label): many[label] for label in labels}
        columns = {label: np.zeros(len(batch)) for label in next(iter(ones.values()))}
        for label, column in columns.items():
            if len(kept):
                column[kept] = named[str(label)]
            for t, probabilities in ones.items():
                column[t] = probabilities[label]
        return batch.table(columns)

    def _one_by_one(self, batch: Batch, predict: Any) -> dict[int, Any]:
        """{row: prediction} of the examples with a bad value: in a frame, none of their cells could
        be absent.
        """
        rows = np.flatnonzero(batch.bad).tolist()
        return {t: predict(self.guard.transform_one(batch.example(t))) for t in rows}
