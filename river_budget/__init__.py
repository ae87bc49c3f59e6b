"""Kernel learning on streams with a fixed budget, for River."""

from __future__ import annotations

import importlib
from typing import Any

from . import first_use, kernels, maintenance
from ._version import __version__ as __version__
from .algorithms.auto import AutoKernelClassifier, AutoKernelRegressor
from .algorithms.bogd import BOGDClassifier, BOGDRegressor
from .algorithms.bpa import BPAClassifier
from .algorithms.bsgd import BSGDClassifier, BSGDRegressor
from .algorithms.budget_perceptron import BudgetPerceptronClassifier
from .algorithms.fogd import FOGDClassifier, FOGDRegressor
from .algorithms.forgetron import ForgetronClassifier, ForgetronRegressor
from .algorithms.fourier import RandomFourier, RBFSampler
from .algorithms.nogd import NOGDClassifier, NOGDRegressor
from .algorithms.norma import NORMAClassifier, NORMARegressor
from .algorithms.nystroem import Nystroem
from .algorithms.ogd import KernelOGDClassifier, KernelOGDRegressor
from .algorithms.one_class import KernelOneClassSVM
from .algorithms.perceptron import KernelPerceptronClassifier, KernelPerceptronRegressor
from .algorithms.projectron import ProjectronClassifier, ProjectronPPClassifier, ProjectronRegressor
from .algorithms.rbp import RBPClassifier, RBPRegressor
from .algorithms.sbp import SBPClassifier
from .algorithms.sketch import PolynomialCountSketch
from .feature_budget import FeatureBudget
from .guard import Guard
from .model.advice import StreamWarning
from .pipelines import (
    decision_function_one,
    memory_usage,
    predict_then_learn_many,
    summary,
    support_vectors,
)
from .saving import SavedModelError, load, save
from .uniting import merge

__all__ = [
    "AutoKernelClassifier",
    "AutoKernelRegressor",
    "BOGDClassifier",
    "BOGDRegressor",
    "BPAClassifier",
    "BSGDClassifier",
    "BSGDRegressor",
    "BudgetPerceptronClassifier",
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
    "StreamWarning",
    "decision_function_one",
    "kernels",
    "load",
    "maintenance",
    "memory_usage",
    "merge",
    "predict_then_learn_many",
    "save",
    "summary",
    "support_vectors",
]

first_use.announce()


def __getattr__(name: str) -> Any:
    if name in ("datasets", "distributed", "export", "plots", "sklearn"):
        # loaded when asked for: few need them
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
