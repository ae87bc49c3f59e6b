"""Short runs of the fuzzer, and what its long runs have found (tests/support/fuzzing.py)."""

from __future__ import annotations

import copy
import os
import random

import numpy as np
import pytest
from folders import PYTHONPATH, SUPPORT
from fuzzing import MODELS, run
from models import learned
from processes import output_of
from saved_models import ALL, answers, file_of, stream_of, teach

import river_budget as rb
from river_budget.algorithms.features import drawn, nystroem
from river_budget.core.memory import views
from river_budget.kernels import RBF, Laplacian
from river_budget.saving import opened

# Names come and go on purpose
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

LONG = int(os.environ.get("RIVER_BUDGET_FUZZ", "40000"))


@pytest.mark.parametrize(
    "number", range(len(MODELS)), ids=lambda i: f"{type(MODELS[i]).__name__}-{i}"
)
def test_a_short_run(number):
    """Whatever happens to a model, in whatever order: it stays finite and within its budget."""
    assert sum(run(number, 30, number=number).counts.values()) == 30


def fuzzing_process(*arguments, **variables):
    return output_of(SUPPORT / "fuzzing.py", *arguments, PYTHONPATH=PYTHONPATH, **variables)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [False, True])
def test_a_long_run(threads):
    for seed in range(LONG // 4000):
        run(1000 + seed, 4000, threads=threads)


@pytest.mark.slow
def test_a_run_with_every_index_checked(tmp_path):
    """By numba, in all arrays that compiled code carves from a block or from scratch space."""
    variables = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    fuzzing_process("--operations", 4000, "--seed", 2000, **variables)


# What it has found


class Trouble(Exception):
    """The error that a user's example raises."""


@pytest.mark.parametrize("average", [False, True])
def test_a_sum_of_few_vectors_may_get_a_budget_with_a_smaller_rank(average):
    """Its basis had more rows than the table in which they were looked up: a read behind the
    block.
    """
    part = rb.NOGDClassifier(15, RBF(0.5), average=average)
    parts = [learned(part, 60, seed) for seed in (0, 1)]
    model = rb.merge(parts, budget=15)
    while model._state_record().kept <= 2:
        teach(model, stream_of(model, 60, seed=2))
    few = rb.merge([model, model.clone()], weights=[1.0, 0.0], budget=15)
    both = rb.merge(parts, budget=40)
    assert both.n_support_vectors < 30
    assert both._state_record().kept > 30 // 5
    for few, budget in ((both, 30), *((few, budget) for budget in (8, 3, 1))):
        few.mutate({"budget": budget})
        assert few._state_record().kept <= nystroem._largest_rank(few)
        teach(few, stream_of(few, 20, seed=3))
        assert file_of(opened(file_of(few))) == file_of(few)


def test_targets_of_any_size_leave_finite_numbers():
    """An error in units of a spread that was next to nothing: its square was infinite, and the file
    refused.
    """
    rng = np.random.default_rng(0)
    for seed in range(20):
        model = rb.AutoKernelRegressor(9, seed=1)
        for _ in range(40):
            x = dict(enumerate(rng.normal(size=3).tolist()))
            y = float(rng.choice([0.5, 2.0, -1e-300, 1e8, 1e300]))
            model.learn_one(x, y, float(rng.choice([1.0, 0.3, 1e8])))
        assert file_of(opened(file_of(model))) == file_of(model), seed


def test_labels_that_are_tuples_and_numbers_may_come_in_turns():
    """An array of numbers was compared with the items of a tuple."""
    model = rb.BSGDClassifier(5)
    model.learn_one({0: 1.0}, ("a", 1))
    model.learn_many(np.ones((2, 1)), np.array([3, 4]))
    assert set(model.predict_proba_one({0: 1.0})) == {("a", 1), 3, 4}


def test_an_empty_batch_may_come_first():
    for entry in ALL:
        (model,) = entry.values
        model, empty = model.clone(), np.zeros((0, 2))
        model.learn_many(*([empty, []] if hasattr(model, "predict_one") else [empty]))
        teach(model, stream_of(model, 3))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_subclass_of_arrays_is_its_numbers():
    """The product of a matrix with the scales of its columns was the product of matrices."""
    scaled = rb.BSGDClassifier(5, RBF(0.5, scales={1: 2.0}), seed=1)
    rows = np.random.default_rng(0).normal(size=(9, 3))
    for like in (lambda X: X, lambda X: X.astype(object)):
        model, twin = scaled.clone(), scaled.clone()
        model.learn_many(like(rows), rows[:, 0] > 0.0)
        twin.learn_many(np.matrix(like(rows)), rows[:, 0] > 0.0)
        assert file_of(twin) == file_of(model)
        assert np.array_equal(twin.predict_many(np.matrix(like(rows))), model.predict_many(rows))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("wrong", [-1, 7, 2**31 - 1, -(2**31)])
def test_a_sparse_matrix_whose_places_are_wrong_is_refused(place, part, wrong):
    """It was read and written wherever they pointed, until the process died."""
    sparse = pytest.importorskip("scipy.sparse")
    model = rb.RBPClassifier(5)
    model.learn_many(sparse.csr_matrix(np.ones((3, 2))), [True, False, True])
    before = file_of(model)
    for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array):
        matrix = form(np.ones((2, 2)))
        getattr(matrix, part)[place] = wrong
        with pytest.raises(ValueError, match=r"ind|pointer"):
            model.learn_many(matrix, [True, False])
        with pytest.raises(ValueError, match=r"ind|pointer"):
            model.predict_many(matrix)
    assert file_of(model) == before


def test_what_is_refused_leaves_no_name_behind():
    """With a number of numpy beside it, a complex number passed for a number until its name was
    known.
    """
    kinds = rb.FOGDClassifier, rb.AutoKernelClassifier
    for model in (rb.NORMAClassifier(9), *(kind(9, seed=1) for kind in kinds)):
        for i in range(20):
            model.learn_one({"a": i % 3, "b": i % 5}, i % 2 == 0)
        before = file_of(model)
        cells = [] if model._reads_tables else ["text", None]  # which it takes
        for bad in (1j, [1.0], 10**400, *cells):
            with pytest.raises(ValueError, match="new"):
                model.learn_one({"a": np.float64(1.0), "other": np.int8(2), "new": bad}, True)
            assert file_of(model) == before


def test_without_a_budget_no_table_is_kept():
    """One that had come with the budget grew with the square of the vectors, and a loaded model did
    not have it.
    """
    model = learned(rb.BSGDClassifier(15, Laplacian(0.5), seed=1), 60)
    assert views(model._block).head.factored
    model.mutate({"budget": None})
    assert not views(model._block).factor.size
    twin = opened(file_of(model))
    for each in (model, twin):
        teach(each, stream_of(each, 90, seed=1))
        with pytest.raises(ValueError, match="Gaussian"):
            each.mutate({"budget": 5})
    assert file_of(twin) == file_of(model)
    assert model.memory_usage == twin.memory_usage


def test_features_of_a_map_may_come_between_their_numbers_and_their_names(monkeypatch):
    """Another thread had added one."""
    model = rb.Nystroem(9, kernel=RBF(0.5))
    scored, batch = model._score_row, model._score_batch
    for i in range(4):
        model.learn_one({"a": float(i)})

    def then_more(ask):
        def asked(x):
            found = ask(x)
            model.learn_one({"a": 10.0 + 3.0 * model._n_outputs})
            return found

        return asked

    monkeypatch.setattr(model, "_score_row", then_more(scored), raising=False)
    monkeypatch.setattr(model, "_score_batch", then_more(batch), raising=False)
    assert list(model.transform_one({"a": 1.0})) == [f"nystroem_{i}" for i in range(4)]
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0, 2.0]})
    assert list(model.transform_many(frame)) == [f"nystroem_{i}" for i in range(5)]


@pytest.mark.parametrize("model", [rb.PolynomialCountSketch(8, seed=1), rb.RandomFourier(8, seed=1), rb.FOGDClassifier(8, seed=1)], ids=repr)  # fmt: skip  # noqa: E501
def test_a_drawn_model_that_forgets_names_saves_as_the_model_that_is_loaded(model, monkeypatch):
    """It saved a table of no rows, and the loaded one has no table."""
    monkeypatch.setattr(drawn, "AT_HAND", 0)
    model = model.clone()
    stream = [({f"word {3 * i + j}": 1.0 + j for j in range(5)}, i % 2 == 0) for i in range(400)]
    teach(model, stream[:300])
    assert len(model._features) < 500  # of 900
    twin = opened(file_of(model))
    assert file_of(twin) == file_of(model)
    for each in (twin, model):
        teach(each, stream[300:])
    for a, b in zip(answers(twin, stream), answers(model, stream), strict=True):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9)


REFUSING = {
    "few names": (rb.BSGDClassifier(9, RBF(0.5), seed=1), 30, 4),
    "many names": (rb.BSGDClassifier(9, RBF(0.5), seed=1), 300, 40),
    "without a budget": (rb.KernelPerceptronClassifier(RBF(0.5)), 60, 40),
    "scaled": (rb.BSGDClassifier(9, RBF(0.5, scales={"w1": 2.0}), seed=1), 30, 4),
    "rows": (rb.AutoKernelClassifier(9, seed=1), 30, 4),
    "drawn": (rb.FOGDClassifier(8, seed=1), 30, 4),
}


def refusing_model(name):
    """A model, and the words that it has learned."""
    model, n, words = REFUSING[name]
    model, rng = model.clone(), random.Random(0)
    for i in range(n):
        drawn = {f"w{rng.randrange(words + (2 * i if words > 9 else 0))}": 1.0 for _ in range(4)}
        model.learn_one(drawn, i % 2 == 0)
    return model, list(drawn)


class Raising:
    """A name with the hash of a text, that raises when it is compared for the n-th time."""

    def __init__(self, text, left):
        self.text, self.left = text, left

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        self.left -= 1
        if self.left == 0:
            raise Trouble
        return self is other

    def __deepcopy__(self, memo):
        return self


def refused_at(n, model, word, known, label):
    """Whether a model refuses an example in which a name raises at the n-th comparison: then it is
    what it was.
    """
    odd = Raising(word, 0)
    x = {odd: 1.0, word: 2.0, f"{word} and more": 1.0, "other": 1.0}
    if known:  # the name is among those that the model has learned
        model.learn_one({odd: 1.0}, True)
        model.learn_one({odd: -1.0}, False)
        del x[odd]
    before = state_of(model)
    try:
        odd.left = n
        model.learn_one(x, label)
    except Trouble:
        assert state_of(model) == before, n
        return True
    return False


def state_of(model):
    """What a model has learned, without a comparison of its names. It may know the new names of a
    refused example.
    """
    block = views(model._block)
    count = int(block.head.count)
    sums = (block.head.scale * block.coefficients[:, :count]).tobytes()
    return list(model._labels.known), int(block.head.arrived), sums


@pytest.mark.parametrize("label", [True, "a third"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("kind", REFUSING)
def test_a_name_that_raises_leaves_the_model_as_it_was(kind, known, label):
    """Whenever it is compared: names had got their places, and labels, before the example was
    refused.
    """
    model, words = refusing_model(kind)
    n = 1
    while refused_at(n, copy.deepcopy(model), words[0], known, label):
        n += 1
        assert n < 200
    assert n > 1 or known  # a place that is found at once needs no comparison


@pytest.mark.parametrize("kind", REFUSING)
def test_a_value_that_raises_once_leaves_the_model_as_it_was(kind):
    """It raised an error of struct, or was learned in part."""
    model, words = refusing_model(kind)

    class Once:
        def __init__(self, error):
            self.error = error

        def __float__(self):
            error, self.error = self.error, None
            if error is not None:
                raise error
            return 1.0

    for name in (words[0], "new"):
        for error in (Trouble, TypeError, RuntimeError):
            before, twin = file_of(model), copy.deepcopy(model)
            try:
                twin.learn_one({name: Once(error), "other": 1.0}, "a third")
            except (error, ValueError):  # in the words of the user, or of the model
                assert file_of(twin) == before
                twin.learn_one({name: 1.0, "other": 1.0}, "a third")
            model.learn_one({name: 1.0, "other": 1.0}, "a third")
            assert file_of(twin) == file_of(model)


@pytest.mark.parametrize("kind", REFUSING)
def test_an_example_that_changes_while_it_is_read_is_the_one_that_was_given(kind):
    """Where it had got other names meanwhile, a StopIteration came out."""
    model, words = refusing_model(kind)

    class Changing:
        def __init__(self, x):
            self.x = x

        def __float__(self):
            self.x.clear()
            self.x.update({f"late {i}": 1.0 for i in range(9)})
            return 1.0

    twin, x = copy.deepcopy(model), {words[0]: 2.0, "new": 1.0}
    model.learn_one(dict(x), True)
    x["new"] = Changing(x)
    twin.learn_one(x, True)
    assert file_of(twin) == file_of(model)


def test_a_mapping_that_loses_names_while_it_is_read_is_refused():
    """A KeyError came out."""

    class Losing(dict):
        def keys(self):
            names = list(dict.keys(self))
            self.clear()
            return names

        def __iter__(self):
            return iter(self.keys())

    for kind in REFUSING:
        model, words = refusing_model(kind)
        before = file_of(model)
        for act in (model.predict_one, lambda x, model=model: model.learn_one(x, True)):
            with pytest.raises(RuntimeError, match="changed while the model read it"):
                act(Losing({words[0]: 1.0, "new": 1.0}))
            assert file_of(model) == before
