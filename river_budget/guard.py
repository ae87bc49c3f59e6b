"""Guard: a first step of a pipeline that keeps out values which are no finite numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from river import base, compose

from .model.inputs.batches import Batch
from .model.inputs.frames import Frame, as_list, chosen
from .model.inputs.targets import array_of
from .model.stream_warnings import warn
from .parameters import as_float, check_example, is_missing, number, one_of, shown_in_error

__all__ = ["Guard"]

SKIPPED_IN_A_ROW = 100  # rows skipped one after the other, after which there is a warning
MOST_FAULTS = 100  # a guard counts so many pairs of a feature and a reason, and others together
FAULTS_SHOWN = 3  # of these
USUAL_KINDS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})


class SkippedRow(RuntimeError):
    """A guard keeps the steps behind it from learning an example."""

    def __init__(self, guard: Guard, feature: Any, value: Any):
        super().__init__(
            f"an example can only be skipped, and rows can only be repaired, where the pipeline was written as "
            f"rb.Guard({guard.on_bad!r}) | ..."
        )
        self.guard, self.feature, self.value = guard, feature, value


class Guard(base.MiniBatchTransformer):
    """Keeps values that are no finite numbers (NaN, infinity, None, text, complex, arrays) out of a pipeline.

    Scalers and other statistics of River learn such values before a model behind them can refuse the example,
    and then stay NaN. Put a guard in front: `rb.Guard("skip") | StandardScaler() | model`.

    In prediction a bad value counts as absent, or as the last valid one; only "raise" raises an error there too.
    So no row is skipped there: `predict_many` returns for each row what `predict_one` does. In front of `learn_many`
    a guard takes frames, arrays and sparse matrices, and its pipeline learns as a loop of `learn_one` (where "last"
    has something to replace, it is such a loop; scalers of River take the rows that are left as one mini-batch).

    After 100 examples skipped in a row there is a `StreamWarning`. `n_skipped` counts them by reason; `repr` and
    `rb.summary` name the features at fault.

    Not for missing values with a meaning: add a feature that says that a value is missing.

    Parameters
    ----------
    on_bad
        What to do with an example to be learned that holds a bad value: "raise" an error that names the
        feature, "skip" the example, or use the "last" valid value of the feature (without one, the feature
        counts as absent).

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

    def __init__(self, on_bad: str = "raise"):
        one_of("raise", "skip", "last")("on_bad", on_bad)
        self.on_bad = on_bad
        self._last: dict[Any, float] = {}
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
        if self.on_bad == "last":
            found = {name: as_float(value) for name, value in x.items()}
            self._last.update((name, value) for name, value in found.items() if value is not None)
        elif bad := _first_bad(x):
            self._refuse(*bad)
        self._in_a_row = 0

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        check_example(x)
        if _are_usual(x.values()):
            return x
        good: dict[Any, Any] = {}
        for name, value in x.items():
            if as_float(value) is not None:
                good[name] = value
            elif self.on_bad == "raise":
                number(name, value)  # raises
            elif name in self._last:
                good[name] = self._last[name]
        return good

    def _refuse(self, feature: Any, value: Any) -> None:
        """Raise for an example that this guard does not let through."""
        if self.on_bad == "raise":
            number(feature, value)  # raises
        raise SkippedRow(self, feature, value)

    # many examples

    def learn_many(self, X: Any) -> None:
        self.learn_batch(Batch(X))

    def learn_batch(self, batch: Batch) -> None:
        """`learn_one` of many examples; raises for the first one that holds a bad value."""
        for t in np.flatnonzero(batch.bad).tolist():
            self._refuse(*batch.first_bad(t))
        if len(batch):
            self._in_a_row = 0
            if self.on_bad == "last":
                # in a sparse batch any example may have the last value of a feature
                for t in range(0 if batch.sparse is not None else len(batch) - 1, len(batch)):
                    self._last.update(batch.example(t))

    def transform_many(self, X: Any) -> Any:
        """The examples with the last valid values in place of bad ones, or NaN, which stands for an absent one."""
        batch = Batch(X)
        if not batch.bad.any():
            return batch.some()
        if self.on_bad == "raise":
            self.learn_batch(batch)  # raises
        return batch.repaired(self._last)

    def note_skipped(self, feature: Any, value: Any) -> None:
        """Count an example that was skipped, and warn if many were in a row."""
        reason = _reason(value)
        fault = (shown_in_error(feature), reason)
        if fault not in self._skipped and len(self._skipped) >= MOST_FAULTS:
            fault = ("other features", reason)
        self._skipped[fault] = self._skipped.get(fault, 0) + 1
        self._in_a_row += 1
        if self._in_a_row == SKIPPED_IN_A_ROW and not self._warned:
            self._warned = True
            warn(
                self,
                f"the last {SKIPPED_IN_A_ROW} examples were all skipped, the last one because feature {feature!r} is "
                f"{reason}: nothing is learned. n_skipped counts them; an imputer or an encoder in front may be what this "
                "stream needs",
            )


class GuardedPipeline(compose.Pipeline):
    """What `rb.Guard(...) | ...` makes: a pipeline that can leave an example out, and learn frames with bad cells."""

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
        gate = _Gate(steps[at][1], behind)
        return compose.Pipeline(*steps[:at], ("gate", gate))  # type: ignore[no-untyped-call]


def with_steps(steps: Any) -> compose.Pipeline:
    """A pipeline of these (name, step), guarded if one of them is a guard."""
    guarded = any(isinstance(step, Guard) for _, step in steps)
    return (GuardedPipeline if guarded else compose.Pipeline)(*steps)


def is_guarded(model: Any) -> bool:
    """Whether there is a guard in a pipeline, or in one that a wrapper holds."""
    if isinstance(model, compose.Pipeline):
        return any(map(is_guarded, model.steps.values()))
    inner = getattr(model, "regressor", getattr(model, "classifier", None))
    return isinstance(model, Guard) or (inner is not None and is_guarded(inner))


class _Gate:
    """A guard and the pipeline behind it, for many examples."""

    def __init__(self, guard: Guard, behind: Any):
        self.guard, self.behind = guard, behind
        self._supervised = behind._supervised

    def learn_many(self, X: Any, y: Any = None, **params: Any) -> None:
        guard, batch = self.guard, Batch(X)
        given = params if y is None else {"y": y, **params}
        columns = {name: value for name, value in given.items() if hasattr(value, "__len__")}
        for name, column in columns.items():
            if len(column) != len(batch):
                raise ValueError(f"{name} must hold one value for each of {len(batch)} examples")
        if guard.on_bad == "skip":
            kept = np.flatnonzero(~batch.bad)
            if len(kept):
                left = {name: chosen(column, kept) for name, column in columns.items()}
                self.behind.learn_many(batch.some(kept), **given | left)
            self._note_skipped(batch)
        elif guard.on_bad == "last" and batch.bad.any():
            values = {name: as_list(column) for name, column in columns.items()}
            steps = compose.Pipeline(guard, *self.behind.steps.items())  # type: ignore[no-untyped-call]
            for t, x in enumerate(batch.dicts()):
                own = {name: column[t] for name, column in values.items()}
                steps.learn_one(x, **given | own)  # type: ignore[no-untyped-call]
        else:
            guard.learn_batch(batch)
            self.behind.learn_many(batch.some(), **given)

    def _note_skipped(self, batch: Batch) -> None:
        """Tell the guard which examples were skipped, and which not."""
        for t, bad in enumerate(batch.bad.tolist()):
            if bad:
                self.guard.note_skipped(*batch.first_bad(t))
            else:
                self.guard._in_a_row = 0

    def predict_many(self, X: Any) -> Any:
        batch, behind = Batch(X), self.behind
        ones = self._one_by_one(batch, behind.predict_one)
        if not ones:
            return behind.predict_many(batch.some())
        found, kept, name = np.empty(len(batch), object), np.flatnonzero(~batch.bad), None
        if len(kept):
            many = behind.predict_many(batch.some(kept))
            found[kept], name = as_list(many), getattr(many, "name", None)
        for t, prediction in ones.items():
            found[t] = prediction
        return batch.series(array_of(found.tolist()), name)

    def predict_proba_many(self, X: Any) -> Any:
        batch, behind = Batch(X), self.behind
        ones = self._one_by_one(batch, behind.predict_proba_one)
        if not ones:
            return behind.predict_proba_many(batch.some())
        kept = np.flatnonzero(~batch.bad)
        many = behind.predict_proba_many(batch.some(kept)) if len(kept) else {}
        labels = many if isinstance(many, dict) else Frame(many).names
        # frames of some libraries have text as names of columns
        named = {str(label): many[label] for label in labels}
        columns = {label: np.zeros(len(batch)) for label in next(iter(ones.values()))}
        for label, column in columns.items():
            if len(kept):
                column[kept] = named[str(label)]
            for t, probabilities in ones.items():
                column[t] = probabilities[label]
        return batch.table(columns)

    def _one_by_one(self, batch: Batch, predict: Any) -> dict[int, Any]:
        """{row: prediction} of the examples with a bad value: in a frame, none of their cells could be absent."""
        rows = np.flatnonzero(batch.bad).tolist()
        return {t: predict(self.guard.transform_one(batch.example(t))) for t in rows}


def _are_usual(values: Any) -> bool:
    """Whether these are finite numbers of the usual types; also False if that takes longer to know."""
    try:
        return USUAL_KINDS.issuperset(map(type, values)) and math.isfinite(math.fsum(values))
    except (OverflowError, ValueError):  # of a large integer or sum, or of two infinities
        return False


def _first_bad(x: Any) -> tuple[Any, Any] | None:
    """(feature, value) of the first value that is no finite number, or None."""
    if _are_usual(x.values()):
        return None
    return next(((name, value) for name, value in x.items() if as_float(value) is None), None)


def _reason(value: Any) -> str:
    """What is wrong with a value, in words."""
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, (float, np.floating)) and math.isinf(value):
        return "infinite"
    if is_missing(value):
        return "missing"
    if isinstance(value, (complex, np.complexfloating)):
        return "complex"
    if isinstance(value, int):
        return "too large"
    return "an array" if getattr(value, "ndim", 0) else "no number"
