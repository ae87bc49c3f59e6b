"""Kernel learning on streams with a fixed budget, for River."""

from __future__ import annotations

import importlib
from typing import Any

from . import kernels, maintenance
from ._version import __version__ as __version__
from .auto import AutoKernelClassifier, AutoKernelRegressor
from .batch_perceptron import SBPClassifier
from .bsgd import BSGDClassifier, BSGDRegressor
from .forgetron import ForgetronClassifier, ForgetronRegressor
from .fourier import FOGDClassifier, FOGDRegressor, RandomFourier, RBFSampler
from .gradient import BOGDClassifier, BOGDRegressor, KernelOGDClassifier, KernelOGDRegressor
from .norma import NORMAClassifier, NORMARegressor
from .nystroem import NOGDClassifier, NOGDRegressor, Nystroem
from .one_class import KernelOneClassSVM
from .passive_aggressive import BPAClassifier
from .perceptron import (
    BudgetPerceptronClassifier,
    KernelPerceptronClassifier,
    KernelPerceptronRegressor,
    RBPClassifier,
    RBPRegressor,
)
from .projectron import ProjectronClassifier, ProjectronPPClassifier, ProjectronRegressor
from .saving import SavedModelError, load, save
from .unite import merge

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
    "ForgetronClassifier",
    "ForgetronRegressor",
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
    "ProjectronClassifier",
    "ProjectronPPClassifier",
    "ProjectronRegressor",
    "RBFSampler",
    "RBPClassifier",
    "RBPRegressor",
    "RandomFourier",
    "SBPClassifier",
    "SavedModelError",
    "kernels",
    "load",
    "maintenance",
    "merge",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "distributed"):  # loaded when asked for: few need them
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
