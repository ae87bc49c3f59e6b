"""Tables of an algorithm's own: they follow the vectors, lie in files, copies and pickles, and are
never silently wrong.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import river_budget as rb
from river_budget import extending as ext
from river_budget.saving import nodes

OWN = {"gram": ("B", "B"), "labels": ("B",), "more": (2, "B")}


@ext.compiled
def storing(m, state, own, x, norm, f, y, w):
    """A Perceptron that keeps its Gram matrix, and of every vector its label."""
    loss, sign, plus, minus = ext.loss_and_direction(m.head[0], f, y, 0.0)
    if ext.is_mistake(m.head[0], f, loss, sign, plus, minus):
        n = m.head[0].count
        j = ext.insert(m, x, norm)
        for i in range(n):
            own.gram[i, j] = own.gram[j, i] = m.row[i]
        own.gram[j, j] = ext.self_kernel(m, norm)
        own.labels[j], own.more[1, j] = y, 2.0 * y
        ext.add_to(m, j, plus, minus, w * sign)


@ext.compiled
def dropping(m, state, own):
    """Remove the vector that is nearest to the others: any slot."""
    found, most = 0, -1.0
    for j in range(m.head[0].count):
        near = own.gram[j, : m.head[0].count].sum()
        if near > most:
            found, most = j, near
    ext.remove(m, found)


@ext.each_example
def weights_of(m, state, own, x, norm, f):
    """The row of the Gram matrix times its values for x, and the label of the first vector."""
    f[0], f[1] = 0.0, own.labels[0]
    for i in range(m.head[0].count):
        f[0] += m.row[i] * own.gram[0, i]


class WithTables(ext.Classifier):
    algorithm = ext.algorithm(storing, keep=dropping, own=OWN)
    budget = ext.Mutable(ext.optional(ext.whole(1)))

    def __init__(self, budget: int | None = 20, kernel=None, classes: tuple | None = None):
        super().__init__(locals())


def fill(model, parts):
    """A sum: its Gram matrix is computed anew, and the labels are the signs of the coefficients."""
    n, own = model.n_support_vectors, ext.own_tables(model)
    own.gram[:n, :n] = model._gram()
    own.labels[:n] = np.sign(model._coefficient_columns()[0])
    own.more[1] = 2.0 * own.labels


class Mergeable(WithTables):
    algorithm = ext.algorithm(
        storing,
        keep=dropping,
        own=OWN,
        after=ext.After(union=fill, promotion=ext.unchanged),
        files=ext.Files(ranges={"labels": (-1.0, 1.0)}, scored_rows=True),
    )


def stream(n=400, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, X[:, 0] * X[:, 1] > 0.0


def taught(model, seed=0):
    model.learn_many(*stream(seed=seed))
    return model


def check_tables(model):
    """The tables are those of the model's vectors, and 0 behind them."""
    own, n = ext.own_tables(model), model.n_support_vectors
    np.testing.assert_allclose(own.gram[:n, :n], model._gram(), atol=1e-14)
    assert own.labels[:n].tolist() == np.sign(model._coefficient_columns()[0]).tolist()
    assert own.more[1].tolist() == (2.0 * own.labels).tolist()
    assert not own.gram[n:].any()
    assert not own.gram[:, n:].any()
    assert not own.labels[n:].any()


def bytes_of(model):
    return [table.tobytes() for table in ext.own_tables(model)]


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(nodes, "_registered", {})
    for kind in (WithTables, Mergeable):
        rb.saving.register(kind)


def test_they_follow_the_vectors():
    model = taught(WithTables())
    check_tables(model)
    for budget in (5, 60, 61):
        model.mutate({"budget": budget})
        check_tables(taught(model, budget))
    assert model.n_support_vectors == 61


def test_they_grow_with_the_capacity():
    model = taught(WithTables(None))
    assert model.n_support_vectors > 64
    check_tables(model)
    model.mutate({"budget": 10})
    check_tables(model)


def test_copies_pickles_and_files_have_them(registered, tmp_path):
    model = taught(WithTables())
    rb.save(model, tmp_path / "model")
    same = [rb.load(tmp_path / "model"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    before = bytes_of(model)
    assert all(bytes_of(each) == before for each in same)
    taught(model, 1)
    assert all(bytes_of(taught(each, 1)) == bytes_of(model) for each in same)


def test_a_file_out_of_range_is_refused(registered, tmp_path):
    model = taught(Mergeable())
    ext.own_tables(model).labels[2] = 3.0
    with pytest.raises(rb.SavedModelError, match="labels is out of range"):
        rb.save(model, tmp_path / "model")
    ext.own_tables(model).labels[2] = np.nan
    with pytest.raises(rb.SavedModelError, match="labels are not finite"):
        rb.save(model, tmp_path / "model")


def test_a_sum_and_a_third_class_are_refused():
    with pytest.raises(NotImplementedError, match=r"gram and labels and more.*in a sum"):
        rb.merge([taught(WithTables()), taught(WithTables(), 1)])
    model = taught(WithTables())
    before = bytes_of(model)
    with pytest.raises(NotImplementedError, match="with a third class"):
        model.learn_one({0: 1.0}, "third")
    assert bytes_of(model) == before


def test_a_sum_and_a_third_class_may_be_declared():
    united = rb.merge([taught(Mergeable()), taught(Mergeable(), 1)], budget=30)
    assert united.n_support_vectors == 30
    check_tables(united)
    taught(united, 2)
    n = united.n_support_vectors
    np.testing.assert_allclose(ext.own_tables(united).gram[:n, :n], united._gram(), atol=1e-14)
    united.learn_one({0: 1.0}, "third")
    assert united._n_outputs == 3


def test_a_pass_of_ones_own_reads_them(registered, tmp_path):
    x = {0: 0.3, 1: None, 2: -1.0}
    model = Mergeable()
    assert ext.results_of(model, weights_of, x, 2) is None
    taught(model)
    rb.save(model, tmp_path / "model")
    found = ext.results_of(model, weights_of, x, 2)
    only_predicts = rb.load(tmp_path / "model", predict_only=True)
    assert ext.results_of(only_predicts, weights_of, x, 2) == found
    assert found[1] in (-1.0, 1.0)
    rb.save(taught(WithTables()), tmp_path / "model")
    only_predicts = rb.load(tmp_path / "model", predict_only=True)
    assert only_predicts.predict_one(x) is not None
    with pytest.raises(RuntimeError, match="scored_rows=True"):
        ext.results_of(only_predicts, weights_of, x, 2)


@pytest.mark.parametrize("own", [{"a": ("B", 2)}, {"a": (0, "B")}, {"a": 3}, {"row": ("B",)}])
def test_other_shapes_and_names_are_refused(own):
    with pytest.raises(ValueError, match=r"an own table (has the shape|cannot have the name)"):
        ext.algorithm(storing, own=own)


def test_merging_knows_nothing_of_own_tables():
    with pytest.raises(ValueError, match="merge_pair makes a vector"):
        ext.algorithm(storing, keep=ext.merge_pair, own=OWN)


def test_own_tables_that_nobody_declares():
    with pytest.raises(TypeError, match="storing takes own tables: declare them"):
        ext.algorithm(storing, keep=dropping)


@pytest.mark.slow
def test_another_process_finds_the_passes_on_the_disk(tmp_path):
    """The type of `own` is a class that is made while the program runs."""
    script = f"""if True:
        import sys; sys.path.insert(0, {str(__file__).rpartition("/")[0]!r})
        from test_own_tables import WithTables, taught
        taught(WithTables())
        print(sum(WithTables.algorithm.learn.stats.cache_hits.values()))
    """
    run = [sys.executable, "-c", script]
    hits = [subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in "12"]
    assert hits[-1].split() == ["1"]
