"""The stochastic batch Perceptron: a kernel SVM that is trained on a window of the stream."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ...core import memory
from ...core.expansion.kernels import BOUND
from ...core.expansion.support import LONGEST_STEP
from ...core.passes.window import sbp as core
from ...core.passes.window import water_levels as choice
from ...core.rounds.calibration import STEEPEST
from ...kernels import Kernel
from ...model.algorithm import After, Algorithm, Files
from ...model.calls import run_once
from ...model.estimators import BudgetClassifier
from ...model.expansion import FIRST_CAPACITY
from ...model.lock import changes_the_model, locked_read
from ...model.stored import Vectors
from ...parameters import (
    COUNT,
    Fixed,
    Mutable,
    boolean,
    not_negative,
    one_of,
    optional,
    positive,
    whole,
)

__all__ = ["SBPClassifier"]

LARGE = 1e200  # larger than any number of a window, and its products do not overflow
MOST_PASSES = 1000  # at most so many passes over the window, to find an optimum
LARGEST_GRAM = 1024  # windows up to this size keep all kernel values: 8 MB


def _all_within(bound: float, *tables: Any) -> bool:
    return all((np.abs(table) <= bound).all() for table in tables)


def _check_window(model: Any, count: int) -> None:
    state, block = model._state_record(), memory.views(model._block)
    if block.head.per_vector == 0:  # the model only predicts
        state.positives = 0
        return
    labels, pulls = block.per_vector[[choice.LABELS, choice.PULLS], :count]
    if not (np.abs(labels) == 1.0).all() or np.sum(labels > 0.0) != state.positives:
        raise ValueError("its window has other labels")
    if not ((pulls >= 0.0) & (pulls <= LONGEST_STEP)).all():
        raise ValueError("the weights of its window are out of range")
    if not _all_within(LARGE, block.coefficients) or not _all_within(BOUND, block.factor):
        raise ValueError("its window is out of range")


def _window_rows(model: Any) -> Any:
    block = memory.views(model._block)
    if block.head.per_vector == 0:
        raise RuntimeError("this model was loaded with predict_only=True: its window is gone")
    return block.per_vector[:, : block.head.count]


def _drop_table(model: Any, name: str) -> None:
    if name == "window" and model.window > LARGEST_GRAM and model._block is not None:
        model._resize_block(factored=0)  # the table would grow with the square of the window


def _continue_sum(model: Any, parts: list[Any]) -> None:
    """Continue learning from the function that predicts, also if that is a mean of iterates."""
    model._resize_block(factored=model._header_fields(1)["factored"])
    state, rows, n = model._state_record(), _window_rows(model), model.n_support_vectors
    rows[choice.RESPONSES] = rows[choice.LABELS] * model._scores_of_vectors()[:, 0]
    state.norm2, state.seen = model._squared_length(), max(state.seen, n)
    state.positives = np.sum(rows[choice.LABELS] > 0.0)
    state.bias = sum(
        part.weight * part.columns[0, 0] * part.model._state_record().bias for part in parts
    )
    block = memory.views(model._block)
    if block.head.factored:
        block.factor[:n, :n] = model._gram()


class SBPClassifier(BudgetClassifier):
    """The kernelised stochastic batch Perceptron (SBP), on a window of examples.

    A window holds `window` examples: a uniform sample of the past, or the most recent ones. Every
    arrival is followed by `steps` iterations that train a kernel SVM on the window, so it learns
    from an example many times. With few examples it is more accurate than models that learn each
    one once, and takes more time for each.

    A window keeps its examples whether they are support vectors or not. `rb.save(...,
    predict_only=True)` and `rb.load(..., predict_only=True)` keep the support vectors only.

    It is a batch learner too, one of the fastest for kernel SVMs: with a window as large as the
    data and `steps=0`, call `learn_many` and then `refine`.

    Two classes only; for more, put it into river's `multiclass.OneVsRestClassifier`.

    While a model lives, `mutate` or assignment may change `window`, `slack` and `steps`.

    Not for drift (`eviction="oldest"` follows it slowly), nor where a row may only take some
    microseconds: each arrival trains on the window.

    Parameters
    ----------
    window
        The largest number of stored examples. Up to 1024 their kernel values are stored too, which
        takes 8 window² bytes.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    slack
        How far examples may lie below the margin of a model of length one, on average over the
        window. More slack makes the model smoother.
    steps
        Iterations after each arrival.
    fit_bias
        Whether the model has a bias, which is not regularised.
    eviction
        Which example makes room in a full window: "reservoir" keeps a uniform sample of the past,
        "oldest" removes the oldest example.
    classes
        The labels, if they are known in advance: the negative one first. Others are then an error.
        None: the positive label is True, or else the second one that occurs.
    seed
        Seed of the random numbers; None draws anew in every run.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.SBPClassifier(kernel=rb.kernels.RBF(4.0), seed=1)
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    More iterations without new examples, averaged:

    >>> model["SBPClassifier"].refine(1000)

    References
    ----------
    [^1]: [Cotter, A., Shalev-Shwartz, S. and Srebro, N., 2012. The kernelized stochastic batch Perceptron. ICML.](https://arxiv.org/abs/1204.0566)

    """  # noqa: E501

    algorithm = Algorithm(
        core.learn,
        core.STATE,
        score=core.score,
        shrink=core.shrink_to_window,
        header={
            "per_vector": core.PER_VECTOR,
            "factored": lambda model: int(model.window <= LARGEST_GRAM),
        },
        start={"reservoir": lambda model: int(model.eviction == "reservoir")},
        counters=("seen", "done"),
        binary=True,
        columns=Vectors(room=FIRST_CAPACITY, marks=(choice.LABELS, choice.PULLS), limit="window"),
        after=After(change=_drop_table, union=_continue_sum),
        files=Files(
            ranges={
                **dict.fromkeys(("seen", "done", "iterations", "refined", "positives"), COUNT),
                **dict.fromkeys(("norm2", "bias", "last_bias", "per_vector"), (-LARGE, LARGE)),
                "last_slope": (0.0, STEEPEST),
                "steps": (0, 1_000_000),  # iterations after one example
            },
            check=_check_window,
            whole_factor=True,
        ),
    )

    window = Mutable(whole(1))
    slack = Mutable(not_negative)
    steps = Mutable(whole(0))
    fit_bias = Fixed(boolean)
    eviction = Fixed(one_of("reservoir", "oldest"))

    def __init__(
        self,
        window: int = 500,
        kernel: Kernel | None = None,
        slack: float = 0.02,
        steps: int = 4,
        fit_bias: bool = False,
        eviction: Literal["reservoir", "oldest"] = "reservoir",
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(locals())

    @property
    @locked_read
    def bias(self) -> float:
        """The bias, which is added to the kernel expansion; 0 without `fit_bias`."""
        return 0.0 if self._block is None else float(self._state_record().bias)

    @changes_the_model
    def refine(self, n: int, tolerance: float | None = None) -> None:
        """Train on the window: n iterations without new data.

        Until the next example is learned, the model predicts with the mean of these n iterates, as
        the batch method does. Learning continues from the last one.

        With a `tolerance` it may stop earlier: each round has as many iterations as all rounds
        before it together, and the first round that raises the margin by less than this share is
        the last one. The model then predicts with the mean of that round. (The paper does not say
        when to stop.)
        """
        whole(0)("n", n)
        optional(not_negative)("tolerance", tolerance)
        if self._block is None:
            return
        if tolerance is None:
            self._iterate(n)
            return
        done, size = 0, self.n_support_vectors
        best = -math.inf
        while done < n:
            count = min(max(size, done), n - done)
            self._iterate(count)
            done += count
            margin = self._margin
            if margin - best <= tolerance * abs(margin):
                return
            best = margin

    def _iterate(self, n: int) -> None:
        self._state_record().iterations = n
        run_once(self, core.refine)

    # the objective of the method, on the window

    def _responses(self) -> Any:
        """y_i f(x_i) of the examples in the window, with the bias."""
        return _window_rows(self)[choice.LABELS] * (self._scores_of_vectors()[:, 0] + self.bias)

    @property
    @locked_read
    def _margin(self) -> float:
        """The objective of the paper: the margin of a model of length one on the window, with slack
        `slack`.

        The largest gamma for which the mean of max(0, gamma - y f(x) / |w|) is at most `slack`. It
        grows during `refine`.
        """
        if not self.n_support_vectors:
            return 0.0
        length = math.sqrt(self._squared_length())
        responses = np.sort(self._responses() / length if length > 0.0 else self._responses())
        counts = np.arange(1, len(responses) + 1)
        levels = (len(responses) * self.slack + np.cumsum(responses)) / counts
        above = np.append(responses[1:], np.inf)
        return float(levels[np.argmax(levels <= above)])

    @locked_read
    def _objective(self, l2: float) -> float:
        """The other form of the problem: l2 / 2 |w|^2 + the mean hinge loss, on the window.

        For the model that predicts, which `refine` scales so that the margin is 1.
        """
        positive("l2", l2)
        if not self.n_support_vectors:
            return 1.0
        losses = np.maximum(0.0, 1.0 - self._responses())
        return float(0.5 * l2 * self._squared_length() + losses.mean())

    @locked_read
    def slack_for(self, l2: float, tolerance: float = 1e-3) -> float:
        """The `slack` that corresponds to a strength of regularisation `l2`: nu from lambda,
        section 5 of the paper.

        It is the mean hinge loss of the optimum for `l2` on the window, divided by |w| of the
        optimum; with this slack, both forms of the problem have the same solution. Solves the
        problem (without a bias, by dual coordinate ascent) until the gap between primal and dual is
        below `tolerance` of the objective.
        """
        positive("l2", l2)
        positive("tolerance", tolerance)
        if not self.n_support_vectors:
            return float(self.slack)
        labels, gram = _window_rows(self)[choice.LABELS], self._gram()
        length, loss = _optimum(gram * np.outer(labels, labels), l2, tolerance)
        return float(loss / length) if length > 0.0 else 0.0


def _optimum(signed_gram: Any, l2: float, tolerance: float) -> tuple[float, float]:
    """(|w|, mean hinge loss) of the minimum of l2 / 2 |w|^2 + mean hinge loss, by dual coordinate
    ascent.
    """
    n = len(signed_gram)
    cap, diagonal = 1.0 / (l2 * n), np.diag(signed_gram)
    weights, responses, draws = np.zeros(n), np.zeros(n), np.random.default_rng(0)
    for _ in range(MOST_PASSES):
        for i in draws.permutation(n):
            if diagonal[i] > 0.0:
                wanted = weights[i] + (1.0 - responses[i]) / diagonal[i]
                step = min(max(wanted, 0.0), cap) - weights[i]
                if step != 0.0:
                    weights[i] += step
                    responses += step * signed_gram[i]
        norm2 = max(float(weights @ responses), 0.0)
        loss = float(np.maximum(0.0, 1.0 - responses).mean())
        primal, dual = 0.5 * l2 * norm2 + loss, l2 * (float(weights.sum()) - 0.5 * norm2)
        if primal - dual <= tolerance * primal:
            break
    return math.sqrt(norm2), loss
