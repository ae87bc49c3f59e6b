"""Names without end: sparse examples, vectors in lists, and names that come and go."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random

import numpy as np
import pytest
from inside import check_lists

import river_budget as rb
from river_budget.core.block.blocks import views
from river_budget.model.calls.fast_path import may_read_dicts
from river_budget.model.expansions import choose_storage
from river_budget.model.inputs.sparse_examples import key_and_tie, write_order

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


def lists_of(model):
    return int(views(model.block).head.slots) > 0


def set_limits(patch, **limits):
    for name, value in limits.items():
        patch.setattr(choose_storage, name, value)


@pytest.fixture
def thin(monkeypatch):
    """Models keep lists as soon as they may."""
    set_limits(monkeypatch, THIN_RATIO=3, THIN_RATIO_LARGE=3, PLACES_PER_NAME=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [False, True])
def test_names_that_come_and_go_change_no_score(kind, whole, monkeypatch, thin):
    """To the last bit, and whatever the order of the dicts."""
    stream = list(documents(100, whole=whole))
    model, other = KINDS[kind](), KINDS[kind]()
    with monkeypatch.context() as patch:
        set_limits(patch, THIN_RATIO=1e9, THIN_RATIO_LARGE=1e9)
        expected = run(model, stream)
        assert not lists_of(model)
    set_limits(monkeypatch, THICK_RATIO=2, THICK_RATIO_LARGE=2)
    assert run(other, stream, shuffled=True) == expected
    assert lists_of(other)
    assert other.support_vectors() == model.support_vectors()
    if not kind.startswith("BSGD") or kind == "BSGD-oldest":
        assert len(other.features) < len(model.features)


@pytest.mark.parametrize("kind", KINDS)
def test_models_with_lists_go_on_exactly(kind, thin, tmp_path):
    model = KINDS[kind]()
    run(model, STREAM[:120])
    assert lists_of(model)
    rb.save(model, tmp_path / "model.rb")
    loaded = rb.load(tmp_path / "model.rb")
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), loaded]
    names = {name for vector in model.support_vectors() for name in vector["features"]}
    assert set(loaded.features) == names
    expected = run(model, STREAM[120:])
    for other in others:
        assert run(other, STREAM[120:]) == expected


def test_a_file_of_lists_holds_what_is_there(thin, tmp_path):
    model, (early, late) = rb.RBPClassifier(12, K, seed=1), (tmp_path / "early", tmp_path / "late")
    run(model, documents(150))
    rb.save(model, early)
    run(model, documents(300, seed=1, drift=5.0))
    rb.save(model, late)
    assert late.stat().st_size < 1.3 * early.stat().st_size
    only = rb.load(late, predict_only=True)
    x = STREAM[0][0]
    assert only.decision_function_one(x) == model.decision_function_one(x)


def test_memory_follows_the_support(thin):
    model, usage = rb.RBPClassifier(12, K, seed=1), []
    # Python forgets names when it needs their places, compiled code at once
    lazily = 1 if may_read_dicts() else choose_storage.PLACES_PER_NAME
    for t, (x, y) in enumerate(documents(1500, drift=3.0)):
        model.learn_one(x, y)
        if t % 100 == 99:
            usage.append(model.memory_usage)
            used = set(model.names_in_use())  # some 200, of 4,800
            assert used <= set(model.features)
            # those of the example before the lists
            assert t < 500 or len(model.features) < lazily * (len(used) + 30)
    assert max(usage[5:]) <= 1.1 * max(usage[:5])


@pytest.mark.parametrize(
    "names",
    [
        [f"é{i}" for i in range(40)],
        list(range(100)),
        [-i * 2**45 for i in range(300)],
        [2**53 + i for i in range(-20, 20)],
        [10**400 + i for i in range(40)],
        [f"\ud800{i}" for i in range(40)],
        [True, *range(2, 60)],
        [i / 3 for i in range(40)],
        [(i, "x") for i in range(40)],
        [np.int64(i) for i in range(40)],
        [str(i) if i % 2 else i for i in range(70)],
    ],
    ids=lambda names: repr(names[-1])[:12],
)
def test_many_names_at_once_get_the_keys_of_single_ones(names):
    for some in (names, names[:5]):
        places = list(range(len(some)))
        random.Random(0).shuffle(places)
        expected = [key_and_tie(name) for name in some]
        for kind in (np.asarray, memoryview):
            keys, ties = np.full(len(some), -1.0), np.zeros(len(some), np.int64)
            write_order(kind(keys), kind(ties), places, some)
            assert [(keys[place], ties[place]) for place in places] == expected


def test_predictions_leave_no_trace(thin):
    model = rb.RBPClassifier(12, K, seed=1)
    run(model, STREAM[:120])
    before = model.block.tobytes(), list(model.features), model.memory_usage
    for x, _ in documents(50, seed=9, drift=100.0):
        model.predict_one(x)
    assert (model.block.tobytes(), list(model.features), model.memory_usage) == before


def test_a_prediction_begins_again_when_its_places_have_gone_to_other_names(thin, monkeypatch):
    """Another thread may learn between the look for places and the pass."""

    class Watched(rb.RBPClassifier):
        before = staticmethod(lambda: None)

        @staticmethod
        def scoring_pass(addresses):
            Watched.before()
            return rb.RBPClassifier.scoring_pass(addresses)

    monkeypatch.setattr(choose_storage, "PLACES_PER_NAME", 6)
    model = Watched(12, K, seed=1)
    run(model, documents(400, drift=9.0))
    index, further = model.features, documents(2000, seed=3, drift=9.0)
    x = dict.fromkeys(index, 0.1)

    def learn_on():
        Watched.before = staticmethod(lambda: None)
        times, places = index.taken_back, set(index.places.values())
        while index.taken_back == times or places.isdisjoint(map(index.places.get, new_in(index))):
            model.learn_one(*next(further))

    def new_in(index):
        return index.places.keys() - x.keys()

    Watched.before = staticmethod(learn_on)
    score = model.decision_function_one(x)
    assert model.features is index
    assert len(index.places.keys() & x.keys()) < len(x)
    assert score == model.decision_function_one(x)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, "text"])
def test_a_bad_value_leaves_a_model_with_lists_as_it_was(bad, thin):
    model = rb.RBPClassifier(12, K, seed=1)
    run(model, STREAM[:120])
    twin = copy.deepcopy(model)
    for x in ({"w1": 1.0, "never seen": bad}, {"never seen": 1.0, "w1": bad}):
        with pytest.raises(ValueError, match="must be a finite number"):
            model.learn_one(x, True)
    assert list(model.features) == list(twin.features)
    assert run(model, STREAM[120:]) == run(twin, STREAM[120:])


def test_lists_that_become_long_become_a_table(thin):
    model, rng = rb.RBPClassifier(12, K, seed=1), np.random.default_rng(0)
    run(model, STREAM[:120])
    assert lists_of(model)
    names, rows = list(model.features)[:40], rng.normal(size=(240, 40)).tolist()
    stream = [(dict(zip(names, row, strict=True)), t % 2 == 1) for t, row in enumerate(rows)]
    with_lists = copy.deepcopy(model)
    expected = run(model, stream)
    assert not lists_of(model)
    with_lists.choose_storage = lambda: None
    assert run(with_lists, stream) == expected
    assert lists_of(with_lists)


def test_a_table_that_becomes_thin_becomes_lists():
    rng = np.random.default_rng(0)
    model, other = rb.RBPClassifier(10, K, seed=1), rb.RBPClassifier(10, K, seed=1)
    other._review_table = lambda: None
    stream = [(dict(enumerate(rng.normal(size=300).tolist())), t % 2 == 0) for t in range(5)]
    for t in range(300):
        places = rng.choice(300, 3, replace=False).tolist()
        stream.append((dict(zip(places, rng.normal(size=3).tolist(), strict=True)), t % 3 == 0))
    assert run(model, stream) == run(other, stream)
    assert lists_of(model)
    assert not lists_of(other)


SMALL = {
    "merged": lambda: rb.BSGDClassifier(4, K, seed=1),
    "merged by three": lambda: rb.BSGDClassifier(4, K, rb.maintenance.Merge(3), seed=1),
    "projected": lambda: rb.BSGDClassifier(8, K, rb.maintenance.Project(), seed=1),
    "removed": lambda: rb.RBPClassifier(4, K, seed=1),
    "one class": lambda: rb.KernelOneClassSVM(0.5, 4, K),
}


@pytest.mark.parametrize("kind", SMALL)
def test_a_table_is_not_laid_out_anew_for_every_name(kind, monkeypatch):
    """Vectors that hold all that was merged into them would fill one, but names go on coming."""
    widths, rebuild = [], choose_storage.StoredVectors._rebuild

    def counted(model, names, *given):
        widths.append(len(names))
        rebuild(model, names, *given)

    monkeypatch.setattr(choose_storage.StoredVectors, "_rebuild", counted)
    model = SMALL[kind]()
    for x, y in documents(2000):
        model.learn_one(*((x,) if kind == "one class" else (x, y)))
    assert lists_of(model)
    assert widths, "it begins with a table"
    assert sum(widths) < 25_000  # 2000 tables of this stream's names would have two millions


@pytest.mark.parametrize("kind", ["merged", "removed"])
def test_lists_become_a_table_when_names_have_ceased_to_come(kind):
    """And not before."""
    model, rng = SMALL[kind](), np.random.default_rng(0)
    for x, y in documents(600):
        model.learn_one(x, y)
    known = list(model.features)
    for t in range(600):
        assert lists_of(model)
        x = dict(zip(known, rng.normal(size=len(known)).tolist(), strict=True))
        model.learn_one(x if t % 3 else x | {f"new {t}": 1.0}, bool(t % 2))
    for t in range(600):
        x = dict(zip(known, rng.normal(size=len(known)).tolist(), strict=True))
        model.learn_one(x, bool(t % 2))
    assert not lists_of(model)


def test_uniting_models_with_lists(thin):
    parts = [rb.RBPClassifier(12, K, seed=seed) for seed in (1, 2)]
    run(parts[0], STREAM[:110])
    run(parts[1], STREAM[110:])
    united = rb.merge(parts, budget=24)
    x = STREAM[50][0]
    expected = sum(part.decision_function_one(x) for part in parts) / 2.0
    assert united.decision_function_one(x) == pytest.approx(expected, rel=1e-12)
    assert lists_of(united)
    run(united, STREAM[:50])


def test_lists_are_consistent_after_any_change(thin):
    """Every node stands in the list of its vector and in that of its feature."""
    for kind in ("RBP", "BSGD", "BPA", "Projectron"):
        model = KINDS[kind]()
        for t, (x, y) in enumerate(STREAM):
            model.learn_one(x, y)
            if t % 20 == 0 and lists_of(model):
                check_lists(model)


def test_columns_that_grow_and_shrink_share_their_memory(thin):
    """Common words become rare, and others common: the pieces of nodes are used again, and no more are asked for."""
    rng, model, most = np.random.default_rng(0), rb.RBPClassifier(60, K, seed=1), []
    for t in range(3000):
        common = t // 250  # words that nearly every document has, for a while
        words = [f"c{common}.{i}" for i in range(6) if rng.random() < 0.9]
        words += [f"r{i}" for i in rng.choice(400, 4).tolist()]
        model.learn_one(dict.fromkeys(words, 1.0), bool(rng.random() < 0.5))
        head = views(model.block).head
        if lists_of(model):
            most.append(int(head.slots))
            assert head.fresh <= head.slots
            if t % 50 == 0:
                check_lists(model)
    assert len(most) > 2800
    assert max(most) <= 4 * 60 * 10  # of 600 numbers
    assert most[1200:] == [most[1200]] * len(most[1200:])


def test_what_merged_vectors_leave_is_enough_for_their_combination(monkeypatch):
    """Where no node is left, it takes parts of their pieces."""
    set_limits(monkeypatch, THIN_RATIO=0, THICK_RATIO=0)
    model = rb.BSGDClassifier(3, K, rb.maintenance.Merge(3), seed=1)
    for words in ("a", "pqr", "pqs"):
        model.learn_one(dict.fromkeys(words, 1.0), words == "a")
    assert lists_of(model)
    block = views(model.block)
    assert [len(vector["features"]) for vector in model.support_vectors()] == [1, 3, 3]
    assert block.columns["kind"][: block.head.width].tolist().count(2) == 2
    head = block.head
    spare = block.pieces[1].copy()
    block.pieces[:], head.slots = 0, head.fresh  # lost, for this once
    head.freed -= int(spare @ (2 ** np.arange(len(spare)) // 2))
    model.budget = 1
    assert sorted(model.support_vectors()[0]["features"]) == ["a", "p", "q", "r", "s"]
    nodes = views(model.block)
    assert nodes.head.slots == nodes.head.fresh
    assert nodes.pieces[1].tolist()[:3] == [0, 0, 1]  # of two pairs, one was parted


# Sparse matrices

scipy_sparse = pytest.importorskip("scipy.sparse")


def table(n=150, d=60, seed=0, share=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < share)
    return X, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n) > 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_matrix"])
def test_a_sparse_matrix_is_learned_as_an_array(kind, form):
    X, y = table()
    sparse = getattr(scipy_sparse, form)(X)
    dense, model = KINDS[kind](), KINDS[kind]()
    expected = dense.predict_then_learn_many(X, y)
    assert (model.predict_then_learn_many(sparse, y) == expected).all()
    scores = [m.decision_function_one(dict(enumerate(X[3].tolist()))) for m in (dense, model)]
    assert scores[0] == scores[1]
    assert (model.predict_many(sparse) == dense.predict_many(X)).all()


def test_a_wide_sparse_matrix_takes_memory_for_what_is_there():
    rng = np.random.default_rng(0)
    n, d = 300, 50_000
    X = scipy_sparse.random(n, d, 10 / d, "csr", random_state=1)
    y = rng.random(n) < 0.5
    model, others = rb.RBPClassifier(20, K, seed=1), rb.RBPClassifier(20, K, seed=1)
    model.learn_many(X, y)
    assert model.memory_usage < 500_000
    for start in range(0, n, 37):
        others.learn_many(X[start : start + 37], y[start : start + 37])
    assert others.support_vectors() == model.support_vectors()
    loop = rb.RBPClassifier(20, K, seed=1)
    for x, target in zip(dicts_of(X), y.tolist(), strict=True):
        loop.learn_one(x, target)
    assert loop.support_vectors() == model.support_vectors()


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


def test_frames_with_sparse_columns():
    pd = pytest.importorskip("pandas")
    X, y = table()
    names = [f"f{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    sparse = frame.astype(pd.SparseDtype(float, 0.0))
    dense, model = rb.BSGDClassifier(12, K, seed=1), rb.BSGDClassifier(12, K, seed=1)
    expected = dense.predict_then_learn_many(frame, pd.Series(y))
    found = model.predict_then_learn_many(sparse, pd.Series(y))
    assert (found == expected).all()
    assert model.support_vectors() == dense.support_vectors()


# Random waves


def test_waves_of_names_without_end(monkeypatch, tmp_path):
    from river_budget.algorithms.features import drawn

    model, other = rb.FOGDClassifier(20, K, seed=1), rb.FOGDClassifier(20, K, seed=1)
    expected = run(model, STREAM)
    monkeypatch.setattr(drawn, "AT_HAND", 0)
    monkeypatch.setattr(drawn, "FEWEST", 40)
    assert run(other, STREAM, shuffled=True) == expected
    assert other.memory_usage < model.memory_usage
    rb.save(other, tmp_path / "model.rb")
    loaded = rb.load(tmp_path / "model.rb")
    clone, copied = other.clone(include_attributes=True), copy.deepcopy(other)
    further = list(documents(30, seed=5))
    expected = run(model, further)
    for twin in (other, loaded, clone, copied):
        assert run(twin, further) == expected


def test_room_for_names_of_waves_doubles_as_they_come(monkeypatch):
    """Nothing is laid out anew for each of them, and none is forgotten while there may be more room."""
    from river_budget.algorithms.features import drawn

    model, other = rb.FOGDClassifier(20, K, seed=1), rb.FOGDClassifier(20, K, seed=1)
    expected, widen, rooms = run(model, STREAM), drawn.Drawn._give_room, []
    monkeypatch.setattr(drawn, "FEWEST", 10)
    monkeypatch.setattr(drawn, "PATIENCE", 2)
    monkeypatch.setattr(drawn.Drawn, "_give_room", lambda m, n: rooms.append(n) or widen(m, n))
    assert run(other, STREAM) == expected
    assert set(other.features) == set(model.features)
    assert len(rooms) > 2
    assert all(after >= 1.5 * before for before, after in itertools.pairwise(rooms))


def test_a_sparse_matrix_through_waves():
    X, y = table()
    dense, model = rb.FOGDClassifier(20, K, seed=1), rb.FOGDClassifier(20, K, seed=1)
    matrix, expected = scipy_sparse.csr_matrix(X), dense.predict_then_learn_many(X, y)
    assert (model.predict_then_learn_many(matrix, y) == expected).all()
    assert (model.predict_many(matrix) == dense.predict_many(X)).all()


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


def test_a_bad_example_when_a_look_is_due_leaves_the_storage_as_it_is():
    """Merged vectors have most of the words: when no new ones have come for a while, lists become a table."""
    model, changes = rb.BSGDClassifier(1, K, seed=1), 0
    stream = list(documents(150))
    run(model, stream)
    assert views(model.block).head.slots > 0
    for x, y in itertools.islice(itertools.cycle(stream[-30:]), 1000):
        block, looked = model.block, model._reviewed_at
        with pytest.raises(ValueError, match="must be a finite number"):
            model.learn_one(x | {next(iter(x)): math.nan}, y)
        assert (model.block is block, model._reviewed_at) == (True, looked)
        model.learn_one(x, y)
        changes += model.block is not block
    assert changes > 0
    assert views(model.block).head.slots == 0


@pytest.mark.parametrize("kernel", [K, rb.kernels.Laplacian(0.05)], ids=["RBF", "Laplacian"])
def test_whether_a_model_knows_a_name_that_no_vector_uses_is_the_same_to_the_bit(kernel):
    rng = random.Random(0)
    for _ in range(200):
        x = {f"known{i}": rng.gauss(0.0, 100.0) for i in range(9)}
        x |= {f"new{i}": rng.gauss(0.0, 1.0) for i in range(6)}
        model = rb.RBPClassifier(9, kernel, classes=(False, True))
        model.learn_one({name: x[name] + 0.01 for name in x if name[0] == "k"}, False)
        knows_more = copy.deepcopy(model)
        knows_more.add_features(["new1", "new4", "new5"])
        score = model.decision_function_one(x)
        assert 0.0 > score == knows_more.decision_function_one(x)
