"""FeatureIndex: the names of features and their places, the rows of a model's tables. Public Python
only.

A place is given when a name is first learned. The next free place is the smallest, and new names of
one example are sorted first. (Where an example may leave no vector, the order of its dict decides:
FeatureIndex.reserve.) Sums over features go in the order of places, so this order may change their
last bit. A missing feature is 0.
"""

from __future__ import annotations

import array
import collections
import functools
import itertools
import math
import operator
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..parameters import check_example, is_missing, number


class Category(tuple[Any, ...]):
    """The name of a feature that a model has made of a text: (column, text). Equal to the tuple."""

    __slots__ = ()

    def __str__(self) -> str:
        return " = ".join(map(str, self))


PLAIN_KINDS, TUPLES = frozenset({str, int}), frozenset({tuple, Category})
# types of the sum of 0.0 and an example's values, if struct takes these: of numpy's complex numbers
# it would lose a part
SUMS = frozenset({float, np.float64, np.float32})
# numbers that are equal only to what they are as a float. (numpy compares its small ones with a
# float as one of theirs.)
EXACT = frozenset({float, int, bool, np.float64, np.int64})
NO_PLACES = itertools.repeat(-1)
CHANGED_WHILE_READ = "the example was changed while the model read it"


def in_order(names: Iterable[Any]) -> list[Any]:
    """Sorted names; if they have several types, sorted by type and repr."""
    try:
        return sorted(names)
    except TypeError:  # names of several types
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


def are_plain(names: Collection[Any]) -> bool:
    """Whether all names are exactly str, int or tuples of these: comparing them runs no Python
    code.
    """
    return PLAIN_KINDS.issuperset(map(type, names)) or all(
        type(name) in PLAIN_KINDS
        or (type(name) in TUPLES and all(type(part) in PLAIN_KINDS for part in name))
        for name in names
    )


def at_once(*steps: Callable[[], Any]) -> None:
    """Take these steps, functions written in C, in one: neither Ctrl-C nor another thread comes
    between.
    """
    collections.deque(map(operator.call, steps), maxlen=0)


def nothing() -> None:
    """No further step."""


def copied(x: Mapping[Any, Any]) -> dict[Any, Any]:
    """A copy of an example, as another thread may change the original. Copying a plain dict is
    atomic.
    """
    try:
        return x.copy() if type(x) is dict else dict(x)
    except KeyError as error:
        raise RuntimeError(CHANGED_WHILE_READ) from error


class FeatureIndex:
    """Names of features and their places, and the scales by which some features are multiplied.

    Usually the places are 0, 1, .. without gaps; where a model forgets names, there may be gaps.

    Places, vacant ones and width change together, `at_once`, and with them what the owner of the
    index says with `then`. (One value that is replaced would be a copy of all names for every
    document that brings some.)
    """

    def __init__(
        self,
        names: Iterable[Any] = (),
        scales: Mapping[Any, float] | None = None,
        places: Iterable[int] | None = None,
    ):
        self._scales = None if scales is None else dict(scales)
        if places is None:
            self.rename(names)
        else:
            self._replace(dict(zip(names, places, strict=True)))

    places: dict[Any, int]
    vacant: list[int]  # places below the width that have no name, the smallest last
    width: int
    _reader: Any

    def rename(self, names: Iterable[Any]) -> None:
        """Replace all names by these, with the places 0, 1, .."""
        self._replace({name: place for place, name in enumerate(names)})

    def move_to(self, places: Iterable[int]) -> None:
        """Give the names these places instead, in the order of their present ones."""
        self._replace(dict(zip(self.in_rows, places, strict=True)))

    def _replace(
        self, places: dict[Any, int], then: Callable[[], Any] = nothing, taken: Any = None
    ) -> None:
        """Replace all places. `checked_copy`: whether each one has a name, if that is known."""
        if taken is None:
            taken = np.zeros(1 + max(places.values(), default=-1), bool)
            taken[list(places.values())] = True
        width = 1 + int(np.flatnonzero(taken)[-1]) if taken.any() else 0
        vacant: list[int] = np.flatnonzero(~taken[:width])[::-1].tolist()
        changed = {"places": places, "vacant": vacant, "width": width, "_reader": None}
        at_once(functools.partial(vars(self).update, changed), then)

    def __getstate__(self) -> tuple[Any, ...]:
        return list(self.places), self._scales, list(self.places.values())

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Any:
        return iter(self.places)

    @property
    def memory_usage(self) -> int:
        return sys.getsizeof(self.places) + sum(map(sys.getsizeof, self.places))

    @property
    def in_rows(self) -> list[Any]:
        """The names in the order of their places."""
        return sorted(self.places, key=self.places.__getitem__)

    # changes

    def next_places(self, n: int) -> list[int]:
        """The places that the next n names will get: vacant ones first, the smallest first."""
        vacant = self.vacant[: -n - 1 : -1]
        more = n - len(vacant)
        return [*vacant, *range(self.width, self.width + more)] if more else vacant

    def add(self, names: Collection[Any], then: Callable[[], Any] = nothing) -> None:
        """Give places to new names. Where comparing names of users may raise, to a copy of the
        known ones.
        """
        if not names:
            return
        new = in_order(names)
        places = self.next_places(len(new))
        given = dict(zip(new, places, strict=True))
        changed: dict[str, Any] = {"width": max(self.width, 1 + places[-1]), "_reader": None}
        if not are_plain(new):
            changed["places"], given = {**self.places, **given}, {}
        try:
            at_once(
                functools.partial(self.places.update, given),
                functools.partial(self.vacant.__setitem__, slice(-len(new), None), ()),
                functools.partial(vars(self).update, changed),
                then,
            )
        except MemoryError:  # some may be there already
            for name in given:
                self.places.pop(name, None)
            raise

    def reserve(self, x: Collection[Any]) -> Iterable[int]:
        """A vacant place for each name of an example, the smallest first; -1 if there are not as
        many.

        Also where comparing names may run a user's code, as `commit` must not fail.
        """
        places = self.vacant[: -len(x) - 1 : -1]
        return places if len(places) == len(x) and are_plain(x) else NO_PLACES

    def commit(
        self, x: Collection[Any], places: list[int], then: Callable[[], Any] = nothing
    ) -> None:
        """Give the new names of an example the places that were lent to it."""
        top = slice(-len(x), None)
        rest = list(itertools.filterfalse(set(places).__contains__, self.vacant[top]))
        self._reader = None
        at_once(
            functools.partial(self.places.update, zip(x, places, strict=True)),
            functools.partial(self.vacant.__setitem__, top, rest),
            then,
        )

    def remove(self, names: Iterable[Any], then: Callable[[], Any] = nothing) -> None:
        """Forget these names, if they are known."""
        gone = set(names)
        self._replace(
            {name: place for name, place in self.places.items() if name not in gone}, then
        )

    def forget(self, used: Any, kept: Iterable[Any], then: Callable[[], Any] = nothing) -> None:
        """Forget the names at places that are not `used`, except for names in `kept`."""
        stays = used[: self.width].copy()
        stays[self.vacant] = False
        stays[[self.places[name] for name in kept if name in self.places]] = True
        keeps = stays.tolist()
        places = {name: place for name, place in self.places.items() if keeps[place]}
        self._replace(places, then, stays)

    # reading examples

    def reader(self) -> tuple[int, Callable[..., Any]]:
        """(n, how to get the values of an example with exactly the n known names, times their
        scales)

        n is -1 if no example can be read so.
        """
        if self._reader is None:
            names, n = self.in_rows, len(self.places)
            # itemgetter of one name returns no tuple
            get: Any = operator.itemgetter(*names) if n > 1 else lambda x: (x[names[0]],)
            if scales := self._scales:
                # numpy's, as a product of Python's with a float32 would be a float32
                scaled = [
                    (at, np.float64(scales[name]))
                    for at, name in enumerate(names)
                    if name in scales
                ]
                get = functools.partial(_scaled, get, scaled)
            self._reader = n if 0 < n == self.width else -1, get
        found: tuple[int, Any] = self._reader
        return found

    def pack_row(self, x: dict[Any, float], row: Any) -> None:
        """Write an example from `checked_copy` as a row, without unknown names."""
        values = [0.0] * len(row)
        for name, value in zip(x, self.values_of(x), strict=True):
            place = self.places.get(name, len(values))
            if place < len(values):  # else it is newer than the row, or unknown
                values[place] = value
        packer_of(len(values))(row, 0, *values)

    def checked_copy(self, x: dict[Any, Any]) -> dict[Any, float]:
        """A checked copy of an example, with Python's numbers as values.

        Another thread may change the original. If converting a value to float runs a user's code,
        it runs here.
        """
        return self.summed(x)[0]

    def summed(self, x: dict[Any, Any]) -> tuple[dict[Any, float], Any]:
        """(the same, the sum of the values as they came; None if they have no finite one)"""
        if type(x) is not dict:
            check_example(x)
        x = copied(x)
        try:
            # Python's numbers add up to a float, numpy's to one of numpy's; and where a sum is
            # finite, its parts are
            total = sum(x.values(), 0.0)
            good = type(total) in SUMS and math.isfinite(total)
            if good and type(total) is not float:
                x = dict(zip(x, array.array("d", x.values()), strict=True))
        except Exception:  # which is raised again where values are checked one by one
            good = False
        if not good:  # perhaps only the sum overflowed
            x, total = dict(zip(x, map(number, x, x.values()), strict=True)), None
        if self._scales is not None:
            self.values_of(x)  # raises for one that is not finite times its scale
        return x, total

    def values_of(self, x: dict[Any, float]) -> Collection[float]:
        """The values of an example from `checked_copy`, times the scales of their features."""
        if self._scales is None:
            return x.values()
        found = [value * self._scales.get(name, 1.0) for name, value in x.items()]
        for name, value in zip(x, found, strict=True):
            if not math.isfinite(value):
                raise ValueError(
                    f"feature {name!r} must be finite times its scale, not {x[name]!r}"
                )
        return found

    def factors(self, names: Iterable[Any]) -> Any:
        """The scales of these features as an array; None if there are none."""
        scales = self._scales
        return None if scales is None else np.array([scales.get(name, 1.0) for name in names])

    def unscaled(self, name: Any, value: float) -> float:
        """A stored value divided by the scale of its feature, as the user gave it."""
        return value if self._scales is None else value / float(self._scales.get(name, 1.0))

    def present(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """The example without missing values, for prediction."""
        check_example(x)
        return {name: value for name, value in x.items() if not is_missing(value)}

    def knows(self, x: dict[Any, Any]) -> bool:
        """Whether all names of an example have places."""
        return x.keys() <= self.places.keys()

    def unknown(self, x: Iterable[Any]) -> list[Any]:
        places = self.places
        return [name for name in x if name not in places]  # the known ones may be very many


def _scaled(
    get: Callable[..., Any], scaled: Sequence[tuple[int, float]], x: dict[Any, Any]
) -> list[float]:
    values = list(get(x))
    for at, factor in scaled:
        values[at] *= factor
    return values


@functools.lru_cache(4096)
def packer_of(n: int) -> Callable[..., None]:
    """A function that packs n floats into memory. It raises struct.error, TypeError or
    OverflowError for other values.
    """
    return struct.Struct(f"{n}d").pack_into
