"""A sparse frame or matrix and the same one dense: one width of the kernel, and a cell that is not
there is 0.
"""

from __future__ import annotations

import numpy as np
import pytest
from models import MODELS, TRANSFORMERS, one_of_each, variant
from optional import pandas as pd
from river import base
from scipy import sparse

import river_budget as rb
from river_budget.core import memory
from river_budget.kernels import RBF

N, COLUMNS, BEGIN = 80, 40, 25


def rows():
    """Rows of which one cell in ten is not 0; the last columns are empty at first."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N, COLUMNS)) < 0.1, rng.normal(size=(N, COLUMNS)), 0.0)
    X[:40, 30:] = 0.0
    return X


def dense_and_sparse(X, framed, form=sparse.csr_matrix):
    if not framed:
        return X, form(X)
    names = [f"c{i}" for i in range(COLUMNS)]
    return (
        pd.DataFrame(X, columns=names),
        pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=names),
    )


def numbers(model, X):
    """Predictions, probabilities or new features of rows, as an array."""
    for name in ("predict_proba_many", "predict_many", "transform_many"):
        if hasattr(model, name):
            found = getattr(model, name)(X)
            return np.array(list(found.values())) if isinstance(found, dict) else np.array(found)
    return np.array([model.score_one(dict(enumerate(row))) for row in X.tolist()])


# names of later rows have later places, and a basis of nearly dependent landmarks magnifies what
# rounding makes of that
CLOSE = 1e-9


def with_relative_width(model):
    """The model as its class makes it, whose kernel has a width in units of 1 / d."""
    kind, seeded = type(model), "seed" in model._parameters()
    return kind(**({"seed": 1} if seeded else {}))


@pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")
@pytest.mark.parametrize(("usual", "framed"), [(False, True), (True, False)])
@pytest.mark.parametrize("model", [*one_of_each(MODELS), *TRANSFORMERS])
def test_a_sparse_frame_is_learned_as_the_same_frame_dense(model, usual, framed):
    X = rows()
    y = X[:, 0] + X[:, 1]
    target = y if isinstance(model, base.Regressor) else y > 0.0
    made = with_relative_width(model) if usual else variant(model, seed=1)
    one, other = made.clone(), made.clone()
    for part, form in ((slice(BEGIN), sparse.csc_array), (slice(BEGIN, N), sparse.coo_matrix)):
        for each, some in zip((one, other), dense_and_sparse(X[part], framed, form), strict=True):
            each.learn_many(*((some, target[part]) if each._supervised else (some,)))
    assert memory.head_of(one._block).gamma == memory.head_of(other._block).gamma
    one_sees, other_sees = dense_and_sparse(X[:20], framed)
    expected = numbers(one, one_sees)
    assert np.allclose(numbers(other, other_sees), expected, rtol=1e-9, atol=CLOSE)
    assert np.allclose(numbers(one, other_sees), expected, rtol=1e-9, atol=CLOSE)
    assert expected.std() > 0.0


@pytest.mark.parametrize(
    "model",
    [
        *(rb.BSGDClassifier(20, RBF("3/d")), rb.FOGDClassifier(20, RBF("3/d"), seed=1)),
        *(rb.NOGDClassifier(20, RBF("3/d")), rb.RandomFourier(20, RBF("3/d"), seed=1)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_width_counts_the_columns_of_a_first_batch_and_the_features_of_a_first_example(model):
    X = rows()
    for made in dense_and_sparse(X[:BEGIN], False):
        begun = model.clone()
        begun.learn_many(*((made, X[:BEGIN, 0] > 0.0) if begun._supervised else (made,)))
        assert memory.head_of(begun._block).gamma == 3.0 / COLUMNS
    begun = model.clone()
    begun.learn_one(
        *(({"a": 1.0, "b": 2.0}, True) if begun._supervised else ({"a": 1.0, "b": 2.0},))
    )
    assert memory.head_of(begun._block).gamma == 1.5
