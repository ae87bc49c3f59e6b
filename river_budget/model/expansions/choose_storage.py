"""Choose how a model stores its support vectors, in a table or in sparse lists, and which names it keeps.

A table of all known features by all vectors is fastest where few of its entries are 0. On streams with always
new feature names (words) a table would be mostly zeros and be rebuilt for every new name: there the model stores
sparse lists (core/vectors/stored.py) and forgets names that no vector uses. The choice changes no score,
not even in the last bit: sums are taken in the order of the sort keys, which depend on names only.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Collection
from typing import Any

import numpy as np

from ...core.block import blocks
from ..base.base import StreamModel
from ..base.copying import nothing_prepared
from ..inputs.batches import Batch
from ..inputs.features import CHANGED_WHILE_READ, are_plain
from ..inputs.sparse_examples import (
    Lists,
    by_key,
    rearranged,
    set_vectors,
    slots_in_use,
    slots_of,
    vectors_of,
    write_order,
)

NO_PLACES = itertools.repeat(None)  # defaults for dict.pop, as a name may have no place
THIN_RATIO = 32  # lists replace a small table if fewer than one entry in so many is not 0
THICK_RATIO = 8  # a table replaces lists if more than one entry in so many would not be 0
LARGE_TABLE = 2**15  # entries of a large table; a new name makes it read all of them
# The two ratios for a large table; from 4 on, lists take less memory
THIN_RATIO_LARGE, THICK_RATIO_LARGE = 8, 3
# A table is reconsidered after n_entries / ENTRIES_PER_ARRIVAL further arrivals, or later
ENTRIES_PER_ARRIVAL = 1024
NAMES_PER_ARRIVAL = 8  # lists reconsider a table after n_names / NAMES_PER_ARRIVAL further arrivals without a new name
# Add or free places if names use a larger, or smaller, share of them
FULL_SHARE, NEARLY_EMPTY_SHARE = 0.5, 0.1
NAMES_PER_UNUSED = 8  # names are given up, all at once, if one in so many is unused
# Places per name in use: so names are given up rarely, and many are used again before that
PLACES_PER_NAME = 4
SPARE_NODES = 1.5  # nodes allocated, as a multiple of those in use
FEW_NODES = 2**14  # at most so many further nodes, so that small models seldom rearrange theirs
ENOUGH_NODES = 0.8  # with this share of the wanted nodes, only rearrange the present ones


def is_thin(names: int, count: int, numbers: int) -> bool:
    """Whether a table of `names` by `count` + 1 vectors with `numbers` entries would be mostly zeros."""
    size = names * (count + 1)
    return size > (THIN_RATIO if size <= LARGE_TABLE else THIN_RATIO_LARGE) * numbers


def is_thick(names: int, count: int, numbers: int) -> bool:
    """Whether a table of `names` by `count` vectors with `numbers` entries would have few enough zeros."""
    size = names * count
    return (THICK_RATIO if size <= LARGE_TABLE else THICK_RATIO_LARGE) * numbers > size


class StoredVectors(StreamModel):
    """A model that stores support vectors, in a table or in sparse lists."""

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        if self.features.loose and self.block is not None:
            self._place_names(names, beside)
        else:
            super().add_features(names, beside)

    def _add_to_others(self, names: Collection[Any], beside: Collection[Any]) -> None:
        """Add names to a table: rebuild it in the order of summation, or replace it if it is thin."""
        if not self.takes_lists:  # passes take whole rows: places must not change
            super()._add_to_others(names, beside)
            return
        lists, n = vectors_of(self.block), len(self.features) + len(names)
        numbers = len(lists.places) + len(beside)
        thin = n > THIN_RATIO * len(beside) or is_thin(n, len(lists), numbers)
        if thin:
            self._store_in_lists(lists)
            together = {**dict.fromkeys(names), **dict.fromkeys(beside)}
            self._place_names(self.features.unknown(together), beside)
        else:
            self._rebuild(by_key([*self.features, *names]), lists, 0)

    def _store_in_lists(self, lists: Lists) -> None:
        """Replace the table by sparse lists, which keep only names in use."""
        self._rebuild(self._used(lists), lists, slots_of(lists, SPARE_NODES))

    def names_in_use(self) -> list[Any]:
        """The names that vectors use, in the order of summation."""
        return self._used(vectors_of(self.block))

    def lists_in_use(self) -> Lists:
        """The vectors, with indexes into `names_in_use` as places."""
        lists = vectors_of(self.block)
        numbers = np.zeros(blocks.views(self.block).head.width, np.int64)
        names = self._used(lists)
        numbers[[self.features.places[name] for name in names]] = np.arange(len(names))
        return Lists(lists.starts, numbers[lists.places], lists.values)

    _reviewed_at = 0  # the arrival number at which the storage was reconsidered last
    _names_came = True  # whether new names came since that review

    def _review_schedule(self) -> tuple[int, int]:
        """(sparsity threshold, arrival count) at which the storage is reconsidered.

        Once per `capacity` arrivals; less often for a large table, which takes long to read or to rebuild.
        """
        model, n = blocks.views(self.block), len(self.features)
        pause = model.head.capacity
        if self.features.loose:
            return 0, self._reviewed_at + pause + n // NAMES_PER_ARRIVAL
        pause += model.vectors.size // ENTRIES_PER_ARRIVAL
        return THIN_RATIO, self._reviewed_at + pause

    def _begin_review(self) -> bool:
        """Whether the storage is to be reconsidered now; if so, schedule the next time."""
        arrived: int = blocks.views(self.block).head.arrived
        due = arrived >= self._review_schedule()[1]
        if due:
            self._reviewed_at = arrived
        # even if it is not due, as new names move the schedule
        self.fast_path.set_review(self._review_schedule()[1])
        return due

    def _review_table(self) -> None:
        """Replace the table by lists if it is mostly zeros and a review is due. Called after a sparse example."""
        if self._begin_review():
            model = blocks.views(self.block)
            count = model.head.count
            numbers = int(np.count_nonzero(model.vectors[:, :count] != 0.0))
            if is_thin(len(self.features), count, numbers):
                try:
                    self._store_in_lists(vectors_of(self.block))
                except Exception:
                    if self.features.plain:
                        raise
                    # else comparing a user-defined name raised an error: keep the table, as the example is learned

    def _review_lists(self) -> bool:
        """Replace lists by a table if they became long and no new names came. Returns whether a review was due.

        A table has to be rebuilt for every new name, so it is faster only without new names.
        """
        due = self.features.loose and self._begin_review()
        if due:
            new = self.fast_path.take_new_names() > 0
            met, self._names_came = self._names_came or new, False
            if not met:
                self.choose_storage()
        return due

    def _used(self, lists: Lists) -> list[Any]:
        """The names that vectors use, in the order of summation."""
        used = np.zeros(blocks.views(self.block).head.width, bool)
        used[lists.places] = True
        return by_key(name for name, place in self.features.places.items() if used[place])

    def _rebuild(self, names: list[Any], lists: Lists, slots: int, room: int = 0) -> None:
        """Store the vectors again, with these names and `room` for more: in lists if slots > 0, or a table.

        The change takes effect in one step, as other threads may predict.
        """
        twin = self.twin()
        twin._rebuild_itself(names, lists, slots, room)
        self.adopt(twin)

    def _rebuild_itself(self, names: list[Any], lists: Lists, slots: int, room: int) -> None:
        """`_rebuild` on this object, which is a twin of the model."""
        places = np.full(blocks.views(self.block).head.width, -1)
        old = self.features.places
        for place, name in enumerate(names):
            if name in old:
                places[old[name]] = place
        self.features.rename(names)
        width = max(len(names) + room, 1)
        if slots:
            self.features.loosen(width)
        self.resize_block(width=width, slots=slots)
        moved = Lists(lists.starts, places[lists.places], lists.values)
        set_vectors(self.block, moved.by_place())
        self.write_keys(self.features.places)

    # sparse matrices

    def rows_of(self, batch: Batch) -> Any:
        if self.block is None and batch.lists is not None and self.takes_lists:
            self._create_for_matrix(batch.names, batch.names_in_use(), batch.lists)
        if batch.lists is None:
            self.choose_storage()
        else:
            self._review_lists()
        return super().rows_of(batch)

    def _create_for_matrix(self, names: list[Any], used: list[Any], lists: Lists) -> None:
        """Create the block for a sparse matrix as first batch: with lists if it is thin, else with a table.

        names: its columns; used: those with an entry.
        """
        numbers = int(lists.starts[-1] - lists.starts[0])
        thin = len(names) > THIN_RATIO * (numbers / len(lists))
        if not thin:
            self.add_features(used if thin else names)
            return
        width = max(len(used), 1)
        self.features.rename(by_key(used))
        self.features.loosen(width)
        slots = 1 + int(SPARE_NODES * numbers / len(lists))
        self.create_block(len(names), width=width, slots=slots)
        blocks.views(self.block).head.fresh = 1
        self.write_keys(self.features.places)

    # adding and forgetting names

    def _learn_list(self, x: dict[Any, Any], target: float, w: float) -> None:
        """Learn an example with some of the features.

        A model with lists keeps a new name only if a vector uses it afterwards.
        """
        if self._review_lists() and self.fast_path.learn(x, target, w) is not None:
            return  # the fast path forgets unused names as well
        features = self.features
        if not features.loose:
            super()._learn_list(x, target, w)
            if THIN_RATIO * len(x) < len(features.places):
                self._review_table()
            return
        found, new = self._found_and_new(x)
        if not new:
            self._learn_prepared(self._list_for(x), found, x, target, w)
            return
        self._names_came = True
        if len(self.features.vacant) < len(new):
            self._vacate_places(len(new), x)
            found, new = self._found_and_new(x)
        self._learn_with_new_names(x, found, new, target, w)

    def _found_and_new(self, x: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
        """(places of the names of an example, None for unknown ones; the unknown names)"""
        found = list(map(self.features.places.get, x))
        if None not in found:
            return found, []
        return found, [name for name, place in zip(x, found, strict=True) if place is None]

    def _learn_with_new_names(
        self, x: dict[Any, Any], found: list[Any], new: list[Any], target: float, w: float
    ) -> None:
        """Learn an example with new names, which keep their places only if a vector uses them afterwards."""
        prepared, features, n = self._list_for(x), self.features, len(new)
        known, left, were_plain = features.places, features.vacant.left, features.plain
        plain = were_plain and are_plain(new)
        if len(features.vacant) < n:  # a user's names compared equal before, and do not now
            raise RuntimeError(CHANGED_WHILE_READ)
        arrived, offered = prepared.arrived, features.vacant.last(n).tolist()
        keys, ties = prepared.known_order
        write_order(keys, ties, offered, new)
        offer, before = iter(offered).__next__, arrived[0]
        found = [offer() if place is None else place for place in found]
        named, taking_back = dict(zip(new, offered, strict=True)), map(known.pop, new, NO_PLACES)
        places = known if plain else {**known, **named}  # a copy, as comparing such names may raise
        features.mark_if_not_plain(new)
        try:
            # before the example is learned: assigning places may fail, taking them back cannot
            if plain:
                known.update(named)
            else:
                features.places = places
            self._learn_prepared(prepared, found, x, target, w)
        finally:  # at most one call, as Ctrl-C may come after a call
            if arrived[0] != before or self.block is not prepared.arrays[0]:
                left[0] -= n
                features.note_names(new, offered)
            elif plain:
                operator.countOf(taking_back, None)
            else:
                features.places, features.plain = known, were_plain
                self.fast_path.update_places()  # restore the index as it was before the new names

    def _place_names(self, names: Collection[Any], beside: Collection[Any]) -> None:
        """Assign places to new names. To get places, forget names that no vector uses, or add places."""
        self._names_came = True
        if len(self.features.vacant) < len(names):
            self._vacate_places(len(names), beside)
        offered = self.features.vacant.last(len(names))
        model = blocks.views(self.block)
        write_order(model.keys, model.ties, offered, names)
        self.features.take(names, offered)
        self.features.note_names(names, offered)

    def _vacate_places(self, needed: int, beside: Collection[Any]) -> None:
        """Provide `needed` vacant places: forget unused names, or resize the tables.

        `beside`: names not to forget.
        """
        features, model = self.features, blocks.views(self.block)
        empty = model.columns["count"] == 0
        width, unused = model.head.width, len(features) - np.count_nonzero(~empty)
        fits = len(features) + needed <= FULL_SHARE * width
        if fits or NAMES_PER_UNUSED * unused > len(features):
            features.forget(empty, beside)
            self.fast_path.update_places()
        wanted = len(features) + needed
        if wanted > FULL_SHARE * width:
            self._widen(PLACES_PER_NAME * wanted)
        elif wanted < NEARLY_EMPTY_SHARE * width:
            lists, names = vectors_of(self.block), by_key(features)
            room = PLACES_PER_NAME * wanted - len(names)
            self._rebuild(names, lists, slots_of(lists, SPARE_NODES), room)

    def _widen(self, width: int) -> None:
        """Resize the tables for so many names. Known names keep their places."""
        block, features = blocks.resized(self.block, width=width), self.features.widened(width)
        self._replace_attributes(block=block, features=features, **nothing_prepared())

    def add_slots(self) -> bool:
        head = blocks.views(self.block).head
        wanted, head.wanted = head.wanted, 0
        if not wanted:
            return False
        needed, slots = slots_in_use(self.block) + wanted, head.slots
        plenty = int(SPARE_NODES * needed) + min(needed, FEW_NODES)
        if slots < ENOUGH_NODES * plenty:
            self.use_block(blocks.resized(self.block, slots=plenty))
        else:
            self.use_block(rearranged(self.block))
        return True

    def choose_storage(self) -> None:
        """Replace lists by a table if they have become long. Rows made before are invalid afterwards."""
        if not self.features.loose:
            return
        head = blocks.views(self.block).head
        numbers = head.fresh - 1 - head.freed
        if is_thick(len(self.features), head.count, numbers):
            lists = vectors_of(self.block)
            names = self._used(lists)
            if names and is_thick(len(names), head.count, numbers):
                self._rebuild(names, lists, 0)
