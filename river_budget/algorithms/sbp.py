"""The stochastic batch Perceptron: a kernel SVM that is trained on a window of the stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import layout as blocks
from ..core import sbp as core
from ..core.losses import LONGEST
from ..core.rows import BOUND
from ..kernels import Kernel
from ..model.base import changes_the_model
from ..model.calls import Call
from ..model.expansion import FIRST_CAPACITY, GROWTH
from ..model.shells import BudgetClassifier
from ..parameters import Mutable, boolean, not_negative, one_of, whole

__all__ = ["SBPClassifier"]

LARGE = 1e200  # far beyond what a window gets to, and products of it do not overflow
LARGEST_TABLE = 1024  # windows up to this size keep all kernel values: 8 MB


def _all_within(bound: float, *tables: Any) -> bool:
    return all((np.abs(table) <= bound).all() for table in tables)


class SBPClassifier(BudgetClassifier):
    """The kernelised stochastic batch Perceptron (SBP), on a window of examples.

    A window holds `window` examples: a uniform sample of the past, or the most recent ones. Every arrival is
    followed by `steps` iterations that train a kernel SVM on the window, so an example is learned from many
    times. It gets more out of few examples than models that look at each one once, and takes more time for
    each.

    It is a batch learner too, one of the fastest for kernel SVMs: with a window as large as the data and
    `steps=0`, call `learn_many` and then `refine`.

    Two classes only; for more, put it into river's `multiclass.OneVsRestClassifier`.

    Parameters
    ----------
    window
        The largest number of stored examples. Up to 1024 their kernel values are stored too, which takes
        8 window² bytes.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    slack
        How far the margin may be missed, on average over the window, by a model of length one. More slack
        is a smoother model.
    steps
        Iterations after each arrival.
    fit_bias
        Whether the model has a bias, which is not regularised.
    eviction
        Which example makes room in a full window: "reservoir" keeps a uniform sample of the past, "oldest"
        forgets what came first.
    classes
        The labels, if they are known in advance: the negative one first. Others are then an error.
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

    """

    learning_pass = staticmethod(core.learn)
    scoring_pass = staticmethod(core.decide)
    shrinking_pass = staticmethod(core.shrink_to_window)
    state_type = core.STATE
    budget_name = "window"
    per_vector_rows = core.PER_VECTOR
    _binary = True
    counters = ("seen", "done")
    checked_fields = ("seen", "done", "iterations", "refined", "positives")
    file_limits = {"steps": 1_000_000}  # after one example
    factor_is_table = True  # of kernel values, in small windows

    window = Mutable(whole(1))
    slack = Mutable(not_negative)
    steps = Mutable(whole(0))

    def __init__(
        self,
        window: int = 500,
        kernel: Kernel | None = None,
        slack: float = 0.03,
        steps: int = 4,
        fit_bias: bool = False,
        eviction: str = "reservoir",
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(kernel, classes, seed)
        boolean("fit_bias", fit_bias)
        one_of("reservoir", "oldest")("eviction", eviction)
        self.window = window
        self.slack = slack
        self.steps = steps
        self.fit_bias = fit_bias
        self.eviction = eviction

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {"factored": int(self.window <= LARGEST_TABLE)}

    def initial_state(self) -> dict[str, Any]:
        return {"reservoir": int(self.eviction == "reservoir")}

    def check_restored_state(self, count: int) -> None:
        state = self.state_record()
        counters = (state.positives, state.seen, state.done, state.refined, state.iterations)
        if state.positives > count or min(counters) < 0:
            raise ValueError("its window has another size")

    def check_restored_rows(self, count: int) -> None:
        """A search for a water level would not end among numbers that are not finite."""
        block, state = blocks.views(self.block), self.state_record()
        labels, pulls = block.per_vector[[core.LABELS, core.PULLS], :count]
        if not (np.abs(labels) == 1.0).all() or np.sum(labels > 0.0) != state.positives:
            raise ValueError("its window has other labels")
        if not ((pulls >= 0.0) & (pulls <= LONGEST)).all():
            raise ValueError("the weights of its window are out of range")
        numbers = (state.norm2, state.bias, state.last_bias)
        if not _all_within(LARGE, block.coefficients, block.per_vector, *numbers):
            raise ValueError("its window is out of range")
        if not _all_within(BOUND, block.factor):
            raise ValueError("its factor is out of range")

    def window_labels(self, flipped: bool) -> Any:
        """The labels and the weights of the window."""
        labels, pulls = self._window_rows()[[core.LABELS, core.PULLS]]
        return np.array([-labels if flipped else labels, pulls])

    def set_window_labels(self, marks: Any) -> None:
        self._window_rows()[[core.LABELS, core.PULLS]] = marks

    def _window_rows(self) -> Any:
        return blocks.views(self.block).per_vector[:, : self.n_support_vectors]

    def after_uniting(self, parts: list[Any]) -> None:
        """Learning goes on from the function that predicts, also where that is a mean of iterates."""
        super().after_uniting(parts)
        self.resize_block(factored=self.header_fields(1)["factored"])
        state, rows, n = self.state_record(), self._window_rows(), self.n_support_vectors
        rows[core.RESPONSES] = rows[core.LABELS] * self.scores_of_vectors()[:, 0]
        state.norm2, state.seen = self.squared_length(), max(state.seen, n)
        state.positives = np.sum(rows[core.LABELS] > 0.0)
        state.bias = sum(
            (-part.weight if part.flipped else part.weight) * part.model.state_record().bias
            for part in parts
        )
        block = blocks.views(self.block)
        if block.head.factored:
            block.factor[:n, :n] = self.gram()

    def capacity_for(self, count: int) -> int:
        """Grows up to the window, which may be larger than the stream."""
        return blocks.columns_for(min(max(FIRST_CAPACITY, count), self.window) + 1)

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == "window" and value > LARGEST_TABLE and self.block is not None:
            self.resize_block(factored=0)  # the table would grow with the square of the window

    def prepare(self) -> None:
        capacity = int(blocks.views(self.block).head.capacity)
        self.resize_block(capacity=blocks.columns_for(min(GROWTH * capacity, self.window + 1)))

    @property
    def bias(self) -> float:
        """What is added to the kernel expansion; 0 without `fit_bias`."""
        return 0.0 if self.block is None else float(self.state_record().bias)

    @changes_the_model
    def refine(self, n: int) -> None:
        """Train on the window: n iterations without new data.

        Until the next example is learned, the model predicts with the mean of these n iterates, as the
        batch method does. Learning goes on from the last one.
        """
        whole(0)("n", n)
        if self.block is not None:
            self.state_record().iterations = n
            Call(self.block).run(core.refine)
