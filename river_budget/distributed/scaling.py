"""Scalers that began as copies of one: what that one knew must count once when they are merged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import compose, preprocessing


def forget_common(models: list[Any], before: Any) -> None:
    """Take the statistics of what all models began with out of all scalers but the first one's."""
    for model in models[1:]:
        for scaler, common in zip(_scalers(model), _scalers(before), strict=True):
            for name, count in common.counts.items():
                _take_out(scaler, name, count, common.means[name], common.vars.get(name, 0.0))


def _scalers(model: Any) -> Iterator[Any]:
    if isinstance(model, compose.Pipeline):
        for step in model.steps.values():
            yield from _scalers(step)
    elif isinstance(model, preprocessing.StandardScaler):
        yield model


def _take_out(scaler: Any, name: Any, count: int, mean: float, var: float) -> None:
    """Leave the statistics of a feature without so many values that have this mean and variance."""
    total = scaler.counts[name]
    rest = total - count
    if rest == 0:
        for table in (scaler.counts, scaler.means, scaler.vars):
            table.pop(name, None)
        return
    difference = (scaler.means[name] - mean) * total / rest
    if scaler.with_std:
        spread = total * scaler.vars[name] - count * var
        between = count * rest / total * difference * difference
        scaler.vars[name] = max(0.0, (spread - between) / rest)
    scaler.means[name] = mean + difference
    scaler.counts[name] = rest
