"""The estimators: one file per algorithm, named as its class and as its file in core.

`MODULES` says which classes stand where, so that each is loaded when it is first used: a program needs few of them.
"""

from __future__ import annotations

import importlib
from typing import Any

MODULES = {
    "auto.estimators": ("AutoKernelClassifier", "AutoKernelRegressor"),
    "features.fogd": ("FOGDClassifier", "FOGDRegressor"),
    "features.fourier": ("RBFSampler", "RandomFourier"),
    "features.nogd": ("NOGDClassifier", "NOGDRegressor"),
    "features.nystroem": ("Nystroem",),
    "features.sketch": ("PolynomialCountSketch",),
    "gradient.bogd": ("BOGDClassifier", "BOGDRegressor"),
    "gradient.bsgd": ("BSGDClassifier", "BSGDRegressor"),
    "gradient.norma": ("NORMAClassifier", "NORMARegressor"),
    "gradient.ogd": ("KernelOGDClassifier", "KernelOGDRegressor"),
    "gradient.one_class": ("KernelOneClassSVM",),
    "perceptrons.bpa": ("BPAClassifier",),
    "perceptrons.budget_perceptron": ("BudgetPerceptronClassifier",),
    "perceptrons.forgetron": ("ForgetronClassifier", "ForgetronRegressor"),
    "perceptrons.perceptron": ("KernelPerceptronClassifier", "KernelPerceptronRegressor"),
    "perceptrons.projectron": (
        "ProjectronClassifier",
        "ProjectronPPClassifier",
        "ProjectronRegressor",
    ),
    "perceptrons.rbp": ("RBPClassifier", "RBPRegressor"),
    "scaling.scalers": ("MinMaxScaler", "StandardScaler"),
    "scaling.targets": ("TargetStandardScaler",),
    "window.sbp": ("SBPClassifier",),
}
PLACES = {name: module for module, names in MODULES.items() for name in names}


def find(name: str) -> Any:
    """The class of this name, loaded if it was not."""
    return getattr(importlib.import_module(f".{PLACES[name]}", __name__), name)
