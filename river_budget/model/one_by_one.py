"""Learn and score one example: write a dict to a row, or to a list of present features, and call a pass.

All that can fail or run a user's code (looking names up, converting values) happens first, before the lock and before the
model is touched. The row or list that an example is written to is taken from a pool: a nested prediction has its own.
"""

from __future__ import annotations

import struct
from typing import Any

from ..inputs.batches import Batch
from ..inputs.features import NO_PLACES, SUMS
from .batch_passes import ManyAtOnce
from .calls import PreparedList, PreparedRow, class_of_passes

AGAIN: Any = object()
SHORT_LIST_FEATURES = 32  # features of an example
# what reading an example as a whole row may raise: other names, values that are no numbers, no row left
OTHER_EXAMPLE = (LookupError, TypeError, ValueError, OverflowError, struct.error)


def read_scores(scores: Any) -> Any:
    """The scores from before an example was learned, as a list.

    Where there is no memory for it, once more: what the first try has given back may be enough.
    """
    try:
        return scores.tolist()
    except MemoryError:
        return scores.tolist()


class OneByOne(ManyAtOnce):
    """How a model learns and scores one example, whose target has been checked."""

    def _learn_row(
        self, x: dict[Any, Any], target: float, w: float, labels: Any = None, wanted: bool = False
    ) -> Any:
        """Learn one example, whose target has been checked and coded with these labels.

        Returns the scores before it was learned, if they are wanted; AGAIN, with nothing learned, if another thread has
        added a label.
        """
        lock, free = self.lock, self.free_rows
        # other kinds of dicts may invent values: a Counter has 0 for every name
        if free and type(x) is dict:
            row = None
            try:
                row = free.pop()
                if len(x) == row.length and type(sum(values := row.get(x), 0.0)) in SUMS:
                    row.write(*values)
                    row.target[0], row.weight[0] = target, w
                    with lock.held:
                        # free_rows is another list if another thread has changed names, labels or block
                        if (
                            free is self.free_rows
                            and (labels is None or labels is self.labels)  # type: ignore[attr-defined]
                            and not lock.changing
                        ):
                            lock.changing = True
                            try:
                                learned = row.passes.learn(row.addresses)
                            finally:
                                lock.changing = False
                            if learned:
                                scores = read_scores(row.scores) if wanted else None
                                free.append(row)  # afterwards, as a signal handler may take it
                                return scores
                else:
                    free.append(row)
            except OTHER_EXAMPLE:
                if row is not None:
                    free.append(row)
        return self._learn_any(x, target, w, labels, wanted)

    def _learn_any(
        self, x: dict[Any, Any], target: float, w: float, labels: Any, wanted: bool
    ) -> Any:
        """The same for any example: with some of the known features or with new ones, or at which the pass stops."""
        lock, x = self.lock, self.features.taken(x)
        call = self._written(x, learned=True)
        with lock.held:
            lock.refuse_nested()
            if labels is not None and labels is not self.labels:  # type: ignore[attr-defined]
                return AGAIN
            try:
                lock.changing = True
                return self._learn_taken(x, target, w, wanted, call)
            finally:
                lock.changing = False

    def _learn_taken(
        self,
        x: dict[Any, Any],
        target: float,
        w: float,
        wanted: bool = False,
        call: Any = None,
    ) -> Any:
        """Learn an example from `FeatureIndex.taken`, perhaps written already. Adds its features to the known ones.

        Behind the pass nothing asks for memory, but for scores that are wanted (`read_scores`): else an example could be
        learned, and the call fail.
        """
        if self.block is None:
            self.add_features(list(x))
        if not self._is_current(call):
            call = self._written(x, learned=True)
        if not call.unknown:
            return self._learn_written(x, call, target, w, wanted)
        if call.places:  # without comparing names once more, which may run a user's code
            new = [name for name, place in zip(x, call.places, strict=True) if place < 0]
        else:
            new = self.features.unknown(x)
        self._give_back(call)
        try:
            self.add_features(new, x)
            return self._learn_written(x, self._written(x), target, w, wanted)
        except BaseException:
            self.algorithm.columns.take_back(self, new)
            raise

    def _learn_written(
        self, x: dict[Any, Any], call: Any, target: float, w: float, wanted: bool
    ) -> Any:
        """Learn an example whose names all have places. Lent ones are kept if the pass stores it."""
        call.target[0], call.weight[0] = target, w
        block, arrived = self.block, call.arrived[0]
        try:
            if not call.passes.learn(call.addresses):
                # the model must be prepared first, or a warning is due
                self.run_pass(*call.arrays[2:])
        finally:
            if call.lent and (call.arrived[0] != arrived or self.block is not block):
                self._keep_names(x, call.places)
        scores = read_scores(call.scores) if wanted else None
        try:  # noqa: SIM105 # contextlib would ask for memory
            self._give_back(call)  # afterwards, as a signal handler may take it
        except MemoryError:
            pass
        return scores

    def _keep_names(self, x: dict[Any, Any], places: list[int]) -> None:
        """Keep the new names of an example. Where there is no memory for them, prepared calls give back theirs first."""
        if self.features.knows(x):
            return
        try:
            self.change_names(self.features.keep, x, places)
        except MemoryError:
            self.free_lists.clear()
            self.change_names(self.features.keep, x, places)

    # writing

    def _written(self, x: dict[Any, Any], learned: bool = False) -> Any:
        """A call with an example from `taken`, as a whole row or as a list; None before the first example.

        New names of an example to be learned are lent places, which they keep if the pass stores it: a mistake-driven
        model stores few documents, and to give places to the names of all, and forget most, takes a third more time.
        """
        features, version = self.features, self.features.version
        if self.block is None:
            return None
        whole = 0 < len(x) == len(features.places) == features.width
        if not self.takes_lists or (whole and features.knows(x)):
            call: Any = self._call_for_row()
            features.pack_row(x, call.values)
            call.unknown = not features.knows(x)
        else:
            call = self._call_for_list(len(x))
            lent = features.lent(x) if learned and self.algorithm.columns.lends else NO_PLACES
            places = call.places = list(map(features.places.get, x, lent))
            call.write(features.values_of(x), places)
            call.unknown, call.lent = -1 in places, lent is not NO_PLACES
        call.version = version
        return call

    def _is_current(self, call: Any) -> bool:
        """Whether no other thread has replaced the block or changed the known names since an example was written."""
        return (
            call is not None
            and call.arrays[0] is self.block
            and call.version == self.features.version
        )

    def _give_back(self, call: Any) -> None:
        """Keep a call for other examples: a list if it is of the present block, a row if also of the present names."""
        if type(call) is PreparedList:
            if call.arrays[0] is self.block:
                self.free_lists.append(call)
        elif self._is_current(call):
            self.free_rows.append(call)

    @property
    def _passes(self) -> Any:
        """The compiled passes, `learn` and `score` of a class."""
        return class_of_passes(self.learning_pass, self.scoring_pass)

    def _call_for_row(self) -> PreparedRow:
        """A prepared call for one example with all known features."""
        try:
            row: PreparedRow = self.free_rows.pop()
        except IndexError:
            with self.lock.held:
                row = PreparedRow(self._passes, self.block, self.features, self.n_outputs)
        return row

    def _call_for_list(self, entries: int) -> PreparedList:
        """A prepared call for one example with some of the features, with room for so many."""
        try:
            prepared: PreparedList = self.free_lists.pop()
            if entries <= prepared.room:
                return prepared
        except IndexError:
            pass
        # first: another thread may change the passes with the block, and then this is an old one
        block = self.block
        room = max(SHORT_LIST_FEATURES, 2 * entries)
        return PreparedList(self._passes, block, room, self.n_outputs)

    # scoring

    def _score_row(self, x: dict[Any, Any]) -> Any:
        """f(x), a list with one number per output. Missing values in x count as absent features.

        River's scalers return NaN for features that they have not learned, and in progressive validation the
        prediction comes first.
        """
        lock: Any = self.lock
        free: list[Any] = self.free_rows
        if free and type(x) is dict:
            row = None
            try:
                row = free.pop()
                if len(x) == row.length and type(sum(values := row.get(x), 0.0)) in SUMS:
                    row.write(*values)
                    with lock.held:
                        if free is self.free_rows and row.passes.score(row.addresses):
                            scores = row.scores.tolist()
                            free.append(row)
                            return scores
                else:
                    free.append(row)
            except OTHER_EXAMPLE:
                if row is not None:
                    free.append(row)
        features = self.features
        try:
            x = features.taken(x)
        except ValueError:
            x = features.taken(features.present(x))
        call = self._written(x)
        with lock.held:
            if not self._is_current(call):
                call = self._written(x)
            # where features are drawn, unknown ones count
            if call is not None and not (call.unknown and self.algorithm.columns.draws):
                call.passes.score(call.addresses)
                scores = call.scores.tolist()
                self._give_back(call)
                return scores
        return self._score_batch(Batch.of_one(x))[0].tolist()
