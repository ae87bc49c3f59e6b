"""Kernel learning on streams with a fixed budget, for River."""

from __future__ import annotations

from . import kernels, maintenance
from .bsgd import BSGDClassifier, BSGDRegressor
from .forgetron import ForgetronClassifier, ForgetronRegressor
from .gradient import BOGDClassifier, BOGDRegressor, KernelOGDClassifier, KernelOGDRegressor
from .norma import NORMAClassifier, NORMARegressor
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

__version__ = "0.1.0"

__all__ = [
    "BOGDClassifier",
    "BOGDRegressor",
    "BPAClassifier",
    "BSGDClassifier",
    "BSGDRegressor",
    "BudgetPerceptronClassifier",
    "ForgetronClassifier",
    "ForgetronRegressor",
    "KernelOGDClassifier",
    "KernelOGDRegressor",
    "KernelOneClassSVM",
    "KernelPerceptronClassifier",
    "KernelPerceptronRegressor",
    "NORMAClassifier",
    "NORMARegressor",
    "ProjectronClassifier",
    "ProjectronPPClassifier",
    "ProjectronRegressor",
    "RBPClassifier",
    "RBPRegressor",
    "kernels",
    "maintenance",
]
