"""The guide to extending: its program runs, its class is a full member, its tables are complete."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import re
import sys

import numpy as np
import pytest
from folders import EXAMPLES
from river import checks, compose, preprocessing

import river_budget as rb
from river_budget.model.base.base import StreamModel
from river_budget.model.estimators.estimators import BudgetClassifier
from river_budget.model.expansions.expansion import BudgetModel
from river_budget.saving import nodes

# River's checks feed rows that are not scaled
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

GUIDE = (EXAMPLES / "extending.md").read_text()


SPEC = importlib.util.spec_from_file_location(
    "your_own_algorithm", EXAMPLES / "your_own_algorithm.py"
)
EXAMPLE = sys.modules[SPEC.name] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(EXAMPLE)
Shifting = EXAMPLE.ShiftingPerceptronClassifier


def river_checks(model):
    """They take data from scikit-learn; without it there are none."""
    missing = importlib.util.find_spec("sklearn") is None
    return [] if missing else list(checks.yield_checks(model))


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


@pytest.mark.parametrize("check", river_checks(Shifting()), ids=lambda c: c.__name__)
def test_river_takes_the_class_for_one_of_its_own(check):
    check(Shifting())


def test_the_class_is_saved_and_loaded_as_those_of_the_package(tmp_path):
    X, y = stream(300)
    model = Shifting(20, rb.kernels.RBF(1.0))
    model.learn_many(X, y)
    rb.save(model, tmp_path / "model")
    same = rb.load(tmp_path / "model")
    assert (
        same.predict_then_learn_many(X, y).tolist() == model.predict_then_learn_many(X, y).tolist()
    )
    assert same.state_record().mistakes == model.state_record().mistakes > 20
    with pytest.raises(RuntimeError, match="predict_only"):
        rb.load(tmp_path / "model", predict_only=True).learn_many(X, y)


def test_models_of_the_class_are_united_keep_budgets_and_survive_pickles():
    X, y = stream(400)
    parts = [Shifting(20, rb.kernels.RBF(1.0)) for _ in range(2)]
    for part, half in zip(parts, (slice(200), slice(200, 400)), strict=True):
        part.learn_many(X[half], y[half])
    united = rb.merge(parts)
    assert united.n_support_vectors == 20
    united.mutate({"budget": 5, "shift": 3.0})
    assert united.n_support_vectors == 5
    assert united.state_record().shift == 3.0
    again = pickle.loads(pickle.dumps(united))
    again.learn_many(X, y)
    united.learn_many(X, y)
    assert again.decision_function_one({0: 0.3, 1: -0.2}) == united.decision_function_one(
        {0: 0.3, 1: -0.2}
    )


def test_the_class_stands_in_a_pipeline():
    X, y = stream(500)
    pipeline = compose.Pipeline(
        preprocessing.StandardScaler(), Shifting(kernel=rb.kernels.RBF(1.0))
    )
    right = 0
    for x, label in zip(X, y.tolist(), strict=True):
        example = dict(enumerate(x.tolist()))
        right += pipeline.predict_one(example) == label
        pipeline.learn_one(example, label)
    assert right > 350


# What is refused


def test_a_name_of_the_package_cannot_be_taken():
    kind = type("RBPClassifier", (Shifting,), {"__module__": __name__})
    with pytest.raises(ValueError, match="RBPClassifier"):
        rb.saving.register(kind)
    with pytest.raises(TypeError, match="StreamModel"):
        rb.saving.register(dict)


def test_a_whole_number_that_nobody_checks_is_refused():
    state = np.dtype((np.record, [("shift", "f8"), ("place", "i8")]))
    kind = type("Careless", (Shifting,), {"state_type": state, "__module__": __name__})
    with pytest.raises(NotImplementedError, match="place"):
        rb.saving.register(kind)


def test_a_state_that_would_reach_into_the_tables_is_refused():
    state = np.dtype((np.record, [(f"part_{i}", "f8") for i in range(25)]))
    kind = type("Greedy", (Shifting,), {"state_type": state, "__module__": __name__})
    with pytest.raises(TypeError, match="192 bytes, not 200"):
        kind(5).learn_one({"a": 1.0}, True)


def test_rows_that_nobody_checks_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "_registered", {})
    kind = type("Trusting", (Shifting,), {"per_vector_rows": 1, "__module__": __name__})
    model = rb.saving.register(kind)(5)
    model.learn_many(*stream(50))
    with pytest.raises(NotImplementedError, match="per_vector"):
        rb.save(model, tmp_path / "model")


# The tables of the guide


def names_in_table(title):
    section = re.split(r"^#+ ", GUIDE.partition(f"# {title}\n")[2], flags=re.M)[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def hooks():
    """What algorithms of the package set or override, of what the base classes define."""
    bases = [StreamModel, BudgetModel, *BudgetClassifier.__mro__]
    defined = {n for base in bases for n in [*vars(base), *getattr(base, "__annotations__", {})]}
    found = set()
    for name in rb.__all__:
        kind = getattr(rb, name)
        if isinstance(kind, type) and issubclass(kind, StreamModel):
            for part in kind.__mro__:
                if part.__module__.startswith("river_budget.algorithms"):
                    found |= set(vars(part))
    inner = re.compile("__|_abc|_binary|_change|_(add|learn|score|feature)_|(learn|predict|score)_")
    return {name for name in found & defined if not inner.match(name)}


def test_the_guide_lists_every_hook_that_algorithms_answer():
    listed = names_in_table("Hooks")
    users = {"memory_usage", "decision_function_one", "transform_one", "support_vectors", "budget"}
    # how random features keep names
    users |= {"add_features", "resize_block", "create_block", "draw", "_state"}
    users |= {"forget_prepared", "begin_with", "make_room", "before_new_names", "take_back"}
    users |= {"n_support_vectors", "budget_in_use", "promote"}  # the learners without settings
    users |= {"parts_of", "most_entries"}  # the same on words
    assert hooks() - users <= listed
    known = {n for kind in (StreamModel, BudgetModel, rb.SBPClassifier) for n in dir(kind)}
    known |= {"shrinking_pass", "state_type", "scoring_pass", "after_promotion"}
    assert listed <= known


def test_the_guide_names_functions_that_exist():
    places = "block.limits budget.degradation budget.keep budget.merge budget.partner_search"
    places += " budget.projection budget.removal expansion.kernel_rows expansion.support"
    places += " rounds.observe vectors.table"
    known = {"row", "nonzero", "logs", "buffer", "x"}
    for place in places.split():
        known |= set(dir(importlib.import_module(f"river_budget.core.{place}")))
    assert names_in_table("Who overwrites what") <= known
