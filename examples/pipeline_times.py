"""The time of a prediction and a learning step on dicts: a model alone, and behind a scaler.

    python examples/pipeline_times.py [examples]

Our BSGDClassifier beside River's LogisticRegression, in microseconds of processor time: medians of
five runs that take turns. The first two learn rows scaled beforehand; the others are behind our
StandardScaler, or River's.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from river import datasets, linear_model, preprocessing

import river_budget as rb
from river_budget import datasets as papers


def streams(n: int) -> dict[str, list[Any]]:
    """Two, nine and 21 features."""
    X, y = papers.Waveform(n, seed=1).arrays()
    waveform = [
        (dict(enumerate(row)), label == y[0]) for row, label in zip(X.tolist(), y, strict=True)
    ]
    found = {name: getattr(datasets, name)() for name in ("Bananas", "Phishing")}
    return {name: list(itertools.islice(s, n)) for name, s in found.items()} | {
        "Waveform": waveform
    }


def scaled(stream: list[Any]) -> list[Any]:
    scaler, rows = preprocessing.StandardScaler(), []
    for x, y in stream:
        scaler.learn_one(x)
        rows.append((scaler.transform_one(x), y))
    return rows


def microseconds(model: Any, stream: list[Any]) -> float:
    """Of one prediction and one step, after a tenth of the stream."""
    warm = len(stream) // 10
    for t, (x, y) in enumerate(stream):
        if t == warm:
            start = time.process_time()
        model.predict_one(x)
        model.learn_one(x, y)
    return (time.process_time() - start) / (len(stream) - warm) * 1e6


PIPELINES: dict[str, Callable[[], Any]] = {
    "alone": rb.BSGDClassifier,
    "linear": linear_model.LogisticRegression,
    "ours | BSGD": lambda: rb.StandardScaler() | rb.BSGDClassifier(),
    "River's | BSGD": lambda: preprocessing.StandardScaler() | rb.BSGDClassifier(),
    "River's | linear": lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
}


def main(n: int = 4000, runs: int = 5) -> None:
    print(f"{'':10}" + "".join(f"{name:>18}" for name in PIPELINES))
    for name, stream in streams(n).items():
        rows = scaled(stream)
        times: dict[str, list[float]] = {label: [] for label in PIPELINES}
        for _ in range(runs):
            for label, make in PIPELINES.items():
                times[label].append(microseconds(make(), stream if "|" in label else rows))
        found = [statistics.median(each) for each in times.values()]
        print(f"{name:10}" + "".join(f"{value:18.1f}" for value in found))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
