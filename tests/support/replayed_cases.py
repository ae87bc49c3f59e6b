"""The algorithms of the Perceptron family, each with the reference that it must replay."""

from __future__ import annotations

from inside import plain
from oracles.bpa import BPA
from oracles.forgetron import Forgetron
from oracles.nystroem import NOGD
from oracles.perceptrons import BOGD, NORMA, RBP, BudgetPerceptron, KernelOGD, KernelPerceptron
from oracles.projectrons import Projectron, ProjectronPP
from oracles.randoms import SplitMix

import river_budget as rb

SEED = 7
BOUNDED = {"removal": "random", "max_coefficient": 5.0}
CASES = {
    "Perceptron": (rb.KernelPerceptronClassifier, {}, KernelPerceptron, {}),
    "OGD": (rb.KernelOGDClassifier, {"learning_rate": 0.3}, KernelOGD, {"learning_rate": 0.3}),
    "RBP": (rb.RBPClassifier, {"budget": 20, "seed": SEED}, RBP, {"budget": 20, "choose": 0}),
    "Forgetron": (rb.ForgetronClassifier, {"budget": 20}, Forgetron, {"budget": 20}),
    "CKS": (rb.BudgetPerceptronClassifier, {"budget": 20}, BudgetPerceptron, {"budget": 20}),
    "Projectron": (rb.ProjectronClassifier, {"budget": 20}, Projectron, {"budget": 20}),
    "Projectron-threshold": (
        rb.ProjectronClassifier,
        {"budget": None, "threshold": 0.1},
        Projectron,
        {"threshold": 0.1},
    ),
    "Projectron++": (rb.ProjectronPPClassifier, {"budget": 20}, ProjectronPP, {"budget": 20}),
    "Projectron++-threshold": (
        rb.ProjectronPPClassifier,
        {"budget": 25, "threshold": 0.1},
        ProjectronPP,
        {"budget": 25, "threshold": 0.1},
    ),
    **{
        f"BPA-{update}": (
            rb.BPAClassifier,
            {"budget": 20, "C": 1.0, "update": update},
            BPA,
            {"budget": 20, "update": update},
        )
        for update in ("simple", "nearest", "projection")
    },
    "BOGD": (
        rb.BOGDClassifier,
        {"budget": 20, "learning_rate": 0.2, "l2": 0.01, "seed": SEED} | BOUNDED,
        BOGD,
        {"budget": 20, "l2": 0.01, "choose": 0} | BOUNDED,
    ),
    "BOGD++": (
        rb.BOGDClassifier,
        {"budget": 20, "learning_rate": 0.2, "sampling": "nonuniform", "seed": SEED},
        BOGD,
        {"budget": 20, "sampling": "nonuniform", "uniform": 0},
    ),
    "BOGD-oldest": (
        rb.BOGDClassifier,
        {"budget": 20, "learning_rate": 0.2, "removal": "oldest", "max_coefficient": 0.9},
        BOGD,
        {"budget": 20, "removal": "oldest", "max_coefficient": 0.9},
    ),
    "NORMA": (rb.NORMAClassifier, {"budget": 20}, NORMA, {"budget": 20, "margin": None}),
    "NOGD": (rb.NOGDClassifier, {"budget": 20, "learning_rate": 0.2}, NOGD, {"budget": 20}),
    "NOGD-rank": (
        rb.NOGDClassifier,
        {"budget": 30, "rank": 12, "learning_rate": 0.5},
        NOGD,
        {"budget": 30, "rank": 12, "learning_rate": 0.5},
    ),
}
REGRESSION = {
    "Perceptron": (rb.KernelPerceptronRegressor, {}, KernelPerceptron, {}),
    "OGD": (rb.KernelOGDRegressor, {}, KernelOGD, {}),
    "RBP": (rb.RBPRegressor, {"budget": 20, "seed": SEED}, RBP, {"budget": 20, "choose": 0}),
    "Forgetron": (rb.ForgetronRegressor, {"budget": 20}, Forgetron, {"budget": 20}),
    "Forgetron-long-steps": (  # with short steps it never has to shrink
        rb.ForgetronRegressor,
        {"budget": 20, "learning_rate": 0.7},
        Forgetron,
        {"budget": 20, "learning_rate": 0.7},
    ),
    "Projectron": (
        rb.ProjectronRegressor,
        {"budget": 20, "threshold": 0.0, "learning_rate": 0.1},
        Projectron,
        {"budget": 20},
    ),
    "BOGD": (
        rb.BOGDRegressor,
        {"budget": 20, "l2": 0.03},
        BOGD,
        {"budget": 20, "l2": 0.03},
    ),
    "NORMA": (rb.NORMARegressor, {"budget": 20, "learning_rate": 0.03}, NORMA, {"budget": 20}),
    "NOGD": (
        rb.NOGDRegressor,
        {"budget": 20, "learning_rate": 0.2, "max_error": None},
        NOGD,
        {"budget": 20},
    ),
    "NOGD-clip": (
        rb.NOGDRegressor,
        {"budget": 20},
        NOGD,
        {"budget": 20, "learning_rate": 0.28, "clip": 1.0},
    ),
}


def pair(case, task, kernel, outputs=1, **further):
    """The model and its reference, which draw the same random numbers."""
    estimator, parameters, oracle, options = case
    draws, options = SplitMix(SEED), dict(options)
    for name, draw in (("choose", draws.below), ("uniform", draws.uniform)):
        if name in options:
            options[name] = draw
    model = estimator(kernel=kernel, **parameters, **further)
    return model, oracle(plain(kernel), task, outputs, **options)
