"""The automatic learners on tables as they are: text is a category, and a missing number is the
mean of its column.
"""

from __future__ import annotations

import copy
import enum
import math
import numbers
import pickle
import random

import numpy as np
import pytest
from forging import packed, unpacked
from river import compose, preprocessing
from saved_models import file_of

import river_budget as rb
from river_budget.algorithms.auto import table_reader
from river_budget.algorithms.auto.table_reader import GAPS, MOST_VALUES, OTHER
from river_budget.distributed import KeyedModels
from river_budget.inputs.features import Category
from river_budget.inputs.frames import as_list
from river_budget.saving import SavedModelError, opened

pd = pytest.importorskip("pandas")
AUTO = [rb.AutoKernelClassifier(50, seed=1), rb.AutoKernelRegressor(50, seed=1)]


def table(n, seed=0, values=4):
    """Rows whose label depends on a number and on two columns of text."""
    rng, found = random.Random(seed), []
    for _ in range(n):
        x = {"size": rng.gauss(50.0, 10.0), "colour": f"c{rng.randrange(values)}"}
        x |= {"day": rng.choice(["Mon", "Tue", "Wed"]), "sale": rng.random() < 0.5}
        found.append((x, (x["size"] > 50.0) == (x["colour"] in ("c0", "c1"))))
    return found


def untidy(n, seed=0):
    """Rows with text, gaps of all kinds, many values, and columns that hold numbers and text."""
    rng, found = random.Random(seed), []
    for _ in range(n):
        x = {"number": rng.choice([rng.gauss(0.0, 1.0), None, math.nan, pd.NA])}
        x |= {"mixed": rng.choice([1.0, 2, "big", None]), "many": f"v{rng.randrange(200)}"}
        x |= {"few": rng.choice(["a", "b", None]), "true": rng.random() < 0.5}
        found.append((x, rng.randrange(3)))
    return found


def learned(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


def share_right(model, stream):
    right = 0
    for x, y in stream:
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    return right / len(stream)


def frame_of(stream):
    return pd.DataFrame([x for x, _ in stream], dtype=object)


# categories


def test_text_is_learned_as_well_as_one_hot():
    stream = table(1500)
    by_hand = compose.SelectType(str) | preprocessing.OneHotEncoder()
    by_hand += compose.SelectType(numbers.Number)
    plain = share_right(rb.AutoKernelClassifier(seed=1), stream)
    assert plain > 0.9
    assert plain > share_right(by_hand | rb.AutoKernelClassifier(seed=1), stream) - 0.01


@pytest.mark.parametrize("model", AUTO)
def test_a_text_is_a_feature_that_is_1(model):
    """With names of the same seed and order, all digits are those of one-hot encoding."""
    rng, raw, encoded = random.Random(1), model.clone(), model.clone()
    for _ in range(150):
        colour, size = rng.choice(["red", "blue"]), rng.gauss(0.0, 1.0)
        other = {Category(("colour", one)): float(one == colour) for one in ("red", "blue")}
        present = {name: value for name, value in other.items() if value}
        y = colour == "red"
        x = {"size": size, "colour": colour}
        assert raw.predict_one(x) == encoded.predict_one({"size": size} | present)
        raw.learn_one(x, y)
        encoded.learn_one({"size": size} | present, y)
    assert set(raw._features) == {"size", ("colour", "red"), ("colour", "blue")}
    assert raw.importances() == encoded.importances()


def test_all_kinds_of_text_are_categories():
    class Colour(enum.StrEnum):
        RED = "red"

    model = learned(rb.AutoKernelClassifier(seed=1), table(40))
    for text in ("red", np.str_("red"), b"red", Colour.RED, np.bytes_(b"red")):
        model.learn_one({"size": 1.0, "colour": text}, True)
    made = [name for name in model._features if name[1:] == ("red",)]
    assert made == [("colour", "red")]
    assert type(made[0][1]) is str


def test_memory_is_bounded_and_flat_with_endless_values(monkeypatch):
    model, rng = rb.AutoKernelClassifier(50, seed=1), random.Random(1)
    sizes = []
    for t in range(3000):
        x = {"id": f"v{t if t % 3 else rng.randrange(10)}", "a": rng.gauss(0.0, 1.0)}
        model.learn_one(x, x["a"] > 0.0)
        if t % 500 == 499:
            sizes.append((len(model._features), model.memory_usage // 1000))
    assert len(set(sizes[1:])) == 1
    assert sizes[-1][0] == MOST_VALUES + 2
    # what comes often has stayed
    assert {("id", f"v{k}") for k in range(10)} < set(model._features)
    monkeypatch.setattr(table_reader, "MOST_CATEGORIES", MOST_VALUES + 3)
    for t in range(200):
        model.learn_one({"id": "v1", "a": 0.0, "further": f"u{t}"}, False)
    assert sum(name[0] == "further" for name in model._features) == 3


def test_a_value_that_becomes_frequent_takes_over_the_feature_of_a_rare_one():
    model, rng = rb.AutoKernelClassifier(50, seed=1), random.Random(1)
    for t in range(1500):
        model.learn_one({"id": f"old {t}" if t < 200 else "old 0", "a": rng.random()}, t % 2 == 0)
    assert ("id", OTHER) in model._features
    before = set(model._features)
    for _ in range(600):
        name, a = rng.choice(["new 1", "new 2"]), rng.random()
        model.learn_one({"id": name, "a": a}, name == "new 1")
    after = set(model._features)
    assert len(after) == len(before)
    assert after - before == {("id", "new 1"), ("id", "new 2")}
    assert ("id", "old 0") in after
    assert model.predict_one({"id": "new 1", "a": 0.5})
    assert not model.predict_one({"id": "new 2", "a": 0.5})
    assert file_of(opened(file_of(model))) == file_of(model)


def test_long_texts_are_others():
    model = learned(rb.AutoKernelClassifier(seed=1), [({"a": "x" * 10**6}, True)])
    assert list(model._features) == [("a", OTHER)]


# gaps


@pytest.mark.parametrize("model", AUTO)
@pytest.mark.parametrize("gap", [None, math.nan, np.nan, pd.NA, "absent"])
def test_a_gap_is_the_mean_of_its_column(model, gap):
    rng, model = random.Random(1), model.clone()
    for _ in range(60):
        x = {"a": rng.gauss(100.0, 1.0), "b": rng.gauss(0.0, 1.0)}
        model.learn_one(x, x["a"] > 100.0)
    mean = float(model._table("moments")[0, model._features.places["a"]])
    assert abs(mean - 100.0) < 1.0
    x = {"b": 0.3} | ({} if isinstance(gap, str) else {"a": gap})
    before = file_of(model)
    assert model.predict_one(x) == model.predict_one({"a": mean, "b": 0.3})
    assert file_of(model) == before
    other = copy.deepcopy(model)
    model.learn_one(x, True)
    other.learn_one({"a": mean, "b": 0.3, GAPS: 1.0}, True)
    assert file_of(model) == file_of(other)


def test_gaps_cost_less_than_zeros():
    rng = np.random.default_rng(1)
    X = rng.normal(10.0, 1.0, size=(1500, 4))
    y, gone = X[:, 0] + X[:, 1] - X[:, 2], rng.random(X.shape) < 0.2

    def error(X):
        found = rb.AutoKernelRegressor(seed=1).predict_then_learn_many(X, y)
        return np.abs(found - y)[300:].mean()

    assert error(np.where(gone, np.nan, X)) < 0.9 * error(np.where(gone, 0.0, X))


@pytest.mark.parametrize("model", AUTO)
def test_absent_stays_0_where_names_come_and_go(model):
    """As before: in a bag of words, and where a column was missing in one of the first examples."""
    rng, words, zeros = random.Random(1), model.clone(), model.clone()
    for t in range(120):
        x = {f"w{rng.randrange(30)}": 1.0 for _ in range(6)}
        x |= {"the": 1.0} if t < 90 or t % 2 else {}
        words.learn_one(x, t % 2)
        zeros.learn_one(x | dict.fromkeys(zeros._features, 0.0) | x, t % 2)
        assert words.predict_one(x) == zeros.predict_one(x)
    assert list(words._features) == list(zeros._features)
    assert GAPS not in words._features


@pytest.mark.parametrize("model", AUTO)
def test_sparse_matrices_leave_out_zeros(model):
    sparse = pytest.importorskip("scipy.sparse")
    X = np.random.default_rng(1).normal(size=(80, 5))
    X[40:, 1:3] = 0.0
    y, dense, listed = np.arange(80) % 2, model.clone(), model.clone()
    dense.learn_many(X, y)
    listed.learn_many(sparse.csr_array(X), y)
    assert listed.importances() == dense.importances()
    with pytest.raises(ValueError, match="feature 0"):
        listed.learn_many(sparse.csr_array(X * np.nan), y)


# the same in every way


@pytest.mark.parametrize("model", AUTO)
def test_batches_are_loops(model):
    stream, one, many = untidy(400), model.clone(), model.clone()
    validated, expected, X = model.clone(), [], frame_of(stream)
    for x, y in stream:
        expected.append(one.predict_one(x))
        one.learn_one(x, y)
    many.learn_many(X[:150], [y for _, y in stream[:150]])
    many.learn_many(X[150:], [y for _, y in stream[150:]])
    found = validated.predict_then_learn_many(X, [y for _, y in stream])
    assert found.tolist() == expected
    assert file_of(one) == file_of(many) == file_of(validated)
    predicted = many.predict_many(X)
    assert predicted.tolist() == [one.predict_one(x) for x, _ in stream]
    assert predicted.index.equals(X.index)


@pytest.mark.parametrize("model", AUTO)
def test_predict_then_learn_is_both(model):
    one, both = model.clone(), model.clone()
    for x, y in untidy(150):
        expected = one.predict_one(x)
        one.learn_one(x, y)
        assert both.predict_then_learn_one(x, y) == expected
    assert file_of(one) == file_of(both)


FRAMES = {
    "object": lambda rows: pd.DataFrame(rows),
    "string": lambda rows: pd.DataFrame(rows).astype({"colour": "string", "day": "string"}),
    "category": lambda rows: pd.DataFrame(rows).astype({"colour": "category", "day": "category"}),
    "polars": lambda rows: pytest.importorskip("polars").DataFrame(rows),
    "pyarrow": lambda rows: pytest.importorskip("pyarrow").Table.from_pylist(rows),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("model", AUTO)
def test_frames_of_all_kinds(model, kind):
    stream, one, many = table(120), model.clone(), model.clone()
    for t in range(0, 119, 7):
        stream[t][0]["day"] = stream[t + 1][0]["size"] = None
    learned(one, stream)
    X = FRAMES[kind]([x for x, _ in stream])
    many.learn_many(X, [y for _, y in stream])
    assert file_of(one) == file_of(many)
    assert as_list(many.predict_many(X)) == [one.predict_one(x) for x, _ in stream]


def test_arrays_of_text():
    X = np.array([["a", "1"], ["b", "2"]] * 20)
    model = rb.AutoKernelClassifier(seed=1)
    model.learn_many(X, [True, False] * 20)
    assert model.predict_many(X[:2]).tolist() == [True, False]
    assert set(model._features) == {(0, "a"), (0, "b"), (1, "1"), (1, "2")}


@pytest.mark.parametrize("model", AUTO)
def test_copies_and_files_go_on_alike(model):
    stream = untidy(300)
    model = learned(model.clone(), stream[:200])
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), opened(file_of(model))]
    others.append(model.clone(include_attributes=True))
    learned(model, stream[200:])
    for other in others:
        assert file_of(learned(other, stream[200:])) == file_of(model)
    assert model.clone()._always is None


@pytest.mark.parametrize("change", ["range", "kind", "column", "keys", "list", "twice"])
def test_forged_names_are_refused(change):
    model = learned(rb.AutoKernelClassifier(5, seed=1), table(60))
    head, arrays = unpacked(file_of(model))
    node = head["model"]
    made = node["names"]["made"]
    if change == "range":
        made.append(99)
    elif change == "kind":
        node["names"]["always"] = ["size"]
    elif change == "column":
        made.append(node["features"].index("size"))
    elif change == "keys":
        del node["names"]["always"]
    elif change == "list":
        node["names"] = made
    else:
        made.append(made[0])
    with pytest.raises(SavedModelError):
        opened(packed(head, arrays))


# errors


@pytest.mark.parametrize("model", AUTO)
@pytest.mark.parametrize("bad", [[1], {}, math.inf, 1j, np.zeros(2), np.datetime64("2020-01-01")])
def test_what_says_nothing_is_refused_by_name(model, bad):
    model = learned(model.clone(), untidy(60))
    before = file_of(model)
    x = {"few": "new", "number": bad}
    with pytest.raises(ValueError, match="'number'"):
        model.learn_one(x, 1)
    with pytest.raises(ValueError, match="'number'"):
        model.learn_one(x, 7)  # a new label
    frame = pd.DataFrame({"few": ["a", "new"], "number": pd.Series([1.0, bad], dtype=object)})
    with pytest.raises(ValueError, match="'number'"):
        model.learn_many(frame, [1, 1])
    assert file_of(model) == before


@pytest.mark.parametrize("model", AUTO)
def test_predictions_change_nothing(model):
    model = learned(model.clone(), untidy(100))
    before = file_of(model)
    for x in ({}, {"few": "unknown"}, {"new": "text"}, {"number": math.inf, "many": "v1"}):
        model.predict_one(x)
        model.explain_one(x)
        frame = pd.DataFrame([x])
        assert model.predict_many(frame).tolist() == [model.predict_one(x)] or not x
    assert file_of(model) == before


def test_models_per_key_and_wrappers_read_tables():
    model, stream = rb.AutoKernelRegressor(20, seed=1), untidy(90)
    rows = [x | {"key": t % 2} for t, (x, _) in enumerate(stream)]
    each = [learned(model.clone(), stream[k::2]) for k in range(2)]
    with KeyedModels(model, "key", backend="serial") as models:
        models.learn_many(rows, [y for _, y in stream])
        found = models.predict_many(rows)
        with pytest.raises(ValueError, match="'number'"):
            models.learn_many([rows[0], rows[1] | {"number": [1]}], [1, 1])
    assert found == [each[t % 2].predict_one(x) for t, (x, _) in enumerate(stream)]
    scaled = rb.TargetStandardScaler(model.clone())
    scaled.learn_many(frame_of(stream), [y for _, y in stream])
    assert scaled.regressor.n_examples == 90
