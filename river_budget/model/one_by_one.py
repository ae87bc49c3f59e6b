"""Learn and score one example: a prepared call holds it, as a whole row or as a list of its
features, for a pass.

All that can fail or run a user's code (looking names up, converting values) happens first, before
the lock and before the model is touched. Calls are taken from a pool: a nested prediction has its
own. An example with exactly the known names is written by `PreparedRow.try_write`. Any other takes
longer to write, so `learn_one` behind a prediction finds it written.
"""

from __future__ import annotations

import contextlib
from typing import Any

from ..core import memory
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

    If memory runs out it retries once: the failed call freed some.
    """
    try:
        return scores.tolist()
    except (MemoryError, SystemError):  # as numpy says it, too
        return scores.tolist()


def pop_or_none(pool: list[Any]) -> Any:
    """A call from a pool; None if there is none: another thread may take the last one at any
    time.
    """
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

        Returns the scores before it was learned, if they are wanted; AGAIN, with nothing learned,
        if another thread has added a label.
        """
        found = self._learn_whole(x, target, w, labels, wanted)
        return self._learn_any(x, target, w, labels, wanted) if found is OTHERWISE else found

    def _learn_whole(
        self, x: dict[Any, Any], target: float, w: float, labels: Any, wanted: bool
    ) -> Any:
        """The same for an example with exactly the known features; OTHERWISE, with nothing learned,
        for any other.
        """
        lock, rows = self._lock, self._free_rows
        try:
            row = rows.pop()
        except IndexError:
            return OTHERWISE
        if not row.try_write(x):
            rows.append(row)
            return OTHERWISE
        row.target[0], row.weight[0] = target, w
        with lock.held:
            # free_rows is another list if another thread has changed names, labels or block
            if (
                rows is self._free_rows
                and (labels is None or labels is self._labels)  # type: ignore[attr-defined]
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
        """The same for any example: with some of the known features or with new ones, or at which
        the pass stops.
        """
        lock, call = self._lock, self._call_with(x)
        with lock.held:
            if lock.changing:
                raise RuntimeError(NESTED)
            if labels is not None and labels is not self._labels:  # type: ignore[attr-defined]
                return AGAIN
            try:
                lock.changing = True
                found = self._learn_call(call, target, w, wanted)
                columns = self.algorithm.columns
                if self._block.nbytes > columns.largest_usual_block:
                    with contextlib.suppress(MemoryError):  # the example is learned anyway
                        columns.narrow(self, call.x)
                return found
            finally:
                lock.changing = False

    def _learn_call(self, call: Any, target: float, w: float, wanted: bool = False) -> Any:
        """Learn the example of a call, with the lock. Reserved places are committed if the pass
        stores it.

        Nothing is allocated after the pass except for the scores (`read_scores`): else a call could
        fail whose example was learned.
        """
        if call.version is not self._version:
            # the first example, or another thread has changed the model since it was written
            if self._block is None:
                self._try_kernel([call.x[name] for name in in_order(call.x)])
                self._add_features(list(call.x))
            return self._learn_call(self._prepare_call(call.x), target, w, wanted)
        if call.new:
            return self._learn_new(call, target, w, wanted)
        call.target[0], call.weight[0] = target, w
        block, arrived = self._block, call.arrived[0] if call.lent else 0
        try:
            try:
                if not call.learn():
                    # the model must be prepared first, or a warning is due
                    self._run_pass(*call.arrays)
            finally:
                if call.lent and (call.arrived[0] != arrived or self._block is not block):
                    self._keep_names(call)
        except BaseException:
            # Ctrl-C may come wherever a function begins, also where names are kept
            if call.lent and (call.arrived[0] != arrived or self._block is not block):
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
            self._add_features(new, x)
            return self._learn_call(self._prepare_call(x), target, w, wanted)
        except BaseException:
            self.algorithm.columns.take_back(self, new)
            raise

    def _keep_names(self, call: Any) -> None:
        """Keep the new names of an example. Where there is no memory for them, prepared calls give
        back theirs first.
        """
        try:
            self._keep_unknown(call)
        except (MemoryError, SystemError):  # as CPython says it in places
            self._free_lists.clear()
            self._keep_unknown(call)
        call.lent = False

    def _keep_unknown(self, call: Any) -> None:
        if not self._features.knows(call.x):
            self._change_names(self._features.commit, call.x, call.places)

    def _score_row(self, x: dict[Any, Any], read: bool = False) -> Any:
        """f(x), a list with one number per output. Missing values in x count as absent features.

        read: (f(x), the `_reading` of it), of one state of the model.

        River's scalers return NaN for features that they have not learned, and in progressive
        validation the prediction comes first.
        """
        found = self._score_whole(x, read)
        return self._score_any(x, read) if found is OTHERWISE else found

    def _score_whole(self, x: dict[Any, Any], read: bool) -> Any:
        """The same for an example with exactly the known features; OTHERWISE for any other."""
        rows = self._free_rows
        try:
            row = rows.pop()
        except IndexError:
            return OTHERWISE
        if row.try_write(x):
            with self._lock.held:
                if rows is self._free_rows:
                    scores = row.score()
                    reading = self._reading_of(row) if read else None
                    rows.append(row)
                    return (scores, reading) if read else scores
        else:
            rows.append(row)
        return OTHERWISE

    def _reading_of(self, call: Any) -> Any:
        """The `_reading` of the scores in a call, with the lock."""
        return self._reading()

    def _score_any(self, x: dict[Any, Any], read: bool) -> Any:
        """The same for any example."""
        try:
            call = self._call_with(x)
        except ValueError:
            call = self._call_with(self._without_bad(x))
        with self._lock.held:
            if call.version is not self._version:
                call = self._prepare_call(call.x)
            # where features are drawn, unknown ones count
            if call.block is not None and not (call.new and self.algorithm.columns.draws):
                scores = call.score()
                reading = self._reading_of(call) if read else None
                self._give_back(call)
                return (scores, reading) if read else scores
        found, reading = self._scores_read(Batch.of_one(call.x))
        scores = found[0].tolist()
        return (scores, reading) if read else scores

    def _run_on_one(self, compiled: Any, x: dict[Any, Any], n: int) -> list[float] | None:
        """The n numbers that another pass than that of predictions writes for an example; None
        before the first one.
        """
        if self._block is None:
            return None
        columns, head = self.algorithm.columns, memory.head_of(self._block)
        if columns.own and not (head.per_vector or head.squares):
            raise RuntimeError(
                f"this {type(self).__name__} was loaded with predict_only=True, and without the "
                "tables that this needs: "
                "Algorithm(files=Files(scored_rows=True)) keeps them"
            )
        x, _ = self._features.summed(self._features.present(x))
        found: list[float] = self._score_batch(Batch.of_one(x), compiled, n)[0].tolist()
        return found

    # calls

    def _taken(self, x: dict[Any, Any]) -> dict[Any, float]:
        """A copy of an example, as numbers."""
        return self._features.checked_copy(x)

    def _without_bad(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """An example to be predicted without values that count as absent."""
        return self._features.present(x)

    def _call_with(self, x: dict[Any, Any]) -> Any:
        """A call that holds this example: as the last prediction has written it, or written now."""
        lists = self._free_lists
        if (call := pop_or_none(lists)) is not None:
            if call.version is self._version and call.holds(x):
                return call
            lists.append(call)
        return self._prepare_call(x)

    def _prepare_call(self, x: dict[Any, Any]) -> Any:
        """A call to which this example is written, as a whole row or as a list.

        New names are lent places, which they keep if the example is learned and stored: a
        mistake-driven model stores few documents, and to give places to the names of all, and
        forget most, takes a third more time.
        """
        version, features = self._version, self._features
        x, total = features.summed(x)
        if self._block is None:
            return Unwritten(x)
        whole = 0 < len(x) == len(features.places) == features.width
        if not self._takes_lists or (whole and features.knows(x)):
            call: Any = self._call_for_row()
            features.pack_row(x, call.values)
            call.new = features.unknown(x)
        else:
            call = self._call_for_list(len(x))
            lent = features.reserve(x) if self.algorithm.columns.lends else NO_PLACES
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
        call.x, call.total, call.version = x, total, version
        return call

    def _give_back(self, call: Any) -> None:
        """Keep a call for other examples: a list if it is of the present block, a row if also of
        the present names.
        """
        try:
            if type(call) is PreparedList:
                if call.block is self._block:
                    self._free_lists.append(call)
            elif call.version is self._version:
                self._free_rows.append(call)
        except MemoryError:  # it is made anew when it is needed
            pass

    def _call_for_row(self) -> PreparedRow:
        """A prepared call for one example with all known features."""
        row: PreparedRow | None = pop_or_none(self._free_rows)
        if row is None:
            with self._lock.held:
                row = PreparedRow(self, self._block, self._features)
        return row

    def _call_for_list(self, entries: int) -> PreparedList:
        """A prepared call for one example with some of the features, with room for so many."""
        prepared: PreparedList | None = pop_or_none(self._free_lists)
        if prepared is not None and entries <= prepared.room:
            return prepared
        # first: another thread may change the passes with the block, and then this is an old one
        block = self._block
        room = max(SHORT_LIST_FEATURES, 2 * entries)
        return PreparedList(self, block, room)
