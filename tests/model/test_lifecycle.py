"""Parameters that change, copies, pickles and memory: what happens between two examples."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from models import (
    MODELS,
    SUMS,
    TRANSFORMERS,
    content,
    crossed,
    having,
    learn,
    learned,
    list_of,
    may_be_unlimited,
    one_of_each,
    same,
    scores,
    stream_for,
    variant,
)
from river import base, preprocessing

import river_budget as rb
from river_budget.core.memory import views
from river_budget.kernels import RBF, Linear
from river_budget.maintenance import Merge, Project, RemoveOldest, RemoveRandom, RemoveSmallest

SMALL = 4
UNLIMITED = [entry for entry in MODELS if may_be_unlimited(entry.values[0])]


def through_pickle(model, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(model, protocol))


# clone


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_clone_has_the_parameters_and_has_learned_nothing(model):
    clone, fresh = learned(model).clone(), model.clone()
    assert repr(clone) == repr(model)
    x = stream_for(model, 1)[0][0]
    assert clone.decision_function_one(x) == fresh.decision_function_one(x)
    assert clone.predict_one(x) == fresh.predict_one(x)
    assert content(clone) == []


def test_clones_without_a_seed_draw_different_numbers():
    model = rb.BSGDRegressor(10, RBF(0.5), RemoveRandom())
    a, b, stream = model.clone(), model.clone(), stream_for(model, 200)
    learn(a, stream)
    learn(b, stream)
    assert content(a) != content(b)


# mutate


@pytest.mark.parametrize("model", UNLIMITED)
def test_a_budget_can_be_given_to_a_model_without_one(model):
    model = learned(variant(model, budget=None, maintenance=RemoveOldest()), 80)
    assert model.n_support_vectors > 20
    model.mutate({"budget": 20})
    learn(model, stream_for(model, 80, seed=1))
    assert model.n_support_vectors == 20


def shrunk(maintenance):
    """The support vectors before and after, by arrival."""
    model = rb.BSGDRegressor(20, RBF(0.5), maintenance, epsilon=0.01, seed=1)
    stream = iter(stream_for(model, 300))
    for n, (x, y) in enumerate(stream):  # merging many leaves room: wait until it is full again
        model.learn_one(x, y)
        if n >= 89 and model.n_support_vectors == 20:
            break
    before = {v["arrival"]: v for v in model.support_vectors()}
    model.mutate({"budget": SMALL})
    after = {v["arrival"]: v for v in model.support_vectors()}
    assert (len(before), len(after)) == (20, SMALL)
    return before, after


@pytest.mark.parametrize("maintenance", [RemoveOldest(), RemoveSmallest(), RemoveRandom()])
def test_shrinking_keeps_vectors_as_they_are_where_others_go(maintenance):
    before, after = shrunk(maintenance)
    assert after.items() <= before.items()
    if maintenance == RemoveOldest():
        assert min(after) == sorted(before)[-SMALL]
    elif maintenance == RemoveSmallest():
        sizes = sorted(abs(v["coefficients"]) for v in before.values())
        assert min(abs(v["coefficients"]) for v in after.values()) >= sizes[-SMALL] * (1 - 1e-8)


def test_shrinking_spreads_what_goes_over_what_stays_where_it_is_projected():
    before, after = shrunk(Project())
    for arrival, vector in after.items():
        assert vector["features"] == before[arrival]["features"]
        assert vector["coefficients"] != before[arrival]["coefficients"]


@pytest.mark.parametrize("maintenance", [Merge(), Merge(3), Merge(3, "gradient")])
def test_shrinking_makes_new_vectors_where_they_are_merged(maintenance):
    before, after = shrunk(maintenance)
    assert max(after) > max(before)


@pytest.mark.parametrize(
    "model", [m for m in having("budget", SUMS) if not m.id.startswith("NOGD")]
)
def test_a_larger_budget_changes_nothing_but_the_room(model):
    model = learned(model.clone({"budget": SMALL}))
    stream = stream_for(model, 80)
    learned_so_far, before = content(model), scores(model, stream)
    model.mutate({"budget": 30})
    assert (content(model), scores(model, stream)) == (learned_so_far, before)
    learn(model, stream)
    assert SMALL < model.n_support_vectors <= 30


@pytest.mark.parametrize("model", [e for e in UNLIMITED if e.values[0].budget])
def test_a_budget_can_be_taken_away(model):
    model = learned(variant(model, budget=SMALL, seed=1))
    stream = stream_for(model, 200)
    before = scores(model, stream)
    model.mutate({"budget": None})
    assert scores(model, stream) == before
    learn(model, stream)
    assert model.n_support_vectors > 20


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_fresh_model_mutates_too(model):
    name = sorted(
        model._mutable_attributes - {"budget", "threshold", "max_coefficient", "eta_linear"} or {""}
    )[0]
    if not name:
        pytest.skip("nothing to change")
    value = 0.5 * getattr(model, name) + 0.01
    mutated = variant(model, seed=1)
    mutated.mutate({name: value})
    stream = stream_for(model, 40)
    built = variant(model, seed=1, **{name: value})
    learn(mutated, stream)
    learn(built, stream)
    assert same(mutated, built, stream)


@pytest.mark.parametrize("estimator", [rb.BSGDClassifier, rb.BSGDRegressor])
def test_l2_takes_effect_at_the_next_step(estimator):
    model = estimator(None, l2=0.1, project_to_ball=False, learning_rate=None)
    model.learn_one({"a": 0.0}, 1)
    model.mutate({"l2": 10.0})
    model.learn_one({"a": 1e3}, 1)
    new = model.support_vectors()[1]["coefficients"]
    assert abs(new) == pytest.approx(1 / (10.0 * 2))


def test_epsilon_takes_effect_at_the_next_example():
    model = rb.BSGDRegressor(None, epsilon=0.1)
    model.learn_one({"a": 0.0}, 1.0)
    model.mutate({"epsilon": 5.0})
    model.learn_one({"a": 100.0}, 4.0)
    assert model.n_support_vectors == 1
    model.mutate({"epsilon": 0})
    model.learn_one({"a": 100.0}, 4.0)
    assert model.n_support_vectors == 2


@pytest.mark.parametrize(
    "change",
    [
        {"budget": 0},
        {"l2": float("nan")},
        {"epsilon": -0.1},
        {"kernel": RBF(2.0)},
        {"kernel": {"gamma": 2.0}},
        {"maintenance": Project()},
        {"seed": 5},
        {"nonsense": 1},
    ],
    ids=str,
)
def test_a_change_that_is_not_allowed_changes_nothing(change):
    model = learned(rb.BSGDRegressor(10, RBF(0.5), Merge(), seed=1))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=next(iter(change))):
        model.mutate(change)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(("model", "budgets"), crossed(having("budget"), [(25, 7), (7, 40, 7)]))
def test_a_model_takes_the_memory_of_the_budget_that_it_has_now(model, budgets):
    model = learned(model.clone({"budget": budgets[0]}))
    for budget in budgets[1:]:
        model.mutate({"budget": budget})
    fresh = learned(model, 1)  # which has the last budget from the start
    assert views(model._block).head.capacity == views(fresh._block).head.capacity > budgets[-1]


def test_a_model_mutates_inside_a_pipeline():
    pipeline = preprocessing.StandardScaler() | rb.BSGDClassifier(20)
    learn(pipeline, stream_for(rb.BSGDClassifier(), 100))
    pipeline.mutate({"BSGDClassifier": {"budget": SMALL, "l2": 0.5}})
    model = pipeline["BSGDClassifier"]
    assert (model.budget, model.l2, model.n_support_vectors) == (SMALL, 0.5, SMALL)


# copies


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_learning_in_a_shallow_copy_does_no_harm_to_the_original(model):
    model, stream = learned(model), stream_for(model, 20, seed=1)
    before = scores(model, stream)
    shallow = copy.copy(model)
    for prepared in ("_free_rows", "_free_lists"):  # calls for the block of one model
        assert getattr(shallow, prepared) is not getattr(model, prepared)
    learn(shallow, [(x | {"new 1": 1.0, "new 2": 2.0}, y) for x, y in stream])
    assert scores(model, stream) == before
    learn(model, [(x | {"new 1": 1.0}, y) for x, y in stream])
    assert scores(model, stream) != before


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("n", [0, 60])
def test_every_protocol_of_pickle_works(protocol, n):
    model = learned(rb.BSGDClassifier(10, RBF(0.5), RemoveRandom()), n)
    twin, stream = through_pickle(model, protocol), stream_for(model, 60, seed=1)
    learn(model, stream)
    learn(twin, stream)
    assert same(twin, model, stream)


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_predictions_leave_every_byte_of_the_model_as_it_is(model):
    for state in (model.clone(), learned(model)):
        before = pickle.dumps(state)
        for x, _ in stream_for(model, 20, seed=1):
            for method in ("predict_one", "predict_proba_one", "decision_function_one"):
                if hasattr(state, method):
                    getattr(state, method)(x | {"never seen": 1.0})
        assert pickle.dumps(state) == before


@pytest.mark.parametrize("model", having("budget"))
def test_a_pickle_is_about_as_large_as_the_model(model):
    model = learned(model.clone({"budget": 100}), 200)
    assert model.memory_usage * 0.9 < len(pickle.dumps(model)) < model.memory_usage + 2000


# memory


def batches(model, n, size):
    rng = np.random.default_rng(0)
    for _ in range(n // size):
        rows = rng.normal(size=(size, 3))
        if isinstance(model, base.Regressor):
            yield rows, np.sin(2.0 * rows[:, 0])
        else:
            yield rows, rows[:, 0] + 0.3 * rng.normal(size=size) > 0.0


@pytest.mark.parametrize(
    ("n", "size"), [(20_000, 1000), pytest.param(1_000_000, 10_000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("model", having("budget"))
def test_memory_is_constant_to_the_byte_once_the_model_is_full(model, n, size):
    model, sizes = model.clone(), set()
    for rows, targets in batches(model, n, size):
        model.predict_then_learn_many(rows, targets)
        sizes.add((model.memory_usage, len(pickle.dumps(model))))
    assert len(sizes) == 1
    assert np.isfinite(list_of(model.decision_function_one({0: 0.1, 1: 0.2}))).all()


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_memory_usage_counts_the_block_and_the_indexes(model):
    model = learned(model)
    d, outputs = len(model._features), len(list_of(model.decision_function_one({})))
    if hasattr(model, "n_support_vectors"):
        numbers = model.n_support_vectors * (d + outputs)
    else:
        numbers = model.n_components * (d + 2 * outputs)
    assert model.memory_usage >= 8 * numbers
    longer = model.memory_usage
    model.learn_one({"a feature with a long name" + "e" * 100: 0.0}, stream_for(model, 1)[0][1])
    assert model.memory_usage >= longer + 100


def with_room(model, room):
    """The algorithm of a model, with memory for so many vectors at once; NOGD always has all."""
    columns = model.algorithm.columns
    room = room if columns.room < math.inf else math.inf
    return dataclasses.replace(model.algorithm, columns=dataclasses.replace(columns, room=room))


GROWING = [
    rb.RBPClassifier(1200, RBF(5.0), seed=1),  # beyond the constant as it is
    rb.BSGDClassifier(150, RBF(5.0), RemoveOldest()),
    rb.BSGDClassifier(150, RBF(5.0)),
    rb.BPAClassifier(150, RBF(5.0)),
    rb.ForgetronClassifier(150, RBF(5.0)),
    rb.BOGDClassifier(150, RBF(5.0), seed=1),
    rb.NOGDClassifier(150, RBF(5.0)),
    rb.NORMAClassifier(150, RBF(5.0), nu=0.9),
]


@pytest.mark.parametrize("model", GROWING, ids=lambda m: type(m).__name__)
def test_a_large_budget_grows_into_its_room_and_learns_the_same(model, monkeypatch):
    n, rng = 3 * model.budget, np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), rng.random(n) > 0.5
    growing, whole = model.clone(), model.clone()
    full = min(1024, model.budget // 2)
    monkeypatch.setattr(type(model), "algorithm", with_room(model, full))
    predictions = growing.predict_then_learn_many(X, y)
    monkeypatch.setattr(type(model), "algorithm", with_room(model, 10**9))
    assert whole.predict_then_learn_many(X, y).tolist() == predictions.tolist()
    assert growing.support_vectors() == whole.support_vectors()
    assert full < growing.n_support_vectors <= model.budget


def test_a_huge_budget_takes_no_memory_before_it_is_needed():
    model = rb.RBPClassifier(1_000_000)
    model.learn_one(dict.fromkeys(range(1000), 1.0), True)
    assert model.memory_usage < 10_000_000


# labels


def test_a_boolean_names_both_classes_and_a_third_is_for_one_model_alone():
    models = [rb.BSGDClassifier(5) for _ in range(3)]
    for model, label in zip(models, (True, False, True), strict=True):
        model.learn_one({"a": 1.0}, label)
        assert list(model.predict_proba_one({"a": 1.0})) == [False, True]
    models[0].learn_one({"a": 2.0}, "neither")
    assert models[0]._labels.known == [False, True, "neither"]
    assert models[1]._labels.known == models[2]._labels.known == [False, True]
    merged = rb.merge([models[1], models[2]])
    merged.learn_one({"a": 2.0}, "neither")
    assert models[1]._labels.known == models[2]._labels.known == [False, True]


@pytest.mark.parametrize("model", one_of_each(MODELS + TRANSFORMERS))
def test_what_cannot_change_refuses_to(model):
    model = model.clone()
    before = repr(model)
    fixed = set(model._parameters()) - model._mutable_attributes
    for name in fixed:
        with pytest.raises(AttributeError, match=rf"{name} .* cannot change: model.clone.*"):
            setattr(model, name, getattr(model, name))
    assert repr(model) == before
    for name in model._mutable_attributes:
        setattr(model, name, getattr(model, name))
    assert repr(model) == before
    if "kernel" in fixed and model._mutable_attributes:
        with pytest.raises(AttributeError, match="mutate"):
            model.kernel = Linear()


def test_no_public_method_promotes_a_model_to_more_classes():
    """Called from outside it would leave coefficients behind the table."""
    for each in (rb.BSGDClassifier, rb.AutoKernelClassifier):
        assert not hasattr(each, "promote")
