"""Kernel learning on streams with a fixed budget, for River."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from . import algorithms
from ._version import __version__ as __version__

if TYPE_CHECKING:  # `__getattr__` below loads each name when it is first used
    from . import kernels as kernels
    from . import maintenance as maintenance
    from .algorithms.auto.estimators import AutoKernelClassifier, AutoKernelRegressor
    from .algorithms.features.fogd import FOGDClassifier, FOGDRegressor
    from .algorithms.features.fourier import RandomFourier, RBFSampler
    from .algorithms.features.nogd import NOGDClassifier, NOGDRegressor
    from .algorithms.features.nystroem import Nystroem
    from .algorithms.features.sketch import PolynomialCountSketch
    from .algorithms.gradient.bogd import BOGDClassifier, BOGDRegressor
    from .algorithms.gradient.bsgd import BSGDClassifier, BSGDRegressor
    from .algorithms.gradient.norma import NORMAClassifier, NORMARegressor
    from .algorithms.gradient.ogd import KernelOGDClassifier, KernelOGDRegressor
    from .algorithms.gradient.one_class import KernelOneClassSVM
    from .algorithms.perceptrons.bpa import BPAClassifier
    from .algorithms.perceptrons.budget_perceptron import BudgetPerceptronClassifier
    from .algorithms.perceptrons.forgetron import ForgetronClassifier, ForgetronRegressor
    from .algorithms.perceptrons.mistake_bounds import mistake_bound
    from .algorithms.perceptrons.perceptron import (
        KernelPerceptronClassifier,
        KernelPerceptronRegressor,
    )
    from .algorithms.perceptrons.projectron import (
        ProjectronClassifier,
        ProjectronPPClassifier,
        ProjectronRegressor,
    )
    from .algorithms.perceptrons.rbp import RBPClassifier, RBPRegressor
    from .algorithms.scaling.scalers import MinMaxScaler, StandardScaler
    from .algorithms.scaling.targets import TargetStandardScaler
    from .algorithms.window.sbp import SBPClassifier
    from .checkpoint import Checkpoint
    from .delayed import Delayed
    from .feature_budget import FeatureBudget
    from .guard.guard import Guard
    from .messages.stream_warnings import StreamWarning
    from .pipelines import (
        decision_function_one,
        memory_usage,
        predict_then_learn_many,
        summary,
        support_vectors,
    )
    from .saving import SavedModelError, load, save
    from .uniting import merge

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "river_budget has not been tested without Python's global lock: "
        "start Python with -X gil=1, or set PYTHON_GIL=1"
    )

__all__ = [
    "AutoKernelClassifier",
    "AutoKernelRegressor",
    "BOGDClassifier",
    "BOGDRegressor",
    "BPAClassifier",
    "BSGDClassifier",
    "BSGDRegressor",
    "BudgetPerceptronClassifier",
    "Checkpoint",
    "Delayed",
    "FOGDClassifier",
    "FOGDRegressor",
    "FeatureBudget",
    "ForgetronClassifier",
    "ForgetronRegressor",
    "Guard",
    "KernelOGDClassifier",
    "KernelOGDRegressor",
    "KernelOneClassSVM",
    "KernelPerceptronClassifier",
    "KernelPerceptronRegressor",
    "MinMaxScaler",
    "NOGDClassifier",
    "NOGDRegressor",
    "NORMAClassifier",
    "NORMARegressor",
    "Nystroem",
    "PolynomialCountSketch",
    "ProjectronClassifier",
    "ProjectronPPClassifier",
    "ProjectronRegressor",
    "RBFSampler",
    "RBPClassifier",
    "RBPRegressor",
    "RandomFourier",
    "SBPClassifier",
    "SavedModelError",
    "StandardScaler",
    "StreamWarning",
    "TargetStandardScaler",
    "decision_function_one",
    "kernels",
    "load",
    "maintenance",
    "memory_usage",
    "merge",
    "mistake_bound",
    "predict_then_learn_many",
    "save",
    "summary",
    "support_vectors",
]

MODULES = ("datasets", "distributed", "export", "plots", "sklearn")  # beside those in __all__
_PLACES = {name: f"algorithms.{module}" for name, module in algorithms.PLACES.items()} | {
    "Checkpoint": "checkpoint",
    "Delayed": "delayed",
    "FeatureBudget": "feature_budget",
    "Guard": "guard.guard",
    "SavedModelError": "saving",
    "StreamWarning": "messages.stream_warnings",
    "decision_function_one": "pipelines",
    "load": "saving",
    "memory_usage": "pipelines",
    "merge": "uniting",
    "mistake_bound": "algorithms.perceptrons.mistake_bounds",
    "predict_then_learn_many": "pipelines",
    "save": "saving",
    "summary": "pipelines",
    "support_vectors": "pipelines",
}


def __dir__() -> list[str]:
    return [*__all__, *MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        found = getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)
    elif name in ("kernels", "maintenance", "saving", *MODULES):
        found = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found  # and is not asked for again
    return found
