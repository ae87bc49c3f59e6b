"""Merging models: the weighted sum, what it keeps, and what it refuses."""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pytest
from inside import plain, squared_length, support
from many_names import crowd, with_gaps
from models import SUMS, learn, one_of_each
from oracles import kernels as plain_kernels
from river import base, compose, linear_model, optim, preprocessing
from streams import LABELS

import river_budget as rb
from river_budget.core.memory import views
from river_budget.core.passes.window import sbp
from river_budget.inputs.batches import Batch
from river_budget.kernels import RBF, Laplacian, Polynomial
from river_budget.maintenance import Merge, Project, RemoveOldest, RemoveRandom, RemoveSmallest

# A polynomial kernel on a regression diverges, and is merged all the same
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

EXACT = 1e-12  # of the size of scores
ROOM = 1000  # a budget for all vectors
WEIGHTS = [0.5, 0.2, 0.3]


# Models that have learned apart


@functools.cache
def examples(seed, n=60, kind="labels", own=True):
    """Examples for one model: clusters with labels of which it does not see all, a feature of its
    own.
    """
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(4, 5))
    stream = []
    for _ in range(n):
        cluster = int(rng.integers(4))
        values = centres[cluster] + rng.normal(size=5)
        x = {f"f{i}": float(value) for i, value in enumerate(values)}
        if own:
            x[f"own{seed}"] = float(rng.normal())
        label = (cluster + seed) % 4 if cluster == seed % 4 else cluster
        wave = float(np.sin(values[0]) + 0.3 * values[1] + 0.1 * rng.normal())
        stream.append((x, {"labels": LABELS[label], "sides": cluster > 1, "wave": wave}[kind]))
    return stream


def kind_of(model):
    if isinstance(model, base.Regressor):
        return "wave"
    return "labels" if model._multiclass else "sides"


def taught(model, seed, n=60, own=True):
    return learn(model, examples(seed, n, kind_of(model), own))


def learned_apart(pipeline, kind, n_models):
    """The same of pipelines, whose kind of targets is given."""
    return [learn(pipeline.clone(), examples(seed, 60, kind)) for seed in range(n_models)]


def apart(model, n_models=3, n=60, own=True):
    """Copies that have learned different examples, some labels and features known to one of them
    only.
    """
    fresh = model.clone()
    return [taught(copy.deepcopy(fresh), seed, n, own) for seed in range(n_models)]


def points(n=1000, n_models=3):
    rng = np.random.default_rng(7)
    names = [f"f{i}" for i in range(5)] + [f"own{seed}" for seed in range(n_models)]
    return [dict(zip(names, row, strict=True)) for row in rng.normal(size=(n, len(names))).tolist()]


def room(model):
    """The argument that keeps all vectors."""
    return ROOM if getattr(model, "_budget_in_use", None) is not None else None


def size_of(table):
    return np.abs(table).max()


def scores(model, xs):
    """One row for each example, one column for each output."""
    names = list(dict.fromkeys(name for x in xs for name in x))
    values = np.array([[x.get(name, 0.0) for name in names] for x in xs], float)
    return model._score_batch(Batch.of(names, values.reshape(len(xs), len(names))))


def share(model, names, xs):
    """The scores of one model, as columns for the labels of a merged one."""
    own = scores(model, xs)
    known = model._labels.known if names else []
    if len(names) <= 2:
        return own if not names or known[0] == names[0] else -own
    columns = np.zeros((len(xs), len(names)))
    own = own if len(known) > 2 else own @ [[-0.5, 0.5]]
    for label, column in zip(known, own.T, strict=False):
        columns[:, names.index(label)] = column
    return columns


def weighted(models, weights, merged, xs):
    names = merged._labels.known if hasattr(merged, "_labels") else []
    return sum(
        weight * share(model, names, xs) for model, weight in zip(models, weights, strict=True)
    )


def close(found, expected):
    return size_of(found - expected) <= EXACT * size_of(expected)


def assert_is_sum(merged, models, weights=WEIGHTS, xs=None):
    xs = points() if xs is None else xs
    assert close(scores(merged, xs), weighted(models, weights, merged, xs))


# The sum


@pytest.mark.parametrize("model", SUMS)
def test_with_room_for_all_vectors_the_scores_add_up(model):
    models = apart(model)
    merged = rb.merge(models, WEIGHTS, budget=room(model))
    assert_is_sum(merged, models)
    assert merged._features.knows(points(1)[0])
    assert type(merged) is type(model)


@pytest.mark.parametrize("model", one_of_each(SUMS))
def test_the_models_themselves_are_left_as_they_are(model):
    models = apart(model)
    before = [(m._block.tobytes(), list(m._features), repr(m)) for m in models]
    scores_before = [scores(m, points(20)) for m in models]
    merged = rb.merge(models, WEIGHTS)
    taught(merged, 5)
    assert [(m._block.tobytes(), list(m._features), repr(m)) for m in models] == before
    for m, expected in zip(models, scores_before, strict=True):
        assert np.array_equal(scores(m, points(20)), expected)


@pytest.mark.parametrize("model", SUMS)
def test_a_merged_model_keeps_a_budget_learns_on_and_can_be_saved(model, tmp_path):
    merged, xs = rb.merge(apart(model)), points(50)
    twins = [merged]
    for _ in range(2):
        for twin in twins:
            assert np.isfinite(scores(twin, xs)).all()
            if getattr(twin, "_budget_in_use", None) is not None:
                assert 0 < twin.n_support_vectors <= twin._budget_in_use == model._budget_in_use
        rb.save(merged, tmp_path / "model.rb")
        twins = [merged, rb.load(tmp_path / "model.rb"), pickle.loads(pickle.dumps(merged))]
        for twin in twins[1:]:
            assert np.array_equal(scores(twin, xs), scores(merged, xs))
        for twin in twins:
            taught(twin, 5, 200)
    for twin in twins[1:]:
        assert np.array_equal(scores(twin, xs), scores(merged, xs))


@pytest.mark.parametrize("model", one_of_each(SUMS))
def test_a_model_merged_with_itself_is_itself(model):
    (original,) = apart(model, 1)
    merged = rb.merge([original, original])
    xs = points(100)
    assert getattr(merged, "n_support_vectors", 0) == getattr(original, "n_support_vectors", 0)
    assert close(scores(merged, xs), scores(original, xs))


@pytest.mark.parametrize("model", one_of_each(SUMS))
def test_merging_step_by_step_is_merging_at_once(model):
    a, b, c = apart(model)
    at_once = rb.merge([a, b, c], [0.2, 0.3, 0.5], room(model))
    first = rb.merge([a, b], [0.4, 0.6], room(model))
    stepwise = rb.merge([first, c], [0.5, 0.5], room(model))
    turned = rb.merge([c, b, a], [0.5, 0.3, 0.2], room(model))
    xs = points(100)
    expected = scores(at_once, xs)
    assert close(scores(stepwise, xs), expected)
    labels = at_once._labels.known if hasattr(at_once, "_labels") else []
    assert close(share(turned, labels, xs), expected)


@pytest.mark.parametrize("weights", [[2.0, 0.0, -1.0], [0.0, 0.0, 1.0], (1, 2, 3), np.ones(3)])
@pytest.mark.parametrize(
    "model",
    [
        rb.BSGDClassifier(20, RBF(0.5)),
        rb.FOGDClassifier(20, RBF(0.5), seed=1),
        rb.NOGDClassifier(20, RBF(0.5)),
        rb.SBPClassifier(20, RBF(0.5), fit_bias=True, seed=1),
    ],
    ids=str,
)
def test_weights_are_any_numbers(model, weights):
    models = apart(model)
    assert_is_sum(rb.merge(models, weights, room(model)), models, weights)


@pytest.mark.parametrize("model", one_of_each(SUMS))
def test_models_that_cancel_leave_nothing_and_learn_on(model, tmp_path):
    (original,) = apart(model, 1)
    # in a window examples without coefficients are examples still
    is_window = isinstance(model, rb.SBPClassifier)
    for merged in (rb.merge([original, original], [1, -1]), rb.merge([original], [0])):
        assert size_of(scores(merged, points(20))) <= EXACT
        assert is_window or getattr(merged, "n_support_vectors", 0) == 0
        rb.save(merged, tmp_path / "model.rb")
        taught(merged, 1, 40)
        assert np.isfinite(scores(merged, points(20))).all()


def test_models_that_have_not_learned_count_as_zero():
    model = rb.BSGDClassifier(20, RBF("auto"), RemoveOldest())
    learned = taught(model.clone(), 0)
    assert_is_sum(rb.merge([model, learned], [0.3, 0.7]), [learned], [0.7])
    assert_is_sum(rb.merge([learned, model], [0.3, 0.7]), [learned], [0.3])


@pytest.mark.parametrize("model", one_of_each(SUMS))
def test_models_that_have_not_learned_make_one_that_has_not(model):
    merged = rb.merge([model.clone(), model.clone()])
    assert repr(merged) == repr(model)
    assert merged._block is None
    taught(merged, 0)


def test_a_generator_of_models_will_do():
    models = apart(rb.ForgetronClassifier(20, RBF(0.5)))
    assert_is_sum(rb.merge((m for m in models), iter(WEIGHTS), ROOM), models)


# Vectors


@pytest.mark.parametrize("strategy", [RemoveOldest(), Merge(), Project()], ids=str)
def test_equal_vectors_become_one(strategy):
    model = rb.BSGDRegressor(20, RBF(0.5), strategy)
    one, two = {"a": 1.0, "b": -0.0}, {"b": 2.0}
    parts = [model.clone(), model.clone()]
    parts[0].learn_one(one, 1.0)
    parts[1].learn_one(two, 1.0)
    parts[1].learn_one({"a": 1.0}, 1.0)  # what is missing is 0
    merged = rb.merge(parts)
    assert [v["features"] for v in merged.support_vectors()] == [{"b": 2.0}, {"a": 1.0}]
    expected = weighted(parts, [0.5, 0.5], merged, [one, two])
    assert scores(merged, [one, two]) == pytest.approx(expected, rel=1e-14)


def test_the_newest_vectors_of_all_models_are_the_newest():
    """However many vectors have come and gone before."""
    veteran, novice = rb.RBPClassifier(5, RBF(0.5), seed=1), rb.RBPClassifier(5, RBF(0.5), seed=1)
    taught(veteran, 0, 300)
    taught(novice, 1, 3)
    merged = rb.merge([novice, veteran], budget=ROOM)
    last = [v["features"] for v in merged.support_vectors()[-2:]]
    newest = [m.support_vectors()[-1]["features"] for m in (novice, veteran)]
    assert last == newest
    arrivals = [v["arrival"] for v in merged.support_vectors()]
    assert arrivals == list(range(len(arrivals)))


FACTORED = [
    rb.ProjectronClassifier(12, RBF(0.5)),
    rb.ProjectronPPClassifier(12, Laplacian(0.5)),
    rb.BSGDRegressor(12, RBF(0.5), Project()),
    rb.BPAClassifier(12, Polynomial(2), update="projection"),
]


@pytest.mark.parametrize("budget", [ROOM, 20, None])
@pytest.mark.parametrize("model", FACTORED, ids=repr)
def test_the_factor_is_that_of_the_union(model, budget):
    merged = rb.merge(apart(model), WEIGHTS, budget)
    block, n = views(merged._block), merged.n_support_vectors
    X = block.vectors[: len(merged._features), :n].T
    W = np.tril(block.factor[:n, :n])
    assert W @ plain(model.kernel)(X, X) @ W.T == pytest.approx(np.eye(n), abs=1e-9)


def test_a_vector_that_the_others_span_is_projected():
    """A model that keeps a factor could not bear it as a vector of its own."""
    model = rb.ProjectronRegressor(20, rb.kernels.Linear())
    parts = [model.clone() for _ in range(3)]
    for part, x in zip(parts, [{"a": 1.0}, {"b": 2.0}, {"a": 3.0, "b": 1.0}], strict=True):
        part.learn_one(x, 1.0)
    merged = rb.merge(parts, [1, 1, 1])
    assert merged.n_support_vectors == 2
    assert_is_sum(merged, parts, [1, 1, 1], [{"a": 0.3, "b": 0.7}, {"a": -1.0}])


# The reduction


def gap(kernel, before, after):
    """|f - g|^2 of two expansions (vectors, coefficients)."""
    return squared_length(
        np.vstack([before[0], after[0]]), np.vstack([before[1], -after[1]]), kernel
    )


def expansion(model, names):
    X, A, _ = support(model)
    return X[:, [list(model._features).index(name) for name in names]], A


def without_the_smallest(kernel, X, A, n):
    """Of equal ones, the oldest go."""
    weight = np.sum(A**2, axis=1) * np.diag(plain(kernel)(X, X))
    order = np.argsort(np.round(weight / weight.max(), 8), kind="stable")
    kept = np.sort(order[len(X) - n :])
    return X[kept], A[kept]


REDUCED = [
    *(
        rb.BSGDClassifier(20, RBF(0.3), s, l2=1e-3)
        for s in (Merge(), Merge(3), Merge(4, "gradient"))
    ),
    rb.BSGDClassifier(20, RBF(0.3), Merge(objective="eq21"), l2=1e-3),
    rb.BSGDClassifier(20, RBF(0.3), Project(), l2=1e-3, classes=(False, True)),
    *(rb.BSGDRegressor(20, RBF(0.3), s, l2=1e-3) for s in (Merge(), Merge(3), Project())),
    rb.BSGDRegressor(20, Polynomial(2), RemoveOldest(), l2=1e-3),
    rb.BSGDRegressor(20, Polynomial(2), RemoveRandom(), l2=1e-3, seed=1),
    rb.BSGDClassifier(20, RBF(0.3), RemoveSmallest(), l2=1e-3),
    rb.ProjectronPPClassifier(20, RBF(0.3)),
    rb.ProjectronRegressor(20, Laplacian(0.3)),
    *(rb.BPAClassifier(20, RBF(0.3), update=u) for u in ("simple", "nearest", "projection")),
    rb.NOGDClassifier(20, RBF(0.3)),
    rb.NOGDRegressor(20, Polynomial(2)),
    rb.ForgetronClassifier(20, RBF(0.3)),
    rb.RBPRegressor(20, RBF(0.3), seed=1),
    rb.BOGDClassifier(20, RBF(0.3), seed=1),
    rb.NORMARegressor(20, RBF(0.3)),
    rb.BudgetPerceptronClassifier(20, RBF(0.3)),
]


@pytest.mark.parametrize("model", REDUCED, ids=repr)
def test_the_reduction_loses_no_more_than_removing_the_smallest(model):
    for seed in range(4):
        models = [taught(model.clone(), 10 * seed + i, 120, own=False) for i in range(3)]
        union = rb.merge(models, budget=ROOM)
        names, n = list(union._features), union.n_support_vectors
        before = expansion(union, names)
        for budget in (2, model.budget, n - 8, n - 1):
            merged = rb.merge(models, budget=budget)
            removed = without_the_smallest(model.kernel, *before, budget)
            loss = gap(model.kernel, before, expansion(merged, names))
            size = squared_length(*before, model.kernel)
            assert loss <= gap(model.kernel, before, removed) + EXACT * size
            assert merged.n_support_vectors <= merged.budget == budget


@pytest.mark.parametrize("strategy", [Merge(), Merge(3)], ids=repr)
def test_where_steps_of_merging_add_up_the_smallest_are_removed_instead(strategy):
    """One or two of a hundred vectors are to be left: at times merging would lose more."""
    removals = 0
    for seed in range(10):
        models = []
        for i in range(3):
            rng = np.random.default_rng(100 * seed + i)
            X = rng.normal(size=(80, 2))
            y = np.sin(3.0 * X[:, 0]) + 0.3 * rng.normal(size=80) > 0.0
            models.append(rb.BSGDClassifier(30, RBF(1.0), strategy, l2=1e-2, classes=(False, True)))
            models[-1].learn_many(X, y)
        before = expansion(rb.merge(models, budget=ROOM), [0, 1])
        for budget in (1, 2):
            after = expansion(rb.merge(models, budget=budget), [0, 1])
            removed = without_the_smallest(RBF(1.0), *before, budget)
            loss, limit = (gap(RBF(1.0), before, one) for one in (after, removed))
            assert loss <= limit * (1.0 + EXACT)
            removals += np.array_equal(np.sort(after[0], axis=0), np.sort(removed[0], axis=0))
    assert removals >= 1


@pytest.mark.parametrize("strategy", [Merge(5), Merge(5, "gradient")], ids=repr)
def test_a_sum_gives_up_no_more_vectors_than_it_must(strategy):
    """A model of its own would merge five at once, and make room for four."""
    models, pairs = (apart(rb.BSGDClassifier(ROOM, RBF(0.5), s)) for s in (strategy, Merge()))
    n = rb.merge(models, budget=ROOM).n_support_vectors
    for budget in (n - 1, n - 2, n - 7):
        merged = rb.merge(models, budget=budget)
        assert merged.n_support_vectors == budget
        assert merged.support_vectors() == rb.merge(pairs, budget=budget).support_vectors()
        assert views(merged._block).head.arity == 5  # it learns on as before
        taught(merged, 5, 200)
        assert merged.n_support_vectors <= budget


def test_the_budget_is_the_largest_of_the_models():
    small, large = rb.RBPClassifier(5, RBF(0.5), seed=1), rb.RBPClassifier(9, RBF(0.5), seed=1)
    models = [taught(small, 0), taught(large, 1)]
    assert rb.merge(models).budget == 9
    assert rb.merge(models).n_support_vectors == 9
    assert rb.merge(models, budget=3).n_support_vectors == 3


def test_a_model_without_a_budget_makes_one_without():
    model = rb.BSGDRegressor(10, RBF(0.5), RemoveOldest())
    models = [taught(model.clone(), 0), taught(model.clone({"budget": None}), 1)]
    merged = rb.merge(models)
    assert merged.budget is None
    assert_is_sum(merged, models, [0.5, 0.5])
    taught(merged, 2, 200)
    assert merged.n_support_vectors > 200


@pytest.mark.parametrize("budget", [0, -1, 2.5, "9", True])
def test_a_budget_that_is_none_is_refused(budget):
    with pytest.raises(ValueError, match="budget must be a whole number of at least 1"):
        rb.merge(apart(rb.RBPClassifier(5, RBF(0.5))), budget=budget)


# Classes


def with_labels(model, *labels, n=40, classes=None):
    """A clone that has met these labels, in this order."""
    model = model.clone({"classes": classes})
    rng = np.random.default_rng(len(labels))
    for i in range(n):
        label = i % len(labels)
        x = {"a": label + float(rng.normal()), "b": float(rng.normal())}
        model.learn_one(x, labels[label])
    return model


XS = [{"a": a / 3.0, "b": b / 3.0} for a in range(-6, 13) for b in range(-6, 7)]
KINDS = [
    rb.BSGDClassifier(20, RBF(0.5)),
    rb.BSGDClassifier(20, RBF(0.5), Project()),
    rb.ProjectronClassifier(20, RBF(0.5)),
    rb.BPAClassifier(20, RBF(0.5), update="nearest"),
    rb.NOGDClassifier(20, RBF(0.5)),
    rb.FOGDClassifier(20, RBF(0.5), seed=1),
]


BINARY = [
    rb.SBPClassifier(20, RBF(0.5), fit_bias=True, seed=1),
    rb.BudgetPerceptronClassifier(20, RBF(0.5)),
    rb.NORMAClassifier(20, RBF(0.5)),
]


@pytest.mark.parametrize("model", KINDS + BINARY, ids=repr)
def test_the_same_classes_in_another_order_flip_the_sign(model):
    a, b = with_labels(model, "no", "yes"), with_labels(model, "yes", "no", n=50)
    merged = rb.merge([a, b], [0.5, 0.5], room(model))
    expected = 0.5 * (scores(a, XS) - scores(b, XS))
    assert close(scores(merged, XS), expected)
    labels = [merged.predict_one(x) for x in XS]
    assert labels == ["yes" if score >= 0 else "no" for score in expected[:, 0]]


@pytest.mark.parametrize("model", KINDS, ids=repr)
@pytest.mark.parametrize(
    "known",
    [
        (("no", "yes"), ("no", "maybe")),
        (("no", "yes"), ("maybe", "yes", "no")),
        (("a", "b", "c"), ("d", "c", "e")),
        (("a", "b"), ("c", "d"), ("e",)),
    ],
    ids=str,
)
def test_different_classes_get_a_column_each(model, known):
    models = [with_labels(model, *labels, n=40 + i) for i, labels in enumerate(known)]
    weights = [0.5, 0.4, 0.3][: len(models)]
    merged = rb.merge(models, weights, room(model))
    assert_is_sum(merged, models, weights, XS)
    together = {label for labels in known for label in labels}
    assert set(merged.decision_function_one(XS[0])) == together
    assert merged.predict_proba_one(XS[0]).keys() == together
    merged.learn_one({"a": 1.0}, "new")
    assert merged.predict_one({"a": 1.0}) in together | {"new"}


def test_two_models_of_one_class_each_tell_them_apart():
    model = rb.BSGDClassifier(20, RBF(0.5))
    merged = rb.merge([with_labels(model, "low"), with_labels(model, "high", n=41)])
    assert merged._labels.known == ["low", "high"]
    assert isinstance(merged.decision_function_one(XS[0]), float)
    one = with_labels(model, "low")
    assert rb.merge([one, one]).predict_one(XS[0]) == "low"


def test_given_classes_keep_the_order_of_the_first_model():
    model = rb.BSGDClassifier(20, RBF(0.5))
    labels = ("a", "b", "c")
    models = [with_labels(model, *order, classes=order) for order in (labels, labels[::-1])]
    merged = rb.merge(models, [0.5, 0.5], ROOM)
    assert merged.classes == labels
    assert tuple(merged.decision_function_one(XS[0])) == labels
    assert_is_sum(merged, models, [0.5, 0.5], XS)


def test_classes_that_are_given_must_hold_all_labels():
    model = rb.BSGDClassifier(20, RBF(0.5))
    closed = with_labels(model, "a", "b", "c", classes=("a", "b", "c"))
    with pytest.raises(ValueError, match=r"classes=\('a', 'b', 'c'\) .* lack 'd'"):
        rb.merge([closed, with_labels(model, "a", "d")])
    assert rb.merge([with_labels(model, "a", "d"), closed])._labels.known == ["a", "d", "b", "c"]


@pytest.mark.parametrize("model", BINARY, ids=str)
def test_a_model_for_two_classes_takes_no_third(model):
    with pytest.raises(ValueError, match=r"classes .* \['a', 'b', 'c'\]"):
        rb.merge([with_labels(model, "a", "b"), with_labels(model, "a", "c")])


# What algorithms keep besides


def test_repairs_are_not_forgotten():
    models = apart(rb.ProjectronClassifier(9, RBF(0.5)))
    views(models[1]._block).head.repairs = 2
    assert rb.merge(models)._n_repairs == 2


def test_rounds_go_on_from_the_most_advanced_model():
    models = [taught(rb.BSGDClassifier(20, RBF(0.5)), seed, n) for seed, n in enumerate((40, 90))]
    merged = rb.merge(models)
    assert merged._state_record().rounds == 90
    assert rb.merge([merged, merged])._state_record().rounds == 90


@pytest.mark.parametrize("budget", [ROOM, None])
@pytest.mark.parametrize("strategy", [Merge(), Project(), RemoveOldest()], ids=str)
def test_the_norm_is_that_of_the_merged_model(strategy, budget):
    merged = rb.merge(apart(rb.BSGDClassifier(20, RBF(0.5), strategy)), WEIGHTS, budget)
    X, A, _ = support(merged)
    assert merged._state_record().norm2 == pytest.approx(squared_length(X, A, RBF(0.5)), rel=1e-10)


def test_the_damage_of_a_merged_forgetron_is_within_its_bound():
    model = rb.ForgetronClassifier(9, RBF(0.5))
    models = [taught(model.clone(), seed, 60 * (seed + 1)) for seed in range(3)]
    own = rb.merge(models)._state_record()
    assert own.mistakes == max(m._state_record().mistakes for m in models)
    assert own.damage == max(m._state_record().damage for m in models) > 0.0
    assert own.damage <= 15 / 32 * own.mistakes


@pytest.mark.parametrize("kind", [rb.NORMAClassifier, rb.NORMARegressor])
@pytest.mark.parametrize("budget", [20, None])
def test_the_level_of_a_sum_is_the_weighted_sum_of_the_levels(kind, budget):
    models = [taught(kind(budget, RBF(0.5)), seed, 61 + seed) for seed in range(3)]
    levels = [m._state_record().level for m in models]
    assert np.abs(levels).min() > 1e-3
    level = rb.merge(models, WEIGHTS)._state_record().level
    assert level == pytest.approx(np.dot(WEIGHTS, levels), rel=1e-12)


OF_THE_MOMENT = {  # numbers of a record that the next example, or the next maintenance, sets anew
    "BSGD": {"unchecked", "exact", "bounded"},
    "Forgetron": {"factor"},
}


@pytest.mark.parametrize("model", SUMS)
def test_no_number_of_a_record_is_lost_in_a_sum(model):
    """What all parts have counted or learned, and a new model has not, is not 0 in their sum."""
    fresh = taught(model.clone(), 0, 1)._state_record()
    models = apart(model)
    merged, kind = rb.merge(models, WEIGHTS)._state_record(), type(model).__name__
    moment = next((names for name, names in OF_THE_MOMENT.items() if kind.startswith(name)), set())
    for name in set(merged.dtype.names) - moment:
        values = [m._state_record()[name] for m in models]
        if all(values) and fresh[name] not in values:
            assert merged[name] != 0.0, name


def test_a_budget_perceptron_knows_the_scores_of_its_vectors():
    merged = rb.merge(apart(rb.BudgetPerceptronClassifier(20, RBF(0.5))))
    block, n = views(merged._block), merged.n_support_vectors
    X, A, _ = support(merged)
    order = np.argsort(block.arrivals[:n])
    expected = plain(RBF(0.5))(X, X) @ A[:, 0]
    assert block.per_vector[0, order] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("budget", [ROOM, None])
def test_vectors_of_a_merged_model_know_their_neighbours(budget):
    merged = rb.merge(apart(rb.BPAClassifier(20, RBF(0.5), update="nearest")), budget=budget)
    block, n = views(merged._block), merged.n_support_vectors
    X = block.vectors[: len(merged._features), :n].T
    K = plain(RBF(0.5))(X, X) - 2.0 * np.eye(n)
    assert block.per_vector[0, :n].tolist() == K.argmax(axis=1).tolist()
    assert block.per_vector[1, :n] == pytest.approx(K.max(axis=1), rel=1e-12)


@pytest.mark.parametrize("refined", [0, 50])
@pytest.mark.parametrize("window", [25, ROOM, 2000])
def test_a_merged_window_is_as_one_that_was_learned(window, refined):
    models = apart(rb.SBPClassifier(25, RBF(0.5), fit_bias=True, seed=1))
    for model in models:
        model.refine(refined)
    assert_is_sum(rb.merge(models, WEIGHTS, ROOM), models)
    merged = rb.merge(models, WEIGHTS, budget=window)
    block, n, own = views(merged._block), merged.n_support_vectors, merged._state_record()
    assert n == min(75, window)
    X, a = block.vectors[: len(merged._features), :n].T, block.coefficients[0, :n]
    K, labels = plain_kernels.rbf(0.5)(X, X), block.per_vector[sbp.LABELS, :n]
    assert block.per_vector[sbp.RESPONSES, :n] == pytest.approx(labels * (K @ a), rel=1e-10)
    assert own.norm2 == pytest.approx(a @ K @ a, rel=1e-10)
    assert own.positives == np.sum(labels > 0)
    assert own.refined == 0
    assert own.done == max(m._state_record().done for m in models)
    assert own.seen == max(60, n)
    assert block.head.factored == (window <= 1024)
    if block.head.factored:
        assert block.factor[:n, :n] == pytest.approx(K, abs=1e-14)
    merged.refine(10)
    assert np.isfinite(scores(merged, points(9))).all()


def test_examples_in_a_window_keep_their_labels():
    """Whatever the order in which their models have met the classes."""
    a, b = rb.SBPClassifier(9, RBF(0.5), seed=1), rb.SBPClassifier(9, RBF(0.5), seed=1)
    labels = ["no", "yes", "yes", "no", "no"]
    for i, label in enumerate(labels):
        (a if i < 2 else b).learn_one({"x": float(i)}, label)
    merged = rb.merge([a, b])
    block = views(merged._block)
    known = {
        x: merged._labels.known[int(sign > 0)]
        for x, sign in zip(block.vectors[0, :5], block.per_vector[sbp.LABELS, :5], strict=True)
    }
    assert known == dict(enumerate(labels))


def test_equal_examples_in_one_window_stay_two():
    a, b = rb.SBPClassifier(9, RBF(0.5), seed=1), rb.SBPClassifier(9, RBF(0.5), seed=1)
    for model, times in ((a, 2), (b, 3)):
        for _ in range(times):
            model.learn_one({"x": 1.0}, True)
        model.learn_one({"x": 1.0}, False)
    merged = rb.merge([a, b])
    assert merged.n_support_vectors == 4
    assert merged._state_record().positives == 3


def test_a_frozen_support_stays_frozen_and_a_growing_one_grows():
    model = rb.NOGDClassifier(15, RBF(0.5))
    full, young = taught(model.clone(), 0, 100), taught(model.clone(), 1, 3)
    frozen = rb.merge([full, young], budget=ROOM)
    before = frozen.n_support_vectors
    assert taught(frozen, 2, 50).n_support_vectors == before
    growing = rb.merge([young, taught(model.clone(), 2, 3)])
    before = growing.n_support_vectors
    assert taught(growing, 3, 50).n_support_vectors > before


@pytest.mark.parametrize("strategy", [Merge(), Project(), RemoveOldest()], ids=str)
def test_merged_detectors_score_the_weighted_sum(strategy, tmp_path):
    fresh = rb.KernelOneClassSVM(0.2, 20, RBF(0.05), strategy, learning_rate=0.2)
    models = [fresh.clone() for _ in range(3)]
    for seed, model in enumerate(models):
        for x, _ in examples(seed, 80):
            model.learn_one(x)
    merged, xs = rb.merge(models, WEIGHTS, budget=ROOM), points(100)
    expected = sum(w * scores(m, xs) for m, w in zip(models, WEIGHTS, strict=True))
    assert close(scores(merged, xs), expected)
    assert merged._state_record().level > 0.0
    small = rb.merge(models)
    assert small.n_support_vectors <= 20
    rb.save(small, tmp_path / "model.rb")
    for x, _ in examples(5, 50):
        small.learn_one(x)
    assert np.isfinite(scores(small, xs)).all()


# Random waves


def test_a_model_that_has_not_learned_has_no_waves_yet_unless_it_has_a_seed():
    fresh = rb.FOGDClassifier(20, RBF(0.5))
    learned = taught(fresh.clone(), 0)
    assert_is_sum(rb.merge([fresh, learned]), [learned], [0.5])
    with pytest.raises(ValueError, match="differ in seed"):
        rb.merge([fresh.clone({"seed": 1}), learned])


@pytest.mark.parametrize("seeds", [(1, 2), (None, None), (1, None)])
@pytest.mark.parametrize("model", [rb.FOGDClassifier(20, RBF(0.5)), rb.FOGDRegressor(20, RBF(0.5))])
def test_waves_of_different_seeds_are_refused(model, seeds):
    models = [taught(model.clone({"seed": seed}), i) for i, seed in enumerate(seeds)]
    with pytest.raises(ValueError, match="differ in seed"):
        rb.merge(models)


def test_a_map_knows_the_features_of_all():
    maps = [rb.RandomFourier(10, RBF(0.5), seed=1) for _ in range(2)]
    maps[0].learn_one({"a": 1.0})
    maps[1].learn_one({"b": 1.0, "c": 2.0})
    merged = rb.merge(maps)
    assert set(merged._features) == {"a", "b", "c"}
    for x in ({"a": 1.0, "c": 2.0}, {"b": -1.0}, {"a": 0.5, "d": 2.0}):
        assert merged.transform_one(x) == pytest.approx(maps[0].transform_one(x), abs=1e-12)


@pytest.mark.parametrize("model", [rb.RandomFourier(9), rb.RBFSampler()])
def test_maps_of_different_seeds_are_refused_also_before_they_learn(model):
    with pytest.raises(ValueError, match="seed"):
        rb.merge([model.clone(), model.clone()])
    assert rb.merge([model, copy.deepcopy(model)])._entropy == model._entropy


def test_landmarks_must_be_the_same():
    maps = [rb.Nystroem(5, kernel=RBF(0.5)) for _ in range(2)]
    for seed, one in enumerate(maps):
        for x, _ in examples(seed, 10):
            one.learn_one(x)
    merged = rb.merge([maps[0], copy.deepcopy(maps[0])])
    assert merged.transform_one({"f0": 1.0}) == maps[0].transform_one({"f0": 1.0})
    with pytest.raises(ValueError, match="different landmarks"):
        rb.merge(maps)


# Pipelines


def raw_score(pipeline, x):
    *maps, last = pipeline.steps.values()
    for step in maps:
        x = step.transform_one(x)
    return last._raw_dot_one(x)


@pytest.mark.parametrize(
    "linear",
    [
        linear_model.LogisticRegression(optim.SGD(1.0)),
        linear_model.LogisticRegression(optim.Adam(0.1), l2=1e-3),
        linear_model.LogisticRegression(optim.SGD(1.0), l1=1e-3),
        linear_model.Perceptron(),
        linear_model.LinearRegression(optim.SGD(0.1)),
    ],
    ids=str,
)
def test_a_pipeline_of_waves_and_a_linear_model_is_merged_exactly(linear):
    fresh = rb.RandomFourier(30, RBF(0.5), seed=1) | linear
    kind = "wave" if isinstance(linear, base.Regressor) else "sides"
    models = learned_apart(fresh, kind, 3)
    merged, xs = rb.merge(models, WEIGHTS), points(200)
    expected = [sum(w * raw_score(m, x) for m, w in zip(models, WEIGHTS, strict=True)) for x in xs]
    assert [raw_score(merged, x) for x in xs] == pytest.approx(expected, rel=1e-11, abs=1e-12)
    before = [raw_score(m, xs[0]) for m in models]
    learn(merged, examples(5, 60, kind))
    assert [raw_score(m, xs[0]) for m in models] == before
    assert raw_score(merged, xs[0]) != expected[0]


def numbers_of(linear):
    """The weights and the intercept of a linear model; the weights for each label."""
    if isinstance(linear, linear_model.SoftmaxRegression):
        labels = linear.weights.items()
        return {(label, name): w for label, weights in labels for name, w in weights.items()}
    return {None: linear.intercept} | linear.weights


@pytest.mark.parametrize(
    ("fresh", "kind"),
    [
        (linear_model.PAClassifier(), "sides"),
        (linear_model.PARegressor(), "wave"),
        (linear_model.SoftmaxRegression(), "labels"),
    ],
)
def test_passive_aggressive_and_softmax_models_add_up(fresh, kind):
    models = learned_apart(fresh, kind, 2)
    merged = rb.merge(models, [0.25, 0.75])
    a, b = map(numbers_of, models)
    expected = {name: 0.25 * a.get(name, 0.0) + 0.75 * b.get(name, 0.0) for name in {**a, **b}}
    assert numbers_of(merged) == pytest.approx(expected, rel=1e-14)
    merged.learn_one(*examples(3, 1, kind)[0])


@pytest.mark.parametrize(
    "scaler",
    [
        preprocessing.StandardScaler(),
        preprocessing.StandardScaler(with_std=False),
        preprocessing.MinMaxScaler(),
        rb.StandardScaler(),
        rb.StandardScaler(with_std=False),
        rb.MinMaxScaler(),
    ],
)
def test_scalers_together_are_one_that_has_seen_all(scaler):
    one, parts = scaler.clone(), [scaler.clone() for _ in range(3)]
    for seed, part in enumerate(parts):
        for x, _ in examples(seed, 20 * seed + 5):
            one.learn_one(x)
            part.learn_one(x)
    merged = rb.merge([*parts, scaler.clone()], [0.5, 0.5, 0.0, 0.0])
    for x in points(20):
        assert merged.transform_one(x) == pytest.approx(one.transform_one(x), rel=1e-12, abs=1e-12)
    for model in (merged, one):
        model.learn_one({"f0": 50.0, "new": 1.0})
    x = {"f0": 1.0, "new": 2.0}
    assert merged.transform_one(x) == pytest.approx(one.transform_one(x), rel=1e-12)


@pytest.mark.parametrize("scaler", [preprocessing.TargetStandardScaler, rb.TargetStandardScaler])
def test_targets_are_scaled_as_by_one_that_has_seen_all(scaler):
    fresh = scaler(preprocessing.StandardScaler() | rb.BSGDRegressor(20, RBF(0.5)))
    one, models = fresh.clone(), [fresh.clone() for _ in range(3)]
    for seed, model in enumerate(models[:2]):
        for x, y in examples(seed, 50, "wave"):
            one.learn_one(x, 9.0 + y)
            model.learn_one(x, 9.0 + y)
    merged = rb.merge(models, budget=5)
    assert merged.var.get() == pytest.approx(one.var.get(), rel=1e-12)
    assert merged.var.mean.get() == pytest.approx(one.var.mean.get(), rel=1e-12)
    assert merged.regressor["BSGDRegressor"].n_support_vectors == 5
    assert 7.0 < merged.predict_one(points(1)[0]) < 11.0
    merged.learn_one(points(1)[0], 9.0)
    assert models[0].var.n == 50


def times(factor):
    """Each call makes another function of the same code."""
    return lambda x: {name: factor * value for name, value in x.items()}


def test_transformers_without_a_state_must_be_equal():
    def fresh(*names, factor=2.0):
        scale = compose.FuncTransformer(times(factor))
        return compose.Pipeline(compose.Select(*names), ("scale", scale), rb.BSGDRegressor(9))

    models = [fresh("f0", "f1") for _ in range(2)]
    for seed, model in enumerate(models):
        learn(model, examples(seed, 9, "wave"))
    merged, xs = rb.merge(models, budget=ROOM), points(9)
    expected = [sum(m.predict_one(x) for m in models) / 2 for x in xs]
    assert [merged.predict_one(x) for x in xs] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match=r"step 'Select': Select transformers .* equal"):
        rb.merge([*models, fresh("f0")])
    with pytest.raises(ValueError, match="step 'scale'"):
        rb.merge([*models, fresh("f0", "f1", factor=3.0)])


# What is refused


BSGD = rb.BSGDClassifier(None, RBF(0.5))
FOGD = rb.FOGDClassifier(20, RBF(0.5), seed=1)


@pytest.mark.parametrize(
    ("model", "changes", "named"),
    [
        (BSGD, {"kernel": RBF(0.4)}, r"kernel \(RBF\(gamma=0.5\) and RBF\(gamma=0.4\)\)"),
        (BSGD, {"maintenance": RemoveOldest()}, r"maintenance \(Merge.* and RemoveOldest\(\)\)"),
        (BSGD, {"project_to_ball": False}, r"project_to_ball \(True and False\)"),
        (BSGD, {"kernel": RBF(0.4), "project_to_ball": False}, r"project_to_ball .*, kernel "),
        (FOGD, {"n_components": 21}, "n_components"),
        (rb.NOGDClassifier(20, RBF(0.5)), {"rank": 5}, "rank"),
        (rb.SBPClassifier(20, RBF(0.5)), {"eviction": "oldest"}, "eviction"),
        (rb.ProjectronPPClassifier(20, RBF(0.5), 0.1, "class"), {}, "span"),
        (rb.SBPClassifier(20, Polynomial(2)), {"kernel": Polynomial(3)}, "kernel"),
    ],
    ids=str,
)
def test_parameters_that_differ_are_named(model, changes, named):
    models = [taught(model.clone(), 0), taught(model.clone(changes), 1)]
    with pytest.raises(ValueError, match=f"{type(model).__name__} cannot be merged .* {named}"):
        rb.merge(models)


def test_parameters_that_may_change_in_a_living_model_may_differ():
    a, b = (taught(rb.BSGDClassifier(9, RBF(0.5), l2=l2), 0) for l2 in (1e-3, 1e-2))
    assert rb.merge([a, b]).l2 == 1e-3
    assert rb.merge([b, a]).l2 == 1e-2
    assert rb.merge([b, a])._state_record().l2 == 1e-2


def test_gamma_is_compared_as_it_is_in_use():
    a, b, c = (rb.BSGDClassifier(9, kernel) for kernel in (None, RBF(1.0), RBF("4/d")))
    for model, x in ((a, {"f0": 1.0, "f1": 2.0}), (b, {"f0": 1.0}), (c, {"f0": 1.0})):
        model.learn_one(x, True)
    merged = rb.merge([a, b])  # None was 2 / 2
    assert merged.kernel is None
    assert merged.decision_function_one({}) == pytest.approx(
        (a.decision_function_one({}) + b.decision_function_one({})) / 2
    )
    with pytest.raises(ValueError, match=r"kernel \(RBF\(gamma=1.0\) and RBF\(gamma=4.0\)\)"):
        rb.merge([a, c])


def test_models_of_different_classes_are_refused():
    with pytest.raises(ValueError, match=r"different classes .* RBPClassifier and RBPRegressor"):
        rb.merge([rb.RBPClassifier(), rb.RBPRegressor()])
    with pytest.raises(ValueError, match="different steps"):
        rb.merge([rb.RandomFourier() | rb.RBPClassifier(), rb.RBFSampler() | rb.RBPClassifier()])


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, 2.0, 3.0], [1.0, "x"], [1.0, np.nan], [np.inf, 1.0], [None, 1.0]]
)
def test_weights_must_be_a_number_for_each_model(weights):
    with pytest.raises(ValueError, match="weights must be a finite number for each of 2 models"):
        rb.merge(apart(rb.RBPClassifier(5), 2), weights)


@pytest.mark.parametrize("model", [rb.KernelOGDRegressor(), rb.FOGDRegressor(9, RBF(1.0), seed=1)])
def test_weights_must_leave_the_sum_finite(model):
    models = apart(model, 2)
    with pytest.raises(ValueError, match="weights are too large"):
        rb.merge(models, [1e300, 1e300])


@pytest.mark.parametrize(
    "model",
    [
        rb.KernelOGDClassifier(),
        rb.FOGDClassifier(seed=1),
        rb.RandomFourier(9, seed=1) | linear_model.LinearRegression(),
    ],
)
def test_a_budget_for_models_without_one_is_refused(model):
    with pytest.raises(ValueError, match=r"budget=9: .* has none"):
        rb.merge([model.clone()], budget=9)


def test_no_models_and_a_single_one_are_no_list_of_models():
    with pytest.raises(ValueError, match="at least one"):
        rb.merge([])
    with pytest.raises(TypeError, match="list of models, not one RBPClassifier"):
        rb.merge(rb.RBPClassifier())


def test_models_that_only_predict_are_refused(tmp_path):
    for model in (rb.RBPClassifier(5), preprocessing.StandardScaler() | rb.RBPClassifier(5)):
        rb.save(model, tmp_path / "model.rb")
        frozen = rb.load(tmp_path / "model.rb", predict_only=True)
        with pytest.raises(ValueError, match=r"model 1 .* only predicts"):
            rb.merge([model, frozen])


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (linear_model.BayesianLinearRegression(), "BayesianLinearRegression cannot be merged"),
        (compose.TargetTransformRegressor(rb.RBPRegressor(), abs, abs), "cannot be merged"),
        (preprocessing.StandardScaler(window_size=5), "StandardScaler with a window_size"),
        (preprocessing.MinMaxScaler(window_size=5), "MinMaxScaler with a window_size"),
    ],
    ids=str,
)
def test_what_cannot_be_merged_is_named(step, reason):
    with pytest.raises(ValueError, match=f"step 'it': .*{reason}"):
        rb.merge([compose.Pipeline(("it", step)), compose.Pipeline(("it", step.clone()))])


def test_the_ball_of_a_sum_is_that_of_its_parts():
    models = [rb.BSGDRegressor(l2=0.01) for _ in range(2)]
    for model, target in zip(models, (5.0, 50.0), strict=True):
        for _ in range(500):
            model.learn_one({"a": 1.0}, target)
    merged = rb.merge(models)
    assert merged.predict_one({"a": 1.0}) == pytest.approx(27.4, abs=0.5)
    merged.learn_one({"a": 1.0}, 27.0)
    assert merged.predict_one({"a": 1.0}) == pytest.approx(27.4, abs=0.5)
    assert rb.merge([rb.BSGDClassifier()] * 2).gradient_error == 0.0


# Many names


@pytest.mark.parametrize("kernel", [RBF(0.05), Laplacian(0.05), Polynomial(2, 0.05)], ids=repr)
def test_models_that_have_forgotten_names_are_summed(kernel):
    models = [with_gaps(rb.RBPClassifier(20, kernel, seed=1), "two", n) for n in (600, 700)]
    models.append(learn(models[0].clone(), crowd(5)))  # it has forgotten none
    merged = rb.merge(models, weights=WEIGHTS, budget=ROOM)
    used = {name for vector in merged.support_vectors() for name in vector["features"]}
    assert set(merged._features) == used
    xs = [x for x, _ in crowd(200, seed=1, names=2000)]  # some names are unknown to all
    expected = weighted(models, WEIGHTS, merged, xs)
    assert scores(merged, xs) == pytest.approx(expected, rel=0.0, abs=EXACT * size_of(expected))
