"""Every pipeline that the documentation shows goes into a file and comes back to the bit."""

from __future__ import annotations

import doctest
import importlib
import itertools
import pickle
import pkgutil

import pytest
from folders import ROOT
from river import base, datasets
from scripts import load

import river_budget as rb
from river_budget.nested import all_ours

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def doctests():
    """(name, test) of all docstrings of the algorithms and what is made of them, and of the README."""
    names = ["river_budget.guard", "river_budget.pipelines", "river_budget.saving"]
    folder = importlib.import_module("river_budget.algorithms")
    found = pkgutil.walk_packages(folder.__path__, f"{folder.__name__}.")
    names += [info.name for info in found if not info.ispkg]
    for name in names:
        for test in doctest.DocTestFinder().find(importlib.import_module(name)):
            if test.examples:
                yield test.name.removeprefix("river_budget."), test
    text = (ROOT / "README.md").read_text()
    yield "README", doctest.DocTestParser().get_doctest(text, {}, "README", None, 0)


def shown_models(test):
    """What a reader of this text has in his hands at its end."""
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test, clear_globs=False).failed == 0
    for name, value in test.globs.items():
        if isinstance(value, base.Estimator) and any(all_ours(value)):
            yield name, value


@pytest.mark.parametrize(("name", "test"), [pytest.param(*case, id=case[0]) for case in doctests()])
def test_what_the_docs_show_comes_back_from_a_file_to_the_bit(name, test, tmp_path):
    first, again = tmp_path / "first", tmp_path / "again"
    models = [model for _, model in shown_models(test)]
    assert models or name != "README"
    for model in models:
        rb.save(model, first)
        rb.save(rb.load(first), again)
        assert first.read_bytes() == again.read_bytes()


def test_most_texts_show_a_model():
    shown = [name for name, test in doctests() if any("rb." in e.source for e in test.examples)]
    assert len(shown) > 25
    assert "README" in shown


NOT_IN_FILES = {"GaussianRandomProjector", "SparseRandomProjector", "PoissonInclusion"}
# By pickles too: River finds its leaves by their addresses in memory
LOST = {"RandomTreesEmbedding"}


@pytest.fixture(scope="module")
def front():
    pytest.importorskip("sklearn", reason="River's projectors need it")
    return load("first_hour/front")


def test_what_stands_in_front_goes_on_from_a_pickle_and_from_a_file_or_its_error_says_pickle(
    front, tmp_path
):
    stream = list(itertools.islice(datasets.Phishing(), 200))
    for name, transformer in front.FRONTS.items():
        if name in LOST:
            continue
        model = transformer.clone() | rb.BSGDClassifier(20)
        for x, y in stream[:100]:
            model.predict_one(x)
            model.learn_one(x, y)
        twins = [pickle.loads(pickle.dumps(model))]
        if name not in NOT_IN_FILES:
            rb.save(model, tmp_path / "file")
            twins.append(rb.load(tmp_path / "file"))
        else:
            with pytest.raises(rb.SavedModelError, match="pickle"):
                rb.save(model, tmp_path / "file")
        for x, y in stream[100:]:
            expected = model.predict_proba_one(x)
            assert [twin.predict_proba_one(x) for twin in twins] == [expected] * len(twins)
            for each in (model, *twins):
                each.learn_one(x, y)
