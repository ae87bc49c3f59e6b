"""The guide to extending: its programs run, its classes are full members, its pages are fresh."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import math
import pickle
import re
import sys

import extending_pages
import numpy as np
import pytest
from folders import EXAMPLES
from oracles.kernels import rbf
from oracles.krls_tracker import KRLSTracker

import river_budget as rb
from river_budget import extending
from river_budget.algorithms import PLACES
from river_budget.algorithms.features.drawn import DrawnMap
from river_budget.algorithms.features.maps import Transformer
from river_budget.core.memory import HEAD, Model
from river_budget.extending import check, checking
from river_budget.model.algorithm import After, Algorithm, Files
from river_budget.model.base import StreamModel
from river_budget.saving import nodes

# River's checks feed rows that are not scaled
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

GUIDE = (EXAMPLES / "extending.md").read_text()


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


EXAMPLE = module_of(EXAMPLES / "your_own_algorithm.py")
Shifting = EXAMPLE.ShiftingPerceptronClassifier


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] * X[:, 1] > 0.0


def test_the_program_prints_what_it_promises(capsys):
    EXAMPLE.main()
    difference, accuracy, saved = capsys.readouterr().out.splitlines()
    assert float(difference.split()[-1]) < 1e-12
    assert float(re.search(r"([\d.]+)%", accuracy)[1]) > 75
    assert saved.endswith("True")


def test_the_class_does_what_models_of_the_package_do():
    model = Shifting(30, rb.kernels.RBF(0.5), classes=(False, True))
    check(model, EXAMPLE.Reference(30, 0.5, 10.0))
    for ask in (checking._third_class, checking._sums):
        ask(Shifting(12, rb.kernels.RBF(0.5)))  # which may learn a third class


def test_models_of_the_class_are_united_keep_budgets_and_survive_pickles():
    X, y = stream(400)
    parts = [Shifting(20, rb.kernels.RBF(1.0)) for _ in range(2)]
    for part, half in zip(parts, (slice(200), slice(200, 400)), strict=True):
        part.learn_many(X[half], y[half])
    united = rb.merge(parts)
    assert united.n_support_vectors == 20
    united.mutate({"budget": 5, "shift": 3.0})
    assert united.n_support_vectors == 5
    assert extending.state_of(united).shift == 3.0
    again = pickle.loads(pickle.dumps(united))
    again.learn_many(X, y)
    united.learn_many(X, y)
    assert again.decision_function_one({0: 0.3, 1: -0.2}) == united.decision_function_one(
        {0: 0.3, 1: -0.2}
    )


# What is refused


def with_algorithm(name, **changed):
    """A class with these fields of its algorithm changed."""
    algorithm = dataclasses.replace(Shifting.algorithm, **changed)
    return type(name, (Shifting,), {"algorithm": algorithm, "__module__": __name__})


def test_a_name_of_the_package_cannot_be_taken():
    kind = type("RBPClassifier", (Shifting,), {"__module__": __name__})
    with pytest.raises(ValueError, match="RBPClassifier"):
        rb.saving.register(kind)
    with pytest.raises(TypeError, match="StreamModel"):
        rb.saving.register(dict)


def test_a_whole_number_that_nobody_checks_is_refused():
    state = np.dtype((np.record, [("shift", "f8"), ("place", "i8")]))
    kind = with_algorithm("Careless", state=state)
    with pytest.raises(NotImplementedError, match="place"):
        rb.saving.register(kind)


def test_a_state_that_would_reach_into_the_tables_is_refused():
    state = np.dtype((np.record, [(f"part_{i}", "f8") for i in range(25)]))
    kind = with_algorithm("Greedy", state=state)
    with pytest.raises(TypeError, match="192 bytes, not 200"):
        kind(5).learn_one({"a": 1.0}, True)


def test_rows_that_nobody_checks_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "_registered", {})
    model = rb.saving.register(with_algorithm("Trusting", header={"per_vector": 1}))(5)
    model.learn_many(*stream(50))
    with pytest.raises(NotImplementedError, match="per_vector"):
        rb.save(model, tmp_path / "model")


# The pages


def test_the_pages_are_made_of_the_docstrings_of_now():
    """`python tests/support/extending_pages.py` writes them."""
    for name, text in extending_pages.pages().items():
        assert (extending_pages.FOLDER / name).read_text() == text, name


def test_the_page_of_functions_has_every_name_that_an_author_may_import():
    page = (extending_pages.FOLDER / "functions.md").read_text()
    known = {name for code in re.findall(r"`([^`]*)`", page) for name in re.findall(r"\w+", code)}
    assert set(extending.__all__) - {"Algorithm", "Vectors"} <= known


def test_every_field_of_the_model_and_of_an_algorithm_says_what_it_is():
    for kind in (Model, Algorithm, After, Files):
        assert all(extending_pages.comments_of(kind).values()), kind
    assert len(dataclasses.fields(Algorithm)) <= 15
    named = {name for names in extending_pages.header() for name in names.split(", ")}
    assert named == set(HEAD.names)


def test_the_guide_is_short():
    assert len(GUIDE.splitlines()) <= 150
    for name, most in (("stoptron", 20), ("tighter_perceptron", 45), ("krls_tracker", 100)):
        lines = (extending_pages.FOLDER / f"{name}.py").read_text().splitlines()
        assert len(lines) <= most, name


@pytest.mark.parametrize("page", ["extending.md", "inside.md", "extending/functions.md"])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]*)\)", (EXAMPLES / page).read_text()):
        assert ((EXAMPLES / page).parent / target.partition("#")[0]).exists(), target


def test_the_pieces_of_the_guide_run(monkeypatch):
    """All but the first, which is a file of its own; `check` is called there with the reference."""
    called = []
    monkeypatch.setattr(extending, "check", lambda *given: called.append(given))
    space = {"ext": extending, "rb": rb}
    space |= {name: vars(EXAMPLE)[name] for name in ("Reference", Shifting.__name__)}
    pieces = re.findall(r"```python\n(.*?)```", GUIDE, re.S)[1:]
    for code in pieces:
        exec(code, space)
    assert len(pieces) == 3
    ((model, reference),) = called
    assert (type(model), type(reference)) == (Shifting, EXAMPLE.Reference)


def test_the_algorithm_on_the_page_runs_as_it_is_written(monkeypatch, tmp_path):
    """It is that of the program, so its scores are those of the reference."""
    monkeypatch.setattr(nodes, "_registered", {})
    code = re.search(r"```python\n(.*?)```", GUIDE, re.S)[1]
    (tmp_path / "page.py").write_text(code)
    page = module_of(tmp_path / "page.py")
    monkeypatch.setattr(EXAMPLE, "ShiftingPerceptronClassifier", page.ShiftingPerceptronClassifier)
    assert EXAMPLE.differences(300) < 1e-12


class Tracker(KRLSTracker):
    """The reference as `check` calls it."""

    def predict(self, x):
        return float(self.scores(np.array(list(x.values())))[0])

    def learn(self, x, *given):
        if isinstance(x, dict):
            self.step(list(x.values()), given[0])
        else:
            super().learn(x, *given)


def test_the_example_with_matrices_is_the_tracker(monkeypatch):
    monkeypatch.setattr(nodes, "_registered", {})
    page = module_of(extending_pages.FOLDER / "krls_tracker.py")
    model = page.TrackerRegressor(20, rb.kernels.RBF(0.5), 0.99)
    check(model, Tracker(rbf(0.5), "regression", budget=20, forgetting=0.99, least=1e-6))
    X, y = stream(100)
    model.learn_many(X, y.astype(float))
    package = rb.KRLSTRegressor(20, 0.99, kernel=rb.kernels.RBF(0.5))
    package.learn_many(X, y.astype(float))
    x = {0: 0.1, 1: -0.2}
    found, expected = model.predict_with_variance_one(x), package.predict_one(x, with_dist=True)
    assert found.mu == pytest.approx(expected.mu, rel=1e-9)
    state = extending.state_of(package)
    power = state.errors / state.rows
    assert power * found.sigma**2 == pytest.approx(expected.sigma**2, rel=1e-9)


class Tighter:
    """The Tighter Perceptron, recomputed from all stored examples."""

    def __init__(self, budget):
        self.budget, self.X, self.y, self.a = budget, [], [], []

    def scores(self, x, without=()):
        kept = [j for j in range(len(self.X)) if j not in without]
        return sum(self.a[j] * math.exp(-0.5 * np.sum((self.X[j] - x) ** 2)) for j in kept)

    def predict(self, x):
        return self.scores(np.array(list(x.values())))

    def learn(self, x, label):
        y, row = 1.0 if label else -1.0, np.array(list(x.values()))
        if y * self.predict(x) > 0.0:
            return
        for values, value in ((self.X, row), (self.y, y), (self.a, y)):
            values.append(value)
        if len(self.X) > self.budget:
            wrong = [
                sum(t * self.scores(v, (j,)) <= 0.0 for v, t in zip(self.X, self.y, strict=True))
                for j in range(len(self.X))
            ]
            for values in (self.X, self.y, self.a):
                del values[int(np.argmin(wrong))]


@pytest.fixture
def short_ones(monkeypatch):
    monkeypatch.setattr(nodes, "_registered", {})
    return [
        module_of(extending_pages.FOLDER / f"{n}.py") for n in ("stoptron", "tighter_perceptron")
    ]


@pytest.mark.slow  # quick without a compiler: test_own_rules.py
def test_the_stoptron_stops_at_its_budget(short_ones):
    X, y = stream(300)
    model = short_ones[0].StoptronClassifier(20, rb.kernels.RBF(0.5), classes=(False, True))
    perceptron = rb.KernelPerceptronClassifier(rb.kernels.RBF(0.5), classes=(False, True))
    for x, label in zip(X, y, strict=True):
        if perceptron._block is None or perceptron.n_support_vectors < 20:
            perceptron.learn_one(dict(enumerate(x)), label)
        model.learn_one(dict(enumerate(x)), label)
    assert model.support_vectors() == perceptron.support_vectors()
    assert model.n_support_vectors == 20


@pytest.mark.slow  # quick without a compiler: test_own_rules.py
def test_the_tighter_perceptron_keeps_those_without_which_most_would_be_wrong(short_ones):
    kind = short_ones[1].TighterPerceptronClassifier
    checking._equals(kind(8, rb.kernels.RBF(0.5), classes=(False, True)), Tighter(8))


# What a class of the package may define besides its algorithm and parameters: methods for users, a
# distribution beside a prediction, and a transformer's names. AutoKernel, whose memory is of its
# own kind, overrides methods of StreamModel
OVERRIDDEN = {
    "_feature_names",
    "_n_outputs",
    "_reading",
    "_unmergeable_because",
    "predict_one",
    "transform_one",
}


@pytest.mark.parametrize("name", sorted(PLACES))
def test_an_estimator_overrides_nothing(name):
    kind = getattr(rb, name)
    if not issubclass(kind, StreamModel) or name.startswith("AutoKernel"):
        pytest.skip("not in a block with an Algorithm alone")
    own = set()
    for part in kind.__mro__:
        shared = part in (DrawnMap, Transformer)
        if part.__module__.startswith("river_budget.algorithms") and not shared:
            own |= set(vars(part)) - {"algorithm"}
    ours = [base for base in kind.__mro__ if base.__module__.startswith("river_budget.model")]
    inherited = {
        name for base in ours for name in vars(base) if not name.startswith(("__", "_abc"))
    }
    assert own & inherited <= OVERRIDDEN


def test_the_page_for_insiders_names_functions_that_exist():
    places = "budget.merging budget.merging_several budget.projection budget.strategies"
    places += (
        " expansion.examples expansion.kernels expansion.scoring expansion.support rounds.observe"
    )
    known = set(Model._fields)
    for place in places.split():
        known |= set(dir(importlib.import_module(f"river_budget.core.{place}")))
    text = (EXAMPLES / "inside.md").read_text().partition("## Who overwrites what\n")[2]
    rows = re.findall(r"^\| (`.*?) \|", text.partition("\n## ")[0], re.M)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 10
    assert named <= known
