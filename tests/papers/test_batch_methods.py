"""The batch methods of the 2012 paper's figure 2, each against a slow and obvious
implementation.
"""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import numpy as np
import pytest
from batch_problem import GAMMA, ascended, dual, gram, last, objective, problem, signs, split
from oracles.kernels import rbf
from papers.rivals import batch_methods as methods
from scripts import load

from river_budget import datasets

CLOSE = 1e-9
SHARES = methods.CHECKPOINT_SHARES


# How they learn.


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
def test_sdca_closes_the_duality_gap(cost):
    X, y = problem()
    l2 = 1 / (cost * len(X))
    found = ascended(X, y, l2)
    assert np.all((signs(y) * found >= 0) & (signs(y) * found <= cost * (1 + CLOSE)))
    assert -CLOSE < objective(found, X, y, l2) - dual(found, X, y, l2) < 1e-3


def test_one_iteration_of_sdca_finds_the_best_coefficient():
    X, y = problem()
    l2, counts = 1 / len(X), list(range(1, 30))
    order = np.random.default_rng(1).integers(len(X), size=counts[-1])
    runs = methods.ascend(X, y, gamma=GAMMA, l2=l2, iterations=counts, seed=1)
    for i, (_, found) in zip(order, runs, strict=True):
        best = dual(found[:, 0], X, y, l2)
        for share in np.linspace(0, 1, 11):
            other = found[:, 0].copy()
            other[i] = share * signs(y)[i]
            assert dual(other, X, y, l2) <= best + CLOSE


def slow_pegasos(X, y, l2, order):
    """Coefficients, and how many different examples each one was compared with."""
    K, w, compared = gram(X), np.zeros(len(X)), 0
    for t, i in enumerate(order, 1):
        compared += np.count_nonzero(w)
        margin = signs(y)[i] * (K[i] @ w)
        w *= 1 - 1 / t
        if margin < 1:
            w[i] += signs(y)[i] / (l2 * t)
    return w, compared


def test_pegasos_is_what_the_paper_says():
    X, y = problem()
    l2, counts = 1 / len(X), [1, 40, 200]
    order = np.random.default_rng(3).integers(len(X), size=counts[-1])
    runs = methods.descend(X, y, gamma=GAMMA, l2=l2, iterations=counts, seed=3)
    for count, (evaluations, found) in zip(counts, runs, strict=True):
        expected, compared = slow_pegasos(X, y, l2, order[:count])
        np.testing.assert_allclose(found[:, 0], expected, atol=CLOSE * len(X))
        assert evaluations == compared


def test_pegasos_comes_close_to_the_optimum():
    X, y = problem()
    l2 = 10 / len(X)
    found = last(methods.descend(X, y, gamma=GAMMA, l2=l2, iterations=[20_000], seed=0))
    best = objective(ascended(X, y, l2), X, y, l2)
    assert best <= objective(found, X, y, l2) + CLOSE < best + 1e-2


def slow_perceptron(X, y, order):
    """The last iterate, the mean of all, and how many different examples each one was compared
    with.
    """
    K, w, iterates, compared = gram(X), np.zeros(len(X)), [], 0
    for i in order:
        compared += np.count_nonzero(w)
        if (K[i] @ w >= 0) != y[i]:
            w[i] += signs(y)[i]
        iterates.append(w.copy())
    return w, np.mean(iterates, axis=0), compared


def test_the_perceptron_is_the_textbooks_and_its_mean_is_that_of_all_iterates():
    X, y = problem()
    rng = np.random.default_rng(5)
    order = np.concatenate([rng.permutation(len(X)) for _ in range(3)])
    stops = [1, 30, 60, 180]
    runs = methods.repeat(X, y, gamma=GAMMA, passes=3, seed=5, checkpoints=stops)
    for stop, (evaluations, found) in zip(stops, runs, strict=True):
        w, mean, compared = slow_perceptron(X, y, order[:stop])
        np.testing.assert_allclose(found, np.column_stack([w, mean]), atol=CLOSE)
        assert evaluations == compared


@pytest.mark.parametrize("checkpoints", [[0, 5], [5, 5], [9, 5]])
def test_checkpoints_must_increase(checkpoints):
    X, y = problem()
    with pytest.raises(ValueError, match="increasing"):
        next(methods.ascend(X, y, gamma=GAMMA, l2=1.0, iterations=checkpoints, seed=0))


def test_the_perceptron_sees_no_more_than_its_passes():
    with pytest.raises(ValueError, match="more than 2 passes"):
        next(methods.repeat(*split()[:2], gamma=GAMMA, passes=2, seed=0, checkpoints=[401]))


# What is reported.


SETTING = methods.Setting(gamma=GAMMA, cost=1.0, slack=0.1)
NAMES = ["SBP", "Pegasos", "SDCA", "Perceptron", "averaged Perceptron"]


@pytest.mark.parametrize("bias", [False, True])
def test_errors_end_low_while_evaluations_grow_and_the_seed_decides(bias):
    data = split()
    found = methods.lines(bias, 0, data, SETTING, rows=400, passes=4)
    assert list(found) == (["SBP"] if bias else NAMES)
    for first, *between, end in found.values():
        assert end.error < 0.2
        for before, after in pairwise([first, *between, end]):
            assert before.evaluations < after.evaluations
    again, other = (methods.lines(bias, i, data, SETTING, rows=400, passes=4) for i in (0, 1))
    assert again == found
    assert all(other[name] != points for name, points in found.items())


def test_a_row_counts_as_many_evaluations_as_it_has_entries():
    data = split()
    n = len(data[0])
    for bias in (False, True):
        found = methods.lines(bias, 0, data, SETTING, rows=300)
        counts = [round(share * 300 / (1 + bias)) * (1 + bias) * n for share in SHARES]
        for name in {"SBP", "SDCA"} & found.keys():
            assert [point.evaluations for point in found[name]] == counts


def test_an_error_is_the_share_of_the_test_set(monkeypatch):
    monkeypatch.setattr(methods, "TEST_ROWS_AT_ONCE", 7)  # several blocks, the last one not full
    X, y, X_test, y_test = data = split()
    found = last(methods.ascend(X, y, gamma=GAMMA, l2=1 / len(X), iterations=[300], seed=2))
    expected = np.mean((rbf(GAMMA)(X_test, X) @ found >= 0) != y_test)
    run = methods.ascend(X, y, gamma=GAMMA, l2=1 / len(X), iterations=[300], seed=2)
    (((evaluations, error),),) = methods.measured(run, data, GAMMA)
    assert evaluations == 300 * len(X)
    assert error == pytest.approx(expected)


def test_svc_is_the_same_on_a_sparse_matrix():
    pytest.importorskip("sklearn")
    X, y, X_test, y_test = split()
    point = methods.svc((X, y, X_test, y_test), gamma=GAMMA, C=1.0)
    assert point.error < 0.2
    apart = np.zeros((len(X), 20))  # so many zeros that the matrix is made sparse
    wide, wide_test = np.hstack([X, apart]), np.hstack([X_test, apart])
    same = methods.svc((wide, y, wide_test, y_test), gamma=GAMMA, C=1.0)
    assert same.error == point.error


def test_svc_says_which_extra_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(RuntimeError, match="pip install scikit-learn"):
        methods.svc(split(), gamma=GAMMA, C=1.0)


# The example.


@pytest.fixture
def no_adult(monkeypatch):
    def refuse(*_):
        raise datasets.DatasetUnavailable("not here")

    monkeypatch.setattr(datasets.A9a, "part", refuse)


@pytest.mark.usefixtures("no_adult")
def test_the_example_falls_back_on_made_up_data_and_draws(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.png"
    load("batch_training").main(str(path), rows=200, made_up=600)
    out = capsys.readouterr().out
    assert out.startswith("a9a is not here")
    rows = re.findall(r"^([A-Za-z ]+?) +([\d,]+) +([\d.]+)%$", out, re.M)
    assert {name for name, *_ in rows} == {*NAMES}
    assert path.read_bytes().startswith(b"\x89PNG")
