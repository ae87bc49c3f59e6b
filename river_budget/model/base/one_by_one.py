"""Learn and score one example: write a dict to a row, or to a list of present features, and call a pass.

All that can fail or run a user's code (looking names up, converting values) happens first, before the lock and before the
model is touched. The row or list that an example is written to is taken from a pool: a nested prediction has its own.
"""

from __future__ import annotations

import struct
from typing import Any

from ..calls.calls import Prepared, PreparedList, PreparedRow, class_of_passes
from ..inputs.batches import Batch
from ..inputs.features import NO_PLACES, SUMS
from .batch_passes import ManyAtOnce

AGAIN: Any = object()
SHORT_LIST_FEATURES = 32  # features of an example
# a call with the values of an example; the places of its names, -1 for unknown ones
Listed = tuple[PreparedList, list[int]]
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
        lock, features = self.lock, self.features
        x, version = features.taken(x), features.version
        listed = self._listed(x, learned=True)
        with lock.held:
            lock.refuse_nested()
            if labels is not None and labels is not self.labels:  # type: ignore[attr-defined]
                return AGAIN
            try:
                lock.changing = True
                return self._learn_taken(
                    x, target, w, wanted, self._still_listed(listed, features, version)
                )
            finally:
                lock.changing = False

    def _listed(self, x: dict[Any, Any], learned: bool = False) -> Listed | None:
        """An example from `taken` in a call, as a list; None if the pass gets a whole row.

        One to be learned is lent places for its new names, which it keeps if the pass stores it. A mistake-driven model
        stores few documents: to give places to the names of all, and forget most, takes a third more time.
        """
        features = self.features
        if self.block is None or not self.takes_lists:
            return None
        if 0 < len(x) == len(features.places) == features.width and features.knows(x):
            return None
        lends = learned and self.algorithm.columns.lends
        prepared = self._list_for(len(x))
        places = features.lent(x) if lends else NO_PLACES
        return prepared, features.pack_list(x, prepared.values, places)

    def _still_listed(self, listed: Listed | None, features: Any, version: int) -> Listed | None:
        """A listed example; None if another thread has replaced the block, or changed the known names, since then."""
        if listed is None or listed[0].arrays[0] is not self.block:
            return None
        return listed if features is self.features and features.version == version else None

    def _learn_taken(
        self,
        x: dict[Any, Any],
        target: float,
        w: float,
        wanted: bool = False,
        listed: Listed | None = None,
    ) -> Any:
        """Learn an example from `FeatureIndex.taken`, perhaps listed already. Adds its features to the known ones.

        Behind the pass nothing asks for memory, but for scores that are wanted (`read_scores`): else an example could be
        learned, and the call fail.
        """
        if self.block is None:
            self.add_features(list(x))
        listed = listed or self._listed(x, learned=True)
        if listed is None and self.features.knows(x):
            return self._learn_written(x, None, target, w, wanted)
        if listed is not None and -1 not in listed[1]:
            return self._learn_lent(x, listed, target, w, wanted)
        if listed is None:
            new = self.features.unknown(x)
        else:  # without comparing names once more, which may run a user's code
            new = [name for name, place in zip(x, listed[1], strict=True) if place < 0]
        try:
            self.add_features(new, x)
            if listed is not None and listed[0].arrays[0] is self.block:
                self.free_lists.append(listed[0])
            return self._learn_written(x, self._listed(x), target, w, wanted)
        except BaseException:
            self.algorithm.columns.take_back(self, new)
            raise

    def _learn_lent(
        self, x: dict[Any, Any], listed: Listed, target: float, w: float, wanted: bool
    ) -> Any:
        """Learn a listed example. Its new names keep the places that they are lent if the pass stores it."""
        block, (prepared, places) = self.block, listed
        arrived = prepared.arrived[0]
        try:
            return self._learn_written(x, listed, target, w, wanted)
        finally:
            if prepared.arrived[0] != arrived or self.block is not block:
                self._keep_names(x, places)

    def _keep_names(self, x: dict[Any, Any], places: list[int]) -> None:
        """Where there is no memory to keep new names, prepared calls give back theirs first."""
        self.forget_rows()
        try:
            self.features.keep(x, places)
        except MemoryError:
            self.free_lists.clear()
            self.features.keep(x, places)

    def _learn_written(
        self, x: dict[Any, Any], listed: Listed | None, target: float, w: float, wanted: bool
    ) -> Any:
        """Learn an example whose names all have places, and keep the call."""
        prepared, free = self._written(x, listed)
        prepared.target[0], prepared.weight[0] = target, w
        if not prepared.passes.learn(prepared.addresses):
            # the model must be prepared first, or a warning is due
            self.run_pass(*prepared.arrays[2:])
            return read_scores(prepared.scores) if wanted else None
        scores = read_scores(prepared.scores) if wanted else None
        try:  # noqa: SIM105 # contextlib would ask for memory
            free.append(prepared)  # afterwards, as a signal handler may take it
        except MemoryError:
            pass
        return scores

    def _written(self, x: dict[Any, Any], listed: Listed | None) -> tuple[Prepared, list[Any]]:
        """(a call with the example, the pool to which it goes back)"""
        if listed is not None:
            prepared, places = listed
            prepared.fill_places(places)
            return prepared, self.free_lists
        free: list[PreparedRow] = self.free_rows
        if free:
            row = free.pop()
        else:
            row = PreparedRow(self._passes, self.block, self.features, self.n_outputs)
        self.features.pack_row(x, row.values)
        return row, free

    @property
    def _passes(self) -> Any:
        """The compiled passes, `learn` and `score` of a class."""
        return class_of_passes(self.learning_pass, self.scoring_pass)

    def _list_for(self, entries: int) -> PreparedList:
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
        version = features.version
        listed = self._listed(x)
        with lock.held:
            listed = self._still_listed(listed, features, version) or self._listed(x)
            # where features are drawn, unknown ones count
            drawn = self.algorithm.columns.draws and listed is not None and -1 in listed[1]
            if self.block is not None and not drawn:
                prepared, free = self._written(x, listed)
                prepared.passes.score(prepared.addresses)
                scores = prepared.scores.tolist()
                free.append(prepared)
                return scores
        return self._score_batch(Batch.of_one(x))[0].tolist()
