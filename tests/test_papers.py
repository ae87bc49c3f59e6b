"""Figures of the papers: slow, run by `pytest -m slow tests/test_papers.py -s`, which prints the tables.

Each test prints a table for the README and checks what the table is there to show.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import river_budget as rb

pytestmark = pytest.mark.slow

BUDGET = 100
REPEATS = 5
STRATEGIES = {
    "merge": rb.maintenance.Merge(),
    "merge, eq. (21)": rb.maintenance.Merge(objective="eq21"),
    "project": rb.maintenance.Project(),
    "remove a random one": rb.maintenance.RemoveRandom(),
    "remove the smallest": rb.maintenance.RemoveSmallest(),
}
# Per set: examples held out, width times the number of features for merging and projection, for removal,
# and the printed accuracies of the paper in the order of STRATEGIES (its merging follows eq. 21).
TABLE = {
    "USPS": (2000, 1, 4, (None, 92.0, 90.5, 78.3, 78.6)),
    "Letter": (3000, 1, 16, (None, 72.0, 76.3, 39.9, 41.7)),
    "Waveform": (20_000, 1, 1, (None, 85.9, 85.0, 79.1, 79.1)),
    "Checkerboard": (20_000, 64, 64, (None, 99.5, None, 83.6, 83.9)),
}


def waveform(n, rng):
    places = np.arange(1, 22)
    bumps = [np.maximum(6 - abs(places - centre), 0) for centre in (11, 15, 7)]
    first, second = (
        np.array([bumps[0], bumps[0], bumps[1]]),
        np.array([bumps[1], bumps[2], bumps[2]]),
    )
    y, share = rng.integers(0, 3, n), rng.random((n, 1))
    return share * first[y] + (1 - share) * second[y] + rng.normal(size=(n, 21)), y


def checkerboard(n, rng):
    X = rng.random((n, 2))
    return X, np.floor(4 * X).sum(axis=1).astype(int) % 2


def examples(name, data, rng):
    if name in ("USPS", "Letter"):
        X, y = data({"USPS": "usps", "Letter": "letter.scale"}[name])
        order = rng.permutation(len(X))
        return X[order], y[order].astype(int)
    return {"Waveform": waveform, "Checkerboard": checkerboard}[name](220_000, rng)


def accuracy(model, X, y, held_out):
    train = X[:-held_out]
    mean, sd = train.mean(axis=0), train.std(axis=0)
    sd[sd == 0] = 1
    model.learn_many((train - mean) / sd, y[:-held_out])
    return 100 * np.mean(model.predict_many((X[-held_out:] - mean) / sd) == y[-held_out:])


@pytest.mark.parametrize("name", TABLE)
def test_table_1_of_2010(name, data, capsys):
    held_out, wide, narrow, printed = TABLE[name]
    means = {}
    rows = []
    for (label, maintenance), paper in zip(STRATEGIES.items(), printed, strict=True):
        width = narrow if label.startswith("remove") else wide
        values = []
        for repeat in range(REPEATS):
            X, y = examples(name, data, np.random.default_rng(100 + repeat))
            model = rb.BSGDClassifier(
                BUDGET,
                rb.kernels.RBF(width / X.shape[1]),
                maintenance,
                classes=tuple(np.unique(y).tolist()),
                seed=repeat,
            )
            values.append(accuracy(model, X, y, held_out))
        means[label] = np.mean(values)
        spread = f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"
        rows.append(f"| {name} | {label} | {spread} | {paper or '-'} |")
    with capsys.disabled():
        print("", *rows, sep="\n")
    least = {"USPS": 91.0, "Letter": 74.0, "Waveform": 85.5, "Checkerboard": 98.0}
    assert means["merge"] >= least[name]
    assert means["merge"] > means["remove a random one"] + 10
    assert means["merge"] > means["remove the smallest"] + 10


def test_multi_merging_spends_less_time_on_maintenance(data, capsys):
    """Paper of 2018, a9a: C = 32, gamma = 0.008, one pass, budget 500."""
    X, y = data("a9a")
    T, u = data("a9a.t")
    spent, mean, error = {}, {}, {}
    with capsys.disabled():
        print("\n| M | accuracy | share of time on maintenance | maintenance, against M = 2 |")
    for arity in (2, 3, 4, 5):
        values, learning, scoring = [], [], []
        for repeat in range(REPEATS):
            order = np.random.default_rng(100 + repeat).permutation(len(X))
            model = rb.BSGDClassifier(
                500,
                rb.kernels.RBF(0.008),
                rb.maintenance.Merge(arity=arity),
                l2=1 / (32 * len(X)),
                project_to_ball=False,
                classes=(-1, 1),
            )
            model.clone().learn_many(X[:10], y[:10])
            start = time.perf_counter()
            model.learn_many(X[order], y[order])
            learning.append(time.perf_counter() - start)
            start = time.perf_counter()
            model.predict_many(X)
            scoring.append(time.perf_counter() - start)
            values.append(100 * np.mean(model.predict_many(T) == u))
        spent[arity] = np.median(learning) - np.median(scoring)
        mean[arity], error[arity] = np.mean(values), np.std(values, ddof=1) / REPEATS**0.5
        share = spent[arity] / np.median(learning)
        with capsys.disabled():
            print(
                f"| {arity} | {mean[arity]:.1f} ± {error[arity]:.1f} | {share:.0%} "
                f"| {spent[2] / spent[arity]:.1f} times faster |"
            )
    assert mean[3] >= mean[2] - max(1.0, 2 * np.hypot(error[2], error[3]))
    assert spent[2] > 1.3 * spent[3]
    assert spent[2] > 2 * spent[5]
