"""Convert targets to numbers: labels to signs or column numbers, and scores back to labels."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..parameters import NUMBER_KINDS, as_float
from .frames import as_list, column_of, floats, is_gap


def plain(label: Any) -> Any:
    """numpy's scalars as Python's, so that labels print and compare as the user wrote them."""
    found = label.item() if isinstance(label, np.generic) else label
    # Python has no date or time with nanoseconds, and numpy makes them whole numbers
    return (
        label
        if type(found) is int and isinstance(label, (np.datetime64, np.timedelta64))
        else found
    )


def array_of(labels: list[Any]) -> Any:
    """An array of labels: of a specific type if numpy returns them unchanged, else of objects."""
    if len(set(map(type, labels))) == 1 and isinstance(labels[0], (bool, int, float, str)):
        array = np.array(labels)
        if array.tolist() == labels:
            return array
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def check_classes(name: str, classes: Any) -> None:
    """Check the parameter `classes`."""
    if classes is None:
        return
    if not isinstance(classes, tuple) or len(classes) < 2:
        raise ValueError(f"classes must be a tuple of at least two labels, not {classes!r}")
    try:
        distinct = len(set(map(plain, classes)))
    except TypeError:
        raise ValueError(f"classes must be hashable labels, not {classes!r}") from None
    if any(label is None or label != label for label in classes):
        raise ValueError(f"classes must be labels, not {classes!r}")
    if distinct < len(classes):
        raise ValueError(f"classes must be different labels, not {classes!r}")


class Labels:
    """The labels of a classifier and their numeric codes; immutable: adding a label makes a new
    object.

    Up to two classes share one output: the first one is negative, the second positive. With three
    or more, every class has its own. A first boolean label makes both booleans known. If the user
    gives `classes`, no others are allowed (closed). A `binary` model refuses a third class.
    """

    def __init__(self, known: Iterable[Any] = (), binary: bool = False, closed: bool = False):
        self.closed, self.binary = closed, binary
        self.known = [plain(label) for label in known]
        if len(self.known) <= 2:
            self.codes = dict(zip(self.known, (-1.0, 1.0), strict=False))
        else:
            self.codes = {label: float(column) for column, label in enumerate(self.known)}
        self._table = array_of(self.known)

    def __deepcopy__(self, memo: Any) -> Labels:
        return self

    def __reduce__(self) -> Any:
        return Labels, (self.known, self.binary, self.closed)

    @property
    def outputs(self) -> int:
        return 1 if len(self.known) <= 2 else len(self.known)

    @property
    def memory_usage(self) -> int:
        return sys.getsizeof(self.known) + sum(map(sys.getsizeof, self.known))

    def check(self, labels: Iterable[Any]) -> None:
        """Raise ValueError if one of these is no label, or none for this model."""
        new: dict[Any, None] = {}
        for label in labels:
            try:
                missing = label is None or bool(label != label)
                known = plain(label) in self.codes
            except (TypeError, ValueError):  # unhashable, or a marker of missing values
                raise ValueError(f"the target must be a hashable label, not {label!r}") from None
            if missing:
                raise ValueError(
                    f"the target must be a label, not {label!r}: leave out examples without one"
                )
            if self.closed and not known:
                raise ValueError(f"the target {label!r} is none of classes={tuple(self.known)!r}")
            if not known:
                new[plain(label)] = None
        names = [*self.known, *new]
        if not self.known and new and isinstance(names[0], bool):
            names = [False, True, *(name for name in names if not isinstance(name, bool))]
        if self.binary and len(names) > 2:
            raise ValueError(
                f"the target {names[2]!r} is a third class besides {names[0]!r} and {names[1]!r}: "
                "this "
                "model separates two, put it into river's multiclass.OneVsRestClassifier"
            )

    def and_one_more(self, label: Any) -> Labels:
        """New Labels with one more label."""
        label = plain(label)
        both = isinstance(label, bool) and not self.known
        return self.with_known([False, True] if both else [*self.known, label])

    def with_known(self, known: list[Any]) -> Labels:
        """New Labels with these known labels instead."""
        return Labels(known, self.binary, self.closed)

    # scores -> labels

    def label(self, scores: Any) -> Any:
        """The predicted label from the scores of one example; None before any is known."""
        known = self.known
        if len(known) == 2:
            return known[scores[0] >= 0.0]
        if len(known) > 2:
            try:
                return known[scores.index(max(scores))]
            except IndexError:  # another thread has added a label, so there are more scores
                return self.label(scores[: len(known)])
        return known[0] if known else self._unlearned

    @property
    def _unlearned(self) -> Any:
        """The prediction before any label is known: True, as in River's binary classifiers, or
        None.
        """
        return True if self.binary else None

    def labels(self, scores: Any) -> Any:
        """The predicted labels of many rows, as an array."""
        if len(self.known) > 2:
            return self._table[np.argmax(scores[:, : len(self.known)], axis=1)]
        if len(self.known) == 2:
            return self._table[(scores[:, 0] >= 0.0).astype(np.intp)]
        if self.known:
            return np.repeat(self._table, len(scores))
        return np.full(len(scores), self._unlearned, bool if self.binary else object)

    def probabilities_of_one(
        self, scores: list[float], slope: float, lead: float
    ) -> dict[Any, float]:
        """`probabilities` for one example, equal to the last bit."""
        known = self.known
        if len(known) == 2:  # numpy's tanh, as math.tanh differs in the last digit
            p = 0.5 + 0.5 * float(np.tanh(0.5 * slope * scores[0]))
            return {known[0]: 1.0 - p, known[1]: p}
        shares = self.probabilities(np.array(scores), slope, lead)
        return {label: float(share) for label, share in shares.items()}

    @np.errstate(over="ignore")
    def probabilities(self, scores: Any, slope: float = 1.0, lead: float = 0.0) -> dict[Any, Any]:
        """{label: probability}; the probabilities are numbers, or arrays for many rows.

        slope and lead: the calibration (core/rounds/calibration.py).
        """
        if len(self.known) > 2 and scores.shape[-1] > 1:  # one: from before a third label
            names = self.known[: scores.shape[-1]]
            scores = scores[..., : len(names)]
            behind = scores - scores.max(axis=-1, keepdims=True)
            logits = slope * behind
            if lead > 0.0:  # if all scores are equal, no class gets the lead
                first = np.arange(len(names)) == np.argmax(scores, axis=-1)[..., np.newaxis]
                logits -= lead * (~first & (behind.min(axis=-1, keepdims=True) < 0.0))
            powers = np.exp(logits)
            shares = powers / powers.sum(axis=-1, keepdims=True)
            return {label: shares[..., column] for column, label in enumerate(names)}
        if len(self.known) > 1:
            # the logistic function, without overflow
            p = 0.5 + 0.5 * np.tanh(0.5 * slope * scores[..., 0])
            return dict(zip(self.known, (1.0 - p, p), strict=False))
        ones = np.ones(scores.shape[:-1])[()]
        if self.known:
            return {self.known[0]: ones}
        return {False: 0.5 * ones, True: 0.5 * ones} if self.binary else {}

    def named(self, scores: Any) -> Any:
        """The scores as users see them: a number for up to two classes, else {label: score}."""
        if len(self.known) > 2 and len(scores) > 1:
            return dict(zip(self.known, map(float, scores), strict=False))
        return float(scores[0])


class Targets:
    """A column of targets, as a list or an array, and its name."""

    def __init__(self, y: Any, n: int):
        y, self.name = _column(y, n, "targets")
        numeric = isinstance(y, np.ndarray) and y.dtype.kind in NUMBER_KINDS
        self.values = y if numeric else as_list(y)
        # whether the column has a boolean type, so that its labels are False and True
        self.boolean = numeric and y.dtype.kind == "b"

    def coded(self, labels: Labels, start: int, stop: int) -> tuple[Any, int]:
        """(codes of the targets from start to stop, number of targets before the first unknown
        label)
        """
        some = self.values[start:stop]
        if self._are_known(labels):
            return np.where(some, labels.codes[True], labels.codes[False]), len(some)
        if isinstance(some, np.ndarray):
            codes = np.full(len(some), math.nan)
            for label, code in labels.codes.items():
                if isinstance(label, numbers.Number):  # numpy would compare a tuple item by item
                    codes[some == label] = code
        else:
            get = labels.codes.get
            codes = np.array([get(plain(label), math.nan) for label in some], float)
        unknown = np.flatnonzero(np.isnan(codes))
        return codes, int(unknown[0]) if len(unknown) else len(codes)

    def _are_known(self, labels: Labels) -> bool:
        """Whether the targets are False and True, and both labels known: small batches take half
        the time for it.
        """
        return self.boolean and False in labels.codes and True in labels.codes

    def check(self, labels: Labels) -> None:
        """Raise for a target that cannot be a label."""
        if self._are_known(labels):
            return
        try:
            found: Any = self.distinct()
        except TypeError:  # one is not hashable
            found = self.values
        labels.check(found)

    def distinct(self) -> list[Any]:
        """The different targets, as Python's."""
        if self.boolean:  # np.unique would sort them
            return [label for label in (False, True) if np.any(self.values == label)]
        some = self.values if isinstance(self.values, list) else np.unique(self.values)
        return [*map(plain, dict.fromkeys(some))]

    def numbers(self) -> Any:
        """The targets as finite numbers, for regression."""
        return _checked(self.values, real, -math.inf)


def _column(values: Any, n: int, what: str) -> tuple[Any, str | None]:
    """(values of a column of n, its name)"""
    name = None
    if not isinstance(values, (np.ndarray, list, tuple)):
        values, name = column_of(values, f"the {what}")
    if isinstance(values, np.ndarray) and values.ndim > 1:
        raise ValueError(f"the {what} must be one column, not an array of {values.ndim} dimensions")
    if len(values) != n:
        raise ValueError(f"{n} examples but {len(values)} {what}")
    return values, name


def _checked(values: Any, read: Callable[[Any], float], least: float) -> Any:
    """Values as finite floats of at least `least`; `read` raises for the first other one."""
    found = floats(values)
    for t in np.flatnonzero(~(np.isfinite(found) & (found >= least)))[:1]:
        read(values[t])
    return found


def real(value: Any) -> float:
    """The target of a regressor as a float."""
    result = as_float(value)
    if result is None:
        advice = ": leave out examples without one" if is_gap(value) else ""
        raise ValueError(f"the target must be a finite number, not {value!r}{advice}")
    return result


def weight(value: Any) -> float:
    """The weight of an example as a float."""
    result = as_float(value)
    if result is None or result < 0.0:
        raise ValueError(f"w must be a finite number of at least 0, not {value!r}")
    return result


def weights(w: Any, n: int) -> Any:
    """One weight per example, from a number or a column."""
    if not np.iterable(w) or isinstance(w, (str, bytes)):
        return np.full(n, weight(w))
    values, _ = _column(w, n, "weights w")
    return _checked(values, weight, 0.0)
