"""Models in files: what comes back is what was saved, and nothing else is let in."""

from __future__ import annotations

import contextlib
import copy
import errno
import json
import math
import os
import pathlib
import pickle
import random
import signal
import stat
import tempfile
import zipfile

import numpy as np
import pytest
from forging import (
    BSGD,
    FOGD,
    FORGED,
    NEAREST,
    NOGD,
    PROJECTING,
    SBP,
    SIMPLE,
    forge,
    outcome_of,
    packed,
    parts_of,
    pipeline_of,
    unpacked,
    zipped,
)
from models import (
    MODELS,
    TRANSFORMERS,
    crossed,
    having,
    learn,
    learned,
    one_of_each,
    stream_for,
)
from optional import pandas as pd
from river import preprocessing
from saved_models import (
    ALL,
    ONE_CLASS,
    alike,
    answers,
    file_of,
    stream_of,
    taught,
    teach,
)

import river_budget as rb
from river_budget.core.memory import views
from river_budget.kernels import RBF, Laplacian, Polynomial
from river_budget.maintenance import Merge, Project
from river_budget.saving import files, opened, states

# The first example is smaller on purpose
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rb"


@pytest.fixture
def again(path):
    """again(model): saved and loaded."""

    def save_and_load(model, **options):
        rb.save(model, path)
        return rb.load(path, **options)

    return save_and_load


def goes_on(twin, model, stream):
    """Whether a model is as another one, and still is after they have learned."""
    before = alike(twin, model, stream)
    teach(model, stream)
    teach(twin, stream)
    return before and alike(twin, model, stream)


# What comes back


@pytest.mark.parametrize(("model", "n"), crossed(ALL, [60, 0, 1]))
def test_a_loaded_model_is_the_saved_one_and_learns_as_it_would(model, n, again):
    model = taught(model, n)
    before = pickle.dumps(model)
    twin, stream = again(model), stream_of(model, 60, seed=1)
    assert pickle.dumps(model) == before  # saving changes nothing
    assert type(twin) is type(model)
    assert repr(twin) == repr(model)
    assert abs(twin.memory_usage - model.memory_usage) < 200  # lists have room in reserve
    assert goes_on(twin, model, stream)
    assert pickle.dumps(again(twin)) == pickle.dumps(again(model))


NAMES = ["", "a", "a b\n", "naïve", "日本", "\ud800", '"{"', 0, -1, 10**30, True, 0.1, -0.5]
NAMES += [1e-300, math.inf, None, (), ("a", 1), (("a", None), (0.5, True)), np.str_("numpy")]
NAMES += [np.int64(7), np.float32(0.3)]


def test_features_of_all_kinds_come_back(again):
    model = rb.BSGDClassifier(9)
    x = {name: 0.1 * i for i, name in enumerate(NAMES)}
    model.learn_one(x, True)
    twin = again(model)
    assert twin.predict_proba_one(x) == model.predict_proba_one(x)
    twin.learn_one(x | {"new": 1.0}, False)
    assert list(twin.support_vectors()[0]["features"]) == list(
        model.support_vectors()[0]["features"]
    )


@pytest.mark.parametrize(
    "labels",
    [
        ("yes", "no"),
        (True, False),
        (False,),
        (0, 1),
        (-1.0, 1.0),
        (0.5, 2, "three", ("four", 4)),
        (np.int64(3), np.str_("x"), np.float64(0.5)),
        ("\ud800", "ok", ""),
        tuple(range(500)),
    ],
    ids=lambda labels: repr(labels[:4]),
)
def test_labels_of_all_kinds_come_back(labels, again):
    model = rb.BSGDClassifier(30)
    for i, label in enumerate(labels):
        model.learn_one({"a": float(i)}, label)
    twin = again(model)
    shares = twin.predict_proba_one({"a": 0.3})
    assert shares == model.predict_proba_one({"a": 0.3})
    assert list(map(type, shares)) == list(map(type, model.predict_proba_one({"a": 0.3})))


@pytest.mark.parametrize("classes", [("b", "a"), (False, True), (1, 0), ("x", 2, 0.5, ("y", None))])
def test_given_classes_come_back_and_stay_closed(classes, again):
    model = rb.FOGDClassifier(9, classes=classes, seed=np.int64(2**70 % 2**63))
    examples = [({"a": float(i % 7)}, classes[i % len(classes)]) for i in range(20)]
    for state in (model, learn(model.clone(), examples)):
        twin = again(state)
        assert twin.classes == classes
        assert twin.predict_proba_one({"a": 1.0}) == state.predict_proba_one({"a": 1.0})
        with pytest.raises(ValueError, match="classes"):
            twin.learn_one({"a": 1.0}, "another")


@pytest.mark.parametrize("first", [1, 2, 5])
def test_an_automatic_width_stays_what_it_became(first, again):
    model = rb.BSGDRegressor(9, Laplacian(), Project())
    model.learn_one({f"f{i}": 1.0 for i in range(first)}, 1.0)
    model.learn_one({f"f{i}": 0.5 for i in range(7)}, 2.0)
    twin = again(model)
    assert views(twin._block).head.gamma == 1.0 / first
    assert twin.predict_one({"f0": 1.0}) == model.predict_one({"f0": 1.0})


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        *crossed(
            having("budget", MODELS + TRANSFORMERS + ONE_CLASS),
            [[{"budget": 4}, {"budget": 12}], [{"budget": 30}]],
        ),
        (rb.BSGDClassifier(15, RBF(0.5), Merge(3)), [{"budget": 7, "l2": 0.5}]),
        (rb.SBPClassifier(2000, RBF(0.5), seed=3), [{"window": 20}]),  # it keeps no table
        (rb.SBPClassifier(20, RBF(0.5), seed=3), [{"window": 2000}]),
    ],
)
def test_a_model_with_changed_parameters_comes_back(model, changes, again):
    model = taught(model, 30)
    for change in changes:
        model.mutate(change)
    twin = again(model)
    assert repr(twin) == repr(model)
    assert abs(twin.memory_usage - model.memory_usage) < 200
    assert goes_on(twin, model, stream_of(model, 60, seed=1))


@pytest.mark.parametrize("fit_bias", [False, True])
def test_a_refined_model_comes_back(fit_bias, again):
    model = learned(rb.SBPClassifier(25, RBF(0.5), fit_bias=fit_bias, seed=3))
    model.refine(50)
    twin = again(model)
    assert twin.bias == model.bias
    assert goes_on(twin, model, stream_for(model, 60, seed=1))


@pytest.mark.parametrize("model", one_of_each(ALL))
def test_extreme_models_come_back(model, again):
    targets = [y for _, y in stream_of(model, 9)]
    for value in (1e-300, 1e-160, 1e30, 1e154, 1e155, 1e300):
        extreme = model.clone()
        numbers = [{"a": sign * value, "b": 1.0} for sign in [1, -1, 0.5] * 3]
        stream = list(zip(numbers, targets, strict=True))
        teach(extreme, stream)
        assert alike(again(extreme), extreme, stream), value


def test_the_name_of_the_target_comes_back(again):
    X, y = pd.DataFrame({"a": [0.1, 0.5, 0.9]}), pd.Series([True, False, True], name="target")
    model = rb.BSGDClassifier(9)
    model.learn_many(X, y)
    assert again(model).predict_many(X).name == "target"


def test_a_loaded_model_shares_no_memory_with_the_file(path):
    model = learned(rb.BSGDClassifier(9))
    rb.save(model, path)
    data = path.read_bytes()
    a, b = opened(data), opened(data)
    teach(a, stream_for(model, 30, seed=1))
    assert alike(b, model, stream_for(model, 9))


# Models that only predict


def refused(method, *arguments):
    with pytest.raises(RuntimeError, match="predict_only"):
        method(*arguments)


def same_answers(frozen, model, stream):
    """To the bit, unless vectors without coefficients have gone: sums then end in other digits."""
    found, expected = answers(frozen, stream), answers(model, stream)
    if states.is_window(model):
        return np.allclose(np.array(found, float), np.array(expected, float), rtol=0, atol=1e-12)
    return found == expected


@pytest.mark.parametrize(("model", "n"), crossed(ALL, [60, 0]))
def test_a_model_that_only_predicts_predicts_the_same(model, n, again, path):
    model = taught(model, n)
    frozen, stream = again(model, predict_only=True), stream_of(model, 30, seed=1)
    rb.save(model, path, predict_only=True)
    assert same_answers(rb.load(path), model, stream)
    refused(rb.load(path).learn_one, *stream[0])
    rows = np.random.default_rng(0).normal(size=(5, 2))
    assert same_answers(frozen, model, stream)
    assert frozen.memory_usage <= model.memory_usage + 200  # lists have room in reserve
    for method in ("predict_many", "score_many", "transform_many"):
        if hasattr(model, method):
            assert np.array_equal(getattr(frozen, method)(rows), getattr(model, method)(rows))
    if hasattr(model, "predict_proba_many"):
        found, shares = (each.predict_proba_many(rows) for each in (frozen, model))
        assert list(found) == list(shares)
        assert np.allclose([*found.values()], [*shares.values()], rtol=0, atol=1e-9)
    before = pickle.dumps(frozen)
    for name in model._mutable_attributes:  # methods that change a model: test_contracts.py
        refused(frozen.mutate, {name: getattr(model, name)})
        refused(setattr, frozen, name, getattr(model, name))
    assert pickle.dumps(frozen) == before


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), None])
@pytest.mark.parametrize("model", one_of_each(ALL))
def test_copies_of_a_frozen_model_are_frozen_and_its_clones_are_not(model, copied, again):
    model = taught(model)
    frozen = again(model, predict_only=True)
    twin, stream = copied(frozen) if copied else again(frozen), stream_of(model, 20, seed=1)
    assert same_answers(twin, model, stream)
    refused(twin.learn_one, *stream[0])
    clone = frozen.clone()
    teach(clone, stream)


@pytest.mark.parametrize(
    "model",
    [
        rb.BSGDClassifier(50, RBF(0.5), Project()),
        rb.ProjectronClassifier(50, RBF(0.5)),
        rb.SBPClassifier(50, RBF(0.5)),
        rb.NOGDClassifier(50, RBF(0.5)),
        rb.BPAClassifier(50, RBF(0.5), update="projection"),
        rb.BSGDClassifier(5000, RBF(0.5)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_frozen_model_is_smaller(model, again, path, tmp_path):
    model = learned(model, 200)
    frozen = again(model, predict_only=True)
    assert frozen.memory_usage < 0.9 * model.memory_usage
    rb.save(frozen, tmp_path / "frozen.rb")
    assert (tmp_path / "frozen.rb").stat().st_size <= path.stat().st_size + 64


# What cannot be saved


class Own(rb.BSGDClassifier):
    """Somebody's own model."""


@pytest.mark.parametrize(
    ("model", "culprit"),
    [
        (Own(), "Own"),
        (type("BSGDClassifier", (rb.BSGDClassifier,), {})(), "BSGDClassifier"),
        ("no model", "str"),
        (None, "NoneType"),
        (rb.BSGDClassifier, "cannot be saved"),
        (rb.BSGDClassifier(classes=(b"a", b"b")), "b'a'"),
        (rb.BSGDClassifier(kernel=Polynomial(10**6), budget=None), "degree"),
        (rb.SBPClassifier(steps=10**9), "steps"),
    ],
    ids=str,
)
def test_what_cannot_be_saved_says_so(model, culprit, path):
    with pytest.raises(rb.SavedModelError, match=culprit):
        rb.save(model, path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [b"bytes", 1j, frozenset("ab"), math.nan, ("a", math.nan), 10**5000, range(3)],
    ids=lambda name: type(name).__name__,
)
def test_a_feature_that_cannot_be_saved_says_so(name, path):
    model = rb.BSGDRegressor(9)
    model.learn_one({name: 1.0}, 0.5)
    with pytest.raises(rb.SavedModelError):
        rb.save(model, path)
    assert list(path.parent.iterdir()) == []


# Files that are no good


@pytest.fixture(scope="module")
def small():
    """The bytes of a small file."""
    model = rb.BPAClassifier(4, RBF(0.5), update="nearest")
    return file_of(taught(model, 20))


def is_refused(data, reason=None):
    with pytest.raises(rb.SavedModelError, match=reason):
        opened(data)


def test_a_file_cut_off_anywhere_is_refused(small):
    for length in range(len(small)):
        is_refused(small[:length])


def test_any_flipped_bit_is_noticed_or_changes_nothing(small):
    """(A time of day and a few more numbers of a zip archive mean nothing here.)"""
    rng, harmless = random.Random(0), 0
    for _ in range(400):
        data = bytearray(small)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        with contextlib.suppress(rb.SavedModelError):
            assert file_of(opened(bytes(data))) == small
            harmless += 1
    assert harmless < 100


def with_part(data, name, content):
    return zipped((parts_of(data) | {name: content}).items())


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def twice(data):
    parts = list(parts_of(data).items())
    return zipped([*parts, parts[-1]])


def encrypted(data):
    place = data.index(b"PK\1\2")
    return data[: place + 8] + b"\1" + data[place + 9 :]


NPY = "0/coefficients.npy"


def with_shape(data, shape):
    """A file with another shape before an array, of the same length."""
    content = parts_of(data)[NPY]
    start, end = content.index(b"(") + 1, content.index(b")")
    text = shape.encode().ljust(end - start)
    return with_part(data, NPY, content[:start] + text + content[end:])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda d: b"", "no model saved"),
        (lambda d: b"\x80\x04K\x01.", "no model saved"),
        (lambda d: d[:20], "end"),
        (lambda d: d[:-1], "end"),
        (lambda d: d + b"\0", "end"),
        (lambda d: d[:-22] + b"PK\6\7" + b"\0" * 16 + d[-22:], "end"),
        (lambda d: d[:100] + b"!" + d[101:], "CRC|differ|overlap|name"),
        (lambda d: zipped(parts_of(d).items(), compression=zipfile.ZIP_DEFLATED), "compressed"),
        (encrypted, "encrypted"),
        (twice, "one name"),
        (lambda d: with_part(d, "other", b"text"), "no array"),
        (lambda d: with_part(d, "2/more.npy", parts_of(d)[NPY]), "another way"),
        (lambda d: with_part(d, NPY, parts_of(d)[NPY] + b"\0" * 8), "another size"),
        (lambda d: with_part(d, NPY, parts_of(d)[NPY][:-8]), "another size"),
        (lambda d: with_part(d, NPY, parts_of(d)[NPY][:40]), "no array"),
        (lambda d: with_part(d, NPY, b""), "no array"),
        (lambda d: with_part(d, NPY, flipped(parts_of(d)[NPY], 8)), "no array"),
        (lambda d: with_shape(d, "9, 9"), "another size"),
        (lambda d: with_shape(d, "-1, 1"), "no array"),
        (lambda d: with_shape(d, "[[1]]"), "no array"),
        (lambda d: packed(b"\xff\xfe"), "no JSON"),
        (lambda d: packed(b"[" * 100_000), "no JSON"),
        (lambda d: packed(b'{"format":' + b"1" * 5000 + b"}"), "no JSON"),
        (lambda d: packed(b"[]"), "no format"),
        (lambda d: packed({"format": "1"}), "no format"),
        (lambda d: packed({"format": True, "model": {}}), "no format"),
        (lambda d: packed({"format": 1}), "missing"),
        (lambda d: packed({"format": 2, "model": {}}), "format 2"),
        (lambda d: packed({"format": 1, "model": {}}), "does not know"),
        (lambda d: packed({"format": 1, "model": {"class": "os"}}), "does not know"),
    ],
)  # fmt: skip
def test_each_kind_of_damage_has_a_name(damage, reason, small):
    is_refused(damage(small), reason)


def test_a_file_of_another_format_says_which_version_wrote_it(small):
    header, arrays = unpacked(small)
    header |= {"format": 3, "river_budget": "7.8.9", "model": "something new"}
    is_refused(packed(header, arrays), "format 3.*reads format 1.*7.8.9")


def test_numpy_reads_the_arrays(path):
    model = taught(BSGD)
    rb.save(model, path)
    with np.load(path) as found:
        assert np.array_equal(found["0/coefficients"], numbers_in(model))
        assert json.loads(found["model.json"])["model"]["class"] == "BSGDClassifier"


def numbers_in(model):
    return views(model._block).coefficients[:, : model.n_support_vectors]


def test_a_large_file_is_refused_unread(path, small):
    path.write_bytes(small)
    with pytest.raises(rb.SavedModelError, match="max_bytes=100"):
        rb.load(path, max_bytes=100)
    with open(path, "r+b") as file:
        file.truncate(10**13)  # sparse: it takes no place on the disk
    with pytest.raises(rb.SavedModelError, match="max_bytes"):
        rb.load(path)


@pytest.mark.parametrize(
    "model",
    [
        rb.BSGDClassifier(10**9),
        rb.BSGDClassifier(30_000, maintenance=Project()),
        rb.SBPClassifier(1024),
        rb.FOGDClassifier(10**9),
        rb.RandomFourier(10**9),
        rb.Nystroem(10**9),
        rb.BSGDClassifier(100, maintenance=Merge(10**9)),
    ],
    ids=repr,
)
def test_a_model_that_would_be_too_large_is_refused(model, path):
    rb.save(model, path)
    with pytest.raises(rb.SavedModelError, match="max_bytes"):
        rb.load(path, max_bytes=20_000)


def test_the_models_of_a_pipeline_share_the_memory():
    header, arrays = unpacked(file_of(rb.BSGDClassifier(10_000)))
    one = header["model"]
    opened(packed(header, arrays), max_bytes=2**20)
    header["model"] = pipeline_of([[str(i), one] for i in range(9)])
    with pytest.raises(rb.SavedModelError, match="max_bytes"):
        opened(packed(header, arrays), max_bytes=2**20)


def test_steps_of_a_pipeline_have_different_names():
    pipeline = preprocessing.StandardScaler() | rb.ForgetronClassifier(9)
    learn(pipeline, stream_for(rb.ForgetronClassifier(), 9))
    header, arrays = unpacked(file_of(pipeline))
    steps = header["model"]["parameters"]["steps"]
    steps[1][0] = steps[0][0]
    is_refused(packed(header, arrays), "twice")


def test_pipelines_cannot_be_nested_without_end(small):
    header, arrays = unpacked(small)
    for _ in range(50):
        header["model"] = pipeline_of([["a", header["model"]]])
    is_refused(packed(header, arrays), "missing")


def test_what_is_no_file_is_not_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        rb.load(tmp_path / "nothing")
    with pytest.raises(OSError, match="folder"):
        rb.load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(rb.SavedModelError, match="regular"):
            rb.load(tmp_path / "pipe")
    with pytest.raises(rb.SavedModelError):
        rb.load(os.devnull)


# Forged files: the checksum is right, and the content is not


def changed(model, *keys, value):
    """The file of a model with another value in its header."""
    header, tables = unpacked(file_of(model))
    place = header["model"]
    for key in keys[:-1]:
        place = place[key]
    assert keys[-1] in place
    place[keys[-1]] = value
    return packed(header, tables)


def with_array(model, name, change):
    """The file of a model with another array."""
    header, arrays = unpacked(file_of(model))
    change(arrays[f"{header['model']['arrays']}/{name}"])
    return packed(header, arrays)


OGD = rb.KernelOGDClassifier(RBF(0.5))


def put(*place, value):
    def change(array):
        array[place] = value

    return change


@pytest.mark.parametrize(
    ("model", "keys", "values", "reason"),
    [
        (BSGD, ("numbers", "count"), ["-1", "0", "16", str(2**61), 3, None], "count|vectors|shape"),
        (BSGD, ("numbers", "width"), ["0", "7", str(2**20), "-8"], "width"),
        (BSGD, ("numbers", "scale"), [{"float": "nan"}, {"float": "0.0"}, {"float": "1e200"}], "scale"),  # noqa: E501
        (BSGD, ("numbers", "gamma"), [{"float": "inf"}, {"float": "-1.0"}, None, "1"], "gamma"),
        (BSGD, ("numbers", "arrived"), ["0", "5", str(2**63)], "arrived|out of range"),
        (BSGD, ("numbers", "random"), [str(2**64), "x", "²"], "random"),
        (BSGD, ("own", "project_to_ball"), ["x", str(2**62), "-" + str(2**62), None], "project_to_ball"),  # noqa: E501
        (BSGD, ("own", "norm2"), ["x", 1, {"RBF": {}}], "norm2|no value"),
        (BSGD, ("parameters", "budget"), [5, 0, {"RBF": {}}, 10**30], "vectors|budget|max_bytes"),
        (BSGD, ("parameters", "kernel"), [{"Merge": {}}, {"Linear": {}}, {"os": {}}], "kernel|value|factor"),  # noqa: E501
        (BSGD, ("parameters", "nonsense"), [], ""),
        (BSGD, ("labels",), [["a"], [], None, ["a"] * 4, [None] * 4], "shape|labels"),
        (BSGD, ("features",), [[], None, ["f0"] * 8, [{"float": "1.0"}, 1], [[]] * 8], "."),
        (BSGD, ("entropy",), ["-1", str(2**64), 5, None], "entropy"),
        (BSGD, ("arrays",), [{}, [], None, True, -1, 1], "missing"),
        (BSGD, ("class",), ["RBPClassifier", "SBPClassifier", "RandomFourier", "save", 1, None], "."),  # noqa: E501
        (SIMPLE, ("own", "code"), ["1", "2", "-1"], "code"),
        (NEAREST, ("parameters", "update"), ["simple", "projection"], "code"),
        (NOGD, ("own", "kept"), ["-1", "4", "15", str(2**61)], "basis|kept"),
        (NOGD, ("own", "stage"), ["-1", "3"], "basis|stage"),
        (NOGD, ("parameters", "rank"), [1, 10], "basis|per_vector"),
        (SBP, ("own", "positives"), ["-1", "26", str(2**61)], "positives|labels"),
        (SBP, ("own", "positives"), ["0", "25"], "other labels"),
        (SBP, ("own", "seen"), ["-1"], "seen"),
        (SBP, ("own", "done"), ["-1"], "done"),
        (SBP, ("own", "reservoir"), ["0"], "reservoir"),
        (SBP, ("own", "bias"), [{"float": "inf"}, {"float": "nan"}], "range"),
        (FOGD, ("parameters", "n_components"), [8, 10, 10**6, 10**12], "size|max_bytes"),
        (FOGD, ("numbers", "count"), ["0", "8", "10"], "size"),
        (OGD, ("numbers", "slope"), [{"float": "-1.0"}, {"float": "inf"}, {"float": "1e301"}, None], "slope"),  # noqa: E501
        (OGD, ("numbers", "top_bonus"), [{"float": "6.0"}, {"float": "-0.5"}], "top_bonus"),
        (OGD, ("numbers", "top_bonus_curvature"), [{"float": "1e200"}], "top_bonus_curvature"),
        (OGD, ("numbers", "slope_curvature"), [{"float": "0.0"}], "slope_curvature"),
        (OGD, ("numbers", "cross_curvature"), ["1"], "cross_curvature"),
    ],
    ids=lambda value: "" if isinstance(value, list) else "-".join(value) if isinstance(value, tuple) else None,  # noqa: E501
)  # fmt: skip
def test_forged_numbers_are_refused(model, keys, values, reason):
    model = taught(model)
    for value in values:
        is_refused(changed(model, *keys, value=value), reason)


@pytest.mark.parametrize("model", one_of_each(having("budget", MODELS + TRANSFORMERS + ONE_CLASS)))
def test_a_file_with_one_vector_more_than_its_budget_is_refused(model):
    model = taught(model.clone({"budget": 12}), 200)
    n = model.n_support_vectors
    assert n >= 2
    assert opened(changed(model, "parameters", "budget", value=n)).n_support_vectors == n
    is_refused(changed(model, "parameters", "budget", value=n - 1), f"{n} vectors.*{n - 1}")


@pytest.mark.parametrize("other", [0, 1, 13])
def test_two_vectors_that_came_at_once_are_refused(other):
    model = taught(BSGD, 100)
    arrival = views(model._block).arrivals[other]
    is_refused(with_array(model, "arrivals", put(14, value=arrival)), "same arrival")


@pytest.mark.parametrize(
    ("model", "name", "change", "reason"),
    [
        (BSGD, "vectors", put(0, 0, value=math.nan), "not finite"),
        (BSGD, "vectors", put(0, 0, value=7.0), "norms"),
        (BSGD, "coefficients", put(0, 0, value=-math.inf), "not finite"),
        (BSGD, "norms", put(0, value=math.nan), "not finite"),
        (BSGD, "norms", put(0, value=-1.0), "norms"),
        (BSGD, "norms", put(0, value=math.inf), "norms"),
        (BSGD, "arrivals", put(0, value=-1), "out of range"),
        (BSGD, "arrivals", put(0, value=10**9), "out of range"),
        (BSGD, "arrivals", put(slice(None), value=3), "same arrival"),
        (PROJECTING, "factor", put(0, 0, value=math.inf), "not finite"),
        (NEAREST, "per_vector", put(0, 3, value=15.0), "neighbours"),
        (NEAREST, "per_vector", put(0, 3, value=-2.0), "neighbours"),
        (NEAREST, "per_vector", put(0, 3, value=0.5), "neighbours"),
        (SBP, "per_vector", put(0, 3, value=0.0), "labels"),
        (SBP, "per_vector", put(0, slice(None), value=1.0), "labels"),
        (SBP, "per_vector", put(1, 3, value=1e300), "range"),
        (SBP, "per_vector", put(2, 3, value=-1e-9), "weights"),
        (SBP, "per_vector", put(2, 3, value=1.01e100), "weights"),
        (SBP, "factor", put(2, 3, value=1e200), "window"),
    ],
)
def test_forged_arrays_are_refused(model, name, change, reason):
    is_refused(with_array(taught(model), name, change), reason)


@pytest.mark.slow
def test_forged_files_are_refused_or_hold_a_model_that_works():
    rng = random.Random(0)
    sources = [unpacked(file_of(taught(model, 40))) for model in FORGED]
    outcomes = [outcome_of(forge(rng, *rng.choice(sources))) for _ in range(2000)]
    assert 100 < outcomes.count("loaded") < 1900


# Writing


@pytest.mark.parametrize("stage", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
def test_the_old_file_survives_a_failure(stage, error, path, monkeypatch):
    old = learned(rb.BSGDClassifier(9))
    rb.save(old, path)
    before = path.read_bytes()

    def fail(*arguments):
        raise error

    monkeypatch.setattr(os, stage, fail)
    with pytest.raises(type(error)):
        rb.save(learned(rb.BSGDClassifier(9), 90), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    assert alike(rb.load(path), old, stream_for(old, 9))


def test_a_file_is_forced_to_the_disk_before_it_takes_its_name_and_the_name_as_well(
    path, monkeypatch
):
    """What has been synchronised, in order: the file, and after the renaming its folder."""
    calls, force, rename = [], os.fsync, os.replace

    def fsync(handle):
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        force(handle)

    def replace(source, target):
        calls.append("renamed")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    rb.save(rb.BSGDClassifier(), path)
    assert calls == ["file", "renamed", "folder"][: 3 if os.name == "posix" else 2]


def test_names_of_files_may_be_text_relative_and_long(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model", "a" * 250, "ü b"):
        rb.save(rb.BSGDClassifier(budget=7), name)
        assert rb.load(name).budget == 7
    with pytest.raises(FileNotFoundError):
        rb.save(rb.BSGDClassifier(), "no folder/model")


# Smaller files of models that only predict


def test_a_file_for_predicting_keeps_what_predicting_needs(path):
    model = rb.SBPClassifier(2000, RBF(1.0), steps=0, seed=1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    model.learn_many(X, X[:, 0] > 0.3 * rng.normal(size=2000))
    model.refine(200)
    rb.save(model, path)
    whole, frozen = path.stat().st_size, rb.load(path, predict_only=True)
    assert rb.load(path).n_support_vectors == 2000
    rb.save(model, path, predict_only=True)
    small = rb.load(path)
    coefficients = [vector["coefficients"] for vector in model.support_vectors()]
    for twin in (frozen, small):
        assert twin.n_support_vectors == np.count_nonzero(coefficients) <= 200
        np.testing.assert_allclose(twin._scores_at(X[:50]), model._scores_at(X[:50]), atol=1e-12)
        assert twin.memory_usage < model.memory_usage / 5
        refused(twin.learn_one, {0: 1.0}, True)
    assert path.stat().st_size < whole / 5


# Where files are


@pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")
def test_a_link_goes_on_to_point_at_the_file(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = tmp_path / "latest"
    link.symlink_to(folder / "model")
    for budget in (7, 8):  # the file that it points at need not be there
        rb.save(rb.BSGDClassifier(budget), link)
        assert link.is_symlink()
        assert rb.load(folder / "model").budget == budget
    assert sorted(tmp_path.rglob("*")) == sorted([folder, link, folder / "model"])


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no other file system")
def test_a_link_may_lead_to_another_file_system(tmp_path):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        link = tmp_path / "model"
        link.symlink_to(pathlib.Path(other) / "model")
        rb.save(rb.BSGDClassifier(7), link)
        assert rb.load(link).budget == rb.load(pathlib.Path(other) / "model").budget == 7


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_keeps_its_permissions(path, tmp_path):
    """A new one may be read by those who may read others."""
    (tmp_path / "other").touch()
    rb.save(rb.BSGDClassifier(), path)
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    path.chmod(0o600)
    rb.save(rb.BSGDClassifier(), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_where_an_open_file_has_no_mode_and_a_folder_cannot_be_opened(path, monkeypatch):
    """As on Windows."""
    opening = os.open

    def only_files(path, *how, **named):
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return opening(path, *how, **named)

    monkeypatch.delattr(os, "O_NONBLOCK", raising=False)
    monkeypatch.setattr(os, "open", only_files)
    monkeypatch.setattr(os, "chmod", None)  # not in os.supports_fd
    for budget in (7, 8):
        rb.save(rb.BSGDClassifier(budget), path)
    assert rb.load(path).budget == 8
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("patience", [20, 0])
def test_where_readers_keep_a_file_from_being_replaced_a_saver_waits(patience, path, monkeypatch):
    """As on Windows. Not for ever."""
    rename, refusals = os.replace, iter([True, True, False])

    def replace(source, target):
        if next(refusals):
            raise PermissionError(errno.EACCES, "in use", target)
        rename(source, target)

    rb.save(rb.BSGDClassifier(7), path)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(files, "READERS_BLOCK", True)
    monkeypatch.setattr(files, "LONGEST_WAIT", patience)
    with contextlib.nullcontext() if patience else pytest.raises(PermissionError, match="in use"):
        rb.save(rb.BSGDClassifier(8), path)
    assert rb.load(path).budget == (8 if patience else 7)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # from Python 3.12 on
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_full_disk_leaves_the_old_file(path):
    """A process whose files may not grow: EFBIG in place of ENOSPC, in the middle of writing."""
    import resource

    old = learned(rb.BSGDClassifier(9))
    rb.save(old, path)
    before = path.read_bytes()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            with pytest.raises(OSError, match="large"):
                rb.save(learned(rb.BSGDClassifier(90), 90), path)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_saver_between_two_steps_of_another_leaves_its_draft_alone(path, monkeypatch):
    rename = os.replace

    def replace(source, target):
        monkeypatch.setattr(os, "replace", rename)
        rb.save(rb.BSGDClassifier(7), path)
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    rb.save(rb.BSGDClassifier(8), path)
    assert rb.load(path).budget == 8
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_changes_as_it_is_opened_is_read_whole(path, monkeypatch):
    """Its size is that of the file that was opened, not that of the one that had the name a moment
    ago.
    """
    small, large = learned(rb.BSGDClassifier(9), 10), learned(rb.BSGDClassifier(90), 300)
    rb.save(small, path)
    opening = os.open

    def replaced(name, flags, *args, **kwargs):
        if os.fspath(name) == os.fspath(path):
            path.write_bytes(file_of(large))
        return opening(name, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", replaced)
    assert file_of(rb.load(path)) == file_of(large)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_may_only_be_read_is_enough_to_load(path):
    rb.save(rb.BSGDClassifier(7), path)
    path.parent.chmod(0o500)
    path.chmod(0o400)
    try:
        assert rb.load(path).budget == 7
        if os.geteuid():  # root may write everywhere
            with pytest.raises(PermissionError):
                rb.save(rb.BSGDClassifier(7), path)
    finally:
        path.parent.chmod(0o700)
