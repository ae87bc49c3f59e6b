"""What an estimator shows: its parameters, River's interface, and the names that are listed
here.
"""

from __future__ import annotations

import inspect
import pathlib

import pytest
from folders import ROOT

import river_budget as rb
from river_budget.model.base import StreamModel

ESTIMATORS = {
    name: kind
    for name in rb.__all__
    if inspect.isclass(kind := getattr(rb, name)) and issubclass(kind, StreamModel)
}
MOST = 28  # River's LogisticRegression has 18
RIVERS = (
    "clone mutate learn_one learn_many predict_one predict_many predict_proba_one "
    "predict_proba_many "
    "transform_one transform_many score_one debug_one memory_usage"
)
ALWAYS = "algorithm kernel n_examples summary"
SUPERVISED = "predict_then_learn_one predict_then_learn_many decision_function_one"
EXPANSIONS = "support_vectors n_support_vectors"
OWN = {
    "AutoKernel": "experts importances explain_one n_words last_iterate_one",
    "BSGD": "gradient_error",
    "KernelOneClassSVM": "score_many score_then_learn_many",
    "SBP": "bias refine slack_for",
}
MEANS = "last_iterate_one"  # of models with the parameter `average`


def public(value):
    return {name for name in dir(value) if not name.startswith("_")}


def allowed(model):
    kind = type(model)
    names = set(inspect.signature(kind).parameters)
    words = [RIVERS, ALWAYS, SUPERVISED, EXPANSIONS, MEANS if hasattr(model, "average") else ""]
    words += [text for name, text in OWN.items() if kind.__name__.startswith(name)]
    return names.union(*(text.split() for text in words))


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
def test_an_estimator_shows_what_users_need_and_no_more(kind):
    model = kind()
    assert public(model) <= allowed(model)
    assert len(public(model)) <= MOST


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
def test_public_methods_say_what_they_do(kind):
    for name in public(kind) - set(inspect.signature(kind).parameters) - {"algorithm", "kernel"}:
        assert inspect.getdoc(getattr(kind, name)), name


def test_every_listed_name_is_one_of_some_estimator():
    shown = set().union(*(public(kind()) for kind in ESTIMATORS.values()))
    listed = " ".join([RIVERS, ALWAYS, SUPERVISED, EXPANSIONS, MEANS, *OWN.values()])
    assert set(listed.split()) <= shown


def test_texts_use_public_names_only():
    """The guide calls nothing of a model that begins with an underscore."""
    pages = [ROOT / "README.md", *(ROOT / "examples" / "guide").glob("*.md")]
    assert [page.name for page in pages if "model._" in pathlib.Path(page).read_text()] == []
