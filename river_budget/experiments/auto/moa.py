"""The learners of MOA, called through CapyMOA, with CapyMOA's defaults except for ensemble sizes.

MOA is the Java library in which many authors published their streaming learners. Its learners get the same rows in
the same order and the same seed as ours. All features are numeric, as they are in River's dicts. Labels are nominal,
and MOA's schema lists all of them in advance; our models do not get this list.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from river import preprocessing

from .auto_streams import Examples

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
    # it computes distances of unscaled features, so the feature with the largest unit would dominate
    "SAMkNN": Learner("SAMkNN", scaled=True),
    "ARF(10)": Learner(FOREST, {"ensemble_size": 10}),
    "ARF(100)": Learner(FOREST, {"ensemble_size": 100}),
    "SRP(10)": Learner("StreamingRandomPatches", {"ensemble_size": 10}),
    "SGBT": Learner("StreamingGradientBoostedTrees"),
    "SOKNL": Learner("SOKNL", regression=True),
    "ARF-Reg": Learner("AdaptiveRandomForestRegressor", regression=True),
    "SGBR": Learner("StreamingGradientBoostedRegression", regression=True),
}


class Player(Protocol):
    """A learner that predicts and then learns each example. `prepared` converts examples to its own type."""

    def prepared(self, examples: Examples) -> Sequence[Any]: ...
    def predict(self, example: Any) -> Any: ...
    def learn(self, example: Any) -> None: ...


class RiverPlayer:
    """A model with River's interface, ours included."""

    def __init__(self, model: Any):
        self._predict, self._learn = model.predict_one, model.learn_one

    def prepared(self, examples: Examples) -> Examples:
        """Return the examples unchanged."""
        return examples

    def predict(self, example: Any) -> Any:
        """Predict one example."""
        return self._predict(example[0])

    def learn(self, example: Any) -> None:
        """Learn one example."""
        self._learn(*example)


class MoaPlayer:
    """A learner of MOA on one stream."""

    def __init__(self, learner: Learner, stream: Examples, seed: int):
        module = importlib.import_module(
            "capymoa.regressor" if learner.regression else "capymoa.classifier"
        )
        self._names = list(dict.fromkeys(name for x, _ in stream for name in x))
        self._labels = [] if learner.regression else sorted({y for _, y in stream}, key=str)
        self._places = {label: i for i, label in enumerate(self._labels)}
        self._scaler = preprocessing.StandardScaler() if learner.scaled else None
        self._instance, self._schema = self._form()
        self._model = getattr(module, learner.kind)(
            schema=self._schema, random_seed=seed, **learner.settings
        )

    def _form(self) -> tuple[Any, Any]:
        """(class of the instances, schema)"""
        core = importlib.import_module("capymoa.core")
        columns = [f"x{i}" for i in range(len(self._names))]
        classes = [str(i) for i in range(len(self._labels))]
        schema = importlib.import_module("capymoa.stream").Schema.from_custom(
            features=[*columns, "y"], target="y", categories={"y": classes} if classes else None
        )
        return (core.LabeledInstance if classes else core.RegressionInstance), schema

    def prepared(self, examples: Examples) -> list[Any]:
        """Convert examples to MOA's instances. An absent feature becomes a missing value."""
        return [self._prepared(x, y) for x, y in examples]

    def _prepared(self, x: dict[Any, Any], y: Any) -> Any:
        if self._scaler is not None:
            self._scaler.learn_one(x)  # type: ignore[no-untyped-call]
            x = self._scaler.transform_one(x)  # type: ignore[no-untyped-call]
        row = np.array([x.get(name, math.nan) for name in self._names], float)
        instance = self._instance.from_array(self._schema, row, self._places.get(y, y))
        _ = (
            instance.java_instance
        )  # converted here, so that the time does not count for the learner
        return instance

    def predict(self, instance: Any) -> Any:
        """Predict one instance; None if MOA has no prediction."""
        found = self._model.predict(instance)
        return self._labels[found] if self._labels and found is not None else found

    def learn(self, instance: Any) -> None:
        """Learn one instance."""
        self._model.train(instance)


def start() -> dict[str, str]:
    """Start Java and return the versions. If something is missing, raise an error that says what to install."""
    os.environ.setdefault("CAPYMOA_JVM_ARGS", JAVA_OPTIONS)
    try:
        importlib.import_module("capymoa")
        java = importlib.import_module("jpype").java.lang.System.getProperty("java.version")
    except ImportError as error:
        raise RuntimeError(
            f"`auto --moa` needs CapyMOA, which is not installed: {NEEDS}"
        ) from error
    except Exception as error:  # CapyMOA and JPype raise different types when Java is missing
        raise RuntimeError(f"`auto --moa` needs Java, which does not start: {NEEDS}") from error
    return {"capymoa": importlib.metadata.version("capymoa"), "java": str(java)}
