"""Usual pipelines, with our models or River's at their end: saved, loaded, and learning on to the
same answers.
"""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest
from forging import EVIL, places_in
from river import anomaly, compose, feature_selection, linear_model, multiclass, optim, stats, utils
from river import feature_extraction as fx
from river import preprocessing as pre

import river_budget as rb
from river_budget.saving import nodes
from river_budget.saving.archive import Source
from river_budget.saving.objects import steps

BSGD = rb.BSGDClassifier(15, seed=1)
NUMBERS = ("a", "b")
SHOPS, COLOURS = ["Rome", "Oslo", "Lima", "Bonn"], ["red", "blue", "dark red"]
NOUNS = ["river", "budget", "kernel", "stream", "score", "margin", "vector", "label", "sum", "row"]


def numeric(*more):
    return compose.Select(*NUMBERS, *more)


def scaled():
    return numeric() | pre.StandardScaler()


WAVES = rb.RandomFourier(10, seed=1)
PIPELINES = {
    # text
    "readme": fx.BagOfWords() | rb.AutoKernelClassifier(seed=1),
    "words": fx.BagOfWords(on="text", ngram_range=(1, 2), stop_words={"sum"}) | BSGD,
    "tfidf": fx.TFIDF(on="text") | BSGD,
    "pattern": fx.TFIDF(on="text", normalize=False) | BSGD,
    "hashed": fx.BagOfWords(on="text") | pre.FeatureHasher(64, seed=3) | BSGD,
    "hashed at random": fx.BagOfWords(on="text") | pre.FeatureHasher(64) | BSGD,
    "few words": fx.BagOfWords(on="text") | rb.FeatureBudget(6, half_life=50) | BSGD,
    # categories
    "one-hot": (numeric() | pre.StandardScaler())
    + (compose.Select("city", "colour") | pre.OneHotEncoder())
    | BSGD,
    "one-hot given": compose.Select("city")
    | pre.OneHotEncoder(categories={"city": {"Rome", "Oslo"}}, drop_zeros=True)
    | BSGD,
    "one-hot first": compose.Select("colour") | pre.OneHotEncoder(drop_first=True) | BSGD,
    "ordinal": compose.Discard("text") | pre.OrdinalEncoder() | pre.StandardScaler() | BSGD,
    "types": compose.SelectType(int, float) + (compose.SelectType(str) | pre.OneHotEncoder())
    | BSGD,
    "crossed": numeric() * (compose.Select("city") | pre.OneHotEncoder()) | BSGD,
    # statistics of groups
    "target": numeric() + fx.TargetAgg(by="city", how=stats.BayesianMean(0.5, 10)) | BSGD,
    "targets": numeric() + fx.TargetAgg(by=["city", "colour"], how=stats.Mean())
    | pre.MaxAbsScaler()
    | BSGD,
    "rolling": fx.TargetAgg(by="city", how=utils.Rolling(stats.Var, window_size=8)) | BSGD,
    "groups": numeric()
    + fx.Agg(on="a", by="city", how=stats.Max())
    + fx.Agg(on="b", by=None, how=stats.EWMean(0.3))
    + fx.Agg(on="b", by="colour", how=stats.Quantile(0.3))
    | pre.StandardScaler()
    | BSGD,
    # missing values
    "imputed": compose.Select("a", "b", "gap")
    | pre.StatImputer(("gap", stats.Mean()), ("a", 3.0))
    | pre.StandardScaler()
    | BSGD,
    "mode": compose.Select("colour", "gap")
    | pre.StatImputer(("gap", stats.Quantile(0.5)), ("colour", stats.Mode()))
    | pre.OneHotEncoder()
    | BSGD,
    "previous": compose.Select("a", "gap") | pre.PreviousImputer() | rb.Guard("skip") | BSGD,
    "guarded": compose.Select("a", "gap") | rb.Guard("last") | rb.StandardScaler() | BSGD,
    # scales
    "min-max": numeric() | pre.MinMaxScaler() | BSGD,
    "windows": (numeric() | pre.StandardScaler(window_size=20) | compose.Prefixer("s_"))
    + (numeric() | pre.MinMaxScaler(window_size=9) | compose.Suffixer("_m"))
    + (numeric() | pre.MaxAbsScaler(window_size=7))
    | BSGD,
    "robust": numeric() | pre.RobustScaler() | BSGD,
    "adaptive": numeric() | pre.AdaptiveStandardScaler(0.1) | BSGD,
    # The order of the names in Select's set may change by loading, and with it the last digits
    # of a sum of squares; a sum of two absolute values has no order.
    "normal": numeric() | pre.Normalizer(1) | BSGD,
    "binary": numeric() | pre.Binarizer(1.0, int) | BSGD,
    "renamed": numeric() | compose.Renamer({"a": "alpha"}) | fx.PolynomialExtender() | BSGD,
    # choices
    "k best": numeric("noise")
    | feature_selection.SelectKBest(stats.PearsonCorr(), k=2)
    | pre.StandardScaler()
    | BSGD,
    "delayed": rb.Delayed(numeric() | pre.StandardScaler() | BSGD, 50),
    "varying": numeric("still") | feature_selection.VarianceThreshold(0.1) | BSGD,
    # River's models, and ours of several kinds
    "centred": numeric() | rb.StandardScaler(with_std=False) | BSGD,
    "our min-max": numeric() | rb.MinMaxScaler() | BSGD,
    "logistic": scaled()
    | WAVES
    | linear_model.LogisticRegression(optim.SGD(0.5), intercept_lr=0.1),
    "softmax": scaled() | rb.Nystroem(10) | linear_model.SoftmaxRegression(),
    "one against the rest": scaled() | multiclass.OneVsRestClassifier(rb.SBPClassifier(20, seed=1)),
    "linear": scaled() | WAVES | linear_model.LinearRegression(l2=0.1),
    "inner": scaled() | (pre.MinMaxScaler() | rb.RBPRegressor(9, seed=1)),
    "units": pre.TargetStandardScaler(scaled() | rb.BSGDRegressor(10, l2=0.01)),
    "our units": rb.TargetStandardScaler(scaled() | rb.BSGDRegressor(10, l2=0.01)),
}
REGRESSION = ("linear", "inner", "units", "our units")
THREE = ("softmax", "one against the rest")  # classes
MADE = dict.fromkeys(PIPELINES)


def stream(n, seed):
    rng = random.Random(seed)
    for i in range(n):
        a, b = rng.gauss(3.0, 2.0), rng.gauss(0.0, 1.0)
        city, colour = rng.choice(SHOPS), rng.choice(COLOURS)
        words = [*rng.choices(NOUNS, k=6), f"new{seed}-{i}"]
        y = (a * b > 0.0) ^ (city == "Oslo")
        if y:
            words.append("Río")
        x = {"a": a, "b": b, "city": city, "colour": colour, "text": " ".join(words)}
        x |= {"noise": rng.random(), "still": 1.0, "gap": None if rng.random() < 0.2 else a}
        yield x, y


def usable(name, x):
    """What of an example this pipeline takes."""
    if name == "readme":
        return x["text"]
    return {
        key: each for key, each in x.items() if each is not None or name not in ("types", "ordinal")
    }


def examples_for(name, n, seed):
    """What this pipeline takes of the examples, with targets of its task."""
    for x, y in stream(n, seed):
        if name in REGRESSION:
            y = x["a"] * x["b"]
        elif name in THREE:
            y = "xyz"[int(abs(x["a"])) % 3]
        yield usable(name, x), y


def taught(name, n=150):
    if MADE[name] is None:
        model = MADE[name] = copy.deepcopy(PIPELINES[name])
        for x, y in examples_for(name, n, 1):
            model.learn_one(x, y)
    return copy.deepcopy(MADE[name])


def answers(name, model, x):
    """The prediction, and the probabilities of a classifier."""
    found = [model.predict_one(copy.copy(x))]
    return (
        found if name in REGRESSION else [*found, *model.predict_proba_one(copy.copy(x)).values()]
    )


@pytest.mark.parametrize("name", PIPELINES)
def test_a_usual_pipeline_is_saved_and_learns_on_to_the_same_answers(name, file):
    model = taught(name)
    rb.save(model, file)
    same = rb.load(file)
    assert list(getattr(same, "steps", ())) == list(getattr(model, "steps", ()))
    for x, y in examples_for(name, 80, 2):
        assert answers(name, same, x) == answers(name, model, x)
        model.learn_one(copy.copy(x), y)
        same.learn_one(copy.copy(x), y)
    assert nodes.encoded(same)[0] == nodes.encoded(model)[0]


@pytest.mark.parametrize("name", PIPELINES)
def test_it_may_only_predict(name, file):
    model = taught(name)
    rb.save(model, file)
    frozen = [rb.load(file, predict_only=True)]
    for each in (model, frozen[0]):
        rb.save(each, file, predict_only=True)
        frozen.append(rb.load(file))
    for each in frozen:
        for x, _ in examples_for(name, 9, 3):
            first, *shares = answers(name, each, x)
            expected, *expected_shares = answers(name, model, x)
            assert first == (pytest.approx(expected) if name in REGRESSION else expected)
            assert shares == pytest.approx(expected_shares, rel=1e-12)  # SBP's sums are shorter
        with pytest.raises(RuntimeError, match="predict_only"):
            each.learn_one(x, True)
    if isinstance(model, compose.Pipeline):
        with pytest.raises(RuntimeError, match="predict_only"):
            frozen[0].mutate({list(model.steps)[-1]: {"budget": 3}})


STATISTICS = [
    *(stats.Mean(), stats.Var(), stats.Var(ddof=0), stats.SEM(), stats.BayesianMean(1.0, 2.0)),
    *(stats.Min(), stats.Max(), stats.AbsMax(), stats.Sum(), stats.Count(), stats.Mode(3)),
    *(stats.Quantile(0.3), stats.IQR(), stats.EWMean(0.3), stats.EWVar(0.2), stats.PeakToPeak()),
    *(stats.Kurtosis(), stats.Skew(), stats.Shift(2), stats.RollingMin(3), stats.RollingMax(3)),
    *(stats.RollingAbsMax(3), utils.Rolling(stats.Mean, 3), utils.Rolling(stats.Sum, 4)),
]


@pytest.mark.parametrize("n", [0, 1, 4, 30])
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda each: type(each).__name__)
def test_a_statistic_comes_back_and_goes_on(statistic, n, file):
    model = fx.Agg(on="a", by="city", how=copy.deepcopy(statistic))
    examples = [x for x, _ in stream(2 * n + 5, 4)]
    for x in examples[:n]:
        model.learn_one(x)
    rb.save(model, file)
    same = rb.load(file)
    for x in examples[n:]:
        for each in (model, same):
            each.learn_one(x)
        assert repr(same.transform_one(x)) == repr(model.transform_one(x))


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (fx.BagOfWords(tokenizer=str.split), "BagOfWords.tokenizer: .* files hold no functions"),
        (fx.TFIDF(preprocessor=str.upper), "TFIDF.preprocessor: .* files hold no functions"),
        (fx.BagOfWords(tokenizer_pattern=r"(\w+)+"), "tokenizer_pattern: .* default"),
        (fx.BagOfWords(tokenizer_pattern=r"\w*\w*\w*x"), "tokenizer_pattern: .* default"),
        (fx.BagOfWords(ngram_range=(1, 10**9)), "ngram_range"),
        (compose.FuncTransformer(abs), "FuncTransformer.func: .* call it on each example before"),
        (compose.SelectType(list), "SelectType.types: <class 'list'> .* numbers.Number"),
        (pre.Binarizer(dtype=complex), "Binarizer.dtype"),
        (fx.Agg("a", "b", stats.MAD()), "Agg.how: MAD cannot be saved; what can be here"),
        (fx.Agg("a", "b", utils.TimeRolling(stats.Mean, 3)), "Agg.how: TimeRolling"),
        (fx.RBFSampler(), "RBFSampler cannot be saved"),
        (linear_model.LogisticRegression(optim.Adam()), "SGD"),
        (linear_model.LogisticRegression(l1=0.1), "l1"),
        (linear_model.LinearRegression(loss=optim.losses.Absolute()), "loss"),
        (linear_model.SoftmaxRegression(optim.SGD(optim.schedulers.InverseScaling(0.1))), "InverseScaling"),  # noqa: E501
        (linear_model.PAClassifier(), "PAClassifier"),
    ],
)  # fmt: skip
def test_what_holds_a_function_or_is_not_known_is_refused_in_words(step, reason, file):
    for model in (step, scaled() | step):
        with pytest.raises(rb.SavedModelError, match=reason):
            rb.save(model, file)
    assert not file.exists()


def test_a_class_that_looks_like_rivers_is_not_taken_for_it(file):
    with pytest.raises(rb.SavedModelError, match="cannot be saved"):
        rb.save(type("OneHotEncoder", (pre.OneHotEncoder,), {})(), file)


SCALERS = [pre.StandardScaler(), pre.StandardScaler(with_std=False), pre.MinMaxScaler()]
SCALERS += [rb.StandardScaler(), rb.StandardScaler(with_std=False), rb.MinMaxScaler()]


@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
def test_a_scaler_of_features_with_any_names_comes_back(scaler, file):
    scaler = scaler.clone()
    for x in ({"a": 1.5, 2: -1}, {"a": 10, "b": np.float64(0.1)}, {("c", 1): 1e300, "a": 0}):
        scaler.learn_one(x)
    rb.save(scaler, file)
    twin = rb.load(file)
    twin.learn_one({"a": 0.3, "d": 1.0})
    scaler.learn_one({"a": 0.3, "d": 1.0})
    x = {"a": 0.7, "b": 0.2, 2: 3.0, ("c", 1): 1.0, "d": 0.5, "never seen": 1.0}
    found, expected = ([*map(float, s.transform_one(x).values())] for s in (twin, scaler))
    assert repr(found) == repr(expected)  # some are NaN


@pytest.mark.parametrize("filtering", [anomaly.QuantileFilter, anomaly.ThresholdFilter])
def test_a_filter_of_anomalies_is_saved(filtering, file):
    model = filtering(rb.KernelOneClassSVM(0.2, 9, seed=1), 0.7)
    examples = [{"a": x["a"], "b": x["b"]} for x, _ in stream(90, 5)]
    for x in examples[:60]:
        model.learn_one(x)
    rb.save(model, file)
    same = rb.load(file)
    for x in examples[60:]:
        assert same.score_one(x) == model.score_one(x)
        assert same.classify(same.score_one(x)) == model.classify(model.score_one(x))
        model.learn_one(x)
        same.learn_one(x)


# forged files


def with_value(model, *way, value):
    """The node of a model with another value in one place."""
    node, arrays = nodes.encoded(model)
    part = node
    for step in way[:-1]:
        part = part[step]
    assert way[-1] in part
    part[way[-1]] = value
    return node, Source(arrays)


def rolled():
    model = fx.Agg(on="a", by=None, how=utils.Rolling(stats.Mean, 5))
    for x, _ in stream(9, 1):
        model.learn_one(x)
    return model


MEAN = ("state", "_groups", 0, 1, "obj", "n")
STEPS = [compose.Prefixer("p"), compose.Suffixer("s"), compose.Select("a"), compose.Discard("a")]


@pytest.mark.parametrize(
    ("model", "way", "value", "reason"),
    [
        (fx.TFIDF(), ("state", "n"), -1, "-1 is not a whole number from 0"),
        (fx.TFIDF(), ("state", "n"), {"float": "1.0"}, "1.0 is not a whole number from 0"),
        (fx.TFIDF(), ("state", "dfs"), [["a", 1], ["a", 2]], "'a' is in a table twice"),
        (fx.BagOfWords(), ("parameters", "tokenizer_pattern"), "a?" * 24 + "a" * 24, "default"),
        (fx.BagOfWords(), ("parameters", "tokenizer"), "str.split", "hold no functions"),
        (compose.SelectType(int), ("parameters", "types"), ["os.system"], "names no type"),
        (fx.Agg("a", "b", stats.Mean()), ("parameters", "how", "class"), "os.system", "none of"),
        (fx.Agg("a", "b", stats.Mean()), ("parameters", "how", "class"), ["a"], "none of"),
        (rolled(), MEAN, {"float": "3.0"}, "a Rolling do not fit together"),
        (pre.TargetStandardScaler(rb.BSGDRegressor()), ("state", "var", "_S"), {"float": "-1.0"}, "fit"),  # noqa: E501
        (pre.RobustScaler(), ("parameters", "q_inf"), {"float": "nan"}, "nan is not a number from 0"),  # noqa: E501
        (numeric() | BSGD, ("parameters", "steps", 0, 1, "class"), "stats.Mean", "does not know"),
    ],
)  # fmt: skip
def test_what_a_file_says_is_compared_with_what_it_may_be(model, way, value, reason):
    with pytest.raises(rb.SavedModelError, match=reason):
        nodes.loaded(*with_value(model, *way, value=value))


def test_products_of_many_steps_are_refused_as_they_take_for_ever(file):
    product = STEPS[0] * STEPS[1] * STEPS[2] * STEPS[3]
    rb.save(product, file)
    with pytest.raises(rb.SavedModelError, match="do not fit together"):
        rb.save(product * compose.Prefixer("q"), file)


def forged_nodes(name, n, seed=0):
    """Nodes with one to three values of another kind, or that are gone."""
    text, arrays = taught_node(name)
    rng = random.Random(f"{name} {seed}")
    for _ in range(n):
        node = json.loads(text)
        for _ in range(rng.choice([1, 1, 2, 3])):
            *way, key = rng.choice([path for path in places_in(node) if "own" not in path])
            part = node
            for step in way:
                part = part[step]
            if rng.random() < 0.1:
                del part[key]
            else:
                part[key] = copy.deepcopy(rng.choice(EVIL))
        yield node, arrays


def taught_node(name):
    node, arrays = nodes.encoded(taught(name))
    return json.dumps(node), arrays


def outcome(node, arrays, name):
    """What is loaded is what would be saved, and works: it may refuse an example, as River does."""
    try:
        model = nodes.loaded(node, Source(arrays, room=2**26))
    except rb.SavedModelError:
        return "refused"
    assert nodes.saved(model)[0] == node
    for x, y in examples_for(name, 6, 6):
        for call in (model.predict_one, lambda x, y=y: model.learn_one(x, y)):
            try:
                call(copy.copy(x))
            except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError):
                continue  # a value that this step or the model behind refuses
    return "loaded"


@pytest.mark.parametrize("n", [60, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_forged_node_is_refused_or_a_model_that_works(name, n, no_hang):
    with np.errstate(all="ignore"):
        outcomes = [outcome(*forged, name) for forged in forged_nodes(name, n)]
    assert outcomes.count("refused") > n // 12


def test_the_pattern_that_files_hold_is_rivers():
    assert steps.TOKENS == fx.BagOfWords().tokenizer_pattern == fx.TFIDF().tokenizer_pattern
