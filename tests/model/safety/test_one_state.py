"""Answers while another thread learns: scores, labels and the link are of one state of the
model.
"""

from __future__ import annotations

import numpy as np
import pytest
from processes import in_threads

import river_budget as rb
from river_budget.kernels import RBF

K = RBF(0.5)
ROWS = np.random.default_rng(0).normal(size=(200, 3))
X = dict(enumerate(ROWS[0].tolist()))


class Watched:
    """A model to which another thread teaches a third label as soon as scores are made."""

    armed = False

    def teach(self):
        if self.armed:
            type(self).armed = False
            in_threads(lambda: self.learn_one(X, "third", self.weight))

    def _score_row(self, *given):
        found = super()._score_row(*given)
        self.teach()
        return found

    def _scores_read(self, *given):
        found = super()._scores_read(*given)
        self.teach()
        return found

    def _score_batch(self, *given):
        found = super()._score_batch(*given)
        self.teach()
        return found


KINDS = {
    "BSGD": (rb.BSGDClassifier, {"kernel": K, "budget": 20, "seed": 1}),
    "FOGD": (rb.FOGDClassifier, {"kernel": K, "n_components": 8, "seed": 1}),
    "AutoKernel": (rb.AutoKernelClassifier, {"budget": 20, "seed": 1}),
}


def learned(kind, weight):
    base, parameters = KINDS[kind]
    model = type("Watched" + base.__name__, (Watched, base), {"weight": weight})(**parameters)
    # so that most examples, and the asked one, have the second label, which the first one would
    # hide
    model.learn_many(ROWS, np.where(ROWS[:, 0] > ROWS[0, 0] + 1.0, "first", "second"))
    return model


QUESTIONS = {
    "predict_one": lambda model: model.predict_one(X),
    "predict_one of a part": lambda model: model.predict_one({0: X[0], 1: X[1]}),
    "predict_one with a new name": lambda model: model.predict_one(X | {"new": 0.5}),
    "predict_proba_one": lambda model: model.predict_proba_one(X),
    "decision_function_one": lambda model: model.decision_function_one(X),
    "predict_many": lambda model: model.predict_many(ROWS).tolist(),
    "predict_many of some": lambda model: model.predict_many(ROWS[:5]).tolist(),
    "predict_proba_many": lambda model: {
        label: shares.tolist() for label, shares in model.predict_proba_many(ROWS).items()
    },
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_an_answer_is_of_before_or_after_a_new_label(kind, question, weight):
    model, ask = learned(kind, weight), QUESTIONS[question]
    before = ask(model)
    type(model).armed = True
    found = ask(model)
    assert not model.armed
    assert found in (before, ask(model))


def test_scores_of_a_copy_of_the_block_have_its_labels():
    """A third label that comes while many rows are scored by a copy of the block."""

    class Slow(rb.BSGDClassifier):
        others = staticmethod(lambda: None)

        @staticmethod
        def _scoring_pass(m, rows):
            Slow.others()
            return rb.BSGDClassifier.algorithm.score(m, rows)

    model = Slow(20, K, seed=1)
    model.learn_many(ROWS, np.where(ROWS[:, 0] > 0.0, "yes", "no"))
    before = model.predict_many(ROWS).tolist()

    def teach():
        Slow.others = staticmethod(lambda: None)
        in_threads(lambda: model.learn_one(X, "third"))

    Slow.others = staticmethod(teach)
    assert model.predict_many(ROWS).tolist() == before
    assert model._labels.known[2:] == ["third"]


def test_probabilities_have_the_link_of_their_scores():
    """Another thread learns between the scores and the link."""
    model = learned("BSGD", 1.0)
    before = model.predict_proba_one(X)
    link = model._reading()[1:]
    type(model).teach = lambda self: in_threads(lambda: self.learn_many(ROWS, ["first"] * 200))
    found = model.predict_proba_one(X)
    assert model._reading()[1:] != link
    assert found == before
