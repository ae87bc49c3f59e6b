"""What River offers for the front of a pipeline, with one of our models behind it.

Scalers, selectors and projections on two classes, on seven, and in regression; imputers on a stream
with gaps; encoders of text and categories; aggregates. Each line is a pipeline to copy.
"""

from __future__ import annotations

import itertools
import random

from river import (
    compose,
    datasets,
    dummy,
    evaluate,
    feature_extraction,
    feature_selection,
    linear_model,
    metrics,
    preprocessing,
    stats,
)

import river_budget as rb

SCALER = preprocessing.StandardScaler()
MODELS = {
    "two classes": rb.BSGDClassifier(budget=50),
    "seven classes": rb.BSGDClassifier(budget=50),
    "regression": rb.BSGDRegressor(budget=50),
}
LINEAR = {
    "two classes": linear_model.LogisticRegression(),
    "seven classes": linear_model.SoftmaxRegression(),
    "regression": linear_model.LinearRegression(),
}
FRONTS = {
    "StandardScaler": SCALER,
    "MinMaxScaler": preprocessing.MinMaxScaler(),
    "MaxAbsScaler": preprocessing.MaxAbsScaler(),
    "RobustScaler": preprocessing.RobustScaler(),
    "AdaptiveStandardScaler": preprocessing.AdaptiveStandardScaler(fading_factor=0.01),
    # it cannot bear a row of zeros, as the first one is behind a scaler
    "Normalizer": preprocessing.Normalizer(),
    "Binarizer": SCALER | preprocessing.Binarizer(),
    "GaussianRandomProjector": SCALER | preprocessing.GaussianRandomProjector(6, seed=1),
    "SparseRandomProjector": SCALER | preprocessing.SparseRandomProjector(6, seed=1),
    "PolynomialExtender": SCALER | feature_extraction.PolynomialExtender(),
    "RandomTreesEmbedding": preprocessing.MinMaxScaler()
    | feature_extraction.RandomTreesEmbedding(5, seed=1),
    "VarianceThreshold": SCALER | feature_selection.VarianceThreshold(0.01),
    "PoissonInclusion": SCALER | feature_selection.PoissonInclusion(0.5, seed=1),
    # in a union: directly in a pipeline it lets all features through when the model learns, and k
    # when it predicts
    "SelectKBest": SCALER
    | compose.TransformerUnion(
        feature_selection.SelectKBest(stats.PearsonCorr(), k=4, use_abs=True)
    ),
    "Guard": rb.Guard("skip") | SCALER,
}
ONLY_NUMBERS_AS_TARGETS = {"SelectKBest"}


def stream(task, n):
    if task == "two classes":
        examples = datasets.Phishing()
    elif task == "seven classes":
        examples = datasets.ImageSegments()
    else:
        examples = datasets.TrumpApproval()
    return list(itertools.islice(examples, n))


def judged(pipeline, examples, regression=False):
    metric = metrics.MAE() if regression else metrics.Accuracy()
    if regression:
        pipeline = preprocessing.TargetStandardScaler(pipeline)
    return evaluate.progressive_val_score(examples, pipeline, metric).get()


def usual(task, examples):
    """The share of the most frequent class, or the error of the mean."""
    if task == "regression":
        return judged(dummy.StatisticRegressor(stats.Mean()), examples, regression=True)
    return judged(dummy.PriorClassifier(), examples)


def scalers_and_selectors(n=500):
    for task, model in MODELS.items():
        examples = stream(task, n)
        yield task, "(nothing learned)", usual(task, examples)
        for name, front in FRONTS.items():
            if task == "seven classes" and name in ONLY_NUMBERS_AS_TARGETS:
                continue
            pipeline = front.clone() | model.clone()
            yield task, name, judged(pipeline, examples, task == "regression")


IMPUTERS = {
    "PreviousImputer": preprocessing.PreviousImputer(),
    "StatImputer": preprocessing.StatImputer(*((name, stats.Mean()) for name in "ab")),
    'Guard("last")': rb.Guard("last"),
}


def with_gaps(n):
    """XOR of two numbers, one in ten of which is None."""
    rng = random.Random(0)
    for _ in range(n):
        x = {name: rng.uniform(-1, 1) for name in "ab"}
        y = x["a"] * x["b"] > 0
        yield {name: None if rng.random() < 0.1 else value for name, value in x.items()}, y


def imputers(n=1000):
    examples = list(with_gaps(n))
    for name, imputer in IMPUTERS.items():
        yield (
            "gaps",
            name,
            judged(imputer.clone() | SCALER.clone() | MODELS["two classes"].clone(), examples),
        )


ENCODERS = {
    "OneHotEncoder": preprocessing.OneHotEncoder(),
    "OrdinalEncoder": preprocessing.OrdinalEncoder() | preprocessing.OneHotEncoder(),
    "FeatureHasher": preprocessing.FeatureHasher(64, seed=1),
    "GapEncoder": preprocessing.GapEncoder(5, on="shape", seed=1),
}


def of_categories(n):
    """Round things count as small up to a size of 1, all others above it."""
    rng = random.Random(0)
    for _ in range(n):
        x = {
            "shape": rng.choice(["circle", "ellipse", "square", "rhombus"]),
            "size": rng.uniform(0, 2),
        }
        yield x, (x["shape"] in ("circle", "ellipse")) == (x["size"] < 1)


def encoders(n=1500):
    examples = list(of_categories(n))
    for name, encoder in ENCODERS.items():
        front = (compose.Select("shape") | encoder.clone()) + (
            compose.Select("size") | SCALER.clone()
        )
        model = front | rb.BSGDClassifier(kernel=rb.kernels.RBF(0.5))
        yield "categories", name, judged(model, examples)


WORDS = {
    "BagOfWords": feature_extraction.BagOfWords(),
    "TFIDF": feature_extraction.TFIDF(),
    "LDA": feature_extraction.BagOfWords() | preprocessing.LDA(5, seed=1),
}


def texts(n=300):
    """Words become features: their names appear as the stream goes on."""
    examples = list(messages(n))
    for name, extractor in WORDS.items():
        model = extractor.clone() | rb.BSGDClassifier(
            kernel=rb.kernels.Linear(), maintenance=rb.maintenance.RemoveSmallest()
        )
        yield "words", name, judged(model, examples)


def messages(n):
    rng = random.Random(0)
    good, bad = (
        ["see", "you", "at", "lunch", "home", "late", "tonight", "train", "work"],
        ["win", "cash", "prize", "now", "call", "free", "claim", "offer"],
    )
    for _ in range(n):
        spam = rng.random() < 0.4
        words = rng.choices(bad if spam else good, k=6) + rng.choices(good + bad, k=3)
        yield " ".join(words), spam


MAPS = {
    "RandomFourier": rb.RandomFourier(50, seed=1),
    "RBFSampler": rb.RBFSampler(n_components=50, seed=1),
    "Nystroem": rb.Nystroem(50),
}


def maps(n=500):
    """Maps of ours in front of River's linear models."""
    for task in MODELS:
        examples = stream(task, n)
        for name, features in MAPS.items():
            model = SCALER.clone() | features.clone() | LINEAR[task].clone()
            yield task, f"{name} | linear", judged(model, examples, task == "regression")


AGGREGATES = {
    "TargetAgg": feature_extraction.TargetAgg(by="shop", how=stats.Mean(), target_name="sales"),
    "Agg": feature_extraction.Agg(on="price", by="shop", how=stats.Min())
    + feature_extraction.Agg(on="price", by="shop", how=stats.Max()),
}


def of_shops(n):
    """What a shop sells depends on its usual prices, and has a level of its own."""
    rng = random.Random(0)
    for _ in range(n):
        shop = rng.randrange(8)
        yield {"shop": shop, "price": rng.uniform(shop, 2 * shop + 1)}, 3.0 * shop + rng.gauss(0, 1)


def aggregates(n=1000):
    """Before they have seen a shop these give nothing or infinities, which count as absent in
    prediction.
    """
    examples = list(of_shops(n))
    yield "shops", "(nothing learned)", usual("regression", examples)
    for name, aggregate in AGGREGATES.items():
        pipeline = aggregate.clone() | SCALER.clone() | MODELS["regression"].clone()
        yield "shops", name, judged(pipeline, examples, regression=True)


def main(n: int | None = None) -> None:
    arguments = () if n is None else (n,)
    for part in (scalers_and_selectors, imputers, encoders, texts, maps, aggregates):
        for task, name, value in part(*arguments):
            print(f"{task:15}{name:25}{value:8.3f}")


if __name__ == "__main__":
    main()
