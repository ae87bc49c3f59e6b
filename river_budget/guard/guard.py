"""Guard: a first step of a pipeline that keeps out values which are no finite numbers."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np
from river import base, compose

from ..inputs.batches import Batch
from ..inputs.frames import is_gap
from ..messages.stream_warnings import warn
from ..parameters import ChecksNames, as_float, check_example, number, one_of, shown_in_error
from .cells import are_usual, good_ones, reason_of, repaired
from .gate import Gate
from .passing import Present, is_text, reads_tables, takes_text

__all__ = ["Guard"]

SKIPPED_IN_A_ROW = 100  # rows skipped one after the other, after which there is a warning
MOST_FAULTS = 100  # a guard counts so many pairs of a feature and a reason, and others together
FAULTS_SHOWN = 3  # of these


class SkippedRow(RuntimeError):
    """A guard keeps the steps behind it from learning an example."""

    def __init__(self, guard: Guard, feature: Any, value: Any):
        super().__init__(
            f"feature {feature!r} is {reason_of(value)}, and only a pipeline written as "
            f"rb.Guard({guard.on_bad!r}) | ... can "
            "skip and repair examples, behind another step in parentheses: step | "
            f"(rb.Guard({guard.on_bad!r}) | ...)"
        )
        self.guard, self.feature, self.value = guard, feature, value


class Guard(ChecksNames, base.MiniBatchTransformer):
    """Keeps values that are no finite numbers (NaN, infinity, None, text, complex, arrays) out of a
    pipeline.

    Scalers and other statistics of River learn such values before a model behind them can refuse
    the example, and then stay NaN. Put a guard in front: `rb.Guard("skip") | StandardScaler() |
    model`; or behind another step, in parentheses: `Select("a", "b") | (rb.Guard("skip") |
    StandardScaler() | model)`.

    Text and dates pass where an encoder, a selection or a union of them follows: there only a
    feature that held numbers before may not hold text. In front of `AutoKernelClassifier` and
    `AutoKernelRegressor`, which take text and gaps, text passes by the same rule, and so do None
    and NaN (with "last" only where there is no valid value to replace them).

    In prediction a bad value counts as absent, or as the last valid one; only "raise" raises an
    error there too. So no row is skipped there: `predict_many` returns for each row what
    `predict_one` does. In front of `learn_many` a guard takes frames, arrays and sparse matrices,
    and its pipeline learns as a loop of `learn_one` (where "last" has something to replace, it is
    such a loop; scalers of River take the rows that are left as one mini-batch).

    After 100 examples skipped in a row there is a `StreamWarning`. `n_skipped` counts them by
    reason; `repr` and `rb.summary` name the features at fault.

    Not for missing values with a meaning: add a feature that says that a value is missing.

    Parameters
    ----------
    on_bad
        What to do with an example to be learned that holds a bad value: "raise" an error that names
        the feature, "skip" the example, use the "last" valid value of the feature (without one, the
        feature counts as absent), or let it count as "absent".

    Examples
    --------

    >>> import math
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = rb.Guard("skip") | preprocessing.StandardScaler() | rb.BSGDClassifier()
    >>> for i in range(100):
    ...     model.learn_one({"a": i % 7 if i != 50 else math.nan, "b": i % 3}, i % 7 > 3)
    >>> model["StandardScaler"].counts["a"]
    99
    >>> model["Guard"].n_skipped
    {'missing': 1}
    >>> model.predict_one({"a": None, "b": 1}) in (False, True)
    True

    References
    ----------
    [^1]: The guide, [missing values](guide/missing_values.md).

    """

    def __init__(self, on_bad: Literal["raise", "skip", "last", "absent"] = "raise"):
        one_of("raise", "skip", "last", "absent")("on_bad", on_bad)
        self.on_bad = on_bad
        self._last: dict[Any, float] = {}
        # whether text passes to an encoder behind, and whether that is a model which takes text and
        # gaps: not saved, as the pipeline says so
        self._lets_text = self._lets_gaps = False
        self._skipped: dict[tuple[str, str], int] = {}  # {(feature as text, reason): examples}
        self._in_a_row = 0
        self._warned = False

    def __or__(self, other: Any) -> Any:
        steps = other.steps.items() if isinstance(other, compose.Pipeline) else [other]
        return GuardedPipeline(self, *steps)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        shown = super().__repr__()
        if not self._skipped:
            return shown
        found = sorted(self._skipped.items(), key=lambda item: -item[1])
        named = [f"{feature} {why} {n:,} times" for (feature, why), n in found[:FAULTS_SHOWN]]
        more = [f"{len(found) - FAULTS_SHOWN} others"] if len(found) > FAULTS_SHOWN else []
        total = sum(self._skipped.values())
        return f"{shown.removesuffix(')')}  {total:,} skipped: {', '.join(named + more)}\n)"

    @property
    def n_skipped(self) -> dict[str, int]:
        """The number of examples skipped, by what was wrong with their first bad value."""
        found: dict[str, int] = {}
        for (_, reason), count in self._skipped.items():
            found[reason] = found.get(reason, 0) + count
        return found

    # one example

    def learn_one(self, x: dict[Any, Any]) -> None:
        check_example(x)
        if self.on_bad in ("raise", "skip"):
            self._refuse_bad(x)
        if self.on_bad == "last" or self._lets_text:
            found = {name: as_float(value) for name, value in x.items()}
            self._last.update((name, value) for name, value in found.items() if value is not None)
        self._in_a_row = 0

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        check_example(x)
        if are_usual(x.values()):
            return x
        to_encoder = self._lets_text and not self._lets_gaps
        good: dict[Any, Any] = Present() if to_encoder else {}
        for name, value in x.items():
            if not self.is_bad(name, value):
                good[name] = value
            elif self.on_bad == "raise":
                number(name, value)  # raises
            elif self.on_bad == "last" and name in self._last:
                good[name] = self._last[name]
            elif self._lets_text and (self._lets_gaps or name not in self._last):
                # a category that is missing: encoders take it for one of its own
                good[name] = None
        return good

    def is_bad(self, name: Any, value: Any) -> bool:
        """Whether a value stays out. Text is let through to an encoder, but not of a feature that
        held numbers.
        """
        if as_float(value) is not None:
            return False
        if self._lets_gaps:
            if is_gap(value):
                return self.on_bad == "last" and name in self._last
            return not isinstance(value, (str, bytes)) or name in self._last
        return not (self._lets_text and is_text(value) and name not in self._last)

    def first_bad(self, x: dict[Any, Any]) -> tuple[Any, Any] | None:
        """(feature, value) of the first value that stays out, or None."""
        if are_usual(x.values()):
            return None
        return next(((name, value) for name, value in x.items() if self.is_bad(name, value)), None)

    def _refuse_bad(self, x: dict[Any, Any]) -> None:
        """Raise for an example with a bad value."""
        if bad := self.first_bad(x):
            if self.on_bad == "raise":
                number(*bad)  # raises
            raise SkippedRow(self, *bad)

    # many examples

    def learn_many(self, X: Any) -> None:
        self.learn_batch(Batch(X))

    def learn_batch(self, batch: Batch) -> None:
        """`learn_one` of many examples; raises for the first one that holds a bad value."""
        if self._lets_text and (batch.bad.any() or not self._lets_gaps):
            for x in batch.as_given():
                self.learn_one(x)
            return
        if self.on_bad in ("raise", "skip"):
            for t in np.flatnonzero(batch.bad).tolist():
                self._refuse_bad(batch.example(t))
        if len(batch):
            self._in_a_row = 0
            if self.on_bad == "last" or self._lets_text:
                # in a sparse batch any example may have the last value of a feature
                for t in range(0 if batch.sparse is not None else len(batch) - 1, len(batch)):
                    self._last.update(batch.example(t))

    def transform_many(self, X: Any) -> Any:
        """The examples with the last valid values in place of bad ones, or NaN, which stands for an
        absent one.
        """
        batch = Batch(X)
        if not batch.bad.any():
            return good_ones(batch)
        if self.on_bad == "raise":
            self.learn_batch(batch)  # raises
        return repaired(batch, self._last)

    def note_skipped(self, feature: Any, value: Any) -> None:
        """Count an example that was skipped, and warn if many were in a row."""
        reason = reason_of(value)
        fault = (shown_in_error(feature), reason)
        if fault not in self._skipped and len(self._skipped) >= MOST_FAULTS:
            fault = ("other features", reason)
        self._skipped[fault] = self._skipped.get(fault, 0) + 1
        self._in_a_row += 1
        if self._in_a_row == SKIPPED_IN_A_ROW and not self._warned:
            self._warned = True
            warn(
                self,
                f"the last {SKIPPED_IN_A_ROW} examples were all skipped, the last one because "
                f"feature {feature!r} is "
                f"{reason}: nothing is learned. n_skipped counts them; an imputer or an encoder in "
                "front may be what this "
                "stream needs",
            )


class GuardedPipeline(compose.Pipeline):
    """What `rb.Guard(...) | ...` makes: a pipeline that can leave an example out, and learn frames
    with bad cells.
    """

    def _add_step(self, obj: Any, at_start: bool) -> None:
        super()._add_step(obj, at_start)  # type: ignore[no-untyped-call]
        steps = list(self.steps.values())
        for step, behind in itertools.pairwise(steps):
            if isinstance(step, Guard):
                step._lets_text, step._lets_gaps = takes_text(behind), reads_tables(behind)

    def learn_one(self, x: dict[Any, Any], y: Any = None, **params: Any) -> None:
        try:
            super().learn_one(x, y, **params)  # type: ignore[no-untyped-call]
        except SkippedRow as skipped:
            skipped.guard.note_skipped(skipped.feature, skipped.value)

    def learn_many(self, X: Any, y: Any = None, **params: Any) -> None:
        self._as_plain().learn_many(X, y, **params)

    def predict_many(self, X: Any) -> Any:
        return self._as_plain().predict_many(X)

    def predict_proba_many(self, X: Any) -> Any:
        return self._as_plain().predict_proba_many(X)

    def _as_plain(self) -> Any:
        """The steps before the guard, and as the last step the guard with all that is behind it."""
        steps = list(self.steps.items())
        at = next(i for i, (_, step) in enumerate(steps) if isinstance(step, Guard))
        behind = with_steps(steps[at + 1 :])
        gate = Gate(steps[at][1], behind, GuardedPipeline(steps[at], *behind.steps.items()))
        return compose.Pipeline(*steps[:at], ("gate", gate))  # type: ignore[no-untyped-call]


def with_steps(steps: Any) -> compose.Pipeline:
    """A pipeline of these (name, step), guarded if one of them is a guard."""
    guarded = any(isinstance(step, Guard) for _, step in steps)
    return (GuardedPipeline if guarded else compose.Pipeline)(*steps)
