"""predict_then_learn_one and predict_then_learn_many: the predictions of the model that does not
know the example yet.
"""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
from folders import PYTHONPATH
from optional import pandas as pd
from processes import ended
from river import preprocessing

import river_budget as rb
from river_budget.kernels import RBF

K = RBF(0.5)
REGRESSORS = [
    rb.AutoKernelRegressor(20, seed=1),
    rb.BSGDRegressor(20, K),
    rb.FOGDRegressor(8, K, seed=1),
]
CLASSIFIERS = [
    rb.AutoKernelClassifier(20, seed=1),
    rb.BSGDClassifier(20, K, seed=1),
    rb.NOGDClassifier(9, K),
]


def examples(n, seed=0):
    """Examples that bring a new feature now and then, and five labels."""
    rng = random.Random(seed)
    for t in range(n):
        x = {"a": rng.gauss(0, 1), "b": rng.gauss(0, 1)}
        yield x | ({f"new {t}": rng.gauss(0, 1)} if t % 3 == 0 else {}), t // 7 % 5


def close(prediction):
    """A label, or a number but for its last bits: names have other places once they are known."""
    return pytest.approx(prediction, rel=1e-9) if isinstance(prediction, float) else prediction


def named(model):
    return type(model).__name__


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=named)
def test_a_new_feature_does_not_change_its_own_prediction(model):
    model = model.clone()
    for x, y in examples(60):
        twin, many = copy.deepcopy(model), copy.deepcopy(model)
        expected = model.predict_one(x)
        assert twin.predict_then_learn_one(x, y) == close(expected)
        found = many.predict_then_learn_many(pd.DataFrame([x]), [y]).tolist()
        assert found == [close(expected)]
        model.learn_one(x, y)
        assert model.decision_function_one(x) == twin.decision_function_one(x)


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=named)
def test_nor_those_of_the_first_row_of_a_sparse_batch(model):
    from scipy import sparse

    model = model.clone()
    rng = np.random.default_rng(0)
    for part in range(6):
        X = sparse.csr_matrix(rng.random((9, 4 + 3 * part)) * (rng.random((9, 4 + 3 * part)) < 0.5))
        y = (np.arange(9) + part) // 5
        alone = copy.deepcopy(model)
        first = alone.predict_many(X[:1]).tolist()[0]
        found = model.predict_then_learn_many(X, y).tolist()
        assert found[0] == close(first)


WORDS = """
import numpy as np
from inside import check_names
from scipy import sparse
import river_budget as rb

rng, model = np.random.default_rng(0), rb.AutoKernelClassifier(20, seed=1)
for part in range(4):
    words = rng.integers(0, 3000, 200 * 60) + 800 * part
    owners = np.repeat(np.arange(200), 60)
    X = sparse.csr_matrix((np.ones(words.size), (owners, words)), shape=(200, 60_000))
    model.learn_many(X, rng.integers(0, 300, 200))
    check_names(model)
"""


@pytest.mark.slow
def test_words_are_learned_where_they_are_after_a_new_label():
    """With more labels there is room for fewer words, and they get other places. Compiled code
    checks no bounds.
    """
    status, _, errors = ended(WORDS, PYTHONPATH=PYTHONPATH)
    assert status == 0, errors


class Loose(float):
    """A value that says it is equal to all others."""

    __hash__ = float.__hash__

    def __eq__(self, other):
        return True

    def __radd__(self, other):
        return other + float(self)


@pytest.mark.parametrize("asked", [1028.1, np.float64(1028.1)])
@pytest.mark.parametrize("value", [np.float16(1028.1), np.float32(1028.1), Loose(5.0), np.longdouble(1028.1)])  # fmt: skip  # noqa: E501
def test_a_prediction_does_not_change_what_is_learned(value, asked):
    model = rb.BSGDClassifier(20, K, seed=1)
    for name in "abc":
        model.learn_one({name: 1.0}, True)
    expected = copy.deepcopy(model)
    model.predict_one({"c": asked})
    for each in (model, expected):
        each.learn_one({"c": value}, False)
    assert model.support_vectors() == expected.support_vectors()


LABELS = [[1, "a"], [1, 2.5], [1.0, 2], [True, 7], [2**70, 3], [(1, 2), "a"]]


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("of", ["ours", "pipeline"])
def test_polars_holds_predictions_of_several_types(labels, of):
    pl = pytest.importorskip("polars")
    model, X = rb.BSGDClassifier(9, K), pl.DataFrame({"a": [0.0, 1.0] * 9})
    if of == "pipeline":
        model = preprocessing.StandardScaler() | model
    found = rb.predict_then_learn_many(model, X, labels * 9).to_list()
    assert set(found[2:]) == set(labels)


@pytest.mark.parametrize("of", ["ours", "pipeline"])
def test_predictions_that_make_no_column_are_refused_before_learning(of):
    pa = pytest.importorskip("pyarrow")
    model, X = rb.BSGDClassifier(9, K), pa.table({"a": [0.0, 1.0]})
    last, scaler = model, preprocessing.StandardScaler()
    if of == "pipeline":
        model = scaler | model
    with pytest.raises(TypeError, match="int, str make no column"):
        rb.predict_then_learn_many(model, X, [1, "a"])
    assert last.n_examples == 0
    assert not scaler.counts
