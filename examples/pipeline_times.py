"""What a prediction and a learning step take on dicts: the model alone, and behind River's StandardScaler.

    python examples/pipeline_times.py [examples]

Our BSGDClassifier beside River's LogisticRegression, in microseconds of the processor: medians of five runs that take
turns. "alone" learns rows that were scaled before.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from typing import Any

from river import datasets, linear_model, preprocessing

import river_budget as rb
from river_budget import datasets as papers

MODELS = {"BSGD": rb.BSGDClassifier, "linear": linear_model.LogisticRegression}


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


def main(n: int = 4000, runs: int = 5) -> None:
    print(f"{'':10} {'alone':>20} {'behind a scaler':>27}")
    print(
        f"{'stream':10} {'BSGD':>6} {'linear':>6} {'ratio':>6} {'BSGD':>13} {'linear':>6} {'ratio':>6}"
    )
    for name, stream in streams(n).items():
        rows, times = scaled(stream), {}
        for _ in range(runs):
            for label, kind in MODELS.items():
                pipeline = preprocessing.StandardScaler() | kind()
                times.setdefault(label, []).append(microseconds(kind(), rows))
                times.setdefault(f"{label} |", []).append(microseconds(pipeline, stream))
        a, b, c, d = (statistics.median(times[k]) for k in ("BSGD", "linear", "BSGD |", "linear |"))
        print(f"{name:10} {a:6.1f} {b:6.1f} {a / b:6.2f} {c:13.1f} {d:6.1f} {c / d:6.2f}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
