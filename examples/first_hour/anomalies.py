"""Anomalies: our detector inside River's filters and metrics, and filters in front of our
models.
"""

from __future__ import annotations

import random

from river import anomaly, metrics, preprocessing

import river_budget as rb

DETECTOR = rb.KernelOneClassSVM(budget=50, nu=0.1, seed=1)


def with_outliers(n=1000, seed=0):
    """(features, label, whether the example is an outlier); outliers have labels that mean
    nothing.
    """
    rng = random.Random(seed)
    for i in range(n):
        x = {"a": rng.gauss(3.0, 0.5), "b": rng.gauss(-2.0, 0.5)}
        y = (x["a"] - 3.0) * (x["b"] + 2.0) > 0
        if i > 100 and rng.random() < 0.05:
            x = {name: value + rng.choice([-8.0, 8.0]) for name, value in x.items()}
            yield x, rng.random() < 0.5, True
        else:
            yield x, y, False


def detectors(n=1000):
    """The exact area under the curve, and what River's metric makes of the scores."""
    for name, detector in {
        "KernelOneClassSVM": DETECTOR.clone(),
        "QuantileFilter": anomaly.QuantileFilter(DETECTOR.clone(), q=0.95),
        "ThresholdFilter": anomaly.ThresholdFilter(DETECTOR.clone(), threshold=0.6),
        "HalfSpaceTrees": anomaly.HalfSpaceTrees(seed=1),
    }.items():
        front = (
            preprocessing.MinMaxScaler()
            if name == "HalfSpaceTrees"
            else preprocessing.StandardScaler()
        )
        model, metric = front | detector, metrics.ROCAUC()
        found = []
        for x, _, outlier in with_outliers(n):
            score = model.score_one(x)
            metric.update(outlier, score)
            found.append((score, outlier))
            model.learn_one(x)
        yield name, "exact", exact_area(found)
        yield name, "River's ROCAUC", metric.get()


def exact_area(found):
    """How often an outlier has a higher score than another example."""
    outliers = [score for score, outlier in found if outlier]
    others = [score for score, outlier in found if not outlier]
    wins = sum((a > b) + 0.5 * (a == b) for a in outliers for b in others)
    return wins / (len(outliers) * len(others))


MODEL = rb.BSGDClassifier(budget=50)
FILTERS = {
    "(no filter)": lambda: None,
    "ours, QuantileFilter": lambda: anomaly.QuantileFilter(DETECTOR.clone(), q=0.95),
    "ours, ThresholdFilter": lambda: anomaly.ThresholdFilter(DETECTOR.clone(), threshold=0.6),
    "HalfSpaceTrees": lambda: anomaly.QuantileFilter(anomaly.HalfSpaceTrees(seed=1), q=0.95),
}


def filters(n=1000):
    """Right predictions on what is no outlier: what a filter leaves out is not learned behind
    it.
    """
    for name, make in FILTERS.items():
        found = make()
        model = MODEL.clone() if found is None else found | MODEL.clone()
        model = preprocessing.StandardScaler() | model
        right = count = 0
        for x, y, outlier in with_outliers(n):
            right += (not outlier) and model.predict_one(x) == y
            count += not outlier
            model.learn_one(x, y)
        yield "filters", name, right / count


def by_prediction(n=1000):
    """An anomaly is what a regressor of ours did not expect. (mean score of outliers, and of all
    others)
    """
    rng = random.Random(0)
    detector = anomaly.PredictiveAnomalyDetection(
        preprocessing.StandardScaler() | rb.BSGDRegressor(budget=50), n_std=3.0, warmup_period=100
    )
    scores = {False: [], True: []}
    for i in range(n):
        x, outlier = {"a": rng.uniform(-2, 2)}, i > 300 and rng.random() < 0.05
        y = x["a"] ** 2 - 1.0 + rng.gauss(0, 0.05) + 6.0 * outlier
        if i > 300:
            scores[outlier].append(detector.score_one(x, y))
        detector.learn_one(x, y)
    for outlier, found in scores.items():
        yield "by prediction", "outliers" if outlier else "others", sum(found) / len(found)


def main(n: int | None = None) -> None:
    arguments = () if n is None else (n,)
    for part in (detectors, filters, by_prediction):
        for task, name, value in part(*arguments):
            print(f"{task:20}{name:25}{value:8.3f}")


if __name__ == "__main__":
    main()
