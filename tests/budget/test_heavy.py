"""Vectors of many numbers that examples of a few are merged into."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from inside import check_lists, plain, squared_length, support
from maintenances import assert_best_pairs, maintenances, members_and_result
from many_names import MORE, K, at, crowd, in_lists, is_heavy, run, stored_as, weight
from streams import PEGASOS

import river_budget as rb
from river_budget.core.block.blocks import views
from river_budget.core.budget.long_vectors import LARGEST_STRAIN, LONG
from river_budget.core.vectors.multiples import SMALLEST_MULTIPLIER
from river_budget.model.expansions import choose_storage
from river_budget.saving import states, trust

KINDS = {
    "two": lambda budget=6: rb.BSGDClassifier(budget, K, seed=1),
    "three": lambda budget=6: rb.BSGDClassifier(budget, K, classes=(0, 1, 2), seed=1),
    "mean": lambda budget=6: rb.BSGDClassifier(budget, K, average=True, seed=1),
    "many": lambda budget=6: rb.BSGDClassifier(budget, K, rb.maintenance.Merge(3), seed=1),
    "gradient": lambda budget=6: rb.BSGDClassifier(
        budget, K, rb.maintenance.Merge(4, "gradient"), seed=1
    ),
    "mistakes": lambda budget=6: rb.KernelPerceptronClassifier(
        K, budget=budget, maintenance=rb.maintenance.Merge()
    ),
    "strange": lambda budget=6: rb.KernelOneClassSVM(0.5, budget, K),
    "tube": lambda budget=6: rb.BSGDRegressor(budget, K, l2=1e-3, seed=1),
}
SEARCH = 1e-6  # rounding decides where the search for a place ends, up to 1e-8


def vectors(model):
    """The support vectors, in the order of the block."""
    block, found = views(model.block), model.support_vectors()
    X = np.zeros((len(found), MORE))
    for j, vector in zip(np.argsort(block.arrivals[: len(found)]), found, strict=True):
        for name, value in vector["features"].items():
            X[j, int(name[1:])] = value
    return X


def kept_and_true(model):
    """Norms and distances: what is kept of the vectors, and what they are."""
    block, X = views(model.block), vectors(model)
    n, products = len(X), X @ X.T
    norms = np.diag(products)
    distances = K.gamma * (norms[:, None] + norms - 2.0 * products)
    return (block.norms[:n], norms), (block.distances[:n, :n], distances)


@pytest.fixture
def written_anew(monkeypatch):
    """Models get no tables for heavy vectors: every merge writes all numbers."""
    give = choose_storage.StoredVectors.add_slots

    def refuse(model):
        head = views(model.block).head
        outgrown, head.outgrown = bool(head.outgrown), 0
        return give(model) or outgrown

    monkeypatch.setattr(choose_storage.StoredVectors, "add_slots", refuse)


@pytest.mark.parametrize(("kind", "lists"), [*((kind, True) for kind in KINDS), ("two", False)])
def test_scores_are_those_of_vectors_that_are_written_anew(kind, lists, monkeypatch, request):
    stored_as(monkeypatch, lists)
    stream = list(crowd(1200, kind))
    model = KINDS[kind]()
    found = run(model, stream)
    assert is_heavy(model)
    assert in_lists(model) == lists
    assert (views(model.block).multipliers[:6] != 1.0).any()
    request.getfixturevalue("written_anew")
    other = KINDS[kind]()
    expected = run(other, stream)
    assert not views(other.block).head.heavy
    assert np.array(found) == pytest.approx(np.array(expected), rel=SEARCH, abs=SEARCH)
    for vector, twin in zip(model.support_vectors(), other.support_vectors(), strict=True):
        assert vector["arrival"] == twin["arrival"]
        felt = {name: value for name, value in vector["features"].items() if abs(value) > 1e-12}
        assert felt == pytest.approx(
            {name: twin["features"].get(name, 0.0) for name in felt}, abs=SEARCH
        )


@pytest.mark.parametrize("kind", KINDS)
def test_lists_tables_and_chunks_give_the_same_bits(kind, monkeypatch):
    stream = list(crowd(700, kind))
    results = []
    for lists in (False, True):
        stored_as(monkeypatch, lists)
        model = KINDS[kind]()
        results.append(run(model, stream))
        assert in_lists(model) == lists
        assert is_heavy(model)
    assert results[0] == results[1]
    monkeypatch.undo()
    model = KINDS[kind]()  # as it likes
    assert run(model, stream) == results[0]
    frames = pytest.importorskip("pandas")
    rows, targets = frames.DataFrame([x for x, _ in stream]).fillna(0.0), [y for _, y in stream]
    weights = np.array([weight(x) for x, _ in stream])
    other = KINDS[kind]()
    for start in range(0, len(stream), 190):
        chunk = rows.iloc[start : start + 190]
        labels = frames.Series(targets[start : start + 190], index=chunk.index)
        if isinstance(other, rb.KernelOneClassSVM):
            other.learn_many(chunk)
        else:
            other.learn_many(chunk, labels, weights[start : start + 190])
    x = stream[0][0]
    assert at(other, x) == at(model, x)
    assert is_heavy(other)


def test_the_best_pair_is_merged_and_the_norm_is_kept(monkeypatch):
    """By the exhaustive search of the reference, before and after there are heavy vectors."""
    stored_as(monkeypatch, lists=False)
    model = rb.BSGDClassifier(5, K, project_to_ball=False, **PEGASOS)
    run(model, crowd(700))
    assert is_heavy(model)
    assert_best_pairs(model, crowd(120, seed=1), at_least=60)
    assert_combinations(model, crowd(120, seed=2), at_least=40)

    model = rb.BSGDClassifier(5, K, l2=1e-3)
    run(model, crowd(700))
    for x, y in crowd(300, seed=1):
        model.state_record().wait = 10**9
        model.learn_one(x, y)
        if not model.state_record().bounded:
            X, A, _ = support(model)
            expected = squared_length(X, A, K)
            assert float(model.state_record().norm2) == pytest.approx(expected, rel=1e-9)
    assert not model.state_record().bounded


def assert_combinations(model, stream, at_least):
    """z lies on the line through its members, and has the coefficients of the projection."""
    found = 0
    for X, A, before, after in maintenances(model, stream):
        (p, q), z, a_z = members_and_result(X, A, before, after)
        line = X[p] - X[q]
        h = (z - X[q]) @ line / (line @ line)
        assert z == pytest.approx(X[q] + h * line, abs=1e-12)
        s = K.gamma * (line @ line)
        expected = math.exp(-s * (1.0 - h) ** 2) * A[p] + math.exp(-s * h**2) * A[q]
        assert a_z == pytest.approx(expected, rel=1e-9)
        found += 1
    assert found >= at_least


@pytest.mark.parametrize("kind", ["two", "three", "many", "gradient"])
@pytest.mark.parametrize("lists", [False, True])
def test_what_is_kept_of_vectors_is_true(lists, kind, monkeypatch):
    """Distances, norms and lengths, after a thousand merges and more that only followed them."""
    stored_as(monkeypatch, lists)
    model = KINDS[kind](12)
    run(model, crowd(1300))
    block = views(model.block)
    lengths = block.lengths[: int(block.head.count)]
    assert lengths.tolist() == np.count_nonzero(vectors(model), axis=1).tolist()
    assert lengths.max() >= LONG
    norms, distances = kept_and_true(model)
    assert norms[0] == pytest.approx(norms[1], rel=1e-12)
    assert distances[0] == pytest.approx(distances[1], abs=1e-12)
    if lists:
        check_lists(model)


def test_a_multiplier_that_has_become_faint_is_used_up():
    model = rb.BSGDClassifier(2, K, l2=0.1, learning_rate=0.5)
    last, renewed = np.ones(2), 0
    for x, y in crowd(3000):
        model.learn_one(x, y)
        if is_heavy(model):
            now = np.sort(views(model.block).multipliers[:2])
            assert (now >= SMALLEST_MULTIPLIER).all()
            renewed += now[0] > 1e6 * last[0]
            last = now
    assert renewed


@pytest.mark.parametrize("lists", [False, True])
def test_combinations_beyond_their_members_are_followed_too(lists, monkeypatch):
    """Coefficients of opposite signs meet so. A vector is looked at as a whole when its errors may have grown: here
    what is kept of all is wrong, and said to be so, and no error is ever larger than its strain says."""
    stored_as(monkeypatch, lists)
    model = KINDS["two"](12)
    run(model, crowd(1500))
    assert is_heavy(model)
    block = views(model.block)
    assert 1.0 < block.strains[:12].max() < LARGEST_STRAIN
    block.strains[:12] = LARGEST_STRAIN
    wrong = 1e-4 / LARGEST_STRAIN
    of_distances = wrong * block.distances[:12, :12].max()
    block.distances[:12, :12] *= 1.0 + 1e-4 * (1.0 - np.eye(12))
    block.norms[:12] *= 1.0 + 1e-4
    grown, last = 0, {}
    for pair in crowd(600, seed=1):
        run(model, [pair])
        block = views(model.block)
        assert (block.strains[:12] <= LARGEST_STRAIN).all()
        kept = dict(zip(block.arrivals[:12].tolist(), block.multipliers[:12], strict=True))
        changed, gone = kept.keys() - last.keys(), last.keys() - kept.keys()
        grown += any(kept[z] > last[n] for z in changed for n in gone if kept[z] != 1.0)
        last = kept
    assert grown > 10  # merged beyond its members, and not written anew
    strains, looked_at = block.strains[:12], np.flatnonzero(block.strains[:12] < 2.0)
    assert block.lengths[looked_at].max() >= LONG
    norms, distances = kept_and_true(model)
    assert norms[0][looked_at] == pytest.approx(norms[1][looked_at], rel=1e-12)
    assert (abs(norms[0] / norms[1] - 1.0) <= 1.01 * wrong * strains).all()
    strained = np.maximum(strains[:, None], strains)
    assert (abs(distances[0] - distances[1]) <= 1.01 * of_distances * strained).all()


def test_a_file_from_before_there_were_strains(tmp_path, monkeypatch):
    model = KINDS["two"]()
    run(model, crowd(700))
    with monkeypatch.context() as patch:
        patch.delitem(states.ARRAYS, "strains")
        rb.save(model, tmp_path / "model.rb")
    older = rb.load(tmp_path / "model.rb")
    assert (views(older.block).strains[:6] == 1.0).all()
    x = next(crowd(1, seed=2))[0]
    assert at(older, x) == at(model, x)
    assert run(older, crowd(50, seed=1)) == pytest.approx(run(model, crowd(50, seed=1)), abs=1e-9)


@pytest.mark.parametrize("kind", ["two", "many"])
def test_models_with_heavy_vectors_go_on_exactly(kind, tmp_path):
    for lists in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            stored_as(patch, lists)
            model = KINDS[kind]()
            run(model, crowd(700))
            assert is_heavy(model)
            rb.save(model, tmp_path / "model.rb")
            others = [
                pickle.loads(pickle.dumps(model)),
                copy.deepcopy(model),
                rb.load(tmp_path / "model.rb"),
            ]
            only = rb.load(tmp_path / "model.rb", predict_only=True)
            x = next(crowd(1, seed=2))[0]
            assert at(only, x) == at(model, x)
            expected = run(model, crowd(300, seed=1))
            for other in others:
                assert run(other, crowd(300, seed=1)) == expected


def test_a_file_with_damaged_tables_is_refused(tmp_path, monkeypatch):
    model = KINDS["two"]()
    run(model, crowd(700))
    views(model.block).multipliers[1] = -1.0
    with monkeypatch.context() as patch:
        patch.setattr(trust, "check_state", lambda model, count: None)
        rb.save(model, tmp_path / "model.rb")
    with pytest.raises(ValueError, match="heavy"):
        rb.load(tmp_path / "model.rb")


def test_storage_may_change_between_merges(monkeypatch):
    """From lists to tables and back, with multipliers and lists that are not in order."""
    model, other = KINDS["two"](), KINDS["two"]()
    expected = run(other, crowd(1600))
    found, changes = [], 0
    for start, (x, y) in enumerate(crowd(1600)):
        if start % 100 == 0:
            stored_as(monkeypatch, lists=start % 200 == 0)
            before = model.block is not None and in_lists(model)
            if model.block is not None and start % 200 == 0:
                model._review_table()
            model.choose_storage()
            changes += model.block is not None and in_lists(model) != before
        found += run(model, [(x, y)])
    assert found == expected
    assert changes > 4


def test_a_smaller_budget_and_a_sum_of_models(written_anew, monkeypatch):
    other = KINDS["two"](8)
    run(other, crowd(900))
    monkeypatch.undo()
    model = KINDS["two"](8)
    run(model, crowd(900))
    assert is_heavy(model)
    both = rb.merge([model, other])
    x = next(crowd(1, seed=3))[0]
    assert at(both, x) == pytest.approx(at(model, x), abs=0.02)
    for budget in (5, 3):
        model.budget = other.budget = budget
        assert at(model, x) == pytest.approx(at(other, x), rel=SEARCH)
    run(model, crowd(50, seed=4))


@pytest.mark.filterwarnings("ignore:BSGDClassifier. the last:river_budget.StreamWarning")
@pytest.mark.parametrize("lists", [False, True])
def test_examples_of_any_size_among_heavy_vectors(lists, monkeypatch, request):
    """Their distances come from differences, which multipliers are part of."""
    stored_as(monkeypatch, lists)
    huge = [pair for t, pair in enumerate(crowd(80, seed=5, size=1e4)) if t % 2]
    near = [({name: value * (1.0 + 1e-5) for name, value in x.items()}, y) for x, y in huge]
    stream = [*crowd(800), *huge, *near, *crowd(40, seed=6)]
    model = KINDS["two"]()
    found = run(model, stream)
    kept = np.exp(-views(model.block).distances[:6, :6])
    assert kept == pytest.approx(plain(K)(vectors(model), vectors(model)), abs=1e-9)
    request.getfixturevalue("written_anew")
    assert found == pytest.approx(run(KINDS["two"](), stream), rel=SEARCH, abs=SEARCH)


def test_tables_come_only_where_they_pay():
    """Not for examples that have most of the features, nor for very many vectors."""
    rng = np.random.default_rng(0)
    dense = rb.BSGDClassifier(4, K)
    for _ in range(40):
        dense.learn_one(dict(enumerate(rng.normal(size=700).tolist())), bool(rng.random() < 0.5))
    assert not views(dense.block).head.heavy
    many = rb.BSGDClassifier(1001, K)
    run(many, crowd(100))
    many.budget = 1001
    views(many.block).head.budget = 1001
    run(many, crowd(1200, seed=1))
    assert not views(many.block).head.heavy


def test_the_strain_of_a_combination_is_that_of_its_members_in_shares():
    model = KINDS["two"](2)
    run(model, crowd(1600, names=MORE))
    block = views(model.block)
    longer = int(np.argmax(block.lengths[:2]))
    block.strains[longer], block.strains[1 - longer] = 30.0, 20.0
    before = float(block.multipliers[longer])
    block.coefficients[0, :2] = [1.0, 2.0]  # of one sign: z lies between them
    model.budget = 1
    block = views(model.block)
    q = block.multipliers[0] / before
    assert 0.0 < q < 1.0
    assert block.strains[0] == pytest.approx(30.0 * q + 20.0 * (1.0 - q))


def test_strained_vectors_are_merged_as_the_budget_shrinks():
    """The longer one may be the last one then, and z takes the place of the other one."""
    from_the_end = 0
    for seed in range(4):
        model = KINDS["two"](2)
        run(model, crowd(1600, seed=seed, names=MORE))
        block = views(model.block)
        longer = int(np.argmax(block.lengths[:2]))
        block.strains[:2], multiplier = LARGEST_STRAIN, float(block.multipliers[longer])
        block.coefficients[0, longer] *= 20.0  # of opposite signs, and the place not far beyond
        model.budget = 1
        block = views(model.block)
        assert block.strains[0] == 1.0
        assert multiplier < block.multipliers[0] < 1.0  # not written anew
        norms, _ = kept_and_true(model)
        assert norms[0] == pytest.approx(norms[1], rel=1e-12)
        from_the_end += longer
    assert 0 < from_the_end < 4
