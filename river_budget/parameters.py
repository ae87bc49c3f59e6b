"""Values from users: checks whose errors name the parameter or the feature, immutable values,
changing parameters.
"""

from __future__ import annotations

import datetime
import difflib
import inspect
import math
import numbers
import sys
from collections.abc import Callable, Collection
from typing import Any, ClassVar, Self

import numpy as np
from river import base

# Ranges of numbers in files (saving/trust.py)
COUNT = (0, 2**62 - 1)
WHOLE = (-COUNT[1], COUNT[1])
FINITE = (-sys.float_info.max, sys.float_info.max)


class Value(base.Base):
    """An immutable object: two are equal if their parameters are."""

    _names: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._names = tuple(inspect.signature(cls).parameters)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__ or name not in self._names:
            raise AttributeError(f"{name} of {self!r} cannot be changed: make a new one")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of {self!r} cannot be changed: make a new one")

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if value is not None}
        inside = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({inside})"

    def __str__(self) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        values = (frozenset(v.items()) if isinstance(v, dict) else v for v in vars(self).values())
        return hash((type(self), *values))


# Python's float() reads the first of these as text, numpy drops imaginary parts with no more than a
# warning, and times in nanoseconds would pass for numbers
NO_NUMBERS = (
    *(str, bytes, bytearray, memoryview, type(None)),
    *(complex, np.complexfloating, np.datetime64, np.timedelta64),
)
DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
NUMBER_KINDS = "biuf"  # numpy's codes for kinds of numeric types


def as_float(value: Any) -> float | None:
    """A finite number as a float; None for everything else."""
    if isinstance(value, NO_NUMBERS):
        return None
    if isinstance(value, np.ndarray) and (value.ndim or value.dtype.kind not in NUMBER_KINDS):
        return None
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, or infinity (of statistics without
    data).
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return isinstance(value, (float, np.floating)) and not math.isfinite(value)


# Examples

LONGEST_SHOWN = 60  # at most so many characters of a wrong example or value in an error


def shown_in_error(value: Any) -> str:
    """A wrong value in an error: of an array or a long text only the beginning."""
    try:
        shown = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        shown = f"{type(value).__name__} with very many digits"
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 3]}..."


def check_example(x: Any) -> None:
    """Raise TypeError if this is no dict, nor anything that is used like one."""
    if type(x) is dict or (hasattr(x, "keys") and hasattr(x, "items")):
        return
    advice = ""
    if isinstance(x, (list, tuple, np.ndarray)):
        advice = (
            ": dict(enumerate(x)) numbers its features, learn_many and predict_many take a matrix"
        )
    raise TypeError(f"an example must be a dict of its features, not {shown_in_error(x)}{advice}")


def number(feature: Any, value: Any) -> float:
    """The value of a feature as a float, or an error that names both."""
    result = as_float(value)
    if result is not None:
        return result
    advice = ""
    if isinstance(value, (str, bytes)):
        advice = ": text needs an encoder in front, such as preprocessing.OneHotEncoder()"
    elif is_missing(value):
        advice = ": rb.Guard('skip') in front leaves such examples out, an imputer fills gaps"
    elif isinstance(value, DATES):
        advice = ": of a date take numbers, such as its weekday() and the days since a first one"
    elif isinstance(value, (list, tuple, set, frozenset, dict)):
        advice = ": give each of its items a feature of its own"
    raise ValueError(
        f"feature {feature!r} must be a finite number, not {shown_in_error(value)}{advice}"
    )


# Parameters

Check = Callable[[str, Any], None]
# The largest integer of a parameter: more than any memory, and exact as a float
LARGEST_INTEGER = 2**53


def _is_number(value: Any) -> bool:
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _number(allowed: Callable[[Any], bool], words: str) -> Check:
    def check(name: str, value: Any) -> None:
        if not (_is_number(value) and math.isfinite(value) and allowed(value)):
            raise ValueError(f"{name} must be {words}, not {value!r}")

    return check


finite = _number(lambda value: True, "a finite number")
positive = _number(lambda value: value > 0, "a positive number")
not_negative = _number(lambda value: value >= 0, "a number of at least 0")
share = _number(lambda value: 0 < value <= 1, "a number above 0 and up to 1")


def boolean(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, not {value!r}")


def whole(least: int, most: float = LARGEST_INTEGER) -> Check:
    def check(name: str, value: Any) -> None:
        if not (isinstance(value, numbers.Integral) and _is_number(value) and int(value) >= least):
            raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if int(value) > most:
            raise ValueError(f"{name} must be at most {most}, not {value!r}")

    return check


def one_of(*choices: str) -> Check:
    def check(name: str, value: Any) -> None:
        if value not in choices:
            allowed = " or ".join(repr(choice) for choice in choices)
            raise ValueError(f"{name} must be {allowed}, not {value!r}")

    return check


def optional(check: Check) -> Check:
    def check_unless_none(name: str, value: Any) -> None:
        if value is not None:
            check(name, value)

    return check_unless_none


def _example(kind: type, value: Any) -> str:
    """An example of a valid value, for error messages: the class that the user probably meant, or
    the first one.
    """
    meant = value.__name__ if isinstance(value, type) else str(value)
    package, public = kind.__module__.split(".")[:2]  # a public module, or a folder
    names: list[str] = sys.modules[f"{package}.{public}"].__all__
    name = next((name for name in names if name.lower() == meant.lower()), names[0])
    return f"rb.{public}.{name}()"


def instance_of(kind: type) -> Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, kind):
            raise ValueError(
                f"{name} must be an instance of river_budget's {kind.__name__}, such as "
                f"{_example(kind, value)}, not {value!r}"
            )

    return check


OF_A_KERNEL = ("gamma", "degree", "coef0")


def check_names(kind: Any, given: dict[str, Any], known: Collection[str]) -> None:
    """Raise TypeError for a parameter that a class does not have, and say what may be meant."""
    for name, value in given.items():
        if name in known:
            continue
        advice = f", only {', '.join(known)}" if known else ""
        if name in OF_A_KERNEL and "kernel" in known:
            is_width = name == "gamma" and type(kind._default_kernel()).__name__ == "RBF"
            meant = f"RBF({value!r})" if is_width else f"Polynomial({name}={value!r})"
            advice = f", but its kernel has: kernel=rb.kernels.{meant}"
        elif name == "seed":
            advice = " and needs none: it draws no random numbers"
        elif near := difflib.get_close_matches(name, known, 1):
            advice = f": perhaps {near[0]!r} is meant"
        raise TypeError(f"{kind.__name__} has no parameter {name!r}{advice}")


class ChecksNames:
    """A class whose constructor says what may be meant by a parameter that it does not have."""

    def __new__(cls, *arguments: Any, **named: Any) -> Self:
        check_names(cls, named, list(inspect.signature(cls.__init__).parameters)[1:])
        return super().__new__(cls)


class Fixed:
    """A parameter of an estimator, and its check."""

    def __init__(self, check: Check):
        self.check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        try:
            return model.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"{type(model).__name__} has no {self.name}") from None

    def __set__(self, model: Any, value: Any) -> None:
        if self.name in model.__dict__ and self.name in model._parameters():
            names = ", ".join(sorted(model._mutable_attributes))
            may = f"What may change, by model.mutate({{...}}) or assignment: {names}"
            raise AttributeError(
                f"{self.name} of a {type(model).__name__} cannot change: "
                f"model.clone({{{self.name!r}: ...}}) makes a "
                f"new one. {may if names else 'Nothing can be changed in a model that lives'}"
            )
        self.check(self.name, value)
        model.__dict__[self.name] = value


class Mutable(Fixed):
    """A parameter that may change while the model lives, by `mutate` or assignment."""

    def __set__(self, model: Any, value: Any) -> None:
        if self.name in model.__dict__:
            self.check(self.name, value)
            model._change(self.name, value)
        else:
            super().__set__(model, value)
