"""The table of models that the tests run over. A new estimator or configuration is one line.

Tests do not change these models: they work on `model.clone()`.
"""

from __future__ import annotations

import pytest
from river import base
from streams import LABELS, PEGASOS, emerging, smooth

import river_budget as rb
from river_budget.core.memory import views
from river_budget.kernels import RBF, Cosine, Custom, Laplacian, Linear, Polynomial
from river_budget.maintenance import Merge, Project, RemoveOldest, RemoveRandom, RemoveSmallest

BINARY = (False, True)


def overlap(x, z):
    """A kernel function: sums of products of features squeezed into -1 .. 1, and their squares."""
    total = 0.0
    for i in range(len(x)):
        product = x[i] * z[i] / ((1.0 + abs(x[i])) * (1.0 + abs(z[i])))
        total += product + product * product
    return total


CLASSIFIERS = [
    pytest.param(rb.BSGDClassifier(), id="BSGD"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), RemoveOldest()), id="BSGD-oldest"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), RemoveRandom(), seed=3), id="BSGD-random"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), RemoveRandom()), id="BSGD-random-unseeded"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), RemoveSmallest()), id="BSGD-smallest"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), Project()), id="BSGD-project"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), Merge()), id="BSGD-merge"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), Merge(arity=3)), id="BSGD-cascade"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), Merge(4, "gradient")), id="BSGD-gradient"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), Merge(objective="eq21")), id="BSGD-eq21"),
    pytest.param(rb.BSGDClassifier(None, l2=1e-2), id="BSGD-no-budget"),
    pytest.param(rb.BSGDClassifier(10, Polynomial(), RemoveOldest()), id="BSGD-polynomial"),
    pytest.param(rb.BSGDClassifier(10, Laplacian(), Project()), id="BSGD-laplacian"),
    pytest.param(rb.BSGDClassifier(10, Linear(), RemoveSmallest()), id="BSGD-linear"),
    pytest.param(rb.BSGDClassifier(10, Cosine(), RemoveSmallest()), id="BSGD-cosine"),
    pytest.param(rb.BSGDClassifier(15, Custom(overlap), RemoveOldest()), id="BSGD-custom"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5, {"f1": 2.0})), id="BSGD-scales"),
    pytest.param(rb.BSGDClassifier(10, classes=BINARY), id="BSGD-binary"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), average=True), id="BSGD-mean"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), Project(), average=20), id="BSGD-project-mean"),
    pytest.param(rb.BSGDClassifier(15, RBF(0.5), **PEGASOS), id="BSGD-Pegasos"),
    pytest.param(rb.KernelPerceptronClassifier(RBF(0.5)), id="Perceptron"),
    pytest.param(rb.KernelPerceptronClassifier(Linear()), id="Perceptron-linear"),
    pytest.param(rb.KernelOGDClassifier(RBF(0.5)), id="OGD"),
    pytest.param(rb.KernelOGDClassifier(RBF(0.5), average=True), id="OGD-mean"),
    pytest.param(rb.RBPClassifier(15, RBF(0.5), seed=3), id="RBP"),
    pytest.param(rb.ForgetronClassifier(15, RBF(0.5)), id="Forgetron"),
    pytest.param(rb.ForgetronClassifier(15, Polynomial()), id="Forgetron-polynomial"),
    pytest.param(rb.BudgetPerceptronClassifier(15, RBF(0.5)), id="CKS"),
    pytest.param(rb.ProjectronClassifier(15, RBF(0.5)), id="Projectron"),
    pytest.param(rb.ProjectronClassifier(None, RBF(0.5), 0.1), id="Projectron-threshold"),
    pytest.param(rb.ProjectronPPClassifier(15, RBF(0.5)), id="Projectron++"),
    pytest.param(rb.ProjectronPPClassifier(15, RBF(0.5), 0.1), id="Projectron++-threshold"),
    pytest.param(rb.ProjectronClassifier(15, RBF(0.5), 0.1, "class"), id="Projectron-class"),
    pytest.param(rb.ProjectronPPClassifier(15, RBF(0.5), 0.1, "class"), id="Projectron++-class"),
    pytest.param(rb.BPAClassifier(15, RBF(0.5)), id="BPA-simple"),
    pytest.param(rb.BPAClassifier(15, RBF(0.5), update="nearest"), id="BPA-nearest"),
    pytest.param(rb.BPAClassifier(15, RBF(0.5), update="projection"), id="BPA-projection"),
    pytest.param(rb.BOGDClassifier(15, RBF(0.5), seed=3), id="BOGD"),
    pytest.param(
        rb.BOGDClassifier(15, RBF(0.5), 0.2, 0.01, "random", "nonuniform", 5.0, seed=3), id="BOGD++"
    ),
    pytest.param(rb.BOGDClassifier(15, RBF(0.5), removal="oldest"), id="BOGD-oldest"),
    pytest.param(rb.NORMAClassifier(15, RBF(0.5)), id="NORMA"),
    pytest.param(rb.NORMAClassifier(None, RBF(0.5)), id="NORMA-no-budget"),
    pytest.param(rb.SBPClassifier(25, RBF(0.5), seed=3), id="SBP"),
    pytest.param(rb.SBPClassifier(15, Polynomial(2), fit_bias=True, seed=3), id="SBP-bias"),
    pytest.param(rb.SBPClassifier(1500, RBF(0.5), steps=1, eviction="oldest"), id="SBP-oldest"),
    pytest.param(rb.FOGDClassifier(50, RBF(0.5), seed=3), id="FOGD"),
    pytest.param(rb.FOGDClassifier(7, Laplacian(0.5), 0.5, seed=3), id="FOGD-laplacian"),
    pytest.param(rb.FOGDClassifier(20), id="FOGD-unseeded"),
    pytest.param(rb.NOGDClassifier(15, RBF(0.5)), id="NOGD"),
    pytest.param(rb.NOGDClassifier(15, RBF(0.5), average=True), id="NOGD-mean"),
    pytest.param(rb.FOGDClassifier(20, RBF(0.5), seed=3, average=True), id="FOGD-mean"),
    pytest.param(rb.NOGDClassifier(10, Polynomial(2)), id="NOGD-polynomial"),
    pytest.param(rb.AutoKernelClassifier(30, seed=3), id="AutoKernel"),
    pytest.param(rb.AutoKernelClassifier(15, classes=BINARY), id="AutoKernel-binary"),
]

REGRESSORS = [
    pytest.param(rb.BSGDRegressor(), id="BSGD-R"),
    pytest.param(
        rb.BSGDRegressor(15, RBF(0.5), RemoveRandom(), l2=1e-2, seed=3), id="BSGD-R-random"
    ),
    pytest.param(rb.BSGDRegressor(15, RBF(0.5), Merge(3), l2=1e-2), id="BSGD-R-cascade"),
    pytest.param(rb.BSGDRegressor(15, RBF(0.5), Project(), l2=1e-2), id="BSGD-R-project"),
    pytest.param(rb.BSGDRegressor(None, Laplacian(0.5), epsilon=0.5), id="BSGD-R-no-budget"),
    pytest.param(rb.BSGDRegressor(10, Polynomial(2), RemoveOldest()), id="BSGD-R-polynomial"),
    pytest.param(rb.KernelPerceptronRegressor(RBF(0.5)), id="Perceptron-R"),
    pytest.param(rb.KernelOGDRegressor(RBF(0.5)), id="OGD-R"),
    pytest.param(rb.RBPRegressor(15, RBF(0.5), seed=3), id="RBP-R"),
    pytest.param(rb.ForgetronRegressor(15, RBF(0.5)), id="Forgetron-R"),
    pytest.param(rb.ProjectronRegressor(15, RBF(0.5)), id="Projectron-R"),
    pytest.param(rb.BOGDRegressor(15, RBF(0.5)), id="BOGD-R"),
    pytest.param(
        rb.BOGDRegressor(15, RBF(0.5), removal="random", max_coefficient=5.0, seed=3),
        id="BOGD-R-random",
    ),
    pytest.param(rb.NORMARegressor(15, RBF(0.5)), id="NORMA-R"),
    pytest.param(rb.KRLSTRegressor(15, kernel=RBF(0.5)), id="KRLST"),
    pytest.param(rb.FOGDRegressor(50, RBF(0.5), seed=3), id="FOGD-R"),
    pytest.param(rb.BSGDRegressor(15, RBF(0.5), average=30), id="BSGD-R-mean"),
    pytest.param(rb.NOGDRegressor(15, Laplacian(0.5)), id="NOGD-R"),
    pytest.param(rb.AutoKernelRegressor(30, seed=3), id="AutoKernel-R"),
]

MODELS = CLASSIFIERS + REGRESSORS

# Kernels and strategies are those of `__all__`, with these parameters instead of the defaults.
VARIANTS = {
    "RBF": [{"gamma": 0.3}],
    "Laplacian": [{"gamma": 0.3}],
    "Polynomial": [
        {"degree": 1, "gamma": 0.5, "coef0": 1.0},
        {"degree": 2, "gamma": 0.1, "coef0": 0.0},
        {"degree": 3, "gamma": 0.5, "coef0": 1.0},
        {"degree": 4, "gamma": 0.5, "coef0": -1.0},  # not positive definite
    ],
    "Normalised": [{"kernel": Polynomial(2, 0.5, 1.0)}],
    "Custom": [{"function": overlap}],
    "Merge": [{}, {"objective": "eq21"}, {"arity": 3}, {"arity": 4, "method": "gradient"}],
}


def values_of(module):
    """Instances of every public class of a module, at least one each."""
    return [
        getattr(module, name)(**parameters)
        for name in module.__all__
        for parameters in VARIANTS.get(name, [{}])
    ]


KERNELS = values_of(rb.kernels)
STRATEGIES = values_of(rb.maintenance)


def is_positive_definite(kernel):
    """Whether no Gram matrix has an eigenvalue below 0: what a length |w|^2 needs."""
    return getattr(kernel, "coef0", 0.0) >= 0.0


def is_stationary(kernel):
    """Whether it depends on the difference of its arguments alone."""
    return isinstance(kernel, (RBF, Laplacian))


POSITIVE = [kernel for kernel in KERNELS if is_positive_definite(kernel)]
STATIONARY = [kernel for kernel in KERNELS if is_stationary(kernel)]

TRANSFORMERS = [
    pytest.param(rb.RandomFourier(20, RBF(0.5), seed=3), id="RandomFourier"),
    pytest.param(rb.RandomFourier(7, Laplacian(), seed=3), id="RandomFourier-laplacian"),
    pytest.param(rb.RBFSampler(seed=3), id="RBFSampler"),
    pytest.param(rb.PolynomialCountSketch(20, seed=3), id="Sketch"),
    pytest.param(rb.Nystroem(15, kernel=RBF(0.5)), id="Nystroem"),
    pytest.param(rb.Nystroem(10, 4, Polynomial(2)), id="Nystroem-polynomial"),
]

AUTO = [entry for entry in MODELS if entry.id.startswith("AutoKernel")]
# of kernels or waves: can be merged; not where each class has a span of its own
SUMS = [
    entry
    for entry in MODELS
    if not entry.values[0]._unmergeable_because and getattr(entry.values[0], "span", "all") == "all"
]


def having(attribute, models=MODELS):
    """The models with this attribute."""
    return [model for model in models if getattr(model.values[0], attribute, None) is not None]


def variant(model, **changes):
    """A clone with those of these parameters that the model has."""
    return model.clone(
        {name: value for name, value in changes.items() if name in model._parameters()}
    )


def may_be_unlimited(model):
    """Whether the model takes budget=None."""
    try:
        return hasattr(model, "budget") and model.clone({"budget": None}) is not None
    except ValueError:
        return False


def two_classes_only(model):
    return model.classes is not None or not model._multiclass


def stream_for(model, n, seed=0):
    """n examples in which new features appear and, if the model accepts them, new labels."""
    if isinstance(model, base.Regressor):
        return smooth(n, seed=seed)
    if not two_classes_only(model):
        return emerging(n, seed=seed)
    return [(x, y == LABELS[0]) for x, y in emerging(n, seed=seed)]


def learned(model, n=60, seed=0):
    """A clone that has learned a stream."""
    model = model.clone()
    return learn(model, stream_for(model, n, seed))


def learn(model, stream):
    """The model, which has learned the stream."""
    for x, y in stream:
        model.learn_one(x, y)
    return model


def scores(model, stream):
    return [model.decision_function_one(x) for x, _ in stream]


def content(model):
    """What a model has learned: its support vectors, or the weights of its features."""
    if hasattr(model, "support_vectors"):
        return model.support_vectors()
    block = None if model._block is None else views(model._block)
    return [] if block is None else [block.coefficients.tolist(), block.per_vector.tolist()]


def same(a, b, stream):
    """Whether two models are the same to the bit."""
    return content(a) == content(b) and scores(a, stream) == scores(b, stream)


def list_of(score):
    """The numbers in a score or in coefficients: one, or one for each class."""
    return list(score.values()) if isinstance(score, dict) else [score]


def one_of_each(entries):
    """The first entry of each class: for what a configuration cannot change."""
    found = {}
    for entry in entries:
        (model,) = entry.values
        found.setdefault(type(model), entry)
    return list(found.values())


def crossed(entries, values):
    """(model, value) as parameters: the first value for all models, the others for one of each
    class.
    """
    first, *others = values
    pairs = [(entry, first) for entry in entries]
    pairs += [(entry, value) for value in others for entry in one_of_each(entries)]
    return [
        pytest.param(*entry.values, value, id=f"{entry.id}-{getattr(value, '__name__', value)}")
        for entry, value in pairs
    ]
