"""Files of ONNX: what a runtime without Python says is what the model says."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from many_names import crowd, with_gaps
from models import KERNELS, MODELS, content, learn, learned, list_of, overlap, stream_for
from river import (
    anomaly,
    base,
    compose,
    ensemble,
    linear_model,
    multiclass,
    optim,
    preprocessing,
)
from streams import emerging, smooth

import river_budget as rb
from river_budget.kernels import RBF, Cosine, Custom, Laplacian, Linear, Normalised, Polynomial

# Names come and go on purpose
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

# Relative to the largest score; onnxruntime keeps a factor behind a product in float32
CLOSE = 2e-7
SCALED, MINMAX = preprocessing.StandardScaler, preprocessing.MinMaxScaler
UNITS = preprocessing.TargetStandardScaler
RATE = optim.SGD(0.1)


@pytest.fixture
def exported(tmp_path):
    """exported(model, xs, ...): {name: values} of the outputs for these examples."""

    def run(model, xs, matrix=False, missing=0.0):
        path = tmp_path / "model.onnx"
        rb.export.onnx(model, path, matrix=matrix)
        session = onnxruntime.InferenceSession(path.read_bytes())
        names = {i.name: i.type for i in session.get_inputs()}
        if matrix:
            names = json.loads(session.get_modelmeta().custom_metadata_map["features"])
        xs = [{str(name): value for name, value in x.items()} for x in xs]
        columns = {
            name: np.array([[x.get(name, "")] for x in xs], object)
            if not matrix and names[name] == "tensor(string)"
            else np.array([[x.get(name, missing)] for x in xs], np.float64)
            for name in names
        }
        if matrix:
            columns = {"features": np.hstack(list(columns.values()))}
        found = session.run(None, columns)
        return dict(zip([o.name for o in session.get_outputs()], found, strict=True))

    return run


def compare(model, found, xs):
    if isinstance(model, base.Regressor):
        expected = np.array([model.predict_one(x) for x in xs])
        assert found.keys() == {"prediction"}
        assert found["prediction"] == pytest.approx(expected, rel=CLOSE, abs=CLOSE)
        return
    assert found["label"].tolist() == [model.predict_one(x) for x in xs]
    shares = [list(model.predict_proba_one(x).values()) for x in xs]
    assert found["probabilities"] == pytest.approx(np.array(shares), rel=CLOSE, abs=CLOSE)


def known(model, xs):
    """Examples with the features that the model has learned: others have no input."""
    return [{name: value for name, value in x.items() if name in model._features} for x in xs]


EXPORTED = [p for p in MODELS if "custom" not in p.id and not p.id.startswith("AutoKernel")]


@pytest.mark.parametrize("entry", EXPORTED)
def test_every_predictor_gives_the_same_scores(entry, exported):
    model = learned(entry, 100)
    before = content(model)
    xs = known(model, [x for x, _ in stream_for(model, 40, seed=7)])
    found = exported(model, xs)
    compare(model, found, xs)
    scores = np.array([list_of(model.decision_function_one(x)) for x in xs])
    out = found["scores" if "scores" in found else "prediction"].reshape(scores.shape)
    assert out == pytest.approx(scores, rel=CLOSE, abs=CLOSE * np.abs(scores).max())
    assert content(model) == before


@pytest.mark.parametrize("kind", [rb.BSGDClassifier, rb.RBPClassifier])
def test_a_model_that_has_forgotten_names_gives_the_same_scores(kind, exported):
    model = with_gaps(kind(20, RBF(0.05)), "two")
    xs = known(model, [x for x, _ in crowd(60, seed=1)])
    compare(model, exported(model, xs, matrix=True), xs)


def test_a_vector_that_is_gone_needs_no_feature(exported):
    model = rb.ForgetronClassifier(6, RBF(1.0))
    for i in range(3):
        model.learn_one({"a": 1.0 + i, "b": 1.0 + i}, i == 1)
    for i in range(3):
        model.learn_one({"a": 5.0 + i}, i == 1)
    model.mutate({"budget": 2})
    xs = [{"a": 4.5}, {"a": 6.0}]
    compare(model, exported(compose.Select("a") | model, xs), xs)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, Custom)], ids=repr)
@pytest.mark.parametrize("kind", [rb.ForgetronClassifier, rb.KernelOGDClassifier])
def test_every_kernel_also_where_it_is_normalised(kernel, kind, exported):
    stream = emerging(150)
    model = learn(kind(kernel=kernel), stream)
    xs = [*known(model, [x for x, _ in stream[:40]]), {}]
    compare(model, exported(model, xs), xs)


CLASSIFYING = {
    "scaled": SCALED() | rb.BSGDClassifier(20),
    "between 0 and 1": MINMAX() | rb.BSGDClassifier(20),
    "without spread": SCALED(with_std=False) | rb.RBPClassifier(20, seed=1),
    "ours": rb.StandardScaler() | rb.MinMaxScaler() | rb.BSGDClassifier(20),
    "ours, without spread": rb.StandardScaler(False) | rb.RBPClassifier(20, seed=1),
    "window": SCALED(window_size=50) | rb.ForgetronClassifier(20),
    "two scalers": SCALED() | MINMAX() | rb.NOGDClassifier(20),
    "waves": SCALED() | rb.RandomFourier(20, seed=1) | linear_model.SoftmaxRegression(RATE),
    "landmarks": SCALED() | rb.Nystroem(20) | linear_model.SoftmaxRegression(RATE),
    "directions": SCALED() | rb.Nystroem(20, 7, Polynomial(2)) | rb.FOGDClassifier(20, seed=2),
    "one against the rest": SCALED() | multiclass.OneVsRestClassifier(rb.SBPClassifier(20)),
    "sketch": SCALED()
    | rb.PolynomialCountSketch(21, Polynomial(3, "1/d", 0.5), 1)
    | linear_model.SoftmaxRegression(optim.SGD(0.01)),
    "sketch of two": rb.PolynomialCountSketch(20, Polynomial(2, 0.2, 0.0), 1)
    | linear_model.SoftmaxRegression(optim.SGD(0.01)),
    "guarded": rb.Guard("skip") | SCALED() | rb.BSGDClassifier(20),
}
TWO = {
    "logistic": SCALED() | rb.RBFSampler(seed=1) | linear_model.LogisticRegression(RATE),
    "binary": SCALED() | rb.NORMAClassifier(20),
    "CKS": SCALED() | rb.BudgetPerceptronClassifier(20),
}
REGRESSING = {
    "units": UNITS(SCALED() | rb.BSGDRegressor(20)),
    "our units": rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(20)),
    "units inside": SCALED() | UNITS(rb.FOGDRegressor(20, seed=1)),
    "linear": SCALED() | rb.RandomFourier(20, seed=1) | linear_model.LinearRegression(RATE),
    "nothing in front": rb.NOGDRegressor(20),
}


def taught(model, stream):
    return learn(model.clone(), stream)


@pytest.mark.parametrize("matrix", [False, True], ids=["columns", "matrix"])
@pytest.mark.parametrize("name", [*CLASSIFYING, *TWO, *REGRESSING])
def test_pipelines(name, matrix, exported):
    if name in REGRESSING:
        model, stream = REGRESSING[name], smooth(150)
    else:
        model, stream = (CLASSIFYING | TWO)[name], emerging(150)
    if name in TWO:
        stream = [(x, y == stream[0][1]) for x, y in stream]
    model = taught(model, stream)
    xs = [x for x, _ in stream[-40:]]
    compare(model, exported(model, xs, matrix, missing=math.nan), xs)


# Features of all kinds in front


def sold(n=400):
    """Houses: amounts with heavy tails, some missing, and words."""
    rng = np.random.default_rng(3)
    for i in range(n):
        x = {"price": float(rng.lognormal(3, 2)), "rooms": float(rng.integers(1, 6))}
        x |= {"town": "ABC"[rng.integers(3)], "floor": int(rng.integers(3)), "age": rng.normal()}
        if i % 4 == 1:
            del x["age"]
        yield x, x["town"] == "A" or x["price"] * x["rooms"] > 100


MIXED = (
    compose.Select("price", "rooms")
    + compose.Discard("price", "rooms", "town", "floor")
    + (compose.Select("price") | SCALED() | compose.Discard("rooms"))
    + (compose.Select("town", "floor") | preprocessing.OneHotEncoder(drop_first=True))
)


@pytest.mark.parametrize("model", [rb.BSGDClassifier(60), rb.BSGDRegressor(60)])
def test_numbers_and_words_in_front(model, exported):
    stream = list(sold())
    if isinstance(model, base.Regressor):
        stream = [(x, float(np.log(x["price"]))) for x, _ in stream]
    model, xs = taught(MIXED | SCALED() | model, stream[:-60]), [x for x, _ in stream[-60:]]
    xs += [{i: v if isinstance(v, str) else -3.0 * v for i, v in x.items()} for x in xs[:20]]
    compare(model, exported(model, xs, missing=math.nan), xs)


def test_texts_do_not_fit_into_a_matrix(tmp_path):
    with pytest.raises(ValueError, match="cannot hold 'town', which is a text"):
        rb.export.onnx(
            taught(MIXED | rb.BSGDClassifier(60), sold()), tmp_path / "model.onnx", matrix=True
        )


def test_nan_counts_as_absent(exported):
    stream = [({"a": x["f0"], "b": x["f1"]}, y > 0.3) for x, y in smooth(100)]
    model = taught(SCALED() | rb.KernelOGDClassifier(RBF(0.5)), stream)
    xs = [x | {gone: math.nan} for x, _ in stream[:20] for gone in x]
    compare(model, exported(model, xs), xs)


def test_a_detector_gives_its_score(exported):
    rng = np.random.default_rng(0)
    xs = [dict(zip("ab", row, strict=True)) for row in rng.normal(size=(300, 2)).tolist()]
    strange = [{"a": 0.5 * i, "b": -0.3 * i} for i in range(40)]
    for n in (0, 1, 300):
        model = rb.KernelOneClassSVM(budget=30)
        for x in [{"a": 0.0, "b": 0.0}, *xs[:n]]:
            model.learn_one(x)
        found = exported(model, xs + strange)["score"]
        assert found == pytest.approx([model.score_one(x) for x in xs + strange], rel=CLOSE)


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (False, True), (-3, 8), (0.5, 1.5), ("ä", "b", "c")], ids=repr
)
def test_labels_come_back_as_they_are(labels, exported):
    stream = [(x, labels[i % len(labels)]) for i, (x, _) in enumerate(emerging(60))]
    model = learn(rb.KernelPerceptronClassifier(RBF(0.5)), stream)
    xs = known(model, [x for x, _ in stream])
    found = exported(model, xs)["label"].tolist()
    assert found == [model.predict_one(x) for x in xs]
    assert {type(label) for label in found} == {type(labels[0])}


def test_inputs_are_named_as_the_features_and_outputs_give_way(exported):
    xs = [{"label": float(i % 7), 3: float(i % 5), "a": float(i % 2)} for i in range(50)]
    model = rb.KernelPerceptronClassifier(RBF(0.5))
    for x in xs:
        model.learn_one(x, x["label"] > 3.0)
    found = exported(model, xs)
    assert found.keys() == {"label_", "probabilities", "scores"}
    assert found["label_"].tolist() == [model.predict_one(x) for x in xs]


def test_the_file_says_what_its_columns_are(tmp_path):
    model = taught(SCALED() | rb.BSGDClassifier(10), emerging(60))
    rb.export.onnx(model, tmp_path / "model.onnx", matrix=True)
    properties = {
        entry.key: json.loads(entry.value)
        for entry in onnx.load(tmp_path / "model.onnx").metadata_props
    }
    assert properties["classes"] == list(model["BSGDClassifier"]._labels.known)
    assert properties["features"] == list(model["StandardScaler"].counts)


def test_a_model_of_a_hundred_vectors_and_ten_features_takes_ten_kilobytes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    model = rb.BSGDClassifier(100)
    model.learn_many(X, np.sin(X[:, 0]) * X[:, 1] + 0.5 * rng.normal(size=500) > 0)
    assert model.n_support_vectors == 100
    rb.export.onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").stat().st_size < 10_000


# At the edge of the numbers

FAR = [1e-170, 1e-30, 1.0, 1e20, 1e49, 1e51, 1e77, 1e99, 1e110, 1e150, 1e160, 1e250]
EDGES = {
    "cosine": rb.KernelOGDClassifier(Cosine()),
    "CKS, linear": rb.BudgetPerceptronClassifier(9, Cosine()),
    "normalised": rb.KernelOGDClassifier(Normalised(Polynomial(3))),
    "normalised by itself": rb.ForgetronClassifier(9, Polynomial(2)),
    "polynomial": rb.KernelPerceptronClassifier(Polynomial(2, 0.5)),
    "gaussian": rb.BSGDClassifier(9, RBF(0.5)),
    "narrow": rb.KernelPerceptronClassifier(RBF(1e30)),
    "laplacian": rb.KernelPerceptronClassifier(Laplacian(0.5)),
    "FOGD": rb.FOGDClassifier(9, RBF(0.5), seed=1),
    "NOGD": rb.NOGDClassifier(9, RBF(0.5)),
    "waves": rb.RandomFourier(9, seed=1) | linear_model.LogisticRegression(RATE),
    "landmarks": rb.Nystroem(9, 5, RBF(0.5)) | linear_model.LogisticRegression(RATE),
}


@pytest.mark.parametrize("scale", [1.0, 1e51, 1e150])
@pytest.mark.parametrize("name", EDGES)
def test_numbers_of_any_size(name, scale, exported):
    """Learned at a scale, and asked at all: what overflows here is clamped there too."""
    rng = np.random.default_rng(2)
    stream = [
        ({"a": scale * a, "b": scale * b}, a * b > 0.0)
        for a, b in rng.normal(size=(60, 2)).tolist()
    ]
    model = taught(EDGES[name], stream)
    # one feature, as the order of a sum decides everything about an angle of 1e14
    xs = [{"a": sign * far} for far in FAR for sign in (1.0, -1.0)] + [x for x, _ in stream[:20]]
    found = exported(model, xs)
    compare(model, found, xs)
    if not isinstance(model, compose.Pipeline):
        scores = np.array([model.decision_function_one(x) for x in xs])
        assert found["scores"] == pytest.approx(scores, rel=1e-6, abs=1e-6)


def test_a_linear_kernel_is_one_vector_whose_products_are_not_clamped(exported):
    """As the docstring says: they agree until a product of two examples is beyond 1e100."""
    stream = [({"a": a, "b": 1.0}, a > 0.0) for a in (-1e60, 1e60, -2e60, 3e60)]
    model = taught(rb.KernelOGDClassifier(Linear()), stream)
    xs = [{"a": 1e39, "b": 2.0}, {"a": -1e39}, {"a": 1e45}]
    scores = [model.decision_function_one(x) for x in xs]
    found = exported(model, xs)["scores"]
    assert found[:2] == pytest.approx(scores[:2], rel=CLOSE)
    assert abs(found[2]) > 10.0 * abs(scores[2]) > 0.0


@pytest.mark.parametrize("name", ["FOGD", "waves"])
@pytest.mark.parametrize(("scale", "close"), [(1e4, 1e-10), (1e8, 1e-6), (1e12, 1e-2)])
def test_large_angles_agree_up_to_their_own_rounding(name, scale, close, exported):
    """As the docstring says: an angle of 1e12 is known to 1e-4, and its sum has another order in a
    runtime.
    """
    rng = np.random.default_rng(3)
    stream = [
        (dict(zip("abcdef", row, strict=True)), row[0] > 0.0)
        for row in (scale * rng.normal(size=(60, 6))).tolist()
    ]
    model, xs = taught(EDGES[name], stream), [x for x, _ in stream]
    shares = [list(model.predict_proba_one(x).values()) for x in xs]
    found = exported(model, xs)["probabilities"]
    assert found == pytest.approx(np.array(shares), abs=max(close, CLOSE))


ODD_VALUES = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("on_bad", ["last", "skip"])
@pytest.mark.parametrize("place", ["in front", "behind a scaler"])
def test_a_guard_meets_everything_that_is_no_finite_number(on_bad, place, exported):
    guard = rb.Guard(on_bad)
    front = guard | SCALED() if place == "in front" else SCALED() | guard
    rng = np.random.default_rng(4)
    stream = [({"a": a, "b": b}, a * b > 0.0) for a, b in rng.normal(size=(80, 2)).tolist()]
    model = taught(front | rb.KernelPerceptronClassifier(RBF(0.5)), stream)
    xs = [x | {gone: odd} for x, _ in stream[:9] for gone in x for odd in ODD_VALUES]
    xs += [{"a": odd, "b": odd} for odd in ODD_VALUES]
    compare(model, exported(model, xs), xs)


def test_a_guard_lets_no_text_through(exported):
    words = compose.Select("town") | preprocessing.OneHotEncoder()
    front = words + (rb.Guard("last") | compose.Discard("town"))
    stream = [(x, y) for x, y in sold() if "age" in x]
    model = taught(front | rb.BSGDClassifier(60), stream)
    xs = [x for x, _ in stream[:40]]
    compare(model, exported(model, xs), xs)


# What cannot be exported says so, and nothing is written


def spoilt():
    """(id, model, what it learns, what the error says)"""
    stream = [(x, y == "blue") for x, y in emerging(40)]
    yield "fresh", rb.BSGDClassifier(), [], "learned nothing"
    yield "fresh pipeline", SCALED() | rb.BSGDClassifier(), [], "learned nothing"
    yield "one class", rb.BSGDClassifier(classes=None), [(x, "a") for x, _ in stream], "one"
    mixed = [(x, "a" if y else 1) for x, y in stream]
    yield "labels", rb.KernelPerceptronClassifier(), mixed, "labels"
    yield "scaler", preprocessing.Normalizer() | rb.RBPClassifier(), stream, "Normalizer"
    bag = ensemble.BaggingClassifier(rb.RBPClassifier(), n_models=2, seed=1)
    yield "ensemble", SCALED() | bag, stream, "BaggingClassifier"
    names = [({"1": 1.0, 1: 2.0}, y) for _, y in stream]
    yield "names", rb.RBPClassifier(), names, "names of inputs"
    waiting = rb.Nystroem(1000, 5) | linear_model.LogisticRegression()
    yield "map", waiting, stream, "without features"
    yield "function", rb.RBPClassifier(kernel=Custom(overlap)), stream, "kernel of one's own"
    cats = preprocessing.OneHotEncoder(drop_zeros=True) | rb.RBPClassifier()
    yield "zeros", cats, stream, "drop_zeros"
    odd = [({"a": value}, i % 2 == 0) for i, value in enumerate([1, "b"] * 5)]
    yield "odd", preprocessing.OneHotEncoder() | rb.RBPClassifier(), odd, "texts and others"
    log = compose.TargetTransformRegressor(rb.RBPRegressor(), math.log1p, math.expm1)
    yield "experts", rb.AutoKernelClassifier(), stream, "AutoKernelClassifier"
    yield "units", log, [(x, abs(y)) for x, y in smooth(20)], "TargetTransformRegressor"
    huber = linear_model.LinearRegression(loss=optim.losses.Huber())
    yield "loss", rb.RandomFourier(5) | huber, smooth(20), "another loss"
    for name, labels in (
        ("70 bits", (1, 2**70)),
        ("surrogate", ("a", "\ud800")),
        ("zero", ("a", "b\0c")),
    ):
        yield name, rb.RBPClassifier(), [(x, labels[y]) for x, y in stream], "64 bits|no text"
    yield "odd name", rb.RBPClassifier(), [({"\udfff": 1.0 + y}, y) for _, y in stream], "no text"
    for name, values in (
        ("empty", ("", "b")),
        ("odd text", ("a", "\ud800")),
        ("whole", (1, 2**60)),
    ):
        rows = [({"a": values[y]}, y) for _, y in stream]
        message = "empty text|no text|no float"
        yield name, preprocessing.OneHotEncoder() | rb.RBPClassifier(), rows, message
    odd = anomaly.ThresholdFilter(anomaly.HalfSpaceTrees(), 2.0)
    yield "filter", SCALED() | odd | rb.RBPClassifier(), stream, "ThresholdFilter"


@pytest.mark.parametrize(
    ("model", "stream", "message"), [pytest.param(*rest, id=name) for name, *rest in spoilt()]
)
def test_what_cannot_be_exported_says_so(model, stream, message, tmp_path):
    """It learns here, not where pytest collects the tests: each worker would compile for it."""
    with pytest.raises((ValueError, NotImplementedError), match=message):
        rb.export.onnx(taught(model, stream), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
