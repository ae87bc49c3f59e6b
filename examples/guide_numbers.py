"""Prints the measured tables of the guide, as its pages show them.

    python examples/guide_numbers.py drift

Every example is predicted before it is learned. The name in a row is the code of its model. Seeds
are 1, and River's StandardScaler is in front of all but AutoKernel. elec2 and letter are files in
the folder RIVER_BUDGET_DATA.
"""

from __future__ import annotations

import argparse
import importlib
import math
import random
from collections.abc import Iterable, Iterator
from typing import Any

import river
from river import datasets, evaluate, metrics, preprocessing
from river.datasets import synth

import river_budget as rb
from river_budget.experiments.auto.auto_streams import examples_of

ROOMS = ("anomaly", "forest", "imblearn", "linear_model", "multiclass", "neighbors", "tree")
NAMES = {name: getattr(rb, name) for name in rb.__all__} | {"rb": rb, "river": river}
NAMES |= vars(rb.kernels) | vars(rb.maintenance)
for room in map(importlib.import_module, (f"river.{name}" for name in ROOMS)):
    NAMES |= {name: getattr(room, name) for name in room.__all__}
NAMES |= {name: getattr(preprocessing, name) for name in ("MinMaxScaler", "StandardScaler")}


def made(code: str) -> Any:
    """The model that a row names, with a seed if it takes one."""
    model = eval(code, NAMES)
    return model.clone({"seed": 1}) if "seed" in model._get_params() else model


def scaled(code: str) -> Any:
    """The same behind a scaler; AutoKernel needs none."""
    model = made(code)
    return model if code.startswith("AutoKernel") else preprocessing.StandardScaler() | model


def score(model: Any, stream: Any, metric: Any = None, delay: int | None = None) -> float:
    """Right predictions in %, or the value of a metric."""
    metric = metric or metrics.Accuracy()
    found = evaluate.progressive_val_score(stream, model.clone(), metric, delay=delay).get()
    return float(100 * found if isinstance(metric, metrics.Accuracy) else found)


def shown(code: str) -> str:
    """Code in a cell of a table."""
    return f"`{code}`".replace("|", r"\|")


def line(name: str, values: Iterable[float], form: str = ".1f") -> None:
    """A row of a table."""
    print(f"| {name} | " + " | ".join(f"{value:{form}}" for value in values) + " |", flush=True)


def compare(codes: str, *streams: Any) -> None:
    """Right predictions in % of models on streams."""
    for code in codes.split("; "):
        line(shown(code), (score(scaled(code), stream) for stream in streams))


def drift() -> None:
    """Before a change, in the 500 examples after it, and in the end."""
    stream = list(synth.Sine(classification_function=2, seed=1).take(4000))
    stream = [(x, bool(y) != (t >= 2000)) for t, (x, y) in enumerate(stream)]
    for code in DRIFT.split("; "):
        model, right = scaled(code), []
        for x, y in stream:
            right.append(model.predict_one(x) == y)
            model.learn_one(x, y)
        line(shown(code), (sum(right[a : a + 500]) / 5 for a in (1500, 2000, 3500)))


DRIFT = (
    "LogisticRegression(); KNNClassifier(engine=LazySearch(1000)); ARFClassifier(); "
    "AutoKernelClassifier(); BSGDClassifier(); BSGDClassifier(maintenance=RemoveOldest()); "
    "ForgetronClassifier(); BSGDClassifier(average=200); BSGDClassifier(average=True); "
    'SBPClassifier(); SBPClassifier(eviction="oldest")'
)


def neighbours() -> None:
    compare(
        "AutoKernelClassifier(); ProjectronPPClassifier(); ProjectronClassifier(); "
        "NOGDClassifier(); FOGDClassifier(); BSGDClassifier(); BSGDClassifier(average=True); "
        "LogisticRegression(); ARFClassifier()",
        examples_of("elec2", 10_000, 1),
    )


def delays() -> None:
    """Wrong predictions in % of AutoKernel and of a forest, with labels that come late."""
    for name in ("phishing", "image-segments", "agrawal", "elec2"):
        stream = examples_of(name, 4000, 1)
        for code in ("AutoKernelClassifier()", "ARFClassifier()"):
            wrong = (100 - score(scaled(code), stream, delay=k) for k in (0, 1, 100, 1000))
            line(f"{name} | {shown(code)}", wrong)


def imbalance() -> None:
    """F1, recall and precision of rare examples."""
    rng, stream = random.Random(1), []
    for _ in range(10_000):
        x = {name: rng.gauss(0, 1) for name in "abc"}
        near = (x["a"] - 1.5) ** 2 + (x["b"] - 1.5) ** 2 < 0.5
        stream.append((x, rng.random() < (0.7 if near else 0.01)))
    for code, threshold, weight in IMBALANCE:
        model, found = scaled(code), (metrics.F1(), metrics.Recall(), metrics.Precision())
        for x, y in stream:
            for metric in found:
                metric.update(y, model.predict_proba_one(x).get(True, 0) > threshold)
            model.learn_one(x, y, **({"w": weight} if y and weight > 1 else {}))
        line(f"{shown(code)} | {threshold} | {weight}", (metric.get() for metric in found), ".2f")


KERNEL, AUTO = "BSGDClassifier()", "AutoKernelClassifier()"
SAMPLED = [
    f"Random{kind}Sampler({KERNEL}, {{0: 0.8, 1: 0.2}}, seed=1)" for kind in ("Under", "Over")
]
IMBALANCE = [("LogisticRegression()", 0.5, 1), *((KERNEL, 0.5, weight) for weight in (1, 2, 3, 5))]
IMBALANCE += [(KERNEL, 0.25, 1), *((code, 0.5, 1) for code in SAMPLED)]
IMBALANCE += [(AUTO, 0.5, 1), (AUTO, 0.25, 1)]


def regression() -> None:
    """Mean absolute errors on two streams."""
    streams = datasets.TrumpApproval(), examples_of("friedman", 5000, 1)
    for code in REGRESSION.split("; "):
        whole = code.startswith(("AutoKernel", "StandardScaler"))
        model = made(code) if whole else preprocessing.TargetStandardScaler(scaled(code))
        line(shown(code), (score(model, stream, metrics.MAE()) for stream in streams), ".3f")


REGRESSION = (
    "LinearRegression(); StandardScaler() | HoeffdingAdaptiveTreeRegressor(seed=1); "
    "BSGDRegressor(); StandardScaler() | BSGDRegressor(); FOGDRegressor(); NOGDRegressor(); "
    "AutoKernelRegressor()"
)


def from_river() -> None:
    compare(
        "LogisticRegression(); PAClassifier(); BPAClassifier(); BSGDClassifier(); KNNClassifier(); "
        "AutoKernelClassifier(); river.feature_extraction.RBFSampler(seed=1) | "
        "LogisticRegression(); "
        "rb.RBFSampler(seed=1) | LogisticRegression()",
        datasets.Phishing(),
        datasets.Bananas(),
    )


def many_classes() -> None:
    compare(
        "SoftmaxRegression(); KNNClassifier(engine=LazySearch(1000)); BSGDClassifier(); "
        "BSGDClassifier(500); FOGDClassifier(); OneVsRestClassifier(BSGDClassifier()); "
        "AutoKernelClassifier()",
        examples_of("image-segments", None, 1),
        examples_of("letter", 10_000, 1),
    )


def ring(cluster: bool) -> Iterator[tuple[dict[str, float], bool]]:
    """A ring, with anomalies anywhere or in one cluster inside."""
    rng = random.Random(1)
    for _ in range(5000):
        strange, angle = rng.random() < 0.02, rng.uniform(0, 2 * math.pi)
        x, y = math.cos(angle) + rng.gauss(0, 0.1), math.sin(angle) + rng.gauss(0, 0.1)
        if strange:
            x, y = (rng.gauss(0, 0.1) if cluster else rng.uniform(-2, 2) for _ in "xy")
        yield {"x": x, "y": y}, strange


def anomalies() -> None:
    """Areas under the ROC curve."""
    for code in ANOMALIES.split("; "):
        found = (
            score(made(code), ring(c), metrics.ROCAUC(n_thresholds=200)) for c in (False, True)
        )
        line(shown(code), found, ".2f")


ANOMALIES = (
    "KernelOneClassSVM(nu=0.1, kernel=RBF(4.0)); KernelOneClassSVM(nu=0.2, kernel=RBF(4.0)); "
    "StandardScaler() | KernelOneClassSVM(); MinMaxScaler() | HalfSpaceTrees(seed=1); "
    "StandardScaler() | OneClassSVM(nu=0.1)"
)


def widths() -> None:
    """Right predictions in % of BSGDClassifier() with gamma = c / d."""
    for name in ("phishing", "bananas", "image-segments"):
        stream = examples_of(name, None, 1)
        codes = (f"BSGDClassifier(kernel=RBF('{c:g}/d'))" for c in (0.25, 0.5, 1, 2, 4, 8, 32))
        line(name, (score(scaled(code), stream) for code in codes))


TABLES = ["drift", "neighbours", "delays", "imbalance", "regression", "from_river"]
TABLES += ["many_classes", "anomalies", "widths"]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", choices=TABLES)
    globals()[parser.parse_args().table]()
