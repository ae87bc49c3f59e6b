"""The algorithms of the Perceptron family, each with the reference that it must replay."""

from __future__ import annotations

import math

from inside import plain
from oracles.bpa import BPA
from oracles.forgetron import Forgetron
from oracles.nystroem import NOGD
from oracles.perceptrons import BOGD, NORMA, RBP, BudgetPerceptron, KernelOGD, KernelPerceptron
from oracles.projectrons import Projectron, ProjectronByClass, ProjectronPP, ProjectronPPByClass
from oracles.random_features import FOGD
from oracles.randoms import SplitMix
from replaying import SEED, plain_frequencies

import river_budget as rb


def case(estimator, oracle, own=(), its=(), **both):
    """(estimator, its parameters, reference, its parameters) from those of both, the model's and
    the reference's own.
    """
    return estimator, both | dict(own), oracle, both | dict(its)


SEEDED, CHOOSES = {"seed": SEED}, {"choose": 0}
STEPS = {"learning_rate": 0.2}  # the reference's default
BY_CLASS = {"span": "class"}
BOUNDED = {"removal": "random", "max_coefficient": 5.0}
CASES = {
    "Perceptron": case(rb.KernelPerceptronClassifier, KernelPerceptron),
    "OGD": case(rb.KernelOGDClassifier, KernelOGD, learning_rate=0.3),
    "RBP": case(rb.RBPClassifier, RBP, SEEDED, CHOOSES, budget=20),
    "Forgetron": case(rb.ForgetronClassifier, Forgetron, budget=20),
    "CKS": case(rb.BudgetPerceptronClassifier, BudgetPerceptron, budget=20),
    "Projectron": case(rb.ProjectronClassifier, Projectron, budget=20),
    "Projectron-threshold": case(rb.ProjectronClassifier, Projectron, budget=None, threshold=0.1),
    "Projectron++": case(rb.ProjectronPPClassifier, ProjectronPP, budget=20),
    "Projectron++-threshold": case(
        rb.ProjectronPPClassifier, ProjectronPP, budget=25, threshold=0.1
    ),
    "Projectron-class": case(
        rb.ProjectronClassifier, ProjectronByClass, BY_CLASS, budget=None, threshold=0.1
    ),
    "Projectron-class-budget": case(
        rb.ProjectronClassifier, ProjectronByClass, BY_CLASS, budget=20
    ),
    "Projectron++-class": case(
        rb.ProjectronPPClassifier, ProjectronPPByClass, BY_CLASS, budget=30, threshold=0.1
    ),
    **{
        f"BPA-{update}": case(rb.BPAClassifier, BPA, budget=20, C=1.0, update=update)
        for update in ("simple", "nearest", "projection")
    },
    "BOGD": case(rb.BOGDClassifier, BOGD, STEPS | SEEDED, CHOOSES, budget=20, l2=0.01, **BOUNDED),
    "BOGD++": case(
        rb.BOGDClassifier, BOGD, STEPS | SEEDED, {"uniform": 0}, budget=20, sampling="nonuniform"
    ),
    "BOGD-oldest": case(
        rb.BOGDClassifier, BOGD, STEPS, budget=20, removal="oldest", max_coefficient=0.9
    ),
    "NORMA": case(rb.NORMAClassifier, NORMA, its={"margin": None}, budget=20),
    "NOGD": case(rb.NOGDClassifier, NOGD, STEPS, budget=20),
    "NOGD-rank": case(rb.NOGDClassifier, NOGD, budget=30, rank=12, learning_rate=0.5),
}
REGRESSION = {
    "Perceptron": case(rb.KernelPerceptronRegressor, KernelPerceptron),
    "OGD": case(rb.KernelOGDRegressor, KernelOGD),
    "RBP": case(rb.RBPRegressor, RBP, SEEDED, CHOOSES, budget=20),
    "Forgetron": case(rb.ForgetronRegressor, Forgetron, budget=20),
    # with short steps it never has to shrink
    "Forgetron-long-steps": case(rb.ForgetronRegressor, Forgetron, budget=20, learning_rate=0.7),
    "Projectron": case(
        rb.ProjectronRegressor, Projectron, {"threshold": 0.0}, budget=20, learning_rate=0.1
    ),
    "BOGD": case(rb.BOGDRegressor, BOGD, budget=20, l2=0.03),
    "NORMA": case(rb.NORMARegressor, NORMA, budget=20, learning_rate=0.03),
    "NOGD": case(rb.NOGDRegressor, NOGD, STEPS | {"max_error": None}, budget=20),
    "NOGD-clip": case(rb.NOGDRegressor, NOGD, its={"learning_rate": 0.28, "clip": 1.0}, budget=20),
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


def pair_of_waves(estimator, task, kernel, order, outputs=1, n=40, rate=0.8, clip=math.inf, **own):
    """FOGD and its reference; `order` lists the features in the order of their columns."""

    def row(place):
        return plain_frequencies(order[place], kernel, n)

    oracle = FOGD(None, task, outputs, rate, clip=clip, n_components=n, frequencies=row)
    return estimator(n, kernel, rate, seed=SEED, **own), oracle
