"""Learn and score one example: write a dict to a row, or to a list of present features, and call a pass.

All that can fail or run a user's code (looking names up, converting values) happens first, before the lock and before the
model is touched. The row or list that an example is written to is taken from a pool: a nested prediction has its own.
"""

from __future__ import annotations

import struct
from typing import Any

from ..calls.calls import PreparedList
from ..inputs.batches import Batch
from ..inputs.features import SUMS, copied, packer_of
from .batch_passes import ManyAtOnce

AGAIN: Any = object()
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
        return self._learn_list(x, target, w, labels, wanted)

    def _learn_list(
        self, x: dict[Any, Any], target: float, w: float, labels: Any, wanted: bool
    ) -> Any:
        """The same for an example with some of the known features, or with new ones."""
        features, lock = self.features, self.lock
        version, listed = features.version, self._list_of(x)
        if listed is None:
            return self._learn_the_long_way(x, target, w, labels, wanted)
        x, prepared, places = listed
        with lock.held:
            lock.refuse_nested()
            if labels is not None and labels is not self.labels:  # type: ignore[attr-defined]
                return AGAIN
            if self._fits(prepared, features, version):
                try:
                    lock.changing = True
                    return self._learn_listed(x, prepared, places, target, w, wanted)
                finally:
                    lock.changing = False
        return self._learn_the_long_way(x, target, w, labels, wanted)

    def _list_of(self, x: dict[Any, Any]) -> tuple[dict[Any, Any], PreparedList, list[int]] | None:
        """(copy of x, a call with its values, places, -1 for an unknown name); None if x must be checked one by one."""
        if not (self.free_lists and self.takes_lists and isinstance(x, dict)):
            return None
        x, features = copied(x), self.features
        if len(x) == len(features.places):
            return None  # it may be a whole row
        prepared = self._list_for(len(x))
        places = features.pack_list(x, prepared.values)
        return None if places is None else (x, prepared, places)

    def _fits(self, prepared: PreparedList, features: Any, version: int) -> bool:
        """Whether no other thread has replaced the block, or changed the known names, since the call was prepared."""
        return (
            prepared.arrays[0] is self.block
            and features is self.features
            and features.version == version
        )

    def _learn_new(
        self,
        x: dict[Any, Any],
        prepared: PreparedList,
        places: list[int],
        target: float,
        w: float,
        wanted: bool,
    ) -> Any:
        """Learn the example of a prepared call; its new names, with places below 0, are given places first."""
        new = [name for name, place in zip(x, places, strict=True) if place < 0]
        try:
            self.add_features(new, x)
            if prepared.arrays[0] is not self.block:  # it has grown
                values, prepared = prepared.values, self._list_for(len(x))
                prepared.values[: len(x)] = values[: len(x)]
            prepared.write(list(map(self.features.places.__getitem__, x)), target, w)
            return self._learned(prepared, self.free_lists, wanted)
        except BaseException:
            self.algorithm.columns.take_back(self, new)
            raise

    def _learn_the_long_way(
        self, x: dict[Any, Any], target: float, w: float, labels: Any, wanted: bool
    ) -> Any:
        """The same for any example: one that brings new names, or lacks some, or at which the pass stops."""
        lock, x = self.lock, self.features.taken(x)
        with lock.held:
            lock.refuse_nested()
            if labels is not None and labels is not self.labels:  # type: ignore[attr-defined]
                return AGAIN
            try:
                lock.changing = True
                return self._learn_taken(x, target, w, wanted)
            finally:
                lock.changing = False

    def _learn_stopped(self, prepared: Any, wanted: bool) -> Any:
        """Learn an example at which the pass has stopped, as the model must be prepared first or a warning is due."""
        self.run_pass(*prepared.arrays[2:])
        return read_scores(prepared.scores) if wanted else None

    def _learn_taken(self, x: dict[Any, Any], target: float, w: float, wanted: bool = False) -> Any:
        """Learn a checked copy of an example (`FeatureIndex.taken`). Adds its features to the known ones."""
        if self.block is None:
            self.add_features(list(x))
        elif not self.takes_lists and (new := self.features.unknown(x)):
            try:
                self.add_features(new, x)
                return self._learn_known(x, target, w, wanted)
            except BaseException:
                self.algorithm.columns.take_back(self, new)
                raise
        return self._learn_known(x, target, w, wanted)

    def _learn_known(self, x: dict[Any, Any], target: float, w: float, wanted: bool) -> Any:
        """Learn a checked copy of an example. Where the pass takes whole rows, its names are all known.

        Behind the pass nothing asks for memory, but for scores that are wanted (`read_scores`): else an example could be
        learned, and the call fail.
        """
        free = self.free_rows
        row = self._whole_row(x, target, w)
        if row is not None:
            return self._learned(row, free, wanted)
        return self._learn_listed(x, *self._list_with(x), target, w, wanted)

    def _learn_listed(
        self,
        x: dict[Any, Any],
        prepared: PreparedList,
        places: list[int],
        target: float,
        w: float,
        wanted: bool,
    ) -> Any:
        """Learn the example of a prepared call with its values; its places are below 0 for new names."""
        if -1 in places:
            return self._learn_new(x, prepared, places, target, w, wanted)
        prepared.write(places, target, w)
        return self._learned(prepared, self.free_lists, wanted)

    def _learned(self, prepared: Any, free: list[Any], wanted: bool) -> Any:
        """Learn the example of a prepared call, and keep the call."""
        if not prepared.passes.learn(prepared.addresses):
            return self._learn_stopped(prepared, wanted)
        scores = read_scores(prepared.scores) if wanted else None
        try:  # noqa: SIM105 # contextlib would ask for memory
            free.append(prepared)  # afterwards, as a signal handler may take it
        except MemoryError:
            pass
        return scores

    def _whole_row(self, x: dict[Any, Any], target: float = 0.0, w: float = 1.0) -> Any:
        """A call with an example from `taken` as a whole row; None if the pass gets a list."""
        features = self.features
        exactly = 0 < len(x) == len(features) == features.width and features.knows(x)
        if self.takes_lists and not exactly:
            return None
        row = self.free_rows.pop() if self.free_rows else self._new_row()
        features.write(x, row, target, w)
        return row

    def _list_with(self, x: dict[Any, Any]) -> tuple[PreparedList, list[int]]:
        """(a call with the values of an example from `taken`, its places, -1 for an unknown name)"""
        prepared, (places, values) = self._list_for(len(x)), self.features.split(x)
        packer_of(len(x))(prepared.values, 0, *values)
        return prepared, places

    def _list_for(self, entries: int) -> PreparedList:
        """A prepared call with room for so many features."""
        try:
            prepared = self.free_lists.pop()
            if entries <= prepared.room:
                return prepared
        except IndexError:
            pass
        return self._new_list(entries)

    # scoring

    def _score_row(self, x: dict[Any, Any]) -> Any:
        """f(x), a list with one number per output. Missing values in x count as absent features.

        River's scalers return NaN for features that they have not learned, and in progressive validation the
        prediction comes first.
        """
        lock, free = self.lock, self.free_rows
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
        scores = self._score_list(x)
        if scores is not None:
            return scores
        try:
            return self._score_numbers(self.features.taken(x))
        except ValueError:
            return self._score_numbers(self.features.taken(self.features.present(x)))

    def _score_list(self, x: dict[Any, Any]) -> Any:
        """The same for an example with some of the known features or with unknown ones; None if it must be checked first."""
        features = self.features
        version, listed = features.version, self._list_of(x)
        # where features are drawn, unknown ones count
        if listed is not None and not (self.algorithm.columns.draws and -1 in listed[2]):
            _, prepared, places = listed
            prepared.fill_places(places)
            with self.lock.held:
                if self._fits(prepared, features, version) and prepared.passes.score(
                    prepared.addresses
                ):
                    scores = prepared.scores.tolist()
                    self.free_lists.append(prepared)
                    return scores
        return None

    def _score_numbers(self, x: dict[Any, Any]) -> Any:
        """f(x) of an example from `taken`."""
        with self.lock.held:
            drawn = self.algorithm.columns.draws and not self.features.knows(x)
            if self.block is not None and not drawn:
                free: list[Any] = self.free_rows
                prepared: Any = self._whole_row(x)
                if prepared is None:
                    free, (prepared, places) = self.free_lists, self._list_with(x)
                    prepared.fill_places(places)
                prepared.passes.score(prepared.addresses)
                scores = prepared.scores.tolist()
                free.append(prepared)
                return scores
        return self._score_batch(Batch.of_one(x))[0].tolist()  # unknown names count, too
