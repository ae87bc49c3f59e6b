"""Batch methods for kernel machines: test error against the number of kernel evaluations.

A. Cotter, S. Shalev-Shwartz, N. Srebro. The kernelized stochastic batch Perceptron. ICML 2012,
figure 2. The methods that it compares are here for this figure only:

    SBP         `SBPClassifier` with all examples in its window
    Pegasos     `BSGDClassifier` without a budget, on examples drawn at random; the last iterate,
                not projected to the ball
    SDCA        dual coordinate ascent, on examples drawn at random
    Perceptron  `KernelPerceptronClassifier`, several passes in random orders; the last iterate or
                the mean of all. The paper does not say which one it shows

Counting kernel evaluations: SBP and SDCA need one row of n values per iteration, SBP with a bias
two. Pegasos and the Perceptron compare an example with those stored so far. Our classes store an
example again when they learn it again; it counts once, as its coefficients can be added up. Testing
does not count.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from river_budget import datasets
from river_budget.algorithms.gradient.bsgd import BSGDClassifier
from river_budget.algorithms.perceptrons.perceptron import KernelPerceptronClassifier
from river_budget.algorithms.window.sbp import SBPClassifier
from river_budget.kernels import RBF

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]
Split = tuple[Array, Array, Array, Array]  # examples and labels, to learn from and for testing
Snapshot = tuple[int, Floats]  # kernel evaluations so far; coefficients, examples x models

TEST_ROWS_AT_ONCE = 500  # test examples whose kernel values are in memory at the same time
SPARSE_SHARE = 0.25  # of values that are not 0; below, all methods are faster on a sparse matrix


class Point(NamedTuple):
    """A point of a curve: kernel evaluations so far, and the test error."""

    evaluations: int
    error: float


class Solution(NamedTuple):
    """What one fit ends with: the test error, the seconds of learning, and how many vectors have
    coefficients.
    """

    error: float
    seconds: float
    vectors: int | None = None


# Adult and Reuters


class Setting(NamedTuple):
    """A row of table 2. `cost` is 1 / (lambda n), which LIBSVM calls C; the slack nu fits it."""

    gamma: float
    cost: float
    slack: float


REUTERS = Setting(gamma=1 / (2 * 0.5), cost=1.0, slack=6.34e-4)  # without a bias
SETTINGS = {  # of adult, with a bias or without
    False: Setting(gamma=1 / (2 * 10), cost=1.0, slack=1.10e-2),
    True: Setting(gamma=1 / (2 * 100), cost=100.0, slack=5.79e-4),
}
CHECKPOINT_SHARES = (1 / 100, 1 / 30, 1 / 10, 1 / 3, 1)  # of all kernel evaluations
PERCEPTRON_PASSES = (1, 2, 5)  # numbers of passes after which it is tested


def adult() -> Split:
    """The file a9a to learn from, and its test file."""
    data = datasets.A9a()
    return *data.part("a9a"), *data.part("a9a.t")


def lines(
    bias: bool, seed: int, data: Split, setting: Setting, *, rows: int = 3000, passes: int = 10
) -> dict[str, list[Point]]:
    """The curves of all methods with one seed; with a bias that is not regularised, of SBP alone.

    rows: the number of kernel evaluations, in rows of the kernel matrix (for Pegasos
    approximately). 3000 rows of adult are 10^8; the paper used a hundred times more. passes: those
    of the Perceptron, which may need more.
    """
    split = compact(data)
    X, y, n = split[0], split[1], len(split[1])
    steps = _rounded(share * rows / (1 + bias) for share in CHECKPOINT_SHARES)
    kernel = RBF(setting.gamma)
    model = SBPClassifier(kernel=kernel, slack=setting.slack, fit_bias=bias, seed=seed)
    found = {"SBP": sbp(split, model, steps)}
    if bias:
        return found
    # About a quarter of adult is stored, so T examples take T^2 / 8 kernel evaluations.
    online = _rounded((8 * share * rows * n) ** 0.5 for share in CHECKPOINT_SHARES)
    ends = [n * i for i in PERCEPTRON_PASSES if i < passes] + [n * passes]
    checkpoints = [stop for stop in online if stop < n] + ends
    given: dict[str, Any] = {"gamma": setting.gamma, "seed": seed}
    regularised = given | {"l2": 1 / (setting.cost * n)}
    runs = {
        ("Pegasos",): descend(X, y, **regularised, iterations=online),
        ("SDCA",): ascend(X, y, **regularised, iterations=steps),
        ("Perceptron", "averaged Perceptron"): repeat(
            X, y, **given, passes=passes, checkpoints=checkpoints
        ),
    }
    for names, run in runs.items():
        found |= zip(names, measured(run, split, setting.gamma), strict=True)
    return found


def _rounded(numbers: Iterator[float]) -> list[int]:
    """Different whole numbers from 1 on, in order."""
    return sorted({max(1, round(number)) for number in numbers})


# How they learn


def sbp(split: Split, model: SBPClassifier, iterations: Sequence[int]) -> list[Point]:
    """The stochastic batch Perceptron with all examples in its window, the mean of its iterates.

    Every number of iterations takes a separate run, as `refine` takes the mean of its own iterates.
    The runs draw the same examples.
    """
    X, y, X_test, y_test = split
    points = []
    for count in iterations:
        wrong = refined(model, X, y, count).predict_many(X_test) != y_test
        points.append(Point((1 + model.fit_bias) * count * len(y), float(np.mean(wrong))))
    return points


def refined(model: SBPClassifier, X: Array, y: Array, count: int) -> SBPClassifier:
    """A clone that has learned all examples and made so many iterations over them."""
    model = model.clone({"window": len(y), "steps": 0})
    model.learn_many(X, y)
    model.refine(count)
    return model


def svc(split: Split, *, gamma: float, C: float) -> Solution:
    """LIBSVM's solution, with a bias, by scikit-learn."""
    try:
        from sklearn.svm import SVC  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise RuntimeError("SVC needs scikit-learn: pip install scikit-learn") from None
    X, y, X_test, y_test = compact(split)
    start = time.thread_time()
    model = SVC(C=C, gamma=gamma).fit(X, y)
    seconds = time.thread_time() - start
    error = float(np.mean(model.predict(X_test) != y_test))
    return Solution(error, seconds, int(model.n_support_.sum()))


class _Pegasos(BSGDClassifier):
    """Pegasos that records which examples of the last batch were inside the margin, and so were
    stored.

    A batch is learned in several passes.
    """

    stored: list[bool]

    def _run_pass(self, rows: Any, targets: Any, weights: Any, scores: Any) -> None:
        super()._run_pass(rows, targets, weights, scores)
        self.stored += (targets * scores[:, 0] < 1.0).tolist()


def descend(
    X: Array, y: Array, *, gamma: float, l2: float, iterations: Sequence[int], seed: int
) -> Iterator[Snapshot]:
    """The iterates of Pegasos. Without the projection every step has the weight 1 / (l2 T) after T
    steps.
    """
    model = _Pegasos(None, RBF(gamma), l2=l2, project_to_ball=False, learning_rate=None)
    order = np.random.default_rng(seed).integers(len(y), size=iterations[-1])
    stored = np.zeros(len(order), dtype=bool)
    for start, stop in spans(iterations):
        batch = order[start:stop]
        model.stored = []
        model.learn_many(X[batch], y[batch])
        stored[start:stop] = model.stored
        steps = _added_up(order[:stop], stored[:stop], y)
        yield comparisons(order[:stop], stored[:stop]), steps[:, None] / (l2 * stop)


def repeat(
    X: Array, y: Array, *, gamma: float, passes: int, seed: int, checkpoints: Sequence[int]
) -> Iterator[Snapshot]:
    """The iterates of the Perceptron as two models: the last one, and the mean of all so far."""
    if checkpoints[-1] > passes * len(y):
        raise ValueError(f"{checkpoints[-1]} examples are more than {passes} passes")
    model = KernelPerceptronClassifier(RBF(gamma))
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(len(y)) for _ in range(passes)])
    stored = np.zeros(len(order), dtype=bool)
    for start, stop in spans(checkpoints):
        batch = order[start:stop]
        stored[start:stop] = model.predict_then_learn_many(X[batch], y[batch]) != y[batch]
        share = 1 - np.arange(stop) / stop  # share of the iterates that have learned the example
        last = _added_up(order[:stop], stored[:stop], y)
        mean = _added_up(order[:stop], stored[:stop] * share, y)
        yield comparisons(order[:stop], stored[:stop]), np.stack([last, mean], axis=1)


def ascend(
    X: Array, y: Array, *, gamma: float, l2: float, iterations: Sequence[int], seed: int
) -> Iterator[Snapshot]:
    """The iterates of SDCA, which finds the best coefficient of one example, all others given.

    The score of an example takes a row of the kernel matrix. Most coefficients are 0 at first, so
    an implementation that skips them would need far fewer kernel evaluations than we count.
    """
    n, highest = len(y), 1 / (l2 * len(y))
    order = np.random.default_rng(seed).integers(n, size=iterations[-1])
    norms, signs, coefficients = squared_lengths(X), signs_of(y), np.zeros(n)
    for start, stop in spans(iterations):
        for i in order[start:stop]:
            row = gaussian_row(X, norms, int(i), gamma)
            # `@` would start threads, which is slow on a busy machine
            score = np.einsum("i,i", row, coefficients)
            free = signs[i] * coefficients[i] + 1 - signs[i] * score
            coefficients[i] = signs[i] * min(max(free, 0.0), highest)
        yield stop * n, coefficients[:, None].copy()


def spans(stops: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(start, stop) from each checkpoint to the next."""
    borders = [0, *stops]
    if any(start >= stop for start, stop in pairwise(borders)):
        raise ValueError(f"checkpoints must be positive and increasing, not {list(stops)}")
    return pairwise(borders)


def comparisons(order: Array, stored: Array) -> int:
    """Kernel evaluations of comparing each example with the different ones stored before it."""
    _, first = np.unique(order[stored], return_index=True)
    new = np.flatnonzero(stored)[first]
    return int(np.sum(len(order) - 1 - new))


def _added_up(order: Array, amounts: Array, y: Array) -> Floats:
    """The coefficient of every example, from the steps towards it."""
    return signs_of(y) * np.bincount(order, amounts, minlength=len(y))


# How they are tested


def measured(snapshots: Iterator[Snapshot], split: Split, gamma: float) -> list[list[Point]]:
    """The points of each model in the snapshots."""
    X, _, X_test, y_test = split
    points = [
        [Point(evaluations, error) for error in wrong_shares(X_test, y_test, X, found, gamma)]
        for evaluations, found in snapshots
    ]
    return [list(line) for line in zip(*points, strict=True)]


def wrong_shares(
    X_test: Array, y_test: Array, X: Array, coefficients: Floats, gamma: float
) -> list[float]:
    """The share of wrong predictions of each model."""
    support = np.flatnonzero(coefficients.any(axis=1))
    vectors, wrong = X[support], np.zeros(coefficients.shape[1])
    norms = squared_lengths(vectors)
    for start in range(0, len(y_test), TEST_ROWS_AT_ONCE):
        block = slice(start, start + TEST_ROWS_AT_ONCE)
        rows, labels = X_test[block], y_test[block]
        products = dense(rows @ vectors.T)
        table = _gaussian(products, squared_lengths(rows)[:, None], norms, gamma)
        wrong += np.sum((table @ coefficients[support] >= 0.0) != labels[:, None], axis=0)
    shares: list[float] = (wrong / len(y_test)).tolist()
    return shares


def _gaussian(products: Floats, norms: Any, other_norms: Floats, gamma: float) -> Floats:
    """Kernel values from inner products, which are overwritten."""
    products *= 2.0
    products -= norms
    products -= other_norms
    products *= gamma
    np.minimum(products, 0.0, out=products)  # rounding can make a distance negative
    return np.exp(products, out=products)


def gaussian_row(X: Array, norms: Floats, i: int, gamma: float) -> Floats:
    """The kernel values of one example with all."""
    products = X @ dense(X[i : i + 1])[0]
    return _gaussian(products, norms[i], norms, gamma)


def squared_lengths(rows: Any) -> Floats:
    """|x|^2 of every row."""
    if scipy.sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    norms: Floats = np.einsum("ij,ij->i", rows, rows)
    return norms


def compact(split: Split) -> Split:
    """The same examples, as sparse matrices where most values are 0: all methods are faster on
    them.
    """
    X, y, X_test, y_test = split
    if scipy.sparse.issparse(X) or np.count_nonzero(X) >= SPARSE_SHARE * X.size:
        return split
    sparse: Any = scipy.sparse.csr_matrix
    return sparse(X), y, sparse(X_test), y_test


def dense(table: Any) -> Floats:
    """A table whose zeros are stored too."""
    full: Floats = table.toarray() if scipy.sparse.issparse(table) else table
    return full


def signs_of(y: Array) -> Floats:
    """1 for the positive class and -1 for the other."""
    return np.where(y, 1.0, -1.0)
