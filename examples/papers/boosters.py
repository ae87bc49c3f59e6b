"""AutoKernel beside batch learners that are refitted, and mixtures of both: what a user of Python
would take instead.

LightGBM and three learners of scikit-learn stand in `rb.Refitted`, and have the defaults of their
libraries. Every example is predicted before it is learned. A learner that exceeds the limit stops,
and is compared on the rows that it has seen. What a learner said of the examples is used again
where it is part of a mixture, so that it learns each stream once.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from river import base, linear_model, preprocessing

import river_budget as rb
from river_budget.experiments.auto import auto
from river_budget.experiments.auto.auto_streams import STREAMS, Examples, examples_of
from river_budget.messages.progress import Progress
from river_budget.mixing.many import MOST_AT_ONCE, ManyRows, best_of

from .moa import Comparison, errors_at, stops
from .records.outcomes import Outcomes

NEEDS = "pip install 'lightgbm>=4.5' scikit-learn"
OURS = "AutoKernel"
FIRST_ROWS = 120  # in which there is a first fit
LEAST_SHARE = 1e-3  # of a label, so that the log loss is finite
Make = Callable[
    [int, bool, bool], Any
]  # from a seed, whether it is regression, whether there are two labels


def boosted(seed: int, regression: bool, **settings: Any) -> Any:
    """A learner of LightGBM in one thread."""
    import lightgbm

    kind = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
    return kind(n_jobs=1, verbose=-1, random_state=seed, **settings)


def scaled(classifier: Any, regressor: Any, regression: bool) -> Any:
    """A learner of scikit-learn behind a scaler; a regressor also has its targets scaled."""
    from sklearn import compose, pipeline
    from sklearn.preprocessing import StandardScaler

    chosen = pipeline.make_pipeline(StandardScaler(), regressor if regression else classifier)
    if not regression:
        return chosen
    return compose.TransformedTargetRegressor(chosen, transformer=StandardScaler())


def support_vectors(seed: int, regression: bool, two: bool) -> Any:
    from sklearn import svm

    return rb.Refitted(scaled(svm.SVC(), svm.SVR(), regression))


def network(seed: int, regression: bool, two: bool) -> Any:
    """Two hidden layers of 64, 30 epochs in each fit."""
    from sklearn import neural_network

    how = {"hidden_layer_sizes": (64, 64), "max_iter": EPOCHS, "random_state": seed}
    kinds = neural_network.MLPClassifier(**how), neural_network.MLPRegressor(**how)
    return rb.Refitted(scaled(*kinds, regression=regression))


def neighbours(seed: int, regression: bool, two: bool) -> Any:
    from sklearn import neighbors

    made = scaled(neighbors.KNeighborsClassifier(), neighbors.KNeighborsRegressor(), regression)
    return rb.Refitted(made, max_wait=KNN_WAIT)


def ours(seed: int, regression: bool, two: bool) -> Any:
    kind = rb.AutoKernelRegressor if regression else rb.AutoKernelClassifier
    return kind(seed=seed)


def linear(seed: int, regression: bool, two: bool) -> Any:
    if regression:
        return auto.both_scaled(linear_model.LinearRegression())
    return auto.scaled(auto.linear(two))


def budgeted(seed: int, regression: bool, two: bool) -> Any:
    if regression:
        return auto.both_scaled(rb.BSGDRegressor(seed=seed))
    return preprocessing.StandardScaler() | rb.BSGDClassifier(seed=seed)


EPOCHS, KNN_WAIT = 30, 50
SMALL: dict[str, Any] = {"n_estimators": 40, "num_leaves": 15, "learning_rate": 0.2}
SMALL |= {"min_child_samples": 10}
ALL_ROWS, LONGEST = "LightGBM on all rows", 10**6
MEMBERS: dict[str, Make] = {
    OURS: ours,
    "LightGBM": lambda seed, regression, two: rb.Refitted(boosted(seed, regression)),
    "small LightGBM": lambda seed, regression, two: rb.Refitted(
        boosted(seed, regression, **SMALL), grow=0.5
    ),
    ALL_ROWS: lambda seed, regression, two: rb.Refitted(
        boosted(seed, regression), window=LONGEST, max_wait=LONGEST
    ),
    "SVM": support_vectors,
    "kNN": neighbours,
    "MLP": network,
    "BSGD": budgeted,
    "linear": linear,
}
ORDINARY = "five ordinary tools"
MIXTURES = {
    f"{OURS} + LightGBM": (OURS, "LightGBM"),
    f"{OURS} + small LightGBM": (OURS, "small LightGBM"),
    f"{OURS} + {ALL_ROWS}": (OURS, ALL_ROWS),
    ORDINARY: ("LightGBM", "SVM", "kNN", "BSGD", "linear"),
}
LEARNERS = [*MEMBERS, *MIXTURES]
# for long streams: in the first thousands of rows it is the same as with a window
USUAL = [name for name in LEARNERS if ALL_ROWS not in name]
# with so many classes or columns a learner takes minutes; all others together take less than an
# hour
HEAVY = {"a9a", "letter", "letter-test", "usps"}
SINGLE = [OURS, "LightGBM", f"{OURS} + LightGBM", f"{OURS} + small LightGBM"]
ONE_BY_ONE, SINGLE_ROWS = "sea", 10_000  # the stream whose rows come one at a time
MADE = {
    OURS: "`AutoKernelClassifier()`, `AutoKernelRegressor()`",
    "LightGBM": "`Refitted(LGBMClassifier())`",
    "small LightGBM": "`Refitted(LGBMClassifier(n_estimators=40, num_leaves=15, learning_rate=0.2, min_child_samples=10), grow=0.5)`",  # noqa: E501
    ALL_ROWS: f"`Refitted(LGBMClassifier(), window={LONGEST:_}, max_wait={LONGEST:_})`",
    "SVM": "`Refitted(SVC())`, behind a scaler",
    "kNN": f"`Refitted(KNeighborsClassifier(), max_wait={KNN_WAIT})`, behind a scaler",
    "MLP": f"`Refitted(MLPClassifier((64, 64), max_iter={EPOCHS}))`, behind a scaler",
    "BSGD": "`BSGDClassifier()`, behind a scaler",
    "linear": "`LogisticRegression()`, behind a scaler",
    **{name: f"`Mixture` of {', '.join(parts)}" for name, parts in MIXTURES.items()},
}


@dataclass
class Played:
    """What a learner said of each example before it learned it, and its processor seconds."""

    opinions: list[Any]
    seconds: float


class Recorded(base.Estimator):
    """A learner that repeats what another said."""

    def __init__(self, opinions: Sequence[Any]):
        self.opinions, self.at = opinions, 0

    def learn_one(self, x: Any, y: Any) -> None:
        self.at += 1


class RecordedClassifier(Recorded, base.Classifier):
    def predict_proba_one(self, x: Any, **further: Any) -> Any:
        return self.opinions[self.at]


class RecordedRegressor(Recorded, base.Regressor):
    def predict_one(self, x: Any) -> Any:
        return self.opinions[self.at]


def play(
    model: Any, stream: Examples, regression: bool, limit: float = np.inf, ahead: bool = True
) -> Played:
    """Let a model predict and learn a stream, until the limit.

    ahead: compute the opinions on all rows until the next fit in one call, as
    `predict_then_learn_many` does.
    """
    ask = model.predict_one if regression else model.predict_proba_one
    foresees, found, start = ahead and issubclass(type(model), ManyRows), [], 0
    before = time.process_time()
    while start < len(stream) and time.process_time() - before < limit:
        rows = min(model.rows_until_fit(), MOST_AT_ONCE) if foresees else MOST_AT_ONCE
        block = stream[start : start + rows]
        if foresees:
            model.foresee([x for x, _ in block])
        for x, y in block:
            found.append(ask(x))
            model.learn_one(x, y)
        start += len(block)
    return Played(found, time.process_time() - before)


def mix(parts: Sequence[Played], stream: Examples, regression: bool) -> Played:
    """The mixture of learners that have been played."""
    kind = RecordedRegressor if regression else RecordedClassifier
    model = rb.Mixture(*(kind(part.opinions) for part in parts))
    n = min(len(part.opinions) for part in parts)
    mixed = play(model, stream[:n], regression)
    return Played(mixed.opinions, mixed.seconds + sum(part.seconds for part in parts))


def outcome_of(
    played: Played, stream: Examples, regression: bool, curve: bool = False
) -> dict[str, Any]:
    """The figures of a run, with the errors over the first rows at the points of a curve."""
    opinions, n = played.opinions, len(played.opinions)
    guesses = opinions if regression else list(map(best_of, opinions))
    # of a run that saw all rows only the last error is compared
    at = stops(n) if curve or n < len(stream) else [n]
    found: dict[str, Any] = {
        "rows": n,
        "microseconds": round(1e6 * played.seconds / n, 1),
        "at": at,
        "errors": [round(error, 6) for error in errors_at(stream, guesses, regression, at)],
    }
    if not regression:
        shares = [one.get(y, 0.0) for one, (_, y) in zip(opinions, stream, strict=False)]
        found["log_loss"] = round(float(-np.log(np.maximum(shares, LEAST_SHARE)).mean()), 5)
    return found


@dataclass(frozen=True)
class Settings:
    """What a run depends on beside stream and learner."""

    examples: int | None = 10_000
    rows: int = 10_000
    seed: int = 1
    limit: float = 120.0

    def stream(self, data: str) -> Examples:
        """The examples that all learners get."""
        return examples_of(data, self.examples, self.seed, self.rows)

    def key(self, data: str, learner: str) -> str:
        """The name of a run."""
        length = f", {self.rows} generated" if STREAMS[data].generated else ""
        return f"{data}{length}, {self.examples} rows, seed {self.seed}: {learner}"


class Runs:
    """The runs of one stream, of which those that are stored are not repeated."""

    def __init__(self, data: str, settings: Settings, outcomes: Outcomes):
        self.data, self.settings, self.outcomes = data, settings, outcomes
        self.stream, self.regression = settings.stream(data), STREAMS[data].regression
        self._played: dict[str, Played] = {}

    def outcome(self, learner: str) -> dict[str, Any]:
        """The outcome of a learner, which is measured unless it is stored."""
        key = self.settings.key(self.data, learner)
        if (found := self.outcomes.get(key)) is None:
            played, curve = self._play(learner), learner == OURS
            found = outcome_of(played, self.stream, self.regression, curve)
            self.outcomes.add(key, found)
        return found

    def _play(self, learner: str) -> Played:
        if learner not in self._played:
            self._played[learner] = (
                mix([self._play(part) for part in MIXTURES[learner]], self.stream, self.regression)
                if learner in MIXTURES
                else self._run(learner)
            )
        return self._played[learner]

    def _run(self, learner: str) -> Played:
        two = auto.has_two_labels(self.stream)
        model = MEMBERS[learner](self.settings.seed, self.regression, two)
        with warnings.catch_warnings():  # of networks that have not converged
            warnings.simplefilter("ignore")
            # code is compiled, and libraries are loaded, before the clock starts
            play(model.clone(), self.stream[:FIRST_ROWS], self.regression)
            return play(model, self.stream, self.regression, self.settings.limit)

    def comparison(self, learner: str) -> Comparison:
        """A learner beside AutoKernel, on the rows that both have seen."""
        own, other = self.outcome(OURS), self.outcome(learner)
        rows = max(set(own["at"]) & set(other["at"]))
        theirs, at = (one["errors"][one["at"].index(rows)] for one in (other, own))
        return Comparison(
            self.data, learner, self.regression, rows, len(self.stream), theirs, at,
            own["errors"][-1], other["microseconds"], own["microseconds"],
        )  # fmt: skip


def compare(
    data: Sequence[str], learners: Sequence[str], settings: Settings, outcomes: Outcomes
) -> list[Comparison]:
    """Every learner beside AutoKernel on every stream."""
    found = []
    with Progress(len(data) * len(learners), "boosters") as bar:
        for name in data:
            runs = Runs(name, settings, outcomes)
            for learner in learners:
                found.append(runs.comparison(learner))
                bar.advance(f"{learner} on {name}")
    return found


def single(outcomes: Outcomes, seed: int = 1) -> dict[str, float]:
    """Microseconds for `predict_proba_one` and `learn_one` of an example, one at a time, by
    learner.
    """
    found, stream = {}, examples_of(ONE_BY_ONE, SINGLE_ROWS, seed)
    for learner in SINGLE:
        key = f"{ONE_BY_ONE}, {SINGLE_ROWS} rows one at a time, seed {seed}: {learner}"
        if (outcome := outcomes.get(key)) is None:
            parts = [MEMBERS[part](seed, False, False) for part in MIXTURES.get(learner, [learner])]
            model = rb.Mixture(*parts) if learner in MIXTURES else parts[0]
            play(model.clone(), stream[:FIRST_ROWS], regression=False)
            outcome = outcome_of(play(model, stream, False, ahead=False), stream, False)
            outcomes.add(key, outcome)
        found[learner] = outcome["microseconds"]
    return found


def start() -> None:
    """Raise an error that says what to install, if something is missing."""
    for package in ("lightgbm", "sklearn"):
        if importlib.util.find_spec(package) is None:
            raise RuntimeError(f"`boosters` needs {package}, which is not installed: {NEEDS}")
