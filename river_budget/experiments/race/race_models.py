"""The streams and the models of the race.

River's models have their default parameters, and KNN stores 1000 rows. So do ours, except for a budget
of 100 (SBP: a window of 100), and one RBF kernel per stream (`STREAMS`). Its
gamma, out of .02, .05, .1, .2, .5, 1, 2, 4 and 8, had the smallest mean error of nine of our models on that same
stream: a small advantage over River's models, which were not tuned. RandomFourier and Nystroem stand in
front of River's logistic regression.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from river import forest, linear_model, multiclass, neighbors, preprocessing
from river.datasets import synth

import river_budget as rb

from ..auto import auto_streams
from ..auto.auto_streams import Examples

BUDGET = 100
KNN_ROWS = 1000  # rows that KNN stores
DRIFT_EXAMPLES = 4000  # examples of the drifting stream


# streams


@dataclass(frozen=True)
class RaceStream:
    """The kernel's gamma and the number of classes of a stream."""

    gamma: float
    classes: int = 2


STREAMS = {
    "phishing": RaceStream(0.1),
    "bananas": RaceStream(4.0),
    "image-segments": RaceStream(0.5, classes=7),
    "drift": RaceStream(4.0),
}


@functools.lru_cache(len(STREAMS))
def examples_of(data: str, examples: int | None, seed: int) -> Examples:
    """The first examples of a stream; those of `auto` but for the drifting one.

    Its points lie on both sides of a sine wave; in the middle of the stream the labels of the sides are exchanged.
    """
    if data != "drift":
        return auto_streams.examples_of(data, examples, seed)
    n = DRIFT_EXAMPLES if examples is None else min(examples, DRIFT_EXAMPLES)
    before = synth.Sine(classification_function=2, seed=seed)
    after = synth.Sine(classification_function=3, seed=seed + 1)
    both = itertools.chain(before.take(n // 2), after.take(n - n // 2))
    return [(x, bool(y)) for x, y in both]


# models


@dataclass(frozen=True)
class Setup:
    """What models are built from: a stream and a seed."""

    gamma: float
    classes: int
    seed: int

    @property
    def kernel(self) -> rb.kernels.RBF:
        """The RBF kernel of the stream."""
        return rb.kernels.RBF(self.gamma)

    def linear(self) -> Any:
        """River's logistic regression for this number of classes."""
        if self.classes > 2:
            return linear_model.SoftmaxRegression()
        return linear_model.LogisticRegression()

    def binary(self, model: Any) -> Any:
        """A binary model; with three classes or more, one such model for each class."""
        return multiclass.OneVsRestClassifier(model) if self.classes > 2 else model

    def bsgd(self, maintenance: Any) -> Any:
        """BSGD with a maintenance strategy."""
        return rb.BSGDClassifier(BUDGET, self.kernel, maintenance, seed=self.seed)

    def sbp(self, eviction: str) -> Any:
        """SBP with a rule of eviction."""
        return self.binary(rb.SBPClassifier(BUDGET, self.kernel, eviction=eviction, seed=self.seed))

    def bogd(self, sampling: str) -> Any:
        """BOGD with a rule of sampling."""
        return rb.BOGDClassifier(BUDGET, self.kernel, sampling=sampling, seed=self.seed)


MODELS: dict[str, Callable[[Setup], Any]] = {
    "LogisticRegression": lambda s: s.linear(),
    "KNN": lambda s: neighbors.KNNClassifier(engine=neighbors.LazySearch(KNN_ROWS)),
    "ARF": lambda s: forest.ARFClassifier(seed=s.seed),
    "AutoKernel": lambda s: rb.AutoKernelClassifier(seed=s.seed),
    "BSGD-merge": lambda s: s.bsgd(rb.maintenance.Merge()),
    "BSGD-project": lambda s: s.bsgd(rb.maintenance.Project()),
    "BSGD-remove": lambda s: s.bsgd(rb.maintenance.RemoveSmallest()),
    "Perceptron": lambda s: rb.KernelPerceptronClassifier(s.kernel),
    "OGD": lambda s: rb.KernelOGDClassifier(s.kernel),
    "RBP": lambda s: rb.RBPClassifier(BUDGET, s.kernel, seed=s.seed),
    "Forgetron": lambda s: rb.ForgetronClassifier(BUDGET, s.kernel),
    "CKS": lambda s: s.binary(rb.BudgetPerceptronClassifier(BUDGET, s.kernel)),
    "Projectron": lambda s: rb.ProjectronClassifier(BUDGET, s.kernel),
    "Projectron++": lambda s: rb.ProjectronPPClassifier(BUDGET, s.kernel),
    "BPA": lambda s: rb.BPAClassifier(BUDGET, s.kernel),
    "BOGD": lambda s: s.bogd("uniform"),
    "BOGD++": lambda s: s.bogd("nonuniform"),
    "NORMA": lambda s: s.binary(rb.NORMAClassifier(BUDGET, s.kernel)),
    "FOGD": lambda s: rb.FOGDClassifier(kernel=s.kernel, seed=s.seed),
    "NOGD": lambda s: rb.NOGDClassifier(BUDGET, s.kernel),
    "SBP": lambda s: s.sbp("reservoir"),
    "SBP-oldest": lambda s: s.sbp("oldest"),
    "RandomFourier": lambda s: rb.RandomFourier(kernel=s.kernel, seed=s.seed) | s.linear(),
    "Nystroem": lambda s: rb.Nystroem(BUDGET, kernel=s.kernel) | s.linear(),
}

RIVERS = ("ARF", "KNN", "LogisticRegression")  # the slowest first


CAPTION = (
    "Wrong predictions in %, each made before the example is learned; a star marks the best. A StandardScaler is in "
    "front of each. Ours: budget 100 (SBP: a window of 100) and one RBF kernel per stream, whose gamma ("
    + ", ".join(f"{name} {stream.gamma:g}" for name, stream in STREAMS.items())
    + ") suits ours best on average; AutoKernel has nothing set; River's KNN stores 1000 rows; all else is default. "
    "Times are wall times."
)


def build(model: str, data: str, seed: int) -> Any:
    """The pipeline of a model for a stream."""
    stream = STREAMS[data]
    setup = Setup(stream.gamma, stream.classes, seed)
    return preprocessing.StandardScaler() | MODELS[model](setup)
