"""Learn and score one example: a prepared call holds it, as a whole row or as a list of its features, for a pass.

All that can fail or run a user's code (looking names up, converting values) happens first, before the lock and before the
model is touched. Calls are taken from a pool: a nested prediction has its own. An example with exactly the known names is
written by `PreparedRow.takes`. Any other takes longer to write, so `learn_one` behind a prediction finds it written.
"""

from __future__ import annotations

from typing import Any

from ..inputs.batches import Batch
from ..inputs.features import NO_PLACES, are_plain, in_order
from .batch_passes import ManyAtOnce
from .calls import PreparedList, PreparedRow, Unwritten
from .lock import NESTED

AGAIN: Any = object()
OTHERWISE: Any = object()
SHORT_LIST_FEATURES = 32  # features of an example


def read_scores(scores: Any) -> Any:
    """The scores from before an example was learned, as a list.

    Where there is no memory for it, once more: what the first try has given back may be enough.
    """
    try:
        return scores.tolist()
    except (MemoryError, SystemError):  # as numpy says it, too
        return scores.tolist()


def taken_from(pool: list[Any]) -> Any:
    """A call from a pool; None if there is none: another thread may take the last one at any time."""
    try:
        return pool.pop() if pool else None
    except IndexError:
        return None


class OneByOne(ManyAtOnce):
    """How a model learns and scores one example, whose target has been checked."""

    def _learn_row(
        self, x: dict[Any, Any], target: float, w: float, labels: Any = None, wanted: bool = False
    ) -> Any:
        """Learn one example, whose target has been checked and coded with these labels.

        Returns the scores before it was learned, if they are wanted; AGAIN, with nothing learned, if another thread has
        added a label.
        """
        found = self._learn_whole(x, target, w, labels, wanted)
        return self._learn_any(x, target, w, labels, wanted) if found is OTHERWISE else found

    def _learn_whole(
        self, x: dict[Any, Any], target: float, w: float, labels: Any, wanted: bool
    ) -> Any:
        """The same for an example with exactly the known features; OTHERWISE, with nothing learned, for any other."""
        lock, rows = self.lock, self.free_rows
        try:
            row = rows.pop()
        except IndexError:
            return OTHERWISE
        if not row.takes(x):
            rows.append(row)
            return OTHERWISE
        row.target[0], row.weight[0] = target, w
        with lock.held:
            # free_rows is another list if another thread has changed names, labels or block
            if (
                rows is self.free_rows
                and (labels is None or labels is self.labels)  # type: ignore[attr-defined]
                and not lock.changing
            ):
                try:
                    lock.changing = True
                    learned = row.learn()
                finally:
                    lock.changing = False
                if learned:
                    scores = read_scores(row.scores) if wanted else None
                    rows.append(row)  # afterwards, as a signal handler may take it
                    return scores
        return OTHERWISE

    def _learn_any(
        self, x: dict[Any, Any], target: float, w: float, labels: Any, wanted: bool
    ) -> Any:
        """The same for any example: with some of the known features or with new ones, or at which the pass stops."""
        lock, call = self.lock, self._call_with(x)
        with lock.held:
            if lock.changing:
                raise RuntimeError(NESTED)
            if labels is not None and labels is not self.labels:  # type: ignore[attr-defined]
                return AGAIN
            try:
                lock.changing = True
                return self._learn_call(call, target, w, wanted)
            finally:
                lock.changing = False

    def _learn_call(self, call: Any, target: float, w: float, wanted: bool = False) -> Any:
        """Learn the example of a call, with the lock. Lent places are kept if the pass stores it.

        Behind the pass nothing asks for memory, but for scores that are wanted (`read_scores`): else an example could be
        learned, and the call fail.
        """
        if call.edition is not self.edition:
            # the first example, or another thread has changed the model since it was written
            if self.block is None:
                self.try_kernel([call.x[name] for name in in_order(call.x)])
                self.add_features(list(call.x))
            return self._learn_call(self._written(call.x), target, w, wanted)
        if call.new:
            return self._learn_new(call, target, w, wanted)
        call.target[0], call.weight[0] = target, w
        block, arrived = self.block, call.arrived[0] if call.lent else 0
        try:
            try:
                if not call.learn():
                    # the model must be prepared first, or a warning is due
                    self.run_pass(*call.arrays)
            finally:
                if call.lent and (call.arrived[0] != arrived or self.block is not block):
                    self._keep_names(call)
        except BaseException:
            # Ctrl-C may come wherever a function begins, also where names are kept
            if call.lent and (call.arrived[0] != arrived or self.block is not block):
                self._keep_names(call)
            raise
        scores = read_scores(call.scores) if wanted else None
        self._give_back(call)  # afterwards, as a signal handler may take it
        return scores

    def _learn_new(self, call: Any, target: float, w: float, wanted: bool) -> Any:
        """Learn an example some of whose names have no place."""
        x, new = call.x, call.new
        self._give_back(call)
        try:
            self.add_features(new, x)
            return self._learn_call(self._written(x), target, w, wanted)
        except BaseException:
            self.algorithm.columns.take_back(self, new)
            raise

    def _keep_names(self, call: Any) -> None:
        """Keep the new names of an example. Where there is no memory for them, prepared calls give back theirs first."""
        try:
            self._keep_unknown(call)
        except (MemoryError, SystemError):  # as CPython says it in places
            self.free_lists.clear()
            self._keep_unknown(call)
        call.lent = False

    def _keep_unknown(self, call: Any) -> None:
        if not self.features.knows(call.x):
            self.change_names(self.features.keep, call.x, call.places)

    def _score_row(self, x: dict[Any, Any], read: bool = False) -> Any:
        """f(x), a list with one number per output. Missing values in x count as absent features.

        read: (f(x), the `_reading` of it), of one state of the model.

        River's scalers return NaN for features that they have not learned, and in progressive validation the
        prediction comes first.
        """
        found = self._score_whole(x, read)
        return self._score_any(x, read) if found is OTHERWISE else found

    def _score_whole(self, x: dict[Any, Any], read: bool) -> Any:
        """The same for an example with exactly the known features; OTHERWISE for any other."""
        rows = self.free_rows
        try:
            row = rows.pop()
        except IndexError:
            return OTHERWISE
        if row.takes(x):
            with self.lock.held:
                if rows is self.free_rows:
                    scores = row.score()
                    rows.append(row)
                    return (scores, self._reading()) if read else scores
        else:
            rows.append(row)
        return OTHERWISE

    def _score_any(self, x: dict[Any, Any], read: bool) -> Any:
        """The same for any example."""
        try:
            call = self._call_with(x)
        except ValueError:
            call = self._call_with(self._without_bad(x))
        with self.lock.held:
            if call.edition is not self.edition:
                call = self._written(call.x)
            # where features are drawn, unknown ones count
            if call.block is not None and not (call.new and self.algorithm.columns.draws):
                scores = call.score()
                self._give_back(call)
                return (scores, self._reading()) if read else scores
        found, reading = self._scores_read(Batch.of_one(call.x))
        scores = found[0].tolist()
        return (scores, reading) if read else scores

    # calls

    def _taken(self, x: dict[Any, Any]) -> dict[Any, float]:
        """A copy of an example, as numbers."""
        return self.features.taken(x)

    def _without_bad(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """An example to be predicted without values that count as absent."""
        return self.features.present(x)

    def _call_with(self, x: dict[Any, Any]) -> Any:
        """A call that holds this example: as the last prediction has written it, or written now."""
        lists = self.free_lists
        if (call := taken_from(lists)) is not None:
            if call.edition is self.edition and call.holds(x):
                return call
            lists.append(call)
        return self._written(x)

    def _written(self, x: dict[Any, Any]) -> Any:
        """A call to which this example is written, as a whole row or as a list.

        New names are lent places, which they keep if the example is learned and stored: a mistake-driven model stores
        few documents, and to give places to the names of all, and forget most, takes a third more time.
        """
        edition, features = self.edition, self.features
        x, total = features.summed(x)
        if self.block is None:
            return Unwritten(x)
        whole = 0 < len(x) == len(features.places) == features.width
        if not self.takes_lists or (whole and features.knows(x)):
            call: Any = self._call_for_row()
            features.pack_row(x, call.values)
            call.new = features.unknown(x)
        else:
            call = self._call_for_list(len(x))
            lent = features.lent(x) if self.algorithm.columns.lends else NO_PLACES
            call.lent = lent is not NO_PLACES
            places = list(map(features.places.get, x, lent))
            # by the order in which they will get places, as their norm is a sum
            if places.count(-1) > 1 and are_plain(x):
                x = {name: x[name] for name in in_order(x)}
                places = list(map(features.places.get, x, lent))
            call.places = places
            call.write(features.values_of(x), places)
            call.new = (
                [name for name, place in zip(x, places, strict=True) if place < 0]
                if -1 in places
                else ()
            )
        call.x, call.total, call.edition = x, total, edition
        return call

    def _give_back(self, call: Any) -> None:
        """Keep a call for other examples: a list if it is of the present block, a row if also of the present names."""
        try:
            if type(call) is PreparedList:
                if call.block is self.block:
                    self.free_lists.append(call)
            elif call.edition is self.edition:
                self.free_rows.append(call)
        except MemoryError:  # it is made anew when it is needed
            pass

    def _call_for_row(self) -> PreparedRow:
        """A prepared call for one example with all known features."""
        row: PreparedRow | None = taken_from(self.free_rows)
        if row is None:
            with self.lock.held:
                row = PreparedRow(self, self.block, self.features)
        return row

    def _call_for_list(self, entries: int) -> PreparedList:
        """A prepared call for one example with some of the features, with room for so many."""
        prepared: PreparedList | None = taken_from(self.free_lists)
        if prepared is not None and entries <= prepared.room:
            return prepared
        # first: another thread may change the passes with the block, and then this is an old one
        block = self.block
        room = max(SHORT_LIST_FEATURES, 2 * entries)
        return PreparedList(self, block, room)
