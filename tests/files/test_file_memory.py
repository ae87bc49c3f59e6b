"""A file takes no more memory than `max_bytes`, whatever is in it, and whether it is refused or
not.
"""

from __future__ import annotations

import contextlib
import json
import tracemalloc

import numpy as np
import pytest
from forging import packed, pipeline_of, unpacked, zipped
from river import (
    feature_extraction,
    feature_selection,
    linear_model,
    multiclass,
    preprocessing,
    stats,
    utils,
)
from saved_models import file_of

import river_budget as rb
from river_budget.saving import opened

N = 800


def node_of(model):
    return unpacked(file_of(model))[0]["model"]


def in_steps(node):
    return pipeline_of([[str(i), node] for i in range(N)])


def with_rows(model, row, name):
    """The node of a model with many rows in a table; the first number of a row is its name."""
    node = node_of(model)
    node["state"][name] = [[i, *row] for i in range(N)]
    return node


def groups_by(statistic):
    """Many groups, each with this statistic."""
    model = feature_extraction.Agg("a", "b", statistic)
    model.learn_one({"a": 1.0, "b": 1})
    ((_, state),) = node_of(model)["state"]["_groups"]
    return with_rows(model, [state], "_groups")


def with_names(what):
    return node_of(rb.BSGDClassifier()) | {what: list(range(N))}


def correlation():
    model = feature_selection.SelectKBest(stats.PearsonCorr())
    model.learn_one({"a": 1.0}, 1.0)
    return node_of(model)["state"]["similarities"][0][1]


LOGISTIC = linear_model.LogisticRegression()
NODES = {
    "scalers": lambda: in_steps(node_of(preprocessing.StandardScaler())),
    "our scalers": lambda: in_steps(node_of(rb.StandardScaler())),
    "linear models": lambda: in_steps(node_of(LOGISTIC)),
    "targets": lambda: in_steps(
        node_of(preprocessing.TargetStandardScaler(linear_model.LinearRegression()))
    ),
    "models": lambda: in_steps(node_of(rb.BSGDClassifier(1))),
    "kernels": lambda: in_steps(node_of(rb.RandomFourier(1))),
    "rows of scalers": lambda: with_rows(preprocessing.StandardScaler(), [1], "means"),
    "rows of our scalers": lambda: with_rows(rb.StandardScaler(), [1, 1, 1], "table"),
    "objects of scalers": lambda: with_rows(preprocessing.MinMaxScaler(), [{"min": 1}], "min"),
    "means": lambda: groups_by(stats.Mean()),
    "quantiles": lambda: groups_by(stats.Quantile(0.3)),
    "ranges of quantiles": lambda: groups_by(stats.IQR()),
    "modes": lambda: groups_by(stats.Mode()),
    "windows": lambda: groups_by(utils.Rolling(stats.Var, 5)),
    "sorted windows": lambda: groups_by(stats.RollingMax(5)),
    "categories": lambda: with_rows(preprocessing.OneHotEncoder(), ["a"], "values"),
    "orders": lambda: with_rows(preprocessing.OrdinalEncoder(), [[["a", 1]]], "values"),
    "words": lambda: with_rows(feature_extraction.TFIDF(), [1], "dfs"),
    "correlations": lambda: with_rows(
        feature_selection.SelectKBest(stats.PearsonCorr()), [correlation()], "similarities"
    ),
    "values": lambda: with_rows(rb.Guard("last"), [1], "_last"),
    "weights": lambda: with_rows(LOGISTIC, [{"float": "1.0"}], "_weights"),
    "labels": lambda: with_rows(linear_model.SoftmaxRegression(), [1, []], "weights"),
    "classifiers": lambda: with_rows(
        multiclass.OneVsRestClassifier(LOGISTIC), [node_of(LOGISTIC)], "classifiers"
    ),
    "names": lambda: with_rows(rb.FeatureBudget(N), [{"float": "1.0"}, 1], "_counts"),
    "features of ours": lambda: with_names("features"),
    "labels of ours": lambda: with_names("labels"),
    "lists": lambda: [[]] * 10 * N,
    "objects": lambda: [{"": 0}] * 10 * N,
    "classes": lambda: node_of(rb.BSGDClassifier(classes=tuple(range(N)))),
}


@pytest.mark.parametrize("what", NODES)
def test_what_a_text_describes_counts(what):
    check(packed({"format": 1, "model": NODES[what]()}))


@pytest.mark.parametrize("size", [0, 100])
def test_many_parts_count(size):
    parts = [("model.json", json.dumps({"format": 1, "model": None}))]
    check(zipped([*parts, *((f"{i}", b"\0" * size) for i in range(N))]))


@pytest.mark.parametrize("budget", [100, 10_000])
def test_arrays_and_tables_count(budget):
    model = rb.KernelOGDClassifier(rb.kernels.RBF(0.5))
    rng = np.random.default_rng(0)
    model.learn_many(rng.normal(size=(2000, 20)), rng.random(2000) > 0.5)
    check(file_of(model))


def check(data):
    """Load with many limits, of which one is large enough for each model here."""
    with contextlib.suppress(rb.SavedModelError):
        opened(data)  # what is imported and compiled once does not count
    for limit in (2**17, 2**19, 2**21, 2**23):
        tracemalloc.start()
        try:
            with contextlib.suppress(rb.SavedModelError):
                opened(data, max_bytes=limit)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= max(limit - len(data), 2000), (peak, limit, len(data))
