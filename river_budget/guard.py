"""Guard: a first step of a pipeline that keeps out values which are no finite numbers."""

from __future__ import annotations

import math
from typing import Any

from river import base

from .parameters import as_float, check_example, number, one_of

__all__ = ["Guard"]


class BadRows(base.AnomalyDetector):
    """1 for an example with a value that is no finite number, 0 for all others. Learns nothing."""

    def learn_one(self, x: dict[Any, Any]) -> None:
        """Do nothing: there is nothing to learn."""

    def score_one(self, x: dict[Any, Any]) -> float:
        check_example(x)
        return float(any(as_float(value) is None for value in x.values()))


class Guard(base.Transformer):
    """Keeps values that are no finite numbers (NaN, infinity, None, text) out of a pipeline.

    Scalers and other statistics of River learn such values before a model behind them can refuse the example,
    and then stay NaN. Put a guard in front: `rb.Guard("skip") | StandardScaler() | model`.

    In prediction a bad value counts as absent, or as the last valid one; only "raise" raises an error there too.

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
    >>> model.predict_one({"a": None, "b": 1}) in (False, True)
    True

    References
    ----------
    [^1]: The guide, [saving and serving](guide/saving.md).

    """

    def __init__(self, on_bad: str = "raise"):
        one_of("raise", "skip", "last")("on_bad", on_bad)
        self.on_bad = on_bad
        self._last: dict[Any, Any] = {}

    def __or__(self, other: Any) -> Any:
        if self.on_bad != "skip":
            return super().__or__(other)  # type: ignore[no-untyped-call]
        from river import anomaly  # imported here, as it takes longer to load than this package

        # River's pipelines skip an example only at an anomaly filter
        skip = anomaly.ThresholdFilter(BadRows(), 0.5)  # type: ignore[no-untyped-call]
        behind = super().__or__(other)  # type: ignore[no-untyped-call]
        return ("SkipBadRows", skip) | behind

    def learn_one(self, x: dict[Any, Any]) -> None:
        check_example(x)
        for name, value in x.items():
            if as_float(value) is not None:
                if self.on_bad == "last":
                    self._last[name] = value
            elif self.on_bad == "raise":
                number(name, value)  # raises
            elif self.on_bad == "skip":
                raise RuntimeError(
                    "an example can only be skipped where the pipeline was written as rb.Guard('skip') | ..."
                )

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        check_example(x)
        total = 0.0
        try:
            total = sum(x.values())
        except (TypeError, OverflowError):
            total = math.nan
        if math.isfinite(total):
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
