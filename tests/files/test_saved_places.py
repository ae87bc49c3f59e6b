"""Files of models that have forgotten names: the places of the names that are left."""

from __future__ import annotations

import copy

import pytest
from forging import packed, unpacked
from many_names import at, crowd, run, with_gaps
from saved_models import file_of

import river_budget as rb
from river_budget.algorithms.auto import words
from river_budget.core.memory import views
from river_budget.distributed.keyed.shard import Shard
from river_budget.distributed.keyed.storage import States
from river_budget.kernels import RBF, Laplacian
from river_budget.maintenance import Merge, Project
from river_budget.saving import SavedModelError, opened

# Names come and go on purpose
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

FORGETFUL = [
    pytest.param(rb.BSGDClassifier(20, RBF(0.05)), "two", id="BSGD"),
    pytest.param(rb.BSGDClassifier(20, RBF(0.05), Merge()), "three", id="BSGD-merge"),
    pytest.param(rb.BSGDClassifier(20, RBF(0.05), Project()), "two", id="BSGD-project"),
    pytest.param(rb.RBPClassifier(20, Laplacian(0.05), seed=1), "two", id="RBP-laplacian"),
    pytest.param(rb.BOGDRegressor(20, RBF(0.05), seed=1), "tube", id="BOGD-R"),
    pytest.param(rb.KernelOneClassSVM(0.2, 20, RBF(0.05)), "two", id="OneClass"),
]


def chosen(scores):
    """The sign of a score, or the class with the largest."""
    return scores.index(max(scores)) if isinstance(scores, list) else scores > 0.0


@pytest.mark.parametrize(("model", "kind"), FORGETFUL)
def test_a_model_that_has_forgotten_names_goes_on_from_its_file(model, kind):
    model = with_gaps(model, kind)
    data = file_of(model)
    twin = opened(data)
    assert file_of(twin) == data
    assert twin._features.places == model._features.places
    assert twin._features.vacant == model._features.vacant
    frozen = opened(data, predict_only=True)
    for x, _ in crowd(100, kind, seed=1):
        assert at(twin, x) == at(model, x)
        assert at(frozen, x) == pytest.approx(at(model, x), rel=0.0, abs=1e-12)
    stream = list(crowd(400, kind, seed=2, names=2000))  # it meets other names, and forgets again
    edition = model._version
    expected, found = run(model, stream), run(twin, stream)
    assert model._version is not edition
    assert found == [pytest.approx(each, rel=0.0, abs=1e-12) for each in expected]
    assert [*map(chosen, found)] == [*map(chosen, expected)]
    assert twin._features.places == model._features.places


def swapped(places):
    return [places[1], places[0], *places[2:]]


FORGED = {
    "not ascending": swapped,
    "twice the same": lambda places: [places[1], *places[1:]],
    "negative": lambda places: [-1, *places[1:]],
    "huge": lambda places: [*places[:-1], 2**40],
    "beyond the table": lambda places: [*places[:-1], 2**20],
    "beyond all integers": lambda places: [*places[:-1], 2**70],
    "too few": lambda places: places[:-1],
    "too many": lambda places: [*places, places[-1] + 1],
    "none": lambda places: [],
    "text": lambda places: [*places[:-1], str(places[-1])],
    "floats": lambda places: [*map(float, places)],
    "boolean": lambda places: [False, *places[1:]],
    "a number": lambda places: 3,
    "a dict": lambda places: dict(enumerate(places)),
    "without gaps": lambda places: [*range(len(places))],
    "one place further": lambda places: [*places[:-1], places[-1] + 1],
}


@pytest.fixture(scope="module")
def of_documents():
    return unpacked(file_of(with_gaps(*FORGETFUL[0].values)))


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_places_are_refused(forge, of_documents):
    head, arrays = copy.deepcopy(of_documents)
    head["model"]["places"] = forge(head["model"]["places"])
    with pytest.raises(rb.SavedModelError):
        opened(packed(head, arrays))


def test_places_are_only_for_models_that_forget_names():
    model = rb.NOGDClassifier(9, RBF(0.5))
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    head, arrays = unpacked(file_of(model))
    assert "places" not in head["model"]
    head["model"]["places"] = [0, 2]
    with pytest.raises(rb.SavedModelError):
        opened(packed(head, arrays))


def test_a_vector_with_a_number_at_a_vacant_place_is_refused(of_documents):
    head, arrays = copy.deepcopy(of_documents)
    places = head["model"]["places"]
    vacant = next(place for place in range(places[-1]) if place not in places)
    folder = head["model"]["arrays"]
    arrays[f"{folder}/vectors"][vacant, 0] = 1.0
    arrays[f"{folder}/norms"][0] += 1.0
    with pytest.raises(rb.SavedModelError, match="vacant"):
        opened(packed(head, arrays))


def of_words(monkeypatch):
    """A model of words that has forgotten some."""
    monkeypatch.setattr(words, "MOST_WORDS", 1500)
    model, t = rb.AutoKernelClassifier(20, seed=1), 0
    while not (model._of_words and model._features.vacant):
        model.learn_one({f"w{9 * t + j}": 1.0 for j in range(9)}, t % 2 == 0)
        t += 1
    return model


def test_a_model_of_words_that_has_forgotten_some_is_saved(monkeypatch):
    model = of_words(monkeypatch)
    twin = opened(file_of(model))
    assert twin._features.places == model._features.places
    for each in (model, twin):
        each.learn_one({"new": 1.0}, True)
    x = dict.fromkeys(list(model._features)[:9], 1.0)
    assert twin.predict_proba_one(x) == model.predict_proba_one(x)
    assert file_of(twin) == file_of(model)


def test_keyed_models_that_go_to_the_disk_come_back(monkeypatch, tmp_path):
    """Also those of words with vacant places."""
    learned = of_words(monkeypatch)
    shard = Shard(rb.AutoKernelClassifier(20, seed=1), tmp_path / "shard", 0, 1)
    shard._keep(b"a", learned)
    shard._keep(b"b", rb.AutoKernelClassifier(20, seed=1))
    assert shard.resident() == 1
    assert shard._known(b"a")._features.places == learned._features.places


def test_what_could_not_be_read_again_is_not_written(monkeypatch):
    """A model that leaves memory would be lost."""
    states = States(rb.BSGDClassifier(5))
    model = rb.BSGDClassifier(5)
    model.learn_one({"a": 1.0}, True)
    views(model._block).coefficients[0, 0] = float("nan")
    with pytest.raises(SavedModelError, match="cannot be saved"):
        states.of(model)
