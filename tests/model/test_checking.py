"""extending.check finds what a class does wrong, each with a sentence."""

from __future__ import annotations

import math

import numba
import pytest

import river_budget as rb
from river_budget import extending as ext
from river_budget.core.compiling import _code_of
from river_budget.core.memory import views
from river_budget.extending import checking
from river_budget.saving import nodes

K = rb.kernels.RBF(0.5)


@ext.compiled
def storing(m, state, x, norm, f, y, w):
    """A Perceptron that stores everything."""
    ext.add_to(m, ext.insert(m, x, norm), 0, -1, w * y)


@ext.compiled
def storing_beyond(m, state, own, x, norm, f, y, w):
    """It writes behind its table."""
    own.labels[own.labels.shape[0] + 4 - 4 * min(m.head[0].count, 1)] = y
    storing(m, state, x, norm, f, y, w)


@numba.njit(cache=True)
def left_to_numba(y):
    return 0.5 * y


@ext.compiled
def calling(m, state, x, norm, f, y, w):
    storing(m, state, x, norm, f, left_to_numba(y), w)


def drafted(round_of=storing, **options):
    class Draft(ext.Classifier):
        algorithm = ext.algorithm(round_of, "", ext.remove_oldest, binary=True, **options)

        def __init__(self, budget: int = 12, kernel=K, classes: tuple | None = None):
            super().__init__(locals())

    return Draft()


class Good(ext.Classifier):
    algorithm = ext.algorithm(storing, "", ext.remove_oldest, binary=True)

    def __init__(self, budget: int = 12, kernel=None, classes: tuple | None = None):
        super().__init__(locals())


class Beyond(Good):
    algorithm = ext.algorithm(
        storing_beyond, "", ext.remove_oldest, own={"labels": ("B",)}, binary=True
    )


class Reference:
    """Of `storing`, with a budget that it forgets."""

    def __init__(self):
        self.vectors = []

    def predict(self, x):
        rows = [list(v.values()) for v, _ in self.vectors]
        row = list(x.values())
        far = [sum((a - b) ** 2 for a, b in zip(r, row, strict=True)) for r in rows]
        near = [math.exp(-0.5 * each) for each in far]
        return sum(k * y for k, (_, y) in zip(near, self.vectors, strict=True))

    def learn(self, x, y):
        self.vectors.append((x, 1.0 if y else -1.0))


def test_another_reference():
    with pytest.raises(AssertionError, match=r"its score 13 is .*, and that of its reference"):
        checking._equals(drafted(), Reference())


def test_a_class_that_is_not_registered(monkeypatch):
    monkeypatch.setattr(nodes, "_registered", {})
    with pytest.raises(AssertionError, match=r"cannot be saved and loaded: .* decorate the class"):
        checking._files(drafted())


def test_a_function_in_numbas_own_cache():
    with pytest.raises(AssertionError, match="left_to_numba is kept in numba's cache"):
        checking._cache(drafted(calling))
    checking._cache(drafted())


def test_a_sum_that_is_none(monkeypatch):
    """Its hook changes the function."""

    def spoil(model, parts):
        views(model._block).coefficients[:] *= 2.0

    with pytest.raises(AssertionError, match=r"rb.merge of two models gives the score"):
        checking._sums(drafted(after=ext.After(union=spoil)))
    monkeypatch.setattr(nodes, "_registered", {})
    rb.saving.register(Good)
    checking._sums(Good())


def test_a_smaller_budget_without_a_rule():
    with pytest.raises(AssertionError, match="a smaller budget is refused, though"):
        checking._smaller_budget(drafted(shrink=None))


def test_an_index_out_of_range(monkeypatch):
    monkeypatch.setattr(
        checking, "scores_before", lambda *given: []
    )  # compiled it would write to other memory
    with pytest.raises(AssertionError, match=r"as plain Python .*it fails(.|\n)*IndexError"):
        checking._plain_python(Beyond())


def test_a_refusal_that_changes_the_model():
    model = checking._taught(drafted())

    def act():
        model.learn_one({0: 1.0}, True)
        raise ValueError

    with pytest.raises(AssertionError, match="is refused, and the model has changed"):
        checking._unchanged(model, act, "an example")


def test_what_is_reached_through_a_module_counts_for_the_cache():
    def digest(share):
        helpers = type(numba)("helpers")
        exec(f"def fading(y): return {share} * y", vars(helpers))
        names = {"helpers": helpers, "__name__": "drafts"}
        exec("def round_of(y): return helpers.fading(y)", names)
        return b"".join(_code_of(names["round_of"], set()))

    assert digest(0.5) == digest(0.5) != digest(0.25)


def test_a_good_class_passes():
    for ask in (checking._loop_and_batch, checking._copies, checking._refused_examples):
        ask(Good())
    checking._plain_python(Good())
