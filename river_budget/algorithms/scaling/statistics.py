"""The base class of the scalers: statistics by place, and one example in compiled code or in Python.

Both ways give the same bits. Learning changes either everything or nothing: compiled code checks an example
before it begins, and Python computes the new statistics before it writes them.
"""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

import numpy as np
from river import base

from ...core.examples import scaled_dict
from ...core.examples.dict_reader import ENTRY
from ...model.calls import fast_path
from ...model.calls.calls import lasting_address_of
from ...model.calls.fast_path import no_fast_path
from ...model.inputs.features import are_plain
from ...model.one_writer import Turn, looks_at_the_model, takes_a_turn
from ...parameters import as_float, check_example, number

Example = dict[Any, Any]
FEWEST_COLUMNS = 8
UNKNOWN = -1  # the place of unknown names: the last column, with initial statistics
_c_functions: list[Any] = []  # of learn_scales and scale; an empty list where there are none


def c_functions() -> Any:
    """The PyMethodDefs of the two functions; an empty list where compiled code cannot read dicts."""
    functions = scaled_dict.learn_scales, scaled_dict.scale
    return fast_path.definitions(_c_functions, *((each, 2, fast_path.METH_O) for each in functions))


class ScalingPath:
    """`learn` and `scale`: two C functions for the present arrays of a scaler, or placeholders.

    A copy of a scaler begins with placeholders, as the original's functions would change the original.
    """

    __slots__ = ("learn", "names_at", "scale")

    def __init__(self) -> None:
        self.learn: Any = no_fast_path
        self.scale: Any = no_fast_path
        self.names_at: Any = None  # the addresses of the names by place

    def __reduce__(self) -> Any:
        return ScalingPath, ()

    @classmethod
    def of(cls, places: dict[Any, int], statistics: Any, scaling: int) -> ScalingPath:
        """The C functions for these names, which must be exactly str, int or tuples of these, and these statistics."""
        made, columns = cls(), statistics.shape[1]
        if not c_functions():
            return made
        names_at, expected = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
        names_at[: len(places)] = list(map(id, places))
        numbers, entry = np.zeros(columns), np.zeros(1, ENTRY)
        fields = fast_path.known_objects() | {
            "places": id(places),
            "names_at": lasting_address_of(names_at),
            "expected_places": lasting_address_of(expected),
            "scaling": scaling,
            "columns": columns,
            "statistics": lasting_address_of(statistics),
            "numbers_read": lasting_address_of(numbers),
        }
        entry[0] = tuple(fields.values())
        kept = [places, names_at, expected, numbers, statistics, entry]
        at, made.names_at = lasting_address_of(entry), names_at
        made.learn, made.scale = (
            fast_path.new_function(ctypes.addressof(each), at, kept) for each in c_functions()
        )
        return made


class Scaler(base.Transformer):
    """A transformer that keeps three numbers of every feature, in a matrix with a column for each."""

    initial: ClassVar[tuple[float, float, float]]  # statistics of a feature before its first value

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}
        self._statistics: Any = self._columns(FEWEST_COLUMNS)
        self._path = ScalingPath()
        self._plain = True  # whether compiled code can read all names
        self.turn = Turn()

    @property
    def scaling(self) -> int:
        """What the scaler does, as compiled code knows it."""
        raise NotImplementedError

    def learned(self, statistics: Any, values: Any) -> Any:
        """The statistics of some features after one more value of each."""
        raise NotImplementedError

    def scaled(self, statistics: Any, values: Any) -> Any:
        """The values of some features with these statistics, scaled."""
        raise NotImplementedError

    def as_river(self) -> Any:
        """River's scaler with the same statistics."""
        raise NotImplementedError

    def take_from(self, theirs: Any) -> None:
        """Take over the statistics of River's scaler."""
        raise NotImplementedError

    # one example

    def learn_one(self, x: Example) -> None:
        """Update the statistics by the values of an example."""
        turn = self.turn
        # Between this test and the call of a C function, which runs no Python code, no other thread runs
        while turn.wanted or turn.taken:
            turn.wait()
        if self._path.learn(x) is None:
            check_example(x)
            self._learn_numbers({name: _float(name, value) for name, value in x.items()})

    def transform_one(self, x: Example) -> dict[Any, float]:
        """The example with its values scaled."""
        found: dict[Any, float] | None = self._path.scale(x)
        if found is not None:
            return found
        if self._path.scale is no_fast_path and self._plain and not self.turn.taken:
            self._make_path()
        check_example(x)
        values = np.array([_float(name, value) for name, value in x.items()])
        places = [self._places.get(name, UNKNOWN) for name in x]
        with np.errstate(all="ignore"):
            scaled = self.scaled(self._statistics[:, places], values)
        return dict(zip(x, scaled.tolist(), strict=True))

    @takes_a_turn
    def _learn_numbers(self, x: dict[Any, float]) -> None:
        """Learn an example whose values are floats, without the C function."""
        known = self._places
        new = [name for name in x if name not in known]
        if self._plain and not are_plain(new):
            self._path, self._plain = ScalingPath(), False
        self._reserve(len(known) + len(new))
        if self._path.learn is no_fast_path and self._plain:
            self._make_path()
        named = dict(zip(new, range(len(known), len(known) + len(new)), strict=True))
        places = [named[name] if name in named else known[name] for name in x]
        values = np.fromiter(x.values(), float, len(x))
        with np.errstate(all="ignore"):
            learned = self.learned(self._statistics[:, places], values)
        self._write(named, places, learned)

    def _write(self, named: dict[Any, int], places: list[int], learned: Any) -> None:
        """Give new names their places and set the statistics at these places: all, or with an error nothing."""
        if not self._plain:
            together = {**self._places, **named}  # a copy: comparing a user's names may raise
            self._statistics[:, places] = learned
            self._places = together
            return
        known, path = self._places, self._path
        try:
            known.update(named)
            if named and path.names_at is not None:
                path.names_at[list(named.values())] = list(map(id, named))
            self._statistics[:, places] = learned
        except BaseException:
            for name in named:
                known.pop(name, None)
            self._path = ScalingPath()  # the old path may have addresses of names that were freed
            raise

    @looks_at_the_model
    def _make_path(self) -> None:
        self._path = ScalingPath.of(self._places, self._statistics, self.scaling)

    def _reserve(self, n: int) -> None:
        """Make room for the statistics of n features, and the column of unknown ones behind them."""
        columns, known = self._statistics.shape[1], len(self._places)
        if n < columns:
            return
        wider = self._columns(max(2 * columns, n + 1))
        wider[:, :known] = self._statistics[:, :known]
        self._path = ScalingPath()  # first, as the old path would write to the old statistics
        self._statistics = wider

    def _columns(self, n: int) -> Any:
        return np.repeat(np.array([self.initial]).T, n, axis=1)

    # all features

    @looks_at_the_model
    def table(self) -> list[list[Any]]:
        """[name, statistics ...] for every feature."""
        rows = self._statistics[:, : len(self._places)].T.tolist()
        return [[name, *row] for name, row in zip(self._places, rows, strict=True)]

    @takes_a_turn
    def set_table(self, rows: list[list[Any]]) -> None:
        """The inverse of `table`: replaces all statistics."""
        places = {name: place for place, (name, *_) in enumerate(rows)}
        statistics = self._columns(max(FEWEST_COLUMNS, len(rows) + 1))
        for place, (_, *numbers) in enumerate(rows):
            statistics[:, place] = numbers
        own = {"_places": places, "_plain": are_plain(places), "_statistics": statistics}
        self.__dict__.update(own, _path=ScalingPath())

    # copies

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = self._state()
        return state

    @looks_at_the_model
    def _state(self) -> dict[str, Any]:
        own = {"_places": self._places.copy(), "_statistics": self._statistics.copy()}
        return self.__dict__ | own | {"_path": ScalingPath(), "turn": Turn()}


def _float(name: Any, value: Any) -> float:
    """The value of a feature as a float, NaN and infinity included as in River; an error for all else."""
    if type(value) is float:
        return value
    found = as_float(value)
    if found is None and isinstance(value, (float, np.floating)):
        return float(value)
    return number(name, value) if found is None else found
