"""Frames with text, gaps and dates: each row goes through a pipeline as its dict would."""

from __future__ import annotations

import copy
import datetime
import math
import random
import statistics

import numpy as np
import pytest
from optional import pandas as pd
from optional import polars as pl
from river import compose, linear_model, preprocessing, stats

import river_budget as rb

N = 300
FIRST = datetime.datetime(2025, 1, 1)


def rows_of(n=N, seed=1):
    """Rows of a business: a number, a whole number, two categories, a flag and a day, each with
    gaps.
    """
    rng = random.Random(seed)
    for t in range(n):
        x = {
            "size": rng.gauss(50, 10),
            "rooms": rng.randrange(1, 6),
            "colour": rng.choice(["red", "green", "blue"]),
            "city": rng.choice(["Ulm", "Bonn"]),
            "new": rng.random() < 0.5,
            "day": FIRST + datetime.timedelta(days=t),
        }
        y = (x["size"] > 50) == (x["colour"] == "red")
        for name in ("size", "colour"):
            if rng.random() < 0.1:
                x[name] = None
        yield x, y


STREAM = list(rows_of())
Y = [y for _, y in STREAM]
PRICES = [30.0 * (x["size"] or 0.0) + 200.0 * (x["colour"] == "red") for x, _ in STREAM]
FRAMES = {"pandas": lambda rows: pd.DataFrame(rows), "polars": lambda rows: pl.DataFrame(rows)}


def weekday(x):
    """Dates become numbers before anything else sees them."""
    return {name: each for name, each in x.items() if name != "day"} | {
        "weekday": x["day"].weekday(),
        "month": x["day"].month,
    }


def encoded():
    """The recipe: numbers scaled, words one-hot, whatever is missing absent."""
    numbers = compose.SelectType(float, int) | rb.StandardScaler()
    words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    return compose.FuncTransformer(weekday) | (numbers + words)


def recipe():
    return rb.Guard("absent") | encoded() | rb.AutoKernelClassifier(classes=(False, True), seed=1)


MODELS = {
    "recipe": recipe,
    "encoder": lambda: encoder() | rb.BSGDClassifier(20, classes=(False, True), seed=1),
    "skipping": lambda: rb.Guard("skip") | encoder() | rb.BSGDClassifier(20, seed=1),
    "late": lambda: rb.Delayed(encoder() | rb.BSGDClassifier(20, classes=(False, True), seed=1)),
}


def encoder():
    kept = compose.Select("colour", "city", "rooms", "new")
    return kept | preprocessing.OneHotEncoder() | rb.StandardScaler()


def loop(model, stream):
    found = []
    for x, y in stream:
        found.append(model.predict_one(x))
        model.learn_one(x, y)
    return found


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("name", MODELS)
def test_a_frame_of_a_business_is_learned_as_its_rows(library, name):
    one, many = MODELS[name](), MODELS[name]()
    frame = FRAMES[library]([x for x, _ in STREAM])
    assert list(rb.predict_then_learn_many(many, frame, Y)) == loop(one, STREAM)
    rows = [one.predict_proba_one(x) for x, _ in STREAM[:40]]
    assert [many.predict_proba_one(x) for x, _ in STREAM[:40]] == rows


def test_the_recipe_learns_what_it_is_for():
    model = recipe()
    found = loop(model, rows_of(1500))
    right = [guess == y for guess, (_, y) in zip(found, rows_of(1500), strict=True)]
    assert statistics.fmean(right[700:]) > 0.8


@pytest.mark.parametrize("library", FRAMES)
def test_a_guard_in_front_of_an_encoder_takes_frames(library):
    one, many = MODELS["skipping"](), MODELS["skipping"]()
    frame = FRAMES[library]([x for x, _ in STREAM])
    loop(one, STREAM)
    many.learn_many(frame, Y)
    assert many["Guard"].n_skipped == one["Guard"].n_skipped
    assert set(many["Guard"].n_skipped) == {"missing"}
    assert many["BSGDClassifier"].n_examples == one["BSGDClassifier"].n_examples > 200
    whole = FRAMES[library]([x for x, _ in STREAM if x["colour"] is not None])
    each = [x for x, _ in STREAM if x["colour"] is not None]
    assert list(many.predict_many(whole)) == [one.predict_one(x) for x in each]
    shares = many.predict_proba_many(whole)
    expected = [one.predict_proba_one(x)[True] for x in each]
    assert list(shares[True if True in list(shares.columns) else "True"]) == expected


@pytest.mark.parametrize("library", FRAMES)
def test_targets_are_scaled_around_an_encoder(library):
    def made():
        return rb.TargetStandardScaler(
            rb.Guard("absent") | encoded() | rb.BSGDRegressor(30, seed=1)
        )

    one, many = made(), made()
    for (x, _), price in zip(STREAM, PRICES, strict=True):
        one.learn_one(x, price)
    frame = FRAMES[library]([x for x, _ in STREAM])
    many.learn_many(frame, PRICES)
    assert list(many.predict_many(frame)) == [one.predict_one(x) for x, _ in STREAM]


def test_an_imputer_in_front_takes_a_frame_with_gaps():
    def made():
        filled = preprocessing.StatImputer(("size", stats.Mean()))
        return filled | rb.StandardScaler() | rb.BSGDClassifier(20, classes=(False, True), seed=1)

    rows = [({"size": x["size"], "rooms": x["rooms"]}, y) for x, y in STREAM]
    frame = pd.DataFrame([x for x, _ in rows]).astype({"size": object})
    frame = frame.where(frame.notna(), None)
    assert list(rb.predict_then_learn_many(made(), frame, Y)) == loop(made(), rows)


def test_text_where_nothing_takes_it_is_refused_before_anything_is_learned():
    frame = pd.DataFrame([x for x, _ in STREAM])[["rooms", "city"]]
    for model, y in (
        (rb.StandardScaler() | rb.BSGDClassifier(5), Y),
        (rb.TargetStandardScaler(preprocessing.StandardScaler() | rb.BSGDRegressor(5)), PRICES),
    ):
        before = copy.deepcopy(model)
        with pytest.raises(ValueError, match="feature 'city' must be a finite number"):
            rb.predict_then_learn_many(model, frame, y)
        assert rb.summary(model) == rb.summary(before)


def test_text_in_a_feature_that_held_numbers_stays_out():
    model = rb.Guard("skip") | encoder() | rb.BSGDClassifier(20, seed=1)
    good = {"colour": "red", "city": "Ulm", "rooms": 3, "new": True}
    model.learn_one(good, True)
    model.learn_one(good | {"rooms": "n/a"}, False)
    assert model["Guard"].n_skipped == {"text": 1}
    plain = rb.Guard("skip") | rb.StandardScaler() | rb.BSGDClassifier(5)
    plain.learn_one({"a": "red"}, True)
    assert plain["Guard"].n_skipped == {"text": 1}


@pytest.mark.parametrize("again", ["clone", "file", "copy"])
def test_a_guard_knows_what_follows_it_also_in_a_copy(again, tmp_path):
    model = MODELS["skipping"]()
    loop(model, STREAM[:50])
    if again == "clone":
        model = model.clone()
    elif again == "copy":
        model = copy.deepcopy(model)
    else:
        rb.save(model, tmp_path / "model.rb")
        model = rb.load(tmp_path / "model.rb")
    loop(model, STREAM[50:])
    assert set(model["Guard"].n_skipped) == {"missing"}


MODES = ["raise", "skip", "last", "absent"]
RAW = [({name: v for name, v in x.items() if name != "day"}, y) for x, y in STREAM]


def behind(mode, wrap=lambda model: model):
    return rb.Guard(mode) | wrap(rb.AutoKernelClassifier(classes=(False, True), seed=1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("wrap", [lambda model: model, rb.Delayed], ids=["bare", "Delayed"])
def test_text_and_gaps_pass_a_guard_in_front_of_auto_kernel(mode, wrap):
    guarded, bare = behind(mode, wrap), wrap(rb.AutoKernelClassifier(classes=(False, True), seed=1))
    shares = []
    for x, y in RAW:
        shares.append((guarded.predict_proba_one(x), bare.predict_proba_one(x)))
        guarded.learn_one(x, y)
        bare.learn_one(x, y)
    assert guarded["Guard"].n_skipped == {}
    # "last" is asked to replace what is missing, which the others leave to the model
    assert all(one == other for one, other in shares) == (mode != "last")
    if mode == "last":
        sizes = [x["size"] for x, _ in RAW if x["size"] is not None]
        passed = guarded["Guard"].transform_one({"size": None, "colour": None})
        assert passed == {"size": sizes[-1], "colour": None}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("library", FRAMES)
def test_frames_with_text_and_gaps_pass_a_guard_in_front_of_auto_kernel(library, mode):
    one, many, begun = behind(mode), behind(mode), behind(mode)
    frame = FRAMES[library]([x for x, _ in RAW])
    loop(one, RAW)
    many.learn_many(frame, Y)
    assert list(rb.predict_then_learn_many(begun, frame, Y)) == loop(behind(mode), RAW)
    expected = [one.predict_proba_one(x) for x, _ in RAW]
    for model in (many, begun):
        assert [model.predict_proba_one(x) for x, _ in RAW] == expected
    assert list(many.predict_many(frame)) == [one.predict_one(x) for x, _ in RAW]
    shares = many.predict_proba_many(frame)
    column = shares[True if True in list(shares.columns) else "True"]
    assert list(column) == [each[True] for each in expected]


def test_a_guard_in_front_of_auto_kernel_keeps_out_what_that_refuses():
    model = behind("skip")
    loop(model, RAW[:50])
    good = RAW[0][0]
    wrong = {"infinite": math.inf, "complex": 1j, "no number": FIRST, "text": "n/a"}
    for value in wrong.values():
        model.learn_one(good | {"rooms": value}, True)
    assert model["Guard"].n_skipped == dict.fromkeys(wrong, 1)
    assert model["AutoKernelClassifier"].n_examples == 50
    assert model.predict_one(good | {"rooms": math.inf}) in (False, True)
    with pytest.raises(ValueError, match="feature 'rooms' must be a finite number, not inf"):
        behind("raise").learn_one(good | {"rooms": math.inf}, True)


def test_numbers_in_front_of_auto_kernel_go_through_a_guard_at_once():
    rows = [{"size": float(t), "rooms": t % 3} for t in range(60)]
    frame, y = pd.DataFrame(rows), [t % 2 == 0 for t in range(60)]
    one, many = behind("skip"), behind("skip")
    loop(one, zip(rows, y, strict=True))
    many.learn_many(frame, y)
    for model in (one, many):  # both know by now which columns hold numbers
        model.learn_one({"size": "n/a", "rooms": 1}, True)
        assert model["Guard"].n_skipped == {"text": 1}
    assert list(many.predict_many(frame)) == [one.predict_one(x) for x in rows]


def test_absent_in_a_loop_and_in_an_array():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.random(60) < 0.5
    one, many, plain = (
        rb.Guard("absent") | rb.StandardScaler() | rb.BSGDClassifier(9, seed=1) for _ in range(3)
    )
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        one.learn_one(x, label)
        plain.learn_one({name: value for name, value in x.items() if value == value}, label)
    many.learn_many(X, y)
    assert list(many.predict_many(X)) == [
        one.predict_one(dict(enumerate(row))) for row in X.tolist()
    ]
    assert rb.support_vectors(one) == rb.support_vectors(plain) == rb.support_vectors(many)


def test_a_bare_model_of_river_still_refuses_a_gap_in_words():
    frame = pd.DataFrame({"a": [1.0, None]})
    with pytest.raises(ValueError, match="feature 'a' must be a finite number"):
        rb.predict_then_learn_many(linear_model.LogisticRegression(), frame, [True, False])
