"""Names without end: sparse examples, and names that come and go."""

from __future__ import annotations

import collections
import copy
import pickle
import random
import warnings

import numpy as np
import pytest
from inside import check_names
from optional import pandas as pd
from saved_models import file_of

import river_budget as rb
from river_budget.algorithms.features import drawn
from river_budget.core.memory import views
from river_budget.model import stored
from river_budget.model.columns import Columns
from river_budget.saving import opened

# Names come and go on purpose
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

K = rb.kernels.RBF(0.05)
KINDS = {
    "RBP": lambda: rb.RBPClassifier(12, K, seed=1),
    "Forgetron": lambda: rb.ForgetronClassifier(12, K),
    "BSGD": lambda: rb.BSGDClassifier(12, K, seed=1),
    "BSGD-three": lambda: rb.BSGDClassifier(12, K, rb.maintenance.Merge(3), seed=1),
    "BSGD-oldest": lambda: rb.BSGDClassifier(12, K, rb.maintenance.RemoveOldest(), seed=1),
    "BSGD-project": lambda: rb.BSGDClassifier(12, K, rb.maintenance.Project(), seed=1),
    "BPA": lambda: rb.BPAClassifier(12, K),
    "Projectron": lambda: rb.ProjectronClassifier(12, K),
    "NOGD": lambda: rb.NOGDClassifier(12, K),
    "SBP": lambda: rb.SBPClassifier(20, kernel=K, seed=1),
    "Laplacian": lambda: rb.RBPClassifier(12, rb.kernels.Laplacian(0.05), seed=1),
    "Polynomial": lambda: rb.RBPClassifier(12, rb.kernels.Polynomial(2, 0.1), seed=1),
}


def documents(n, seed=0, drift=1.0, whole=False):
    """Texts on two topics whose words come and go: counts, or numbers of any size."""
    rng = np.random.default_rng(seed)
    chances = 1.0 / np.arange(1, 301)
    chances /= chances.sum()
    for t in range(n):
        topic = bool(rng.random() < 0.5)
        words = rng.choice(300, 8, p=chances) + int(drift * t)
        x = {f"w{i}": 1.0 if whole else float(rng.normal(1.0, 0.3)) for i in words.tolist()}
        yield x | {f"{topic}{i}": 1.0 for i in rng.choice(9, 2).tolist()}, topic


STREAM = list(documents(220))


def run(model, stream, shuffled=False):
    """The scores before each example is learned."""
    rng, scores = random.Random(0), []
    for x, y in stream:
        if shuffled:
            names = list(x)
            rng.shuffle(names)
            x = {name: x[name] for name in names}
        scores.append(model.decision_function_one(x))
        model.learn_one(x, y)
    return scores


def close(found, expected, tolerance=1e-12):
    return found == pytest.approx(expected, rel=tolerance, abs=tolerance)


def close_vectors(model, other):
    """Whether two models have the same support vectors, but for rounding."""
    pairs = zip(model.support_vectors(), other.support_vectors(), strict=True)
    return all(
        close(a["features"], b["features"])
        and close(a["coefficients"], b["coefficients"])
        and a["arrival"] == b["arrival"]
        for a, b in pairs
    )


def remembering(monkeypatch):
    """Models that never forget a name, as their table grows for each."""
    monkeypatch.setattr(stored.Vectors, "make_room", Columns.make_room)


# Names that come and go


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [False, True])
def test_names_that_come_and_go_change_no_score(kind, whole, monkeypatch):
    """Nor does the order of the dicts, but for rounding."""
    stream = list(documents(100, whole=whole))
    model, shuffled, remembers = (KINDS[kind]() for _ in range(3))
    scores = run(model, stream)
    assert close(run(shuffled, stream, shuffled=True), scores)  # of words that are unknown as yet
    assert close_vectors(model, shuffled)
    with monkeypatch.context() as patch:
        remembering(patch)
        assert close(scores, run(remembers, stream))
    assert close_vectors(model, remembers)
    check_names(model)
    assert len(model._features) <= len(remembers._features)


@pytest.mark.parametrize("kind", ["RBP", "Forgetron", "BSGD-oldest", "Laplacian", "Polynomial"])
def test_what_no_vector_uses_is_forgotten(kind):
    model, names = KINDS[kind](), set()
    for x, y in documents(600, drift=3.0):
        model.learn_one(x, y)
        names |= x.keys()
    used = {name for vector in model.support_vectors() for name in vector["features"]}
    assert used <= set(model._features)
    assert len(model._features) < 4 * len(used) < len(names)
    check_names(model)


def test_memory_follows_the_support():
    model, usage = rb.RBPClassifier(12, K, seed=1), []
    for t, (x, y) in enumerate(documents(3000, drift=3.0)):  # with 9,300 words
        model.learn_one(x, y)
        if t % 100 == 99:
            usage.append(model.memory_usage)
    assert max(usage[15:]) <= 1.1 * max(usage[:15])
    assert max(usage) < 200_000


def after_the_lookup(monkeypatch, index, act):
    """What another thread does between the lookup of places and the pass, once; it is given what
    was found.
    """
    read = index.values_of

    def then_act(*given):
        found = read(*given)
        monkeypatch.undo()
        act(found)
        return found

    monkeypatch.setattr(index, "values_of", then_act)


def test_a_name_that_another_thread_learns_after_the_lookup_gets_one_place(monkeypatch):
    """It got a second place, and the first one was lost."""
    model = rb.RBPClassifier(12, K, seed=1)
    run(model, documents(40, drift=9.0))
    twin, index = copy.deepcopy(model), model._features
    x = dict.fromkeys(list(index)[:3], 1.0) | {"fresh": 0.5}
    for y in (True, False):
        twin.learn_one(x, y)
    after_the_lookup(monkeypatch, index, lambda found: model.learn_one(x, True))
    model.learn_one(x, False)
    assert sorted([*index.places.values(), *index.vacant]) == list(range(index.width))
    assert index.places == twin._features.places
    assert model._block.tobytes() == twin._block.tobytes()


def test_an_example_looked_up_before_another_thread_replaced_the_index_is_looked_up_again(
    monkeypatch,
):
    """`mutate` makes a copy of the model, which has another index and becomes the model in one
    step.
    """
    model = rb.BSGDClassifier(12, K)
    for y in (True, False):
        model.learn_one({"a": 1.0, "b": 2.0}, y)

    def change_and_learn(name):
        model.mutate({"l2": 0.5 * model.l2})
        model.learn_one({"a": 1.0, name: 2.0}, True)

    def then_prepare(entries):
        monkeypatch.undo()
        change_and_learn("d")
        return model._call_for_list(entries)

    change_and_learn("c")
    monkeypatch.setattr(model, "_call_for_list", then_prepare)
    model.learn_one({"a": 1.0, "d": 1.0}, False)
    index = model._features
    assert sorted([*index.places.values(), *index.vacant]) == list(range(index.width))
    assert list(index) == ["a", "b", "c", "d"]


def test_a_row_that_was_written_before_another_thread_learned_a_name_is_written_again(monkeypatch):
    """A narrower row, kept for later examples, would leave the newer feature out."""
    model = rb.RBPClassifier(12, K, seed=1)
    x, wider = collections.Counter({"a": 1, "b": 2}), {"a": 0.5, "b": 1.0, "c": 3.0}
    for y in (True, False, True):
        model.learn_one(dict(x), y)
    twin, index = copy.deepcopy(model), model._features
    twin.learn_one(wider, False)
    twin.learn_one(x, True)
    after_the_lookup(monkeypatch, index, lambda found: model.learn_one(wider, False))
    model.learn_one(x, True)
    for seen in (wider, {"a": 2.0, "b": 0.0, "c": 1.0}, x, {"c": 1.0}):
        assert model.decision_function_one(seen) == twin.decision_function_one(seen)
        for other in (model, twin):
            other.learn_one(seen, True)
    assert model._block.tobytes() == twin._block.tobytes()


@pytest.mark.parametrize("kind", [float, np.float64])
def test_a_prediction_begins_again_when_its_places_have_gone_to_other_names(monkeypatch, kind):
    """Another thread may learn between the lookup of places and the pass."""
    model = rb.RBPClassifier(12, K, seed=1)
    run(model, documents(400, drift=9.0))
    index, further, places = model._features, documents(2000, seed=3, drift=9.0), []
    x = dict.fromkeys(index, kind(0.1)) | {"unknown": kind(0.5)}

    def learn(found):
        places.append(found)
        edition = model._version
        while model._version is edition:
            model.learn_one(*next(further))

    after_the_lookup(monkeypatch, index, learn)
    score = model.decision_function_one(x)
    assert places[0] is not None
    assert model._features is index
    assert score == model.decision_function_one(x)


SMALL = {
    "merged": lambda: rb.BSGDClassifier(4, K, seed=1),
    "merged by three": lambda: rb.BSGDClassifier(4, K, rb.maintenance.Merge(3), seed=1),
    "projected": lambda: rb.BSGDClassifier(8, K, rb.maintenance.Project(), seed=1),
    "removed": lambda: rb.RBPClassifier(4, K, seed=1),
    "one class": lambda: rb.KernelOneClassSVM(0.5, 4, K),
}


@pytest.mark.parametrize("kind", SMALL)
def test_names_are_not_looked_over_for_every_new_one(kind, monkeypatch):
    """When the table is full, names are forgotten or it grows, so that this is seldom."""
    widths, forget = [], stored.Vectors._forget_unused

    def counted(columns, model, kept):
        widths.append(model._features.width)
        forget(columns, model, kept)

    monkeypatch.setattr(stored.Vectors, "_forget_unused", counted)
    model = SMALL[kind]()
    for x, y in documents(2000):
        model.learn_one(*((x,) if kind == "one class" else (x, y)))
    assert widths
    assert sum(widths) < 100_000  # 2000 looks at this stream's names would be two millions


# The bound of the table


@pytest.mark.parametrize("kind", ["merged", "one class"])
def test_the_table_has_a_bound_and_one_warning(kind, monkeypatch):
    """The smallest numbers of merged vectors go first, and the lengths of vectors follow."""
    bound = 2**13
    monkeypatch.setattr(stored, "LARGEST_USUAL_TABLE", bound)
    model = SMALL[kind]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, y in documents(1500, drift=3.0):
            model.learn_one(*((x,) if kind == "one class" else (x, y)))
            head = views(model._block).head
            assert 8 * head.capacity * head.width <= bound
    said = [str(w.message) for w in caught if "support vectors has reached" in str(w.message)]
    assert len(said) == 1
    assert "FeatureHasher" in said[0]
    check_names(model)
    block, n = views(model._block), model.n_support_vectors
    lengths = np.square(block.vectors[:, :n]).sum(axis=0)
    assert np.allclose(block.norms[:n], lengths, rtol=1e-9)
    further = list(documents(40, seed=7, drift=3.0))
    twin = pickle.loads(pickle.dumps(model))
    for x, y in further:
        each = (x,) if kind == "one class" else (x, y)
        model.learn_one(*each)
        twin.learn_one(*each)
    assert model.support_vectors() == twin.support_vectors()


def test_an_example_that_is_larger_than_the_bound_is_learned(monkeypatch):
    monkeypatch.setattr(stored, "LARGEST_USUAL_TABLE", 2**12)
    model = rb.BSGDClassifier(12, K, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in range(5):
            x = {f"long {t} {i}": 0.1 for i in range(300)}
            model.learn_one(x, t % 2 == 0)
            assert set(x) <= set(model._features)
            check_names(model)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("kind", SMALL)
def test_behind_a_very_long_example_the_table_goes_back_to_its_bound(kind, many, monkeypatch):
    """Its largest numbers stay, names keep their vectors, and the model is saved and goes on."""
    bound, words = 2**13, {f"long {i}": 1.0 + 1e-3 * i for i in range(2000)}
    monkeypatch.setattr(stored, "LARGEST_USUAL_TABLE", bound)
    monkeypatch.setattr(stored.Vectors, "largest_usual_block", 2 * bound)
    model = SMALL[kind]()
    short = list(documents(60, seed=3))

    def learn(examples):
        for x, y in examples:
            if kind == "one class":
                model.learn_one(x)
            elif many and x is not words:
                row = pd.DataFrame([x], dtype=pd.SparseDtype(float, 0.0))
                model.learn_many(row, [y])
            else:
                model.learn_one(x, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learn([*short[:30], (words, True)])
        large = model._block.nbytes
        learn(short[30:])
    head = views(model._block).head
    assert 8 * head.capacity * head.width <= bound < large
    check_names(model)
    kept = [int(name.split()[1]) for name in model._features if name.startswith("long")]
    assert kept == [] or min(kept) > 1000
    if kind != "one class":
        twin = opened(file_of(model))
        assert close(run(model, short), run(twin, short))


def test_the_bound_is_64_megabytes():
    assert stored.LARGEST_USUAL_TABLE == 64 * 2**20


def test_uniting_models_of_words():
    parts = [rb.RBPClassifier(12, K, seed=seed) for seed in (1, 2)]
    run(parts[0], STREAM[:110])
    run(parts[1], STREAM[110:])
    united = rb.merge(parts, budget=24)
    x = STREAM[50][0]
    expected = sum(part.decision_function_one(x) for part in parts) / 2.0
    assert united.decision_function_one(x) == pytest.approx(expected, rel=1e-12)
    run(united, STREAM[:50])


# Sparse matrices

scipy_sparse = pytest.importorskip("scipy.sparse")


def table(n=150, d=60, seed=0, share=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < share)
    return X, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n) > 0.0


def test_a_wide_sparse_matrix_takes_memory_for_what_is_there():
    n, d = 300, 50_000
    X = scipy_sparse.random(n, d, 10 / d, "csr", random_state=1)
    model = rb.RBPClassifier(20, K, seed=1)
    model.learn_many(X, np.random.default_rng(0).random(n) < 0.5)
    assert model.memory_usage < 2_000_000  # with all columns it would be 10 million


@pytest.mark.parametrize("kind", KINDS)
def test_a_sparse_matrix_is_learned_as_a_loop_of_dicts(kind):
    X, y = table(d=200, share=0.03)
    matrix = scipy_sparse.csr_matrix(X)
    model, loop = KINDS[kind](), KINDS[kind]()
    model.learn_many(matrix, y)
    for x, target in zip(dicts_of(matrix), y.tolist(), strict=True):
        loop.learn_one(x, target)
    assert close_vectors(loop, model)
    expected = [loop.predict_one(x) for x in dicts_of(matrix)]
    assert model.predict_many(matrix).tolist() == expected


def dicts_of(X):
    for row in X:
        yield dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))


def test_columns_that_stand_twice_in_a_row_add_up():
    X = scipy_sparse.csr_matrix(([1.0, 2.0, 1.0], [0, 0, 1], [0, 2, 3]), (2, 2))
    model, dense = (rb.KernelPerceptronClassifier(kernel=K) for _ in range(2))
    model.learn_many(X, np.array([False, True]))
    dense.learn_many(X.toarray(), np.array([False, True]))
    assert {0: 3.0} in [v["features"] for v in dense.support_vectors()]
    assert model.support_vectors() == dense.support_vectors()


def test_bad_values_in_a_sparse_matrix_are_refused():
    X = scipy_sparse.csr_matrix(np.array([[0.0, np.nan], [1.0, 0.0]]))
    with pytest.raises(ValueError, match="feature 1 must be a finite number"):
        rb.RBPClassifier(5, K).learn_many(X, [True, False])


# Random waves


def test_waves_of_names_without_end(monkeypatch):
    """Names that are forgotten get the same numbers when they come back."""
    model, other = rb.FOGDClassifier(20, K, seed=1), rb.FOGDClassifier(20, K, seed=1)
    expected = run(model, STREAM)
    monkeypatch.setattr(drawn, "AT_HAND", 0)
    monkeypatch.setattr(drawn, "FEWEST", 40)
    assert close(run(other, STREAM, shuffled=True), expected)
    assert len(other._features) <= 40 < len(model._features)
    assert other.memory_usage < model.memory_usage
    further = list(documents(30, seed=5))
    assert close(run(other, further), run(model, further))


# What is gathered of a call


@pytest.mark.parametrize("density", [0.02, 0.3, 0.9])
def test_examples_of_a_call_lie_side_by_side_and_lack_nothing(density):
    """More of them than there is room for at once, and hardly two as long as each other."""
    rng, d = np.random.default_rng(0), 300
    X = rng.normal(size=(500, d)) * (rng.random((500, d)) < density * rng.random((500, 1)))
    y = X.sum(axis=1) > 0.0
    at_once, alone, listed = (rb.BSGDClassifier(30, rb.kernels.RBF(0.01)) for _ in range(3))
    rows = range(len(X))
    expected = [alone.predict_then_learn_many(X[t : t + 1], y[t : t + 1])[0] for t in rows]
    assert at_once.predict_then_learn_many(X, y).tolist() == expected
    assert listed.predict_then_learn_many(scipy_sparse.csr_matrix(X), y).tolist() == expected
    assert at_once.support_vectors() == alone.support_vectors() == listed.support_vectors()


@pytest.mark.parametrize("kernel", [K, rb.kernels.Laplacian(0.05)], ids=["RBF", "Laplacian"])
def test_whether_a_model_knows_a_name_that_no_vector_uses_changes_no_score(kernel):
    rng = random.Random(0)
    for _ in range(200):
        x = {f"known{i}": rng.gauss(0.0, 100.0) for i in range(9)}
        x |= {f"new{i}": rng.gauss(0.0, 1.0) for i in range(6)}
        model = rb.RBPClassifier(9, kernel, classes=(False, True))
        model.learn_one({name: x[name] + 0.01 for name in x if name[0] == "k"}, False)
        knows_more = copy.deepcopy(model)
        knows_more._add_features(["new1", "new4", "new5"])
        score = model.decision_function_one(x)
        assert score < 0.0
        assert close(knows_more.decision_function_one(x), score, 1e-11)  # lengths are near 300
