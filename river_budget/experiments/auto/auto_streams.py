"""The streams of `river-budget auto`: those that ship with River, generators with drift, and files.

On most of them AutoKernel was developed; those that are `unseen` had no part in it.

A stream is the same for the same seed: it seeds generators and the order of files (Elec2 stays in
the order of time, and datasets of River in their own).
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from river import datasets as rivers
from river.datasets import synth

from ... import datasets

GENERATED_ROWS = 10_000  # of a generated stream by default, drifts included
Examples = list[tuple[dict[Any, Any], Any]]


@dataclass(frozen=True)
class Stream:
    """A function of a seed and a number of generated rows, and the dataset that it needs.

    Streams that are not `generated` ignore the number of rows.
    """

    load: Callable[..., Iterable[tuple[dict[Any, Any], Any]]]
    regression: bool = False
    needs: str | None = None
    generated: bool = True
    package: str = "river"  # that makes the examples

    @property
    def ready(self) -> bool:
        """Whether the examples can be read without a download."""
        found = importlib.util.find_spec(self.package) is not None
        return found and (self.needs is None or datasets.load(self.needs).at_hand)


def _shipped(dataset: Any, regression: bool = False) -> Stream:
    """A dataset that comes with River."""
    return Stream(lambda seed, rows=0: dataset(), regression, generated=False)


def _endless(make: Callable[[int], Any], regression: bool = False) -> Stream:
    """The first rows of a generator, which a function makes from a seed."""

    def load(seed: int, rows: int = GENERATED_ROWS) -> Any:
        return make(seed).take(rows)

    return Stream(load, regression)


def _concepts(kind: Any, settings: list[dict[str, Any]]) -> Stream:
    """Generators of one kind with several settings, one after the other, with equally many rows
    each.
    """

    def load(seed: int, rows: int = GENERATED_ROWS) -> Any:
        n = rows // len(settings)
        return chain.from_iterable(
            kind(seed=seed + 10 * i, **setting).take(n) for i, setting in enumerate(settings)
        )

    return Stream(load)


def _friedman_drift(seed: int, rows: int = GENERATED_ROWS) -> Any:
    """Friedman's function with three local abrupt drifts."""
    quarters = (rows // 4, rows // 2, 3 * rows // 4)
    return synth.FriedmanDrift(drift_type="lea", position=quarters, seed=seed).take(rows)


# a hyperplane that turns slowly; clusters of five classes, all of which move
TURNING: dict[str, Any] = {"n_features": 10, "n_drift_features": 5}
TURNING |= {"mag_change": 0.005, "noise_percentage": 0.05}
MOVING: dict[str, Any] = {"n_classes": 5, "n_features": 10, "n_centroids": 50}
MOVING |= {"change_speed": 0.001, "n_drift_centroids": 50}
# LED digits, with drifting features in the second half
LED = [
    {"noise_percentage": 0.1, "irrelevant_features": True, "n_drift_features": f} for f in (0, 4)
]


def _file(name: str, regression: bool = False, part: str | None = None) -> Stream:
    """A dataset whose file must be available."""
    return Stream(functools.partial(_rows, name, part), regression, name, generated=False)


def _rows(name: str, part: str | None, seed: int, rows: int = 0) -> Any:
    """Examples as dicts, in the order of the seed or of time."""
    data: Any = datasets.load(name)
    X, y = data.arrays() if part is None else data.part(part)
    yield from _dicts(X, y, None if data.time_order else seed)


def _dicts(X: Any, y: Any, seed: int | None) -> Any:
    """The rows as dicts, in the order of a seed."""
    n = len(y)
    for i in range(n) if seed is None else np.random.default_rng(seed).permutation(n):
        yield dict(enumerate(X[i].tolist())), y[i].item()


def _of_scikit_learn(name: str, regression: bool = False) -> Stream:
    """A dataset that comes with scikit-learn."""

    def load(seed: int, rows: int = 0) -> Any:
        from sklearn import datasets as theirs

        X, y = getattr(theirs, f"load_{name}")(return_X_y=True)
        yield from _dicts(X, y, seed)

    return Stream(load, regression, generated=False, package="sklearn")


def _impedance(seed: int, rows: int = GENERATED_ROWS) -> Any:
    """Friedman's second function, of four features in units of their own, with noise of a third of
    its deviation.
    """
    from sklearn.datasets import make_friedman2

    X, y = make_friedman2(rows, noise=125.0, random_state=seed)
    yield from _dicts(X, y, None)


def _later_prices(seed: int, rows: int = 0) -> Any:
    """Elec2 behind the rows that `auto` runs at most."""
    return islice(_rows("elec2", None, seed), 30_000, None)


SEEN: dict[str, Stream] = {
    "phishing": _shipped(rivers.Phishing),
    "bananas": _shipped(rivers.Bananas),
    "image-segments": _shipped(rivers.ImageSegments),
    "sea": _concepts(synth.SEA, [{"variant": v, "noise": 0.1} for v in range(4)]),
    "agrawal": _concepts(
        synth.Agrawal, [{"classification_function": f, "perturbation": 0.05} for f in (0, 3, 6)]
    ),
    "hyperplane": _endless(lambda seed: synth.Hyperplane(seed=seed, **TURNING)),
    "moving-clusters": _endless(
        lambda seed: synth.RandomRBFDrift(seed_model=seed, seed_sample=seed, **MOVING)
    ),
    "led": _concepts(synth.LEDDrift, LED),
    "waveform": _endless(lambda seed: synth.Waveform(seed=seed)),
    # the second concept has the labels of the first reversed
    "sine": _concepts(synth.Sine, [{"classification_function": f} for f in (2, 3)]),
    # labels of a random tree over five numbers and five categories; each seed gives another tree
    "rtree": _endless(lambda seed: synth.RandomTree(seed_tree=seed, seed_sample=seed)),
    "elec2": _file("elec2"),
    "a9a": _file("a9a", part="a9a"),
    "ijcnn1": _file("ijcnn1", part="ijcnn1"),
    "cod-rna": _file("codrna", part="cod-rna"),
    "letter": _file("letter-raw"),
    "shuttle": _file("shuttle"),
    "usps": _file("usps", part="usps"),
    "trump": _shipped(rivers.TrumpApproval, regression=True),
    "chick": _shipped(rivers.ChickWeights, regression=True),
    "friedman": _endless(lambda seed: synth.Friedman(seed=seed), regression=True),
    "friedman-drift": Stream(_friedman_drift, regression=True),
    "housing": _file("housing", regression=True),
    "abalone": _file("abalone", regression=True),
    "cadata": _file("cadata", regression=True),
    "casp": _file("casp", regression=True),
}
# streams that had no part in the development of AutoKernel
UNSEEN: dict[str, Stream] = {
    "agrawal-others": _concepts(
        synth.Agrawal, [{"classification_function": f, "perturbation": 0.1} for f in (1, 5, 8)]
    ),
    # a linear truth, of whose labels three in ten are turned
    "noisy-hyperplane": _endless(
        lambda seed: synth.Hyperplane(
            seed=seed, n_features=20, n_drift_features=0, noise_percentage=0.3
        )
    ),
    "mixed": _concepts(synth.Mixed, [{"classification_function": f} for f in (0, 1)]),
    "clusters": _endless(
        lambda seed: synth.RandomRBF(
            seed_model=seed, seed_sample=seed, n_classes=4, n_features=20, n_centroids=20
        )
    ),
    "small-rtree": _endless(
        lambda seed: synth.RandomTree(
            seed_tree=seed, seed_sample=seed, n_cat_features=2, n_categories_per_feature=3
        )
    ),
    "noisy-led": _endless(lambda seed: synth.LED(seed=seed, noise_percentage=0.2)),
    "later-elec2": Stream(_later_prices, needs="elec2", generated=False),
    "letter-test": _file("letter-raw", part="letter.t"),
    "digits": _of_scikit_learn("digits"),
    "breast-cancer": _of_scikit_learn("breast_cancer"),
    "planes": _endless(lambda seed: synth.Planes2D(seed=seed), regression=True),
    "impedance": Stream(_impedance, regression=True, package="sklearn"),
    "diabetes": _of_scikit_learn("diabetes", regression=True),
    "mg": _file("mg", regression=True),
}
STREAMS = SEEN | UNSEEN
USUAL = [name for name in SEEN if name != "rtree"]  # where `auto` runs if nobody names any


@functools.lru_cache(2)
def examples_of(name: str, examples: int | None, seed: int, rows: int = GENERATED_ROWS) -> Examples:
    """The first examples of a stream. `rows` is the length of generated streams."""
    return list(islice(STREAMS[name].load(seed, rows), examples))
