"""A few huge values among the numbers: what a logarithm in front gains.

    python examples/heavy_tails.py

Synthetic heavy-tailed data: ten cubed exponentials, and a label that says whether the product of
two of them is above its median. Takes about a minute.
"""

from __future__ import annotations

import math

import numpy as np
from river import compose, evaluate, forest, linear_model, metrics, neighbors, preprocessing

import river_budget as rb


def stream(n: int = 5000, d: int = 10, seed: int = 0) -> list[tuple[dict[str, float], bool]]:
    """n examples with d features, of which two decide."""
    X = np.random.default_rng(seed).exponential(size=(n, d)) ** 3
    product = X[:, 0] * X[:, 1]
    names = [f"x{i}" for i in range(d)]
    labels = (product > np.median(product)).tolist()
    return [
        (dict(zip(names, row, strict=True)), y) for row, y in zip(X.tolist(), labels, strict=True)
    ]


def logarithms(x: dict[str, float]) -> dict[str, float]:
    return {name: math.log(value) for name, value in x.items()}


def main(n: int = 5000) -> None:
    scaler = preprocessing.StandardScaler
    models = {
        "AutoKernel behind a logarithm": compose.FuncTransformer(logarithms)
        | rb.AutoKernelClassifier(seed=1),
        "AutoKernel": rb.AutoKernelClassifier(seed=1),
        "ARF": forest.ARFClassifier(seed=1),
        "KNN": scaler() | neighbors.KNNClassifier(),
        "LogisticRegression": scaler() | linear_model.LogisticRegression(),
    }
    examples = stream(n)
    for name, model in models.items():
        right = evaluate.progressive_val_score(examples, model, metrics.Accuracy()).get()
        print(f"{name:30} {100 * (1 - right):5.1f} % wrong")


if __name__ == "__main__":
    main()
