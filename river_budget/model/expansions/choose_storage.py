"""How a model stores its vectors, and which names it keeps.

A table of all known features by all vectors is the fastest where much in it is not 0. Where names come without end, it
would be mostly zeros, or be laid out anew all the time: then the model keeps lists of what is there (core/vectors/stored.py),
and gives up the names that no vector uses. Neither changes any score, not even in the last bit: sums go in the order of
keys, which depend on names only.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Collection
from typing import Any

import numpy as np

from ...core.block import blocks, layout
from ...core.rounds.stream_warnings import MANY_NAMES
from ..base.base import StreamModel
from ..calls.calls import FreeRows
from ..calls.fast_path import AtOnce
from ..inputs.batches import Batch
from ..inputs.features import CHANGED, are_plain
from ..inputs.sparse_examples import (
    Lists,
    by_key,
    rearranged,
    set_vectors,
    slots_for,
    slots_in_use,
    slots_of,
    stored_in,
    write_order,
)

NOT_KNOWN = itertools.repeat(None)  # where a name has no place that could be taken back
THIN = 32  # a small table is given up when one number in so many is not 0
THICK = 8  # and taken up again
LARGE = 2**15  # numbers in a table, which is looked at as a whole for every new name
THIN_LARGE, THICK_LARGE = 8, 3  # lists take no more memory from 4 on
LOOK = 1024  # a table waits for one more arrival per so many numbers until it is looked at again
WORDS = 1024  # names, few of them in each example, from which on they may come without end
QUIET = 8  # lists wait for one more per so many names; if no new one came, a table may pay
FULL, NEARLY_EMPTY = 0.5, 0.1  # shares of the places in use when names have been given up
SOME = 8  # names are given up together if one in so many is not in use
ROOMY = 4  # places for each name in use: names are given up rarely, and many come back before
SPARE = 1.5  # room for numbers, in units of what there is
FEW_SLOTS = 2**14  # up to as many more: small models need not lay out their nodes again and again
ENOUGH = 0.8  # of what would be given will do where it is there, and the nodes are laid out anew


def is_thin(names: int, count: int, numbers: int) -> bool:
    """Whether a table of so many names by so many vectors, and one more, would be mostly zeros."""
    size = names * (count + 1)
    return size > (THIN if size <= LARGE else THIN_LARGE) * numbers


def is_thick(names: int, count: int, numbers: int) -> bool:
    """Whether a table of so many names by so many vectors would be no waste."""
    size = names * count
    return (THICK if size <= LARGE else THICK_LARGE) * numbers > size


class StoredVectors(StreamModel):
    """A model that stores examples, in a table or in lists."""

    dtype: str = "float64"  # of the numbers of vectors

    @property
    def narrow(self) -> bool:
        """Whether they are float32, in a table whatever comes."""
        return self.dtype == "float32"

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        if self.features.loose and self.block is not None:
            self._admit(names, beside)
        else:
            super().add_features(names, beside)

    def _add_to_others(self, names: Collection[Any], beside: Collection[Any]) -> None:
        """A table stays in the order of summation; or it has become thin, or is laid out anew for a few of its names."""
        if not self.takes_lists:  # a table whose places stay
            super()._add_to_others(names, beside)
            return
        lists, n = stored_in(self.block), len(self.features) + len(names)
        few = n > THIN * len(beside)
        thin = few or is_thin(n, len(lists), len(lists.places) + len(beside))
        if thin and self.narrow:
            super()._add_to_others(names, beside)
            if few and n >= WORDS:
                head = blocks.views(self.block).head
                head.alarm |= MANY_NAMES & ~head.said
        elif thin:
            self._store_in_lists(lists)
            known = self.features.places
            self._admit(
                [
                    name
                    for name in {**dict.fromkeys(names), **dict.fromkeys(beside)}
                    if name not in known
                ],
                beside,
            )
        else:
            self._rebuild(by_key([*self.features, *names]), lists, 0)

    def _store_in_lists(self, lists: Lists) -> None:
        self._rebuild(self._used(lists), lists, slots_of(lists, SPARE))

    def names_in_use(self) -> list[Any]:
        """The names that vectors use, in the order of summation."""
        return self._used(stored_in(self.block))

    def lists_in_use(self) -> Lists:
        """The vectors, with the numbers of these names as places."""
        lists = stored_in(self.block)
        numbers = np.zeros(int(blocks.views(self.block).head.width), np.int64)
        names = self._used(lists)
        numbers[[self.features.places[name] for name in names]] = np.arange(len(names))
        return Lists(lists.starts, numbers[lists.places], lists.values)

    _looked = 0  # how many vectors had arrived when it was looked at last how they are stored
    _met = True  # whether there have been new names since

    def _looks(self) -> tuple[int, int]:
        """From which number of features to one that is present it pays, and from which arrival on.

        As often as vectors fit; less often if a table is so large that a look takes long, or to lay one out.
        """
        model, n = blocks.views(self.block), len(self.features)
        if self.narrow:
            return THIN, layout.UNLIMITED
        if self.features.loose:
            return 0, self._looked + int(model.head.capacity) + n // QUIET
        return THIN, self._looked + int(model.head.capacity) + model.vectors.size // LOOK

    def _is_due(self) -> bool:
        """Whether it is time for a look."""
        return int(blocks.views(self.block).head.arrived) >= self._looks()[1]

    def _note_look(self) -> bool:
        """The same; if it is, it is noted that there is one now."""
        due = self._is_due()
        if due:
            self._looked = int(blocks.views(self.block).head.arrived)
        self.at_once.look_at(self._looks()[1])  # if it is not yet, as there are more names now
        return due

    def _look_for_zeros(self) -> None:
        """A table that had much in it may have become thin. For when an example with few of the names was learned."""
        if self._note_look():
            model = blocks.views(self.block)
            count = int(model.head.count)
            numbers = int(np.count_nonzero(model.vectors[:, :count] != 0.0))
            if is_thin(len(self.features), count, numbers):
                try:
                    self._store_in_lists(stored_in(self.block))
                except Exception:
                    if self.features.plain:
                        raise  # else a name of the user's: what was learned is learned, and the table stays

    def _look_at_names(self) -> bool:
        """Lists may have become long. A table is laid out anew for every new name, so it waits until there are none.

        Returns whether it was time to look.
        """
        due = self.features.loose and self._note_look()
        if due:
            new = self.at_once.new_names() > 0
            met, self._met = self._met or new, False
            if not met:
                self.choose_storage()
        return due

    def _used(self, lists: Lists) -> list[Any]:
        """The names that vectors use, in the order of summation."""
        used = np.zeros(int(blocks.views(self.block).head.width), bool)
        used[lists.places] = True
        return by_key(name for name, place in self.features.places.items() if used[place])

    def _rebuild(self, names: list[Any], lists: Lists, slots: int, room: int = 0) -> None:
        """Store the vectors anew, with these names; with slots in lists, and room for more names.

        All of it takes effect at once, for threads that predict.
        """
        twin = self.twin()
        twin._rebuild_itself(names, lists, slots, room)
        self.become(twin)

    def _rebuild_itself(self, names: list[Any], lists: Lists, slots: int, room: int) -> None:
        places = np.full(int(blocks.views(self.block).head.width), -1)
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

    # batches

    def rows_of(self, batch: Batch) -> Any:
        if self.block is None and batch.lists is not None and self.takes_lists:
            self._begin(batch.names, batch.names_in_use(), batch.lists)
        if batch.lists is None:
            self.choose_storage()
        else:
            self._look_at_names()
        return super().rows_of(batch)

    def _begin(self, names: list[Any], used: list[Any], lists: Lists) -> None:
        """The first examples are those of a sparse matrix with these columns, of which some are used."""
        numbers = int(lists.starts[-1] - lists.starts[0])
        thin = len(names) > THIN * (numbers / len(lists))
        if not thin or self.narrow:
            self.add_features(used if thin else names)
            return
        width = max(len(used), 1)
        self.features.rename(by_key(used))
        self.features.loosen(width)
        slots = slots_for(int(SPARE * numbers / len(lists)))
        self.create_block(len(names), width=width, slots=slots)
        blocks.views(self.block).head.fresh = 1
        self.write_keys(self.features.places)

    # names that come and go

    def _learn_list(self, x: dict[Any, Any], target: float, w: float) -> None:
        """As in general. But a model with lists takes note of a new name only when a vector uses it."""
        if self._look_at_names() and self.at_once.learn(x, target, w) is not None:
            return  # which gives up names at once, too
        features = self.features
        if not features.loose:
            super()._learn_list(x, target, w)
            if THIN * len(x) < len(features.places):
                self._look_for_zeros()
            return
        found, new = self._found_and_new(x)
        if not new:
            self._learn_prepared(self._list_for(x), found, x, target, w)
            return
        self._met = True
        if len(self.features.vacant) < len(new):
            self._make_room(len(new), x)
            found, new = self._found_and_new(x)
        self._learn_with_new_names(x, found, new, target, w)

    def _found_and_new(self, x: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
        """The places of the names of an example, None where there is none, and the names without."""
        found = list(map(self.features.places.get, x))
        if None not in found:
            return found, []
        return found, [name for name, place in zip(x, found, strict=True) if place is None]

    def _learn_with_new_names(
        self, x: dict[Any, Any], found: list[Any], new: list[Any], target: float, w: float
    ) -> None:
        """Learn an example whose new names have places while it is learned, and then if a vector uses them."""
        prepared, features, n = self._list_for(x), self.features, len(new)
        known, left, were_plain = features.places, features.vacant.left, features.plain
        plain = were_plain and are_plain(new)
        if len(features.vacant) < n:  # names of the user's that are equal at one time only
            raise RuntimeError(CHANGED)
        arrived, offered = prepared.arrived, features.vacant.last(n).tolist()
        keys, ties = prepared.known_order
        write_order(keys, ties, offered, new)
        offer, before = iter(offered).__next__, arrived[0]
        found = [offer() if place is None else place for place in found]
        named, taking_back = dict(zip(new, offered, strict=True)), map(known.pop, new, NOT_KNOWN)
        places = known if plain else {**known, **named}  # to compare them may raise
        features.mark_if_not_plain(new)
        try:
            # before the example is learned: to give a name its place may fail, to take it back may not
            if plain:
                known.update(named)
            else:
                features.places = places
            self._learn_prepared(prepared, found, x, target, w)
        finally:  # no call but one, after which Ctrl-C may come
            if arrived[0] != before or self.block is not prepared.arrays[0]:
                left[0] -= n
                features.note_names(new, offered)
            elif plain:
                operator.countOf(taking_back, None)
            else:
                features.places, features.plain = known, were_plain
                self.at_once.follow()  # as if no such name had come

    def _admit(self, names: Collection[Any], beside: Collection[Any]) -> None:
        """Places for new names. Where there is no room, those that no vector uses are given up."""
        self._met = True
        if len(self.features.vacant) < len(names):
            self._make_room(len(names), beside)
        offered = self.features.vacant.last(len(names))
        model = blocks.views(self.block)
        write_order(model.keys, model.ties, offered, names)
        self.features.take(names, offered)
        self.features.note_names(names, offered)

    def _make_room(self, needed: int, beside: Collection[Any]) -> None:
        features, model = self.features, blocks.views(self.block)
        empty = model.columns["count"] == 0
        width, unused = int(model.head.width), len(features) - np.count_nonzero(~empty)
        if SOME * unused > len(features) or len(features) + needed <= FULL * width:
            features.forget(empty, beside)
            self.at_once.follow()
        wanted = len(features) + needed
        if wanted > FULL * width:
            self._widen(ROOMY * wanted)
        elif wanted < NEARLY_EMPTY * width:
            lists = stored_in(self.block)
            names = by_key(features)
            self._rebuild(names, lists, slots_of(lists, SPARE), ROOMY * wanted - len(names))

    def _widen(self, width: int) -> None:
        """Room for so many names. Those that are known keep their places."""
        block, features = blocks.resized(self.block, width=width), self.features.widened(width)
        rows, lists = FreeRows(), FreeRows()
        self._take(
            block=block, features=features, at_once=AtOnce(), free_rows=rows, free_lists=lists
        )

    def add_slots(self) -> bool:
        head = blocks.views(self.block).head
        wanted, head.wanted = int(head.wanted), 0
        outgrown, head.outgrown = bool(head.outgrown), 0
        if outgrown:
            block = blocks.resized(self.block, heavy=1)
            model = blocks.views(block)
            model.multipliers[:], model.strains[:] = 1.0, 1.0
            self.use_block(block)
        if wanted:
            needed, slots = slots_in_use(self.block) + wanted, int(head.slots)
            plenty = int(SPARE * needed) + min(needed, FEW_SLOTS)
            if slots < ENOUGH * plenty:
                self._lengthen(plenty)
            else:
                self.use_block(rearranged(self.block))
        return outgrown or wanted > 0

    def _lengthen(self, slots: int) -> None:
        """More slots: behind those that there are, or else in a copy of the block."""
        block = blocks.lengthened(self.block, slots)
        if block is None:
            self.use_block(blocks.resized(self.block, slots=slots))
        else:
            self.use_block(block)
            # last, as a copy that is made before has room enough
            blocks.views(block).head.slots = slots

    def choose_storage(self) -> None:
        """Back to a table, if lists have become long. Rows that have been made before hold no longer."""
        if not self.features.loose:
            return
        head = blocks.views(self.block).head
        numbers = int(head.fresh - 1 - head.freed)
        if is_thick(len(self.features), int(head.count), numbers):
            lists = stored_in(self.block)
            names = self._used(lists)
            if names and is_thick(len(names), int(head.count), numbers):
                self._rebuild(names, lists, 0)
