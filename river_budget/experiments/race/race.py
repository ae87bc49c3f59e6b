"""A race over small streams: all classifiers of this package beside three of River's.

Every model predicts an example before it learns it. Before each stands a StandardScaler, whose time
and memory are included. River's models have their default parameters, and KNN stores 1000 rows. So
do ours, except for a budget of 100 (SBP: a window of 100), and one RBF kernel per stream
(`STREAMS`). Its gamma, out of .02, .05, .1, .2, .5, 1, 2, 4 and 8, had the smallest mean error of
nine of our models on that same stream: a small advantage over River's models, which were not tuned.
RandomFourier and Nystroem stand in front of River's logistic regression.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from river import forest, neighbors
from river.datasets import synth

import river_budget as rb

from ...maintenance import Merge, Project, RemoveSmallest
from ...plots.panels import Line, Panel
from ..auto import auto_streams
from ..auto.auto import for_labels, has_two_labels, knn, linear, scaled
from ..auto.auto_streams import Examples
from ..common.results import COSTS, Result, costs, one_by_one, play, starred
from ..common.tables import Table

BUDGET = 100
DRIFT_EXAMPLES = 4000  # examples of the drifting stream
PLOTTED_MODELS = 8  # at most so many of our models are in the plot


# streams


# the kernel's gamma for each
STREAMS = {"phishing": 0.1, "bananas": 4.0, "image-segments": 0.5, "drift": 4.0}


@functools.lru_cache(len(STREAMS))
def examples_of(data: str, examples: int | None, seed: int) -> Examples:
    """The first examples of a stream; those of `auto` but for the drifting one.

    Its points lie on both sides of a sine wave; in the middle of the stream the labels of the sides
    are exchanged.
    """
    if data != "drift":
        return auto_streams.examples_of(data, examples, seed)
    n = DRIFT_EXAMPLES if examples is None else min(examples, DRIFT_EXAMPLES)
    before = synth.Sine(classification_function=2, seed=seed)
    after = synth.Sine(classification_function=3, seed=seed + 1)
    both = itertools.chain(before.take(n // 2), after.take(n - n // 2))
    return [(x, bool(y)) for x, y in both]


# models


class Setup(NamedTuple):
    """What models are built from: the kernel and River's linear model for a stream, and a seed."""

    kernel: rb.kernels.RBF
    linear: Any
    seed: int


MODELS: dict[str, Callable[[Setup], Any]] = {
    "LogisticRegression": lambda s: s.linear,
    "KNN": lambda s: knn(neighbors.KNNClassifier),
    "ARF": lambda s: forest.ARFClassifier(seed=s.seed),
    "AutoKernel": lambda s: rb.AutoKernelClassifier(seed=s.seed),
    "BSGD-merge": lambda s: rb.BSGDClassifier(BUDGET, s.kernel, Merge(), seed=s.seed),
    "BSGD-project": lambda s: rb.BSGDClassifier(BUDGET, s.kernel, Project(), seed=s.seed),
    "BSGD-remove": lambda s: rb.BSGDClassifier(BUDGET, s.kernel, RemoveSmallest(), seed=s.seed),
    "Perceptron": lambda s: rb.KernelPerceptronClassifier(s.kernel),
    "OGD": lambda s: rb.KernelOGDClassifier(s.kernel),
    "RBP": lambda s: rb.RBPClassifier(BUDGET, s.kernel, seed=s.seed),
    "Forgetron": lambda s: rb.ForgetronClassifier(BUDGET, s.kernel),
    "CKS": lambda s: rb.BudgetPerceptronClassifier(BUDGET, s.kernel),
    "Projectron": lambda s: rb.ProjectronClassifier(BUDGET, s.kernel),
    "Projectron++": lambda s: rb.ProjectronPPClassifier(BUDGET, s.kernel),
    "BPA": lambda s: rb.BPAClassifier(BUDGET, s.kernel),
    "BOGD": lambda s: rb.BOGDClassifier(BUDGET, s.kernel, sampling="uniform", seed=s.seed),
    "BOGD++": lambda s: rb.BOGDClassifier(BUDGET, s.kernel, sampling="nonuniform", seed=s.seed),
    "NORMA": lambda s: rb.NORMAClassifier(BUDGET, s.kernel),
    "FOGD": lambda s: rb.FOGDClassifier(kernel=s.kernel, seed=s.seed),
    "NOGD": lambda s: rb.NOGDClassifier(BUDGET, s.kernel),
    "SBP": lambda s: rb.SBPClassifier(BUDGET, s.kernel, eviction="reservoir", seed=s.seed),
    "SBP-oldest": lambda s: rb.SBPClassifier(BUDGET, s.kernel, eviction="oldest", seed=s.seed),
    "RandomFourier": lambda s: rb.RandomFourier(kernel=s.kernel, seed=s.seed) | s.linear,
    "Nystroem": lambda s: rb.Nystroem(BUDGET, kernel=s.kernel) | s.linear,
}

RIVERS = ("ARF", "KNN", "LogisticRegression")


CAPTION = (
    "Wrong predictions in %, each made before the example is learned; a star marks the best. A "
    "StandardScaler is in "
    "front of each. Ours: budget 100 (SBP: a window of 100) and one RBF kernel per stream, whose "
    "gamma ("
    + ", ".join(f"{name} {gamma:g}" for name, gamma in STREAMS.items())
    + ") suits ours best on average; AutoKernel has nothing set; River's KNN stores 1000 rows; all else is default. "  # noqa: E501
    "Times are wall times."
)


def build(model: str, data: str, seed: int) -> Any:
    """The pipeline of a model for a stream."""
    two = has_two_labels(examples_of(data, None, seed))
    made = MODELS[model](Setup(rb.kernels.RBF(STREAMS[data]), linear(two), seed))
    return scaled(for_labels(made, two))


# all models on all streams


def race(
    data: Sequence[str] | None = None,
    *,
    models: Sequence[str] | None = None,
    examples: int | None = None,
    seed: int = 1,
) -> list[Result]:
    """A result for each stream and model, ordered by stream; of all streams and models if none are
    named.
    """

    def result(name: str, model: str) -> Result:
        stream = examples_of(name, examples, seed)
        return play(name, model, build(model, name, seed), stream, False, shares=False)

    tasks = {
        f"{model} on {name}": functools.partial(result, name, model)
        for name in dict.fromkeys(data or STREAMS)
        for model in dict.fromkeys(models or MODELS)
    }
    return one_by_one("race", tasks)


# what is shown


def rows(results: Sequence[Result]) -> Table:
    """(header, lines): wrong predictions in % per stream, mean time, and memory after the worst
    stream.
    """
    streams, text = list(dict.fromkeys(result.data for result in results)), starred(results)
    lines = []
    for model in dict.fromkeys(result.model for result in results):
        own = {result.data: result for result in results if result.model == model}
        lines.append([model, *(text(own[name]) for name in streams), *costs(own.values())])
    return ["model", *streams, *COSTS], lines


def panels(results: Sequence[Result]) -> list[Panel]:
    """The curves of River's models and of the best of ours, one panel per stream."""
    errors: dict[str, float] = {}
    for result in results:
        errors[result.model] = errors.get(result.model, 0.0) + result.error
    ours = sorted(errors.keys() - set(RIVERS), key=lambda model: (errors[model], model))
    models = {*RIVERS, *ours[:PLOTTED_MODELS]}  # with more, curves would cover each other
    found = []
    for name in dict.fromkeys(result.data for result in results):
        own = [r for r in results if r.data == name and r.model in models]
        lines = [Line(r.model, r.at, r.errors) for r in own]
        # the best models are close to each other and far from the worst
        found.append(Panel(name, "examples", "wrong so far", lines, log_y=True, percent=True))
    return found
