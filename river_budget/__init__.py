"""Kernel learning on streams for River: curved borders, one example at a time, in constant memory.

>>> import river_budget as rb
>>> model = rb.AutoKernelClassifier(seed=1)
>>> model.learn_one({"size": 3.1, "weight": 0.2}, "ripe")
>>> model.learn_one({"size": 1.2, "weight": 0.1}, "green")
>>> model.predict_one({"size": 3.0, "weight": 0.2})
'ripe'

===================================================  ===========================================================
You have                                             Take
===================================================  ===========================================================
no time to tune, or drift, or odd units              AutoKernelClassifier(), AutoKernelRegressor()
little time and memory                               StandardScaler() | BSGDClassifier()
numbers to predict                                   TargetStandardScaler(StandardScaler() |
                                                     BSGDRegressor())
text                                                 feature_extraction.BagOfWords() |
                                                     AutoKernelClassifier()
cells that may be missing or wrong                   Guard("skip") | ... in front of the pipeline
labels that come late                                Delayed(model)
an online linear model you want to keep              RandomFourier() |
                                                     linear_model.LogisticRegression()
no labels                                            StandardScaler() | KernelOneClassSVM()
===================================================  ===========================================================

`save` and `load` keep a model in a file, `predict_then_learn_many` takes a frame through a
pipeline, and `read` yields the rows of a file as dicts. The modules `plots`, `sklearn`, `export`
(ONNX), `distributed` and `datasets` are loaded when you first use them. `river-budget try FILE
--target COLUMN` compares models on a file of yours.
"""  # noqa: E501

from __future__ import annotations

import importlib
import sys
from typing import Any

from ._names import MODULES, ON_DEMAND, PLACES
from ._version import __version__ as __version__

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "river_budget has not been tested without Python's global lock: "
        "start Python with -X gil=1, or set PYTHON_GIL=1"
    )

__all__ = sorted({*PLACES, *MODULES} - ON_DEMAND)


def __dir__() -> list[str]:
    return [*__all__, *ON_DEMAND, "__version__"]


def __getattr__(name: str) -> Any:
    if name in PLACES:
        found = getattr(importlib.import_module(f".{PLACES[name]}", __name__), name)
    elif name in MODULES:
        found = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # so that Python does not ask again
    globals()[name] = found
    return found
