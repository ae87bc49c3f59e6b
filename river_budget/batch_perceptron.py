"""The stochastic batch Perceptron: a kernel SVM that is trained on a window of the stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from .calls import Call
from .core import batch_perceptron as core
from .core import block as blocks
from .estimator import BudgetClassifier
from .expansion import FIRST_CAPACITY, GROWTH
from .kernels import Kernel
from .parameters import Mutable, boolean, not_negative, one_of, whole
from .union import gram_of, scores_of_vectors, squared_length

__all__ = ["SBPClassifier"]

LARGEST_TABLE = 1024  # windows up to this size keep all kernel values: 8 MB


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
        One of `river_budget.kernels`; None stands for `RBF()`.
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
        For the draws.

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

    _learn = staticmethod(core.learn)
    _decide = staticmethod(core.decide)
    _shrink = staticmethod(core.shrink_to_window)
    _state = core.STATE
    _size = "window"
    _extras = core.EXTRAS
    _binary = True
    _counters = ("seen", "done")

    window = Mutable(whole(1))
    slack = Mutable(not_negative)
    steps = Mutable(whole(0))

    def __init__(
        self,
        window: int = 500,
        kernel: Kernel | None = None,
        slack: float = 0.05,
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

    def _header(self, n_features: int) -> dict[str, Any]:
        return super()._header(n_features) | {"factored": int(self.window <= LARGEST_TABLE)}

    def _start(self) -> dict[str, Any]:
        return {"reservoir": int(self.eviction == "reservoir")}

    def _restored(self, count: int) -> None:
        own = self._own()
        counters = (own.positives, own.seen, own.done, own.refined, own.reservoir)
        if own.positives > count or min(counters) < 0:
            raise ValueError("its window has another size")

    def _marks(self, flipped: bool) -> Any:
        """The labels and the weights of the window."""
        labels, pulls = self._extra_rows()[[core.LABELS, core.PULLS]]
        return np.array([-labels if flipped else labels, pulls])

    def _set_marks(self, marks: Any) -> None:
        self._extra_rows()[[core.LABELS, core.PULLS]] = marks

    def _extra_rows(self) -> Any:
        return blocks.views(self._block).extras[:, : self.n_support_vectors]

    def _inherit(self, parts: list[Any]) -> None:
        """Learning goes on from the function that predicts, also where that is a mean of iterates."""
        super()._inherit(parts)
        self._resize(factored=self._header(1)["factored"])
        own, extras, n = self._own(), self._extra_rows(), self.n_support_vectors
        extras[core.RESPONSES] = extras[core.LABELS] * scores_of_vectors(self)[:, 0]
        own.norm2, own.seen = squared_length(self), max(own.seen, n)
        own.positives = np.sum(extras[core.LABELS] > 0.0)
        own.bias = sum(
            (-part.weight if part.flipped else part.weight) * part.model._own().bias
            for part in parts
        )
        block = blocks.views(self._block)
        if block.head.factored:
            block.factor[:n, :n] = gram_of(self)

    def _capacity(self, count: int) -> int:
        """Grows up to the window, which may be larger than the stream."""
        return blocks.columns_for(min(max(FIRST_CAPACITY, count), self.window) + 1)

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == "window" and value > LARGEST_TABLE and self._block is not None:
            self._resize(factored=0)  # the table would grow with the square of the window

    def _prepare(self) -> None:
        capacity = int(blocks.views(self._block).head.capacity)
        self._resize(capacity=blocks.columns_for(min(GROWTH * capacity, self.window + 1)))

    @property
    def bias(self) -> float:
        """What is added to the kernel expansion; 0 without `fit_bias`."""
        return 0.0 if self._block is None else float(self._own().bias)

    def refine(self, n: int) -> None:
        """Train on the window: n iterations without new data.

        Until the next example is learned, the model predicts with the mean of these n iterates, as the
        batch method does. Learning goes on from the last one.
        """
        whole(0)("n", n)
        if self._block is not None:
            self._own().iterations = n
            Call(self._block).of(core.refine)
