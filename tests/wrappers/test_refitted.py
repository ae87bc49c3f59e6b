"""Refitted: a batch learner of scikit-learn's interface on a stream."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest
from optional import package
from processes import in_threads
from river import datasets, evaluate, metrics, preprocessing

import river_budget as rb
from river_budget import saving

sklearn = pytest.importorskip("sklearn")
from sklearn import (  # noqa: E402  # noqa: E402
    base,
    dummy,
    ensemble,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    svm,
    tree,
)
from sklearn.compose import TransformedTargetRegressor  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402


class Notes(tree.DecisionTreeClassifier):
    """A tree that notes the rows of its fits."""

    fits = []

    def fit(self, X, y, sample_weight=None):
        Notes.fits.append((X.copy(), np.array(y), sample_weight))
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def no_fits():
    Notes.fits.clear()


def rows_of(n, seed=1, classes=2):
    """Examples whose label follows from two numbers."""
    rng = np.random.default_rng(seed)
    for a, b in rng.normal(size=(n, 2)).tolist():
        label = (a > 0) + (b > 0) if classes == 3 else a * b > 0
        yield {"a": a, "b": b}, label


def learned(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


# when it is fitted, and to what


def test_it_is_fitted_when_the_stream_has_grown_by_a_quarter():
    model, at = rb.Refitted(Notes()), []
    for t, (x, y) in enumerate(rows_of(1000), 1):
        model.learn_one(x, y)
        if len(Notes.fits) > len(at):
            at.append(t)
    assert at == [100, 125, 157, 197, 247, 309, 387, 484, 605, 757, 947]
    assert model.n_fits == len(at)
    assert [len(X) for X, _, _ in Notes.fits] == at


def test_it_is_fitted_to_the_window_after_max_wait_rows():
    model = rb.Refitted(Notes(), grow=1.0, window=50, first=20, max_wait=30)
    stream = list(rows_of(200))
    learned(model, stream)
    assert [len(X) for X, _, _ in Notes.fits] == [20, 40, 50, 50, 50, 50, 50]
    X = Notes.fits[-1][0]  # at rows 20, 40, 70, 100, ..., 190
    assert X.tolist() == [[x["a"], x["b"]] for x, _ in stream[140:190]]
    assert len(model._rows) == 60


def test_memory_is_bounded_while_names_come_and_go():
    model = rb.Refitted(tree.DecisionTreeClassifier(max_depth=2), first=10, window=40, max_wait=20)
    sizes = []
    for t in range(1000):
        model.learn_one({"a": t % 3, f"new {t}": 1.0}, t % 2 == 0)
        sizes.append(model._raw_memory_usage)
    assert max(sizes[500:]) < 1.2 * max(sizes[100:500])


def test_it_predicts_what_the_learner_predicts():
    stream = list(rows_of(400, classes=3))
    model = learned(rb.Refitted(ensemble.ExtraTreesClassifier(10, random_state=1)), stream)
    expected = ensemble.ExtraTreesClassifier(10, random_state=1)
    expected.fit(*split(stream[:387]))
    for x, _ in rows_of(50, seed=2):
        shares = expected.predict_proba([[x["a"], x["b"]]])[0]
        assert model.predict_proba_one(x) == pytest.approx(dict(enumerate(shares)))
    numbers = [(x, float(y)) for x, y in stream]
    model = learned(rb.Refitted(tree.DecisionTreeRegressor(random_state=1)), numbers)
    expected = tree.DecisionTreeRegressor(random_state=1).fit(*split(numbers[:387]))
    for x, _ in rows_of(50, seed=2):
        assert model.predict_one(x) == expected.predict([[x["a"], x["b"]]])[0]


def split(stream):
    return [[x["a"], x["b"]] for x, _ in stream], [y for _, y in stream]


def test_before_the_first_fit_it_knows_shares_and_means():
    model = rb.Refitted(tree.DecisionTreeClassifier())
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.predict_one({"a": 1.0}) is None
    for y in ["x"] * 6 + ["y"] * 3:
        model.learn_one({"a": 1.0}, y)
    assert model.predict_proba_one({"a": 1.0}) == pytest.approx({"x": 0.65, "y": 0.35})
    model = rb.Refitted(tree.DecisionTreeRegressor())
    assert model.predict_one({"a": 1.0}) == 0.0
    learned(model, [({"a": 1.0}, 3.0), ({"a": 2.0}, 5.0)])
    assert model.predict_one({"a": 9.0}) == 4.0


def test_scikit_learns_object_stays_as_it_is():
    given = tree.DecisionTreeClassifier()
    model = learned(rb.Refitted(given, first=10), rows_of(50))
    assert model.estimator is given
    assert not hasattr(given, "tree_")


# late and constant classes


def test_a_class_that_comes_late_has_its_share_at_once():
    model = learned(rb.Refitted(tree.DecisionTreeClassifier(), first=20), rows_of(21))
    x = {"a": 1.0, "b": 1.0}
    before = model.n_fits
    model.learn_one(x, "late")
    model.learn_one(x, "late")
    assert model.n_fits == before
    found = model.predict_proba_one(x)
    assert found["late"] == pytest.approx(2 / 23)
    assert sum(found.values()) == pytest.approx(1.0)
    learned(model, rows_of(10))
    assert model.n_fits > before
    assert model.predict_proba_one(x)["late"] == 1.0
    assert model.predict_proba_one({"a": -1.0, "b": 1.0})["late"] == 0.0
    assert list(model.predict_proba_one(x)) == [False, True, "late"]


def test_while_all_targets_are_equal_no_learner_is_asked():
    model = rb.Refitted(svm.SVC(), first=10, window=20, max_wait=5)
    for t in range(30):
        model.learn_one({"a": float(t)}, "only")
    assert model.predict_proba_one({"a": 1.0}) == {"only": 1.0}
    for t in range(30):
        model.learn_one({"a": float(t)}, "x" if t % 2 else "y")
    assert model.predict_proba_one({"a": 1.0})["only"] == 0.0  # forgotten, and not unknown
    model = rb.Refitted(svm.SVR(), first=10)
    for t in range(30):
        model.learn_one({"a": float(t)}, 7.0)
    assert model.predict_one({"a": 1.0}) == 7.0


# missing values


def test_learners_that_take_nan_get_nan_and_others_the_mean():
    stream = [({"a": 1.0, "b": 2.0}, True), ({"a": 3.0}, False), ({"a": None, "b": 4.0}, True)]
    stream += [({"a": float("nan"), "b": 6.0}, False)]
    learned(rb.Refitted(Notes(), first=4), stream)
    missing = np.isnan(Notes.fits[0][0])
    assert missing.tolist() == [[False] * 2, [False, True], [True, False], [True, False]]
    kept = {}

    class Linear(linear_model.LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            kept["X"] = X
            return super().fit(X, y, sample_weight)

    model = learned(rb.Refitted(Linear(), first=4), stream)
    assert kept["X"].tolist() == [[1.0, 2.0], [3.0, 4.0], [2.0, 4.0], [2.0, 6.0]]
    assert model.predict_proba_one({"c": 1.0}) == model.predict_proba_one({"a": 2.0, "b": 4.0})
    learned(rb.Refitted(Linear(), first=4, fill=0.0), stream)
    assert kept["X"].tolist() == [[1.0, 2.0], [3.0, 0.0], [0.0, 4.0], [0.0, 6.0]]


def test_names_outside_the_window_are_forgotten():
    model = rb.Refitted(Notes(), first=10, window=10, max_wait=10)
    learned(model, [({"old": float(t), "x": 1.0}, t % 2 == 0) for t in range(20)])
    learned(model, [({"x": 1.0, "new": float(t % 2)}, t % 2 == 0) for t in range(20)])
    assert model._fit.names == ["new", "x"]
    assert model.predict_one({"new": 0.0}) is True
    assert model.predict_one({"new": 1.0, "old": 3.0}) is False


def test_examples_without_features_are_learned():
    model = learned(
        rb.Refitted(tree.DecisionTreeClassifier(), first=3), [({}, "a")] * 4 + [({}, "b")] * 4
    )
    assert model.predict_proba_one({}) == pytest.approx({"a": 0.5, "b": 0.5})


# kinds of learners


class OnlyPredicts(base.ClassifierMixin, base.BaseEstimator):
    """A classifier without probabilities and scores."""

    def fit(self, X, y):
        self.tree = tree.DecisionTreeClassifier(max_depth=3).fit(X, y)
        return self

    def predict(self, X):
        return self.tree.predict(X)


CLASSIFIERS = [
    naive_bayes.GaussianNB(),
    neighbors.KNeighborsClassifier(),
    ensemble.HistGradientBoostingClassifier(max_iter=5),
    svm.SVC(),
    linear_model.RidgeClassifier(),
    OnlyPredicts(),
    pipeline.make_pipeline(StandardScaler(), svm.SVC()),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda one: type(one).__name__)
def test_any_classifier_gives_probabilities_of_what_it_predicts(estimator, classes):
    stream = list(rows_of(300, classes=classes))
    model = learned(rb.Refitted(estimator), stream)
    fitted = copy.deepcopy(estimator).fit(*split(stream[:247]))
    for x, _ in rows_of(30, seed=2):
        found = model.predict_proba_one(x)
        assert sum(found.values()) == pytest.approx(1.0)
        assert model.predict_one(x) == fitted.predict([[x["a"], x["b"]]])[0]


def lightgbm():
    return package("lightgbm")


@pytest.mark.parametrize("classes", [2, 3])
def test_lightgbm_gives_what_its_own_interface_gives(classes):
    stream = list(rows_of(300, classes=classes))
    made = lightgbm().LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    model = learned(rb.Refitted(made), stream)
    fitted = copy.deepcopy(made).fit(*map(np.array, split(stream[:247])))
    for x, _ in rows_of(20, seed=2):
        shares = fitted.predict_proba(np.array([[x["a"], x["b"]]]))[0]
        found = model.predict_proba_one(x)
        assert [found[label] for label in fitted.classes_.tolist()] == pytest.approx(shares)


def test_lightgbm_regresses_as_its_own_interface_does():
    stream = [(x, x["a"] * x["b"]) for x, _ in rows_of(300)]
    made = lightgbm().LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)
    model = learned(rb.Refitted(made), stream)
    fitted = copy.deepcopy(made).fit(*map(np.array, split(stream[:247])))
    for x, _ in rows_of(20, seed=2):
        assert model.predict_one(x) == pytest.approx(fitted.predict([[x["a"], x["b"]]])[0])


# weights


def test_weights_reach_learners_that_take_them():
    model = rb.Refitted(Notes(), first=3)
    for w, y in ((1.0, "a"), (2.0, "b"), (0.0, "never"), (0.5, "a")):
        model.learn_one({"x": w}, y, w)
    assert Notes.fits[0][2].tolist() == [1.0, 2.0, 0.5]
    assert list(model.predict_proba_one({"x": 1.0})) == ["a", "b"]
    model = rb.Refitted(neighbors.KNeighborsClassifier())
    with pytest.raises(ValueError, match=r"w must be 1.*KNeighborsClassifier"):
        model.learn_one({"x": 1.0}, "a", 2.0)
    assert model.predict_proba_one({"x": 1.0}) == {}


# errors


def test_bad_values_are_refused_by_name_and_change_nothing():
    model = learned(rb.Refitted(tree.DecisionTreeClassifier(), first=10), rows_of(30))
    before = pickle.dumps(model)
    for x in ({"a": "red"}, {"a": 1.0, "b": [2]}):
        for call in (model.predict_one, lambda x: model.learn_one(x, True)):
            with pytest.raises(ValueError, match=r"feature '[ab]' must be a finite number"):
                call(x)
    with pytest.raises(ValueError, match="target"):
        model.learn_one({"a": 1.0}, None)
    with pytest.raises(TypeError, match="must be a dict"):
        model.learn_one([1.0], True)
    with pytest.raises(ValueError, match="feature 0"):
        model.learn_many(np.array([[1.0], ["red"]], object), [True, False])
    with pytest.raises(ValueError, match="2 targets"):
        model.learn_many(np.ones((2, 1)), [True])
    assert pickle.dumps(model) == before


def test_a_fit_that_fails_names_the_learner_and_learns_no_row():
    class Fails(tree.DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("no such luck")

    model = learned(rb.Refitted(Fails(), first=10), rows_of(9))
    before = pickle.dumps(model._rows)
    for _ in range(2):
        with pytest.raises(
            RuntimeError, match="Fails cannot be fitted to the last 10 rows: no such"
        ):
            model.learn_one({"a": 1.0, "b": 1.0}, True)
        assert pickle.dumps(model._rows) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": tree.DecisionTreeClassifier}, "an object with scikit-learn's fit"),
        ({"estimator": 3}, "an object with scikit-learn's fit"),
        ({"estimator": StandardScaler()}, "fit and predict"),
        ({"grow": 0.0}, "grow"),
        ({"first": 1}, "first"),
        ({"first": 200, "window": 100}, "window must be a whole number of at least 200"),
        ({"max_wait": 0}, "max_wait"),
        ({"fill": float("nan")}, "fill"),
    ],
)
def test_bad_parameters_are_refused_by_name(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rb.Refitted(**{"estimator": dummy.DummyClassifier()} | given)


# many rows


@pytest.mark.parametrize("mixed", [False, True])
def test_batches_do_what_loops_do(mixed):
    def make():
        model = rb.Refitted(tree.DecisionTreeClassifier(max_depth=3, random_state=1), first=20)
        return rb.Mixture(model, rb.BSGDClassifier(10, seed=1)) if mixed else model

    stream = list(rows_of(300, classes=3))
    X, y = np.array([[x["a"], x["b"]] for x, _ in stream]), [y for _, y in stream]
    examples = [dict(enumerate(row)) for row in X.tolist()]
    one, many, together = make(), make(), make()
    expected = []
    for x, label in zip(examples, y, strict=True):
        expected.append(one.predict_one(x))
        one.learn_one(x, label)
    assert rb.predict_then_learn_many(together, X, y).tolist() == expected
    many.learn_many(X, y)
    for model in (many, together):
        assert model.predict_many(X).tolist() == [one.predict_one(x) for x in examples]
        found = model.predict_proba_many(X)
        for t in range(0, 300, 50):
            row = {label: found[label][t] for label in found}
            assert row == pytest.approx(one.predict_proba_one(examples[t]))


def test_it_stands_in_pipelines_and_in_rivers_evaluation():
    model = preprocessing.StandardScaler() | rb.Refitted(
        ensemble.ExtraTreesClassifier(10, random_state=1)
    )
    found = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert found.get() > 0.85
    errors = [
        evaluate.progressive_val_score(datasets.TrumpApproval(), rb.Refitted(one), metrics.MAE())
        for one in (linear_model.Ridge(), dummy.DummyRegressor())
    ]
    assert errors[0].get() < 0.8 * errors[1].get()


def test_threads_take_turns():
    model = rb.Refitted(tree.DecisionTreeClassifier(max_depth=3), first=10)
    stream = list(rows_of(300))

    def work(part):
        for x, y in stream[part::3]:
            model.predict_proba_one(x)
            model.learn_one(x, y)

    in_threads(*(lambda part=part: work(part) for part in range(3)))
    assert model._seen == 300


# copies and files

SAVED = [
    rb.Refitted(pipeline.make_pipeline(StandardScaler(), svm.SVC(C=2.0)), first=20, fill=0.0),
    rb.Refitted(ensemble.ExtraTreesClassifier(5, random_state=1), first=20, grow=0.5),
    rb.Refitted(
        neural_network.MLPClassifier((5,), max_iter=300, tol=0.1, random_state=1), first=20
    ),
    rb.Mixture(
        rb.Refitted(tree.DecisionTreeClassifier(random_state=1), first=20),
        preprocessing.StandardScaler() | rb.BSGDClassifier(10, seed=1),
        first_weights=(0.25, 0.75),
    ),
]
NUMBERS = [
    rb.Refitted(TransformedTargetRegressor(svm.SVR(), transformer=StandardScaler()), first=20),
    rb.Mixture(rb.Refitted(tree.DecisionTreeRegressor(random_state=1)), rb.BSGDRegressor(seed=1)),
]


@pytest.mark.parametrize("model", [*SAVED, *NUMBERS])
def test_copies_and_files_go_on_as_the_original(model, tmp_path):
    stream = [({"b": x["b"]} if t % 7 == 0 else x, y) for t, (x, y) in enumerate(rows_of(120))]
    if any(model is one for one in NUMBERS):
        stream = [(x, float(y) + x["b"]) for x, y in stream]
    model = learned(model.clone(), stream[:70])
    rb.save(model, tmp_path / "file")
    twins = copy.deepcopy(model), pickle.loads(pickle.dumps(model)), rb.load(tmp_path / "file")
    ask = "predict_proba_one" if hasattr(model, "predict_proba_one") else "predict_one"
    for x, y in stream[70:]:
        for twin in twins:
            assert getattr(twin, ask)(x) == getattr(model, ask)(x)
            twin.learn_one(x, y)
        model.learn_one(x, y)
    server = rb.load(tmp_path / "file", predict_only=True)
    server.predict_one(x)
    with pytest.raises(RuntimeError, match="predict_only"):
        server.learn_one(x, y)


def test_lightgbm_is_saved_with_its_settings(tmp_path):
    made = lightgbm().LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1, max_bin=31)
    model = learned(rb.Refitted(made), rows_of(150))
    rb.save(model, tmp_path / "file")
    again = rb.load(tmp_path / "file")
    assert again.estimator.get_params() == made.get_params()
    x = {"a": 0.3, "b": -0.2}
    assert again.predict_proba_one(x) == model.predict_proba_one(x)


class Unknown(tree.DecisionTreeClassifier):
    pass


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (Unknown(), "Unknown cannot be saved"),
        (dummy.DummyClassifier(), "DummyClassifier cannot be saved"),
        (svm.SVC(kernel=np.dot), "kernel=.* must be a number"),
        (tree.DecisionTreeClassifier(random_state=np.random.RandomState(1)), "random_state"),
        (pipeline.make_pipeline(StandardScaler(), svm.SVC(), memory="folder"), "memory"),
    ],
)
def test_learners_that_files_cannot_hold_are_refused(estimator, message, tmp_path):
    with pytest.raises(rb.SavedModelError, match=message):
        rb.save(rb.Refitted(estimator), tmp_path / "file")


def forged(model, change):
    """The bytes of a file in which a node was changed."""
    node, arrays = saving.nodes.saved(model)
    change(node)
    return saving.archive.packed(node, arrays)


FORGERIES = {
    "class": lambda node: node["parameters"]["estimator"].update({"class": "Popen"}),
    "parameter": lambda node: node["parameters"]["estimator"]["parameters"].update(
        {"args": {"value": "ls"}}
    ),
    "path": lambda node: node["parameters"]["estimator"]["parameters"].update(
        {"criterion": {"value": "/tmp/x"}}
    ),
    "shape": lambda node: node["state"]["_rows"][1].update({"shape": [3, 3]}),
    "bytes": lambda node: node["state"]["_rows"][2].update({"float64": "?"}),
    "twice": lambda node: node["state"]["_rows"][0].__setitem__(0, node["state"]["_rows"][0][1]),
    "fit": lambda node: node["state"].update({"_fitted_on": 10**6}),
    "next": lambda node: node["state"].update({"_next": 1}),
    "labels": lambda node: node["state"]["_labels"].pop(),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_files_are_refused(what):
    model = learned(rb.Refitted(tree.DecisionTreeClassifier(), first=20), rows_of(30))
    with pytest.raises(rb.SavedModelError):
        saving.opened(forged(model, FORGERIES[what]))


def test_a_forged_mixture_is_refused():
    model = learned(rb.Mixture(rb.BSGDClassifier(5, seed=1)), rows_of(30))

    def change(node):
        node["state"]["_mixer"]["weights"] = node["state"]["_mixer"]["mass"]

    with pytest.raises(rb.SavedModelError, match="weights of a mixer"):
        saving.opened(forged(model, change))


def test_the_same_rows_give_the_same_fit_in_any_order_of_names():
    random.seed(1)
    one, two = (rb.Refitted(tree.DecisionTreeClassifier(random_state=1), first=20) for _ in "ab")
    for x, y in rows_of(60):
        names = list(x)
        random.shuffle(names)
        one.learn_one(x, y)
        two.learn_one({name: x[name] for name in names}, y)
        assert one.predict_proba_one(x) == two.predict_proba_one(x)
