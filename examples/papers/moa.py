"""The learners of MOA, called through CapyMOA, and AutoKernel on the same streams, with a time
limit.

MOA is the Java library in which many authors published their streaming learners. Its learners have
CapyMOA's defaults except for ensemble sizes, and get the same rows in the same order and the same
seed as ours. All features are numeric, as they are in River's dicts. Labels are nominal, and MOA's
schema lists all of them in advance; our models do not get this list.

Every example is predicted before it is learned. A run of MOA that exceeds the limit stops, and is
compared with AutoKernel on the rows that it has seen. A file keeps the error curve of each run of
MOA as one line of JSON, so that AutoKernel can be measured again later, also on a machine without
Java.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import os
import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from river import preprocessing

from river_budget._version import __version__
from river_budget.experiments.auto import auto
from river_budget.experiments.auto.auto_streams import (
    GENERATED_ROWS,
    STREAMS,
    Examples,
    examples_of,
)
from river_budget.experiments.common.scores import UNSCORED_ROWS
from river_budget.messages.progress import Progress

from .records.outcomes import Outcomes

BLOCK = 20  # rows between two looks at the clock
FIRST_STOP, GROWTH = 100, 1.1  # the rows of a curve: the first, and the factor between two
ROUND = 1000  # rows; a curve has each multiple too, as users ask for round numbers
LEAST_ROWS = 0.5  # half a mistake, instead of none: ratios of errors must be finite

Outcome = dict[str, Any]  # rows, seconds, microseconds, at, errors, versions and machine

NEEDS = "pip install 'capymoa>=0.15.1', and Java 11 or newer (of Debian: default-jre-headless)"

JAVA_OPTIONS = "-Xmx8g -Xss10M -Xrs"  # CapyMOA's defaults, and -Xrs, which leaves Ctrl-C to Python


@dataclass(frozen=True)
class Learner:
    """A class of CapyMOA and its settings. `scaled` puts a StandardScaler in front."""

    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    regression: bool = False
    scaled: bool = False

    def __str__(self) -> str:
        text = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{'StandardScaler | ' if self.scaled else ''}{self.kind}({text})"


FOREST = "AdaptiveRandomForestClassifier"
LEARNERS = {
    # it computes distances of unscaled features, so the feature with the largest unit would
    # dominate
    "SAMkNN": Learner("SAMkNN", scaled=True),
    "ARF(10)": Learner(FOREST, {"ensemble_size": 10}),
    "ARF(100)": Learner(FOREST, {"ensemble_size": 100}),
    "SRP(10)": Learner("StreamingRandomPatches", {"ensemble_size": 10}),
    "SGBT": Learner("StreamingGradientBoostedTrees"),
    "SOKNL": Learner("SOKNL", regression=True),
    "ARF-Reg": Learner("AdaptiveRandomForestRegressor", regression=True),
    "SGBR": Learner("StreamingGradientBoostedRegression", regression=True),
}


class MoaLearner:
    """A learner of MOA on one stream, with River's interface for examples that are prepared."""

    def __init__(self, learner: Learner, stream: Examples, seed: int):
        module = importlib.import_module(
            "capymoa.regressor" if learner.regression else "capymoa.classifier"
        )
        self._names = list(dict.fromkeys(name for x, _ in stream for name in x))
        self._labels = [] if learner.regression else sorted({y for _, y in stream}, key=str)
        self._places = {label: i for i, label in enumerate(self._labels)}
        self._scaler = preprocessing.StandardScaler() if learner.scaled else None
        core = importlib.import_module("capymoa.core")
        self._instance = core.RegressionInstance if learner.regression else core.LabeledInstance
        columns = [f"x{i}" for i in range(len(self._names))]
        classes = [str(i) for i in range(len(self._labels))]
        self._schema = importlib.import_module("capymoa.stream").Schema.from_custom(
            features=[*columns, "y"], target="y", categories={"y": classes} if classes else None
        )
        self._model = getattr(module, learner.kind)(
            schema=self._schema, random_seed=seed, **learner.settings
        )

    def prepared(self, examples: Examples) -> Examples:
        """Convert examples to MOA's instances. An absent feature becomes a missing value."""
        return [(self._prepared(x, y), y) for x, y in examples]

    def _prepared(self, x: dict[Any, Any], y: Any) -> Any:
        if self._scaler is not None:
            self._scaler.learn_one(x)  # type: ignore[no-untyped-call]
            x = self._scaler.transform_one(x)  # type: ignore[no-untyped-call]
        row = np.array([x.get(name, math.nan) for name in self._names], float)
        instance = self._instance.from_array(self._schema, row, self._places.get(y, y))
        # converted here, so that the time does not count for the learner
        _ = instance.java_instance
        return instance

    def predict_one(self, instance: Any) -> Any:
        """Predict one instance; None if MOA has no prediction."""
        found = self._model.predict(instance)
        return self._labels[found] if self._labels and found is not None else found

    def learn_one(self, instance: Any, y: Any) -> None:
        """Learn one instance, which has its target."""
        self._model.train(instance)


def start() -> dict[str, str]:
    """Start Java and return the versions. If something is missing, raise an error that says what to
    install.
    """
    os.environ.setdefault("CAPYMOA_JVM_ARGS", JAVA_OPTIONS)
    try:
        importlib.import_module("capymoa")
        java = importlib.import_module("jpype").java.lang.System.getProperty("java.version")
    except ImportError as error:
        raise RuntimeError(f"`moa` needs CapyMOA, which is not installed: {NEEDS}") from error
    except Exception as error:  # CapyMOA and JPype raise different types when Java is missing
        raise RuntimeError(f"`moa` needs Java, which does not start: {NEEDS}") from error
    return {"capymoa": importlib.metadata.version("capymoa"), "java": str(java)}


# The runs


@dataclass(frozen=True)
class Comparison:
    """One learner of MOA and AutoKernel on one stream.

    `theirs` and `ours` are the errors over the first `rows` of `of` rows: the share of wrong
    predictions, or 1 - R2. `whole` is AutoKernel's error over all rows. Times are microseconds per
    row of the processor time of the learning thread.
    """

    data: str
    rival: str
    regression: bool
    rows: int
    of: int
    theirs: float
    ours: float
    whole: float
    their_microseconds: float
    our_microseconds: float

    @property
    def cut(self) -> bool:
        """Whether the comparison uses only the first rows of the stream."""
        return self.rows < self.of

    @property
    def ratio(self) -> float:
        """MOA's error divided by ours. An error above 1, worse than predicting the mean, counts as
        1.
        """
        least = LEAST_ROWS / self.rows
        return max(min(self.theirs, 1.0), least) / max(min(self.ours, 1.0), least)


def play(
    model: Any,
    stream: Examples,
    limit: float,
    prepared: Callable[[Examples], Examples] = list,
    show: Callable[[int], None] = lambda rows: None,
) -> tuple[list[Any], float, float]:
    """(guesses, processor seconds of the process, processor seconds of this thread), until the
    limit.

    The limit applies to the time of the process, which includes the threads of Java's compiler and
    garbage collector, and only after the first rows of a curve.
    """
    guesses: list[Any] = []
    spent = own = 0.0
    for start in range(0, len(stream), BLOCK):
        block = prepared(stream[start : start + BLOCK])
        process, thread = time.process_time(), time.thread_time()
        for x, y in block:
            guesses.append(model.predict_one(x))
            model.learn_one(x, y)
        own += time.thread_time() - thread
        spent += time.process_time() - process
        show(len(guesses))
        if spent >= limit and len(guesses) >= FIRST_STOP:
            break
    return guesses, spent, own


def stops(rows: int) -> list[int]:
    """The numbers of rows at which a curve has its points."""
    found, stop = {rows, *range(ROUND, rows, ROUND)}, float(FIRST_STOP)
    while stop < rows:
        found.add(round(stop))
        stop *= GROWTH
    return sorted(found)


def errors_at(
    stream: Examples, guesses: Sequence[Any], regression: bool, at: Sequence[int]
) -> list[float]:
    """The error over the first n rows, for each n in `at`."""
    pairs = list(zip(guesses, (y for _, y in stream), strict=False))
    if not regression:
        wrong = np.cumsum([guess != y for guess, y in pairs])
        return [float(wrong[n - 1] / n) for n in at]
    scored = np.array(pairs[UNSCORED_ROWS:], float)
    parts = [scored[: n - UNSCORED_ROWS].T for n in at]
    return [float(np.mean((guess - y) ** 2) / np.var(y)) for guess, y in parts]


def outcome_of(
    learner: MoaLearner,
    stream: Examples,
    regression: bool,
    limit: float,
    show: Callable[[int], None],
) -> Outcome:
    """Run a learner of MOA and return its outcome."""
    guesses, spent, own = play(learner, stream, limit, learner.prepared, show)
    at = stops(len(guesses))
    return {
        "rows": len(guesses),
        "seconds": math.ceil(1000 * spent) / 1000,  # no less than the limit, if that ended it
        "microseconds": round(1e6 * own / len(guesses), 1),
        "at": at,
        "errors": [round(error, 6) for error in errors_at(stream, guesses, regression, at)],
    }


def our_guesses(data: str, stream: Examples, seed: int) -> tuple[list[Any], float]:
    """(AutoKernel's guess for every row, its microseconds per row)"""
    makers = auto.REGRESSORS if STREAMS[data].regression else auto.CLASSIFIERS
    model = makers["AutoKernel"](seed, len({y for _, y in stream[:500]}) <= 2)
    play(model.clone(), stream[:BLOCK], np.inf)  # compile the code, or load it
    guesses, _, own = play(model, stream, np.inf)
    return guesses, 1e6 * own / len(guesses)


class Match:
    """The settings of all runs, and the outcomes of MOA's by stream, learner and seed."""

    def __init__(
        self,
        path: str | pathlib.Path,
        *,
        examples: int | None,
        rows: int = GENERATED_ROWS,
        seed: int = 1,
        limit: float = 60.0,
        machine: str = "",
    ):
        if examples is not None and examples < FIRST_STOP:
            raise LookupError(f"beside MOA take at least {FIRST_STOP} examples, not {examples}")
        self.outcomes, self.examples, self.rows = Outcomes(path), examples, rows
        self.seed, self.limit, self.machine = seed, limit, machine

    def stream(self, data: str) -> Examples:
        """The rows that MOA's learners and AutoKernel get."""
        return examples_of(data, self.examples, self.seed, self.rows)

    def key(self, data: str, rival: str) -> str:
        """The name of a run: everything that its predictions depend on."""
        length = f", {self.rows} generated" if STREAMS[data].generated else ""
        return f"{data}{length}, seed {self.seed}: {LEARNERS[rival]}"

    def outcome(self, data: str, rival: str) -> Outcome:
        """The stored outcome of a run."""
        found = self.outcomes.get(self.key(data, rival))
        assert found is not None
        return found

    def run(self, data: str, rival: str, bar: Progress) -> None:
        """Run a learner of MOA, unless an outcome is stored with as many rows or as much time."""
        stream, regression = self.stream(data), STREAMS[data].regression
        key = self.key(data, rival)
        kept = self.outcomes.get(key)
        if kept is None or (kept["rows"] < len(stream) and kept["seconds"] < self.limit):
            on = start() | {"machine": self.machine}
            learner = MoaLearner(LEARNERS[rival], stream, self.seed)

            def show(row: int) -> None:
                bar.show(f"{rival} on {data}, row {row}")

            self.outcomes.add(key, outcome_of(learner, stream, regression, self.limit, show) | on)

    def comparisons(self, data: str, rivals: Sequence[str]) -> Iterator[Comparison]:
        """Run AutoKernel and compare it with the stored outcomes of these learners."""
        stream, regression = self.stream(data), STREAMS[data].regression
        guesses, our_microseconds = our_guesses(data, stream, self.seed)
        for rival in rivals:
            outcome = self.outcome(data, rival)
            seen = [i for i, n in enumerate(outcome["at"]) if n <= len(stream)]
            rows = outcome["at"][seen[-1]]
            prefix, whole = errors_at(stream, guesses, regression, [rows, len(stream)])
            yield Comparison(
                data, rival, regression, rows, len(stream), outcome["errors"][seen[-1]], prefix,
                whole, outcome["microseconds"], our_microseconds,
            )  # fmt: skip

    def on(self, comparisons: Sequence[Comparison]) -> list[str]:
        """Sentences about the settings, the versions and the machines of these runs."""
        outcomes = [self.outcome(one.data, one.rival) for one in comparisons]
        versions, machines = (
            " and ".join(dict.fromkeys(text.format(**outcome) for outcome in outcomes))
            for text in ("CapyMOA {capymoa} on Java {java}", "{machine}")
        )
        same = {one["machine"] for one in outcomes} == {self.machine}
        elsewhere = "" if same else f", on {self.machine}"
        hours = sum(outcome["seconds"] for outcome in outcomes) / 3600
        return [
            f"At most {max(one.of for one in comparisons):,} rows of each stream, generated ones "
            f"of {self.rows:,};",
            f"seed {self.seed}.{_cut_off(comparisons, outcomes)}",
            f"{versions}, on {machines}; MOA's runs took {hours:.2f} hours of processor time.",
            f"AutoKernel of river_budget {__version__}, one thread{elsewhere}.",
        ]


def _cut_off(comparisons: Sequence[Comparison], outcomes: Sequence[Outcome]) -> str:
    """A sentence about the runs that the limit stopped."""
    spent = [
        outcome["seconds"]
        for one, outcome in zip(comparisons, outcomes, strict=True)
        if outcome["rows"] < one.of
    ]
    if not spent:
        return " All runs saw all rows."
    return (
        f" {len(spent)} of {len(outcomes)} runs were stopped, after {min(spent):.0f} to "
        f"{max(spent):.0f} processor seconds."
    )


def compare(match: Match, data: Sequence[str], rivals: Sequence[str]) -> list[Comparison]:
    """Run MOA's learners where the record has no outcome, and AutoKernel on all streams."""
    tasks = [
        (name, rival)
        for name in data
        for rival in rivals
        if LEARNERS[rival].regression == STREAMS[name].regression
    ]
    found: list[Comparison] = []
    with Progress(len(tasks), "moa") as bar:
        for name in dict.fromkeys(name for name, _ in tasks):
            own = [rival for one, rival in tasks if one == name]
            for rival in own:
                match.run(name, rival, bar)
                bar.advance(f"{rival} on {name}")
            found += match.comparisons(name, own)
    return found
