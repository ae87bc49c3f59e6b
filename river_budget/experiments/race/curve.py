"""Mistakes of models with default parameters along any available stream, with bands over several
orders.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from river import base

import river_budget as rb

from ... import datasets
from ...plots.curves import curve_panel
from ...plots.panels import Panel
from ..auto import auto
from ..auto.auto_streams import STREAMS, examples_of
from ..common.results import one_by_one
from ..common.tables import Table

USUAL_MODELS = (
    "LogisticRegression",
    "LinearRegression",
    "Forgetron",
    "FOGD",
    "NOGD",
    "BSGD",
    "AutoKernel",
)
CLASSIFIERS, REGRESSORS = (
    {
        name.removesuffix(ending): getattr(rb, name)
        for name in rb.__all__
        if name.endswith(ending) and not name.startswith("Auto")
    }
    for ending in ("Classifier", "Regressor")
)
CAPTION = (
    "Mean and standard deviation over the orders; every example is predicted before it is learned. "
    "Nothing is set, "
    "and a StandardScaler is in front of all but AutoKernel; regressors stand inside a "
    "TargetStandardScaler."
)


def data_names() -> list[str]:
    """The names of streams that can be drawn without a download."""
    stored = [name for name in datasets.names() if datasets.load(name).at_hand]
    return stored + [name for name in STREAMS if name not in stored and STREAMS[name].ready]


def stream_of(name: str) -> Any:
    """A dataset of the papers, which has orders of its own, or the examples of a stream."""
    if name not in datasets.names() or not datasets.load(name).at_hand:
        return examples_of(name, None, 1)
    if name in ("checkerboard", "waveform"):
        return datasets.load(name, n_samples=10_000, seed=1)
    return datasets.load(name)


def seeded(kind: Any, seed: int = 1, **parameters: Any) -> Any:
    """A model whose random numbers are the same each time."""
    return kind(**parameters | ({"seed": seed} if "seed" in kind._parameters() else {}))


def models_for(stream: Iterable[Any], seed: int = 1) -> dict[str, Any]:
    """All models for the targets of a stream, by name, River's first."""
    first = [y for (_, y), _ in zip(stream, range(500), strict=False)]
    regression = isinstance(first[0], float)
    makers = auto.REGRESSORS if regression else auto.CLASSIFIERS
    kinds = REGRESSORS if regression else CLASSIFIERS
    scaled = auto.both_scaled if regression else auto.scaled
    two = len(set(first)) <= 2
    models = {name: make(seed, two) for name, make in makers.items()}
    for name, kind in kinds.items():
        model = auto.for_labels(seeded(kind, seed), two)
        models[name.removeprefix("Kernel").replace("PP", "++")] = scaled(model)
    return models


def usual(models: dict[str, Any]) -> list[str]:
    """The models to draw if the user names none."""
    return [name for name in USUAL_MODELS if name in models]


def measure(
    data: str, stream: Any, models: dict[str, base.Estimator], orders: int, examples: int
) -> Panel:
    """Measure the panel to draw: a line for each model."""
    tasks = {
        name: functools.partial(curve_panel, {name: model}, stream, orders, examples, True, data)
        for name, model in models.items()
    }
    panels = one_by_one("curve", tasks)
    panel, lines = panels[0], [line for one in panels for line in one.lines]
    return Panel(data, panel.x_label, panel.y_label, lines, log_y=True, percent=panel.percent)


def rows(panel: Panel) -> Table:
    """(header, lines) of the last values of the curves."""
    factor, unit = (100.0, "wrong, %") if panel.percent else (1.0, panel.y_label)
    lines = []
    for line in panel.lines:
        form = ".2f" if panel.percent else ".4g"
        end = f"{factor * line.y[-1]:{form}}"
        if line.high is not None:
            end += f" ± {factor * (line.high[-1] - line.y[-1]):{form[:-2]}2{form[-1]}}"
        lines.append([line.name, end])
    return ["model", unit], lines
