"""What River wraps around a model: ensembles, wrappers and model selection, with our models inside.

A StandardScaler is in front of each; regressors are inside a TargetStandardScaler. Each line is a
model to copy.
"""

from __future__ import annotations

import itertools
import random

from river import (
    active,
    bandit,
    base,
    compose,
    conf,
    datasets,
    drift,
    dummy,
    ensemble,
    evaluate,
    imblearn,
    linear_model,
    metrics,
    model_selection,
    multiclass,
    multioutput,
    neighbors,
    preprocessing,
    stats,
    tree,
)

import river_budget as rb

SMALL = rb.BSGDClassifier(budget=30, seed=1)
BINARY_ONLY = rb.SBPClassifier(window=50, steps=1, seed=1)
REGRESSOR = rb.BSGDRegressor(budget=30)


def several():
    """Three models of different kinds."""
    return [SMALL.clone(), rb.FOGDClassifier(50, seed=1), rb.KernelOGDClassifier()]


def several_regressors():
    return [REGRESSOR.clone(), rb.FOGDRegressor(50, seed=1), rb.NOGDRegressor(30)]


TWO_CLASSES = {
    "ADWINBagging": lambda: ensemble.ADWINBaggingClassifier(SMALL.clone(), 5, seed=1),
    "ADWINBoosting": lambda: ensemble.ADWINBoostingClassifier(SMALL.clone(), 5, seed=1),
    "AdaBoost": lambda: ensemble.AdaBoostClassifier(SMALL.clone(), 5, seed=1),
    "BOLE": lambda: ensemble.BOLEClassifier(SMALL.clone(), 5, seed=1),
    "Bagging": lambda: ensemble.BaggingClassifier(SMALL.clone(), 5, seed=1),
    "LeveragingBagging": lambda: ensemble.LeveragingBaggingClassifier(SMALL.clone(), 5, seed=1),
    "SRP": lambda: ensemble.SRPClassifier(SMALL.clone(), 5, seed=1),
    "Stacking": lambda: ensemble.StackingClassifier(several(), linear_model.LogisticRegression()),
    "Voting": lambda: ensemble.VotingClassifier(several()),
    "voting with River's": lambda: ensemble.VotingClassifier(
        [*several(), neighbors.KNNClassifier(), tree.HoeffdingTreeClassifier()]
    ),
    "DriftRetraining": lambda: drift.DriftRetrainingClassifier(
        SMALL.clone(), drift.binary.DDM(), train_in_background=True
    ),
    "HardSampling": lambda: imblearn.HardSamplingClassifier(SMALL.clone(), size=30, p=0.1, seed=1),
    "RandomUnderSampler": lambda: imblearn.RandomUnderSampler(
        SMALL.clone(), desired_dist={False: 0.5, True: 0.5}, seed=1
    ),
    "RandomOverSampler": lambda: imblearn.RandomOverSampler(
        SMALL.clone(), desired_dist={False: 0.5, True: 0.5}, seed=1
    ),
    "RandomSampler": lambda: imblearn.RandomSampler(
        SMALL.clone(), desired_dist={False: 0.5, True: 0.5}, sampling_rate=0.8, seed=1
    ),
    "SuccessiveHalving": lambda: model_selection.SuccessiveHalvingClassifier(
        [SMALL.clone({"l2": l2}) for l2 in (1e-4, 1e-3, 1e-2, 1e-1)],
        metrics.Accuracy(),
        budget=1000,
    ),
    "BanditClassifier": lambda: model_selection.BanditClassifier(
        several(), metrics.Accuracy(), bandit.EpsilonGreedy(0.1, 0.01, seed=1)
    ),
}
SEVEN_CLASSES = {
    name: TWO_CLASSES[name] for name in ("Bagging", "AdaBoost", "SRP", "Voting", "DriftRetraining")
} | {
    "OneVsRest": lambda: multiclass.OneVsRestClassifier(BINARY_ONLY.clone()),
    "OneVsOne": lambda: multiclass.OneVsOneClassifier(BINARY_ONLY.clone()),
    "OutputCode": lambda: multiclass.OutputCodeClassifier(
        BINARY_ONLY.clone(), code_size=10, seed=1
    ),
}
REGRESSION = {
    "Bagging": lambda: ensemble.BaggingRegressor(REGRESSOR.clone(), 5, seed=1),
    "EWA": lambda: ensemble.EWARegressor(several_regressors()),
    "SRP": lambda: ensemble.SRPRegressor(REGRESSOR.clone(), 5, seed=1),
    "HardSampling": lambda: imblearn.HardSamplingRegressor(REGRESSOR.clone(), 30, 0.1, seed=1),
    "ChebyshevOverSampler": lambda: imblearn.ChebyshevOverSampler(REGRESSOR.clone()),
    "ChebyshevUnderSampler": lambda: imblearn.ChebyshevUnderSampler(REGRESSOR.clone(), seed=1),
    "SuccessiveHalving": lambda: model_selection.SuccessiveHalvingRegressor(
        [REGRESSOR.clone({"l2": l2}) for l2 in (1e-5, 1e-4, 1e-3, 1e-2)], metrics.MAE(), budget=1000
    ),
    "BanditRegressor": lambda: model_selection.BanditRegressor(
        several_regressors(), metrics.MAE(), bandit.EpsilonGreedy(0.1, 0.01, seed=1)
    ),
    "GreedyRegressor": lambda: model_selection.GreedyRegressor(several_regressors(), metrics.MAE()),
    "TargetMinMaxScaler": lambda: preprocessing.TargetMinMaxScaler(REGRESSOR.clone()),
    "PredClipper": lambda: preprocessing.PredClipper(REGRESSOR.clone(), -3.0, 3.0),
    "RegressionJackknife": lambda: conf.RegressionJackknife(REGRESSOR.clone()),
    "TargetTransform": lambda: compose.TargetTransformRegressor(
        REGRESSOR.clone(), lambda y: y / 2.0, lambda y: y * 2.0
    ),
}
TASKS = {
    "two classes": (datasets.Phishing, TWO_CLASSES, dummy.PriorClassifier()),
    "seven classes": (datasets.ImageSegments, SEVEN_CLASSES, dummy.PriorClassifier()),
    "regression": (datasets.TrumpApproval, REGRESSION, dummy.StatisticRegressor(stats.Mean())),
}


def judged(model, examples):
    pipeline = preprocessing.StandardScaler() | model
    if isinstance(model, base.Regressor):
        pipeline = preprocessing.TargetStandardScaler(pipeline)
        return evaluate.progressive_val_score(examples, pipeline, metrics.MAE()).get()
    return evaluate.progressive_val_score(examples, pipeline, metrics.Accuracy()).get()


def ensembles_and_wrappers(n=500):
    for task, (data, models, nothing) in TASKS.items():
        examples = list(itertools.islice(data(), n))
        yield task, "(nothing learned)", judged(nothing, examples)
        for name, make in models.items():
            yield task, name, judged(make(), examples)


def several_outputs(n=300):
    """Two labels, or two numbers, at once."""
    rng = random.Random(0)
    rows = [{"a": rng.uniform(-1, 1), "b": rng.uniform(-1, 1)} for _ in range(n)]
    labels = [{"differ": x["a"] * x["b"] < 0, "large": x["a"] + x["b"] > 0} for x in rows]
    for name, model in {
        "ClassifierChain": multioutput.ClassifierChain(SMALL.clone()),
        "MonteCarloChain": multioutput.MonteCarloClassifierChain(SMALL.clone(), m=3, seed=1),
        "ProbabilisticChain": multioutput.ProbabilisticClassifierChain(SMALL.clone()),
        "MultiClassEncoder": multioutput.MultiClassEncoder(SMALL.clone()),
        "PerOutputClassifier": multioutput.PerOutputClassifier(SMALL.clone()),
    }.items():
        right = 0
        for x, y in zip(rows, labels, strict=True):
            guess = model.predict_one(x) or {}
            right += all(guess.get(name) == label for name, label in y.items())
            model.learn_one(x, y)
        yield "two labels", name, right / n
    numbers = [{"product": x["a"] * x["b"], "sum": x["a"] + x["b"]} for x in rows]
    for name, model in {
        "RegressorChain": multioutput.RegressorChain(REGRESSOR.clone()),
        "PerOutputRegressor": multioutput.PerOutputRegressor(REGRESSOR.clone()),
    }.items():
        error = 0.0
        for x, y in zip(rows, numbers, strict=True):
            guess = model.predict_one(x) or {}
            error += sum(abs(guess.get(name, 0.0) - value) for name, value in y.items())
            model.learn_one(x, y)
        yield "two numbers", name, error / n


def asking_for_labels(n=1000):
    """EntropySampler asks where the probabilities say that the model is unsure.

    It needs to know the classes: a model that has seen no label is unsure of nothing, and would
    never ask.
    """
    model = preprocessing.StandardScaler() | rb.BSGDClassifier(budget=50, classes=(False, True))
    sampler = active.EntropySampler(model, discount_factor=3, seed=1)
    asked = right = 0
    examples = list(itertools.islice(datasets.Phishing(), n))
    for x, y in examples:
        guess, ask = sampler.predict_one(x)
        right += guess == y
        if ask:
            asked += 1
            sampler.learn_one(x, y)
    yield "active", "labels asked for", asked / len(examples)
    yield "active", "EntropySampler", right / len(examples)


def drifting(n=3000):
    """A rule that turns over in the middle: with a retrainer, and a model that follows by
    itself.
    """
    rng = random.Random(0)
    examples = []
    for i in range(n):
        x = {"a": rng.uniform(-1, 1), "b": rng.uniform(-1, 1)}
        examples.append((x, (x["a"] * x["b"] > 0) == (i < n // 2)))
    for name, model in {
        "DriftRetraining": TWO_CLASSES["DriftRetraining"](),
        "BSGD": SMALL.clone(),
        "AutoKernel": rb.AutoKernelClassifier(seed=1),
    }.items():
        yield "turning XOR", name, judged(model, examples)


def main(n: int | None = None) -> None:
    arguments = () if n is None else (n,)
    for part in (ensembles_and_wrappers, several_outputs, asking_for_labels, drifting):
        for task, name, value in part(*arguments):
            print(f"{task:15}{name:25}{value:8.3f}")


if __name__ == "__main__":
    main()
