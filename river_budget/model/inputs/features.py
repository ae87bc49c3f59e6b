"""FeatureIndex: the names of features and their places, the indexes in a model's tables.

A feature keeps its place while it is known, and a missing feature is 0. Neither the places nor the order of
a dict affect a result: sums over features are taken in the order of sort keys (sparse_examples.py).
"""

from __future__ import annotations

import array
import itertools
import math
import operator
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...parameters import check_example, is_missing, number
from .sparse_examples import Lists, key_and_tie

PLAIN_KINDS = frozenset({str, int})
CHANGED_WHILE_READ = "the example was changed while the model read it"


def in_order(names: Iterable[Any]) -> list[Any]:
    """Sorted names; if they have several types, sorted by type and repr."""
    try:
        return sorted(names)
    except TypeError:  # names of several types
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


def are_plain(names: Iterable[Any]) -> bool:
    """Whether all names are exactly str, int or tuples of these: comparing them runs no Python code."""
    return all(
        type(name) in PLAIN_KINDS
        or (type(name) is tuple and all(type(part) in PLAIN_KINDS for part in name))
        for name in names
    )


class Vacant:
    """A stack of vacant places, which compiled code uses too (core/examples/one_example.py)."""

    __slots__ = ("left", "places")

    def __init__(self, width: int = 0) -> None:
        self.places: Any = np.zeros(width, np.int32)
        self.left: Any = np.zeros(1, np.int64)  # number of vacant places, for compiled code too

    def __len__(self) -> int:
        return int(self.left[0])

    def last(self, n: int) -> Any:
        """The n places that are assigned next."""
        left = len(self)
        return self.places[left - n : left]

    def fill(self, places: Any) -> None:
        """Make these places vacant, and no others."""
        self.places[: len(places)] = places
        self.left[0] = len(places)


_NO_PLACES, _NOBODY = Vacant(), np.zeros(0, np.int64)  # for indexes that are not loose


class FeatureIndex:
    """Names of features and their places, and the scales by which some features are multiplied.

    Usually the places are 0, 1, .. without gaps. A loose index may forget names and assign their places to
    others; a change takes time in proportion to the number of changed names.
    """

    nameless = False  # whether passes find names by their sort keys alone, and none has a place

    def __init__(
        self,
        names: Iterable[Any] = (),
        scales: Mapping[Any, float] | None = None,
        places: Iterable[int] | None = None,
        width: int = 0,
    ):
        self._scales = None if scales is None else dict(scales)
        self.loose = places is not None
        self.places: dict[Any, int] = {}
        self.vacant = _NO_PLACES  # vacant places of a loose index
        self.width = 0  # places of a loose index
        # increases whenever names lose their places, or a name comes that compiled code cannot read
        self.given_back: Any = np.zeros(1, np.int64)
        self.plain = True  # whether compiled code can read all names: see are_plain
        # in a loose index: the address of the name at each place, or 0
        self.names_at: Any = _NOBODY
        if places is None:
            self.rename(names)
        else:
            self.places.update(zip(names, places, strict=True))
            self.plain = are_plain(self.places)
            self.loosen(width)

    def rename(self, names: Iterable[Any]) -> None:
        """Replace all names by these, with the places 0, 1, .."""
        self.places = {name: place for place, name in enumerate(names)}
        self.plain = are_plain(self.places)
        self.loose, self.vacant, self.width, self.names_at = False, _NO_PLACES, 0, _NOBODY
        self._pack: Callable[[dict[Any, Any], Any], bool] | None = None

    def pack(self, x: dict[Any, Any], values: Any) -> bool:
        """Write an example with exactly the known features into a row; False if its features differ.

        Values must be numbers; passes check that they are finite. The first call builds the function that
        packs examples, which models that only learn batches do not need.
        """
        pack = self._pack
        if pack is None:
            pack = self._pack = self._packer()
        return pack(x, values)

    def forget_packer(self) -> None:
        """Free the function that packs examples, as the fast path replaces it; `pack` can build it again."""
        if not self.loose:
            self._pack = None

    def _packer(self) -> Callable[[dict[Any, Any], Any], bool]:
        """Build the function that packs examples: a closure, which looks up no attributes."""
        names = list(self.places)
        n = len(names)
        pack_into = struct.Struct(f"{n}d").pack_into
        get: Callable[[Any], Sequence[Any]]
        # itemgetter of one name returns no tuple
        get = operator.itemgetter(*names) if n > 1 else lambda x: tuple(x[name] for name in names)
        scaled = self._scaled_places()

        def pack(x: dict[Any, Any], values: Any) -> bool:
            if type(x) is not dict:
                check_example(x)
            if len(x) == n:
                try:
                    pack_into(values, 0, *get(x))
                    for place, factor in scaled:
                        values[place] *= factor
                    return True
                except KeyError:
                    return False
                except (struct.error, TypeError, OverflowError):
                    self.reject(x)
            return False

        return pack

    def _scaled_places(self) -> list[tuple[int, float]]:
        scales, places = self._scales or {}, self.places
        return [(places[name], factor) for name, factor in scales.items() if name in places]

    def __getstate__(self) -> tuple[Any, ...]:
        if self.loose:
            places = list(self.places.values())
            return list(self.places), self._scales, places, self.width
        return list(self.places), self._scales

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Any:
        return iter(self.places)

    @property
    def memory_usage(self) -> int:
        names = sys.getsizeof(self.places) + sum(map(sys.getsizeof, self.places))
        return int(names + self.vacant.places.nbytes + self.names_at.nbytes)

    # changes

    def and_more(self, names: Iterable[Any]) -> FeatureIndex:
        """A new index with new names behind the others, in sorted order."""
        return FeatureIndex([*self.places, *in_order(names)], self._scales)

    def loosen(self, width: int) -> None:
        """Make the index loose, with room for so many names."""
        vacant, names_at, places = Vacant(width), np.zeros(width, np.int64), self.places
        taken = list(places.values())
        names_at[taken] = list(map(id, places))
        vacant.fill(np.flatnonzero(names_at == 0)[::-1])
        self.vacant, self.names_at = vacant, names_at
        self.loose, self._pack, self.width = True, _pack_nothing, width

    def widened(self, width: int) -> FeatureIndex:
        """A new loose index with the same names at the same places, and room for more."""
        vacant, names_at = Vacant(width), np.zeros(width, np.int64)
        new_places = np.arange(self.width, width)[::-1]
        vacant.fill(np.concatenate([new_places, self.vacant.last(len(self.vacant))]))
        names_at[: self.width] = self.names_at
        wider = object.__new__(type(self))
        own = {"places": self.places.copy(), "vacant": vacant, "names_at": names_at, "width": width}
        wider.__dict__.update(vars(self) | own)
        return wider

    def take(self, names: Iterable[Any], offered: Any) -> None:
        """Assign to these names the places that `vacant.last` offered."""
        names = list(names)
        named = dict(zip(names, offered.tolist(), strict=True))
        left, n, known = self.vacant.left, len(names), self.places
        if self.plain and are_plain(names):
            left[0] -= n
            known.update(named)  # the only call here, as Ctrl-C may come after a call
            return
        before, places = int(left[0]), {**known, **named}  # a copy: comparing names may raise
        if self.places is not known or left[0] != before:
            raise RuntimeError(CHANGED_WHILE_READ)
        self.mark_if_not_plain(names)
        left[0] -= n
        self.places = places

    def mark_if_not_plain(self, names: Iterable[Any]) -> None:
        """Mark the index if compiled code cannot read names about to be added; invalidates fast paths."""
        if self.plain and not are_plain(names):
            self.plain = False
            self.given_back[0] += 1

    def note_names(self, names: Collection[Any], places: Any) -> None:
        """Record the addresses of names, without which compiled code cannot free their places."""
        self.names_at[places] = list(map(id, names))

    def forget(self, unused: Any, kept: Iterable[Any]) -> None:
        """Forget the names at the places `unused`, except for names in `kept`. Modifies `unused`."""
        known = self.places
        unused[[known[name] for name in kept if name in known]] = False
        places = np.fromiter(known.values(), np.int64, len(known))
        used = ~unused[places]
        names = itertools.compress(known, used.tolist())
        left = dict(zip(names, places[used].tolist(), strict=True))
        vacant = np.flatnonzero(unused)
        if self.places is not known:  # comparing a user-defined name has changed the index
            raise RuntimeError(CHANGED_WHILE_READ)
        self.given_back[0] += 1
        self.names_at[unused] = 0
        self.places = left  # before their places are vacant, as Ctrl-C may come
        self.given_back[0] += 1  # again: another thread may have read the old places since
        self.vacant.fill(vacant)

    # examples

    def pack_some(self, x: dict[Any, Any], values: Any) -> bool:
        """Like `pack`, for an example from `taken` that lacks some of the known features."""
        if not self.knows(x):
            return False
        row = list(map(x.get, self.places, itertools.repeat(0.0)))
        if len(row) != len(values):  # a thread that learns has added a feature
            return False
        values[:] = memoryview(array.array("d", row))
        for place, factor in self._scaled_places():
            values[place] *= factor
        return True

    def taken(self, x: dict[Any, Any]) -> dict[Any, float]:
        """A checked copy of an example, with floats as values.

        Another thread may change the original. If converting a value to float runs a user's code, it runs here.
        """
        check_example(x)
        try:
            x = x.copy() if type(x) is dict else dict(x)  # copying a plain dict is atomic
        except KeyError as error:
            raise RuntimeError(CHANGED_WHILE_READ) from error
        numbers: Collection[float] = x.values()
        others = set(map(type, numbers)) - {float}
        try:
            if others:
                numbers = array.array("d", numbers)
            good = math.isfinite(math.fsum(numbers))
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:  # convert one by one to find the wrong value; perhaps only the sum overflowed
            numbers = list(map(number, x, x.values()))
        if others:
            x = dict(zip(x, numbers, strict=True))
        if self._scales is not None:
            self.reject(x)
        return x

    def reject(self, x: dict[Any, Any]) -> None:
        """Raise for the first feature that is not a finite number, if there is one."""
        check_example(x)
        for name, value in x.items():
            number(name, value)
        for name, factor in (self._scales or {}).items():
            if name in x and not math.isfinite(float(x[name]) * factor):
                raise ValueError(
                    f"feature {name!r} must be finite times its scale, not {x[name]!r}"
                )

    def values_of(self, x: dict[Any, Any]) -> Iterable[Any]:
        """The values of an example, times the scales of their features."""
        if self._scales is None:
            return x.values()
        return [number(name, value) * self._scales.get(name, 1.0) for name, value in x.items()]

    def factors(self, names: Iterable[Any]) -> Any:
        """The scales of these features."""
        scales = self._scales or {}
        return np.array([scales.get(name, 1.0) for name in names], np.float64)

    def in_place(self, names: list[Any]) -> bool:
        """Whether these are exactly the known features, in the order of their places."""
        return not self.loose and list(self.places) == names

    @property
    def taken_back(self) -> int:
        """A counter that changes whenever names lose their places."""
        return int(self.given_back[0])

    @property
    def scaled(self) -> bool:
        """Whether there are scales."""
        return self._scales is not None

    def unscaled(self, name: Any, value: float) -> float:
        """A stored value divided by the scale of its feature, as the user gave it."""
        return value if self._scales is None else value / float(self._scales.get(name, 1.0))

    def present(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """The example without missing values, for prediction. Raises if another value is invalid."""
        check_example(x)
        found = {name: value for name, value in x.items() if not is_missing(value)}
        self.reject(x if len(found) == len(x) else found)
        return found

    def check(self, x: dict[Any, Any]) -> None:
        """Like `reject`, but fast for valid examples."""
        try:
            good = math.isfinite(math.fsum(x.values()))  # converts each value to a float
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:  # `reject` decides: perhaps only the sum overflowed
            self.reject(x)

    def knows(self, x: dict[Any, Any]) -> bool:
        return x.keys() <= self.places.keys()

    def unknown(self, x: dict[Any, Any]) -> list[Any]:
        places = self.places
        return [name for name in x if name not in places]  # the known ones may be very many

    def row(self, x: dict[Any, Any]) -> Any:
        """Check an example and return it as a row of all known features, for models that take no lists."""
        self.reject(x)
        row = np.array([[float(x.get(name, 0.0)) for name in self.places]])
        return row if self._scales is None else row * self.factors(self.places)

    def listed(self, x: dict[Any, Any]) -> Lists:
        """Check an example and return it as a sparse list."""
        self.reject(x)
        values = np.array(list(self.values_of(x)), float)
        places, keys, ties = self.places_and_order(x)
        return Lists(np.array([0, len(values)]), places, values, keys, ties)

    def places_and_order(self, names: Iterable[Any]) -> tuple[Any, Any, Any]:
        """(places, sort keys, ties) of names; unknown names have places below 0, and only they have keys."""
        names = list(names)
        places = np.array([self.places.get(name, -1) for name in names], np.int64)
        keys, ties = np.zeros(len(names)), np.zeros(len(names), np.int64)
        for i in np.flatnonzero(places < 0).tolist():
            keys[i], ties[i] = key_and_tie(names[i])
        return places, keys, ties


class Nameless(FeatureIndex):
    """The index of a model that finds names by their sort keys: none of them has a place."""

    nameless = True

    def row(self, x: dict[Any, Any]) -> Any:
        return self.listed(x)


def _pack_nothing(x: dict[Any, Any], values: Any) -> bool:
    return False
