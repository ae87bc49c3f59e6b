"""What a first draft of an algorithm, or of a kernel function, does wrong: it is told, and nothing
goes on in silence.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numba.core.errors import TypingError
from optional import needs_compiler

import river_budget as rb
from river_budget import saving
from river_budget.core.memory import views
from river_budget.extending import (
    After,
    Classifier,
    Fixed,
    add_to,
    algorithm,
    compiled,
    insert,
    one_of,
    remove_oldest,
)
from river_budget.kernels import RBF, Custom

K = RBF(0.5)
BASE = rb.RBPClassifier.algorithm


@compiled
def storing(m, state, x, norm, f, y, w):
    add_to(m, insert(m, x, norm), 0, -1, w)


@compiled
def keeping(m, state):
    """A rule that removes nothing."""


def drafted(keep=None, round_of=storing, **options):
    class Draft(Classifier):
        algorithm = algorithm(round_of, "hardness", keep, **options)

        def __init__(self, budget: int = 10, kernel=None, classes: tuple | None = None):
            super().__init__(locals())

    return Draft


def derived(**options):
    """The RBP with another declaration."""

    class Derived(rb.RBPClassifier):
        algorithm = dataclasses.replace(BASE, **options)

    return Derived


def taught(model, labels=(False, True)):
    for i in range(6):
        model.learn_one({"a": float(i % 3), "b": i % 2}, labels[i % len(labels)])
    return model


# kernel functions


def scaled_by(c):
    def kernel(x, z):
        return -c * np.sum((x - z) ** 2)

    return kernel


def test_closures_with_other_constants_are_other_functions():
    Custom(scaled_by(1.0))
    with pytest.raises(ValueError, match="another kernel function is known as"):
        Custom(scaled_by(2.0))
    models = [taught(rb.RBPClassifier(9, Custom(scaled_by(c), name=f"by {c}"))) for c in (1.0, 2.0)]
    one, two = (model.decision_function_one({"a": 5.0}) for model in models)
    assert one != two
    assert Custom(scaled_by(1.0)) == Custom(scaled_by(1.0))


def with_default(c):
    def kernel_with_default(x, z, by=c):
        return by * np.sum(x * z)

    return kernel_with_default


def test_functions_with_other_defaults_are_other_functions():
    Custom(with_default(1.0))
    Custom(with_default(1.0))
    with pytest.raises(ValueError, match="another kernel function is known as"):
        Custom(with_default(2.0))


def raising(x, z):
    if x[0] > -1.0:
        raise ValueError("not for such rows")
    return 0.0


def test_a_kernel_function_that_raises_is_heard():
    kernel = Custom(raising, name="raising")
    for learn in (
        lambda model: model.learn_one({"a": 1.0}, True),
        lambda model: model.learn_many(np.ones((3, 2)), [True, False, True]),
    ):
        model = rb.RBPClassifier(9, kernel)
        with pytest.raises(ValueError, match="not for such rows"):
            learn(model)
        assert model.n_examples == 0
        assert not model._lock.changing


# state of one's own


@pytest.mark.parametrize("header", [{"per_vector": 1}, {"factored": 1}], ids=str)
def test_undeclared_state_of_vectors_is_not_merged(header):
    kind = derived(header=header)
    models = [taught(kind(5, K, seed=1)) for _ in range(2)]
    with pytest.raises(NotImplementedError, match=r"in a sum: Algorithm\(after=After\(union="):
        rb.merge(models)
    declared = derived(header=header, after=After(union=lambda model, parts: None))
    assert rb.merge([taught(declared(5, K, seed=1)) for _ in range(2)]).n_support_vectors


def test_undeclared_state_of_vectors_refuses_a_third_class():
    model = taught(derived(header={"per_vector": 1})(5, K, seed=1))
    before = model.support_vectors()
    for learn in (
        lambda: model.learn_one({"a": 1.0}, "third"),
        lambda: model.learn_many(np.ones((1, 2)), ["third"]),
    ):
        with pytest.raises(NotImplementedError, match=r"third class: Algorithm\(after=After\(prom"):
            learn()
    assert model.support_vectors() == before
    declared = derived(header={"per_vector": 1}, after=After(promotion=lambda model: None))
    assert taught(declared(5, K, seed=1), ("a", "b", "c")).n_support_vectors


def test_a_matrix_of_ones_own_is_saved_whole(monkeypatch, tmp_path):
    kind = derived(header={"factored": 1})
    kind.__name__ = "WholeMatrix"
    saving.register(kind)
    model = taught(kind(5, K, seed=1))
    n = model.n_support_vectors
    table = views(model._block).factor
    table[:n, :n] = np.arange(n * n).reshape(n, n)
    rb.save(model, tmp_path / "model.rb")
    again = rb.load(tmp_path / "model.rb")
    assert (views(again._block).factor[:n, :n] == table[:n, :n]).all()


# what was forgotten


@pytest.mark.parametrize("keep", [None, keeping], ids=["no rule", "a rule that removes nothing"])
def test_a_round_that_never_removes_is_told(keep):
    model = drafted(keep)(5, K)
    for i in range(5):
        model.learn_one({"a": float(i)}, i % 2 == 0)
    with pytest.raises(RuntimeError, match="more vectors than the budget, and `keep` removes none"):
        model.learn_one({"a": 5.0}, True)


@compiled
def dividing(m, state, x, norm, f, y, w):
    add_to(m, insert(m, x, norm), 0, -1, w * (f[0] - f[0]) / (f[0] - f[0]))


def test_a_coefficient_that_is_no_number_is_told():
    class Draft(Classifier):
        algorithm = algorithm(dividing, "", remove_oldest)

        def __init__(self, budget: int = 10, kernel=None, classes: tuple | None = None):
            super().__init__(locals())

    model = Draft(5, K)
    model.learn_one({"a": 0.0}, True)
    with pytest.raises(RuntimeError, match="a score is NaN: the round has written a coefficient"):
        model.learn_one({"a": 1.0}, False)


@compiled
def misnaming(m, state, x, norm, f, y, w):
    state.hardnes += 1.0


@compiled
def allocating(m, state, x, norm, f, y, w):
    add_to(m, insert(m, x, norm), 0, -1, np.ones(3)[0])


@needs_compiler
def test_numbers_that_nobody_declared_and_arrays_of_ones_own():
    """In plain Python the first is an AttributeError as well, and the second works."""
    with pytest.raises(AttributeError, match="no number 'hardnes': `state` has hardness"):
        drafted(remove_oldest, round_of=misnaming)(5, K).learn_one({"a": 0.0}, True)
    with pytest.raises(TypingError) as error:
        drafted(remove_oldest, round_of=allocating)(5, K).learn_one({"a": 0.0}, True)
    assert "makes no arrays" in error.value.__notes__[0]


@compiled
def labelling(m, state, x, norm, f, y, w):
    label(m, insert(m, x, norm), y)


@compiled
def label(m, j, y):
    m.per_vector[0, j] = y


def test_a_table_that_has_no_rows():
    with pytest.raises(TypeError, match=r"labelling uses m\.per_vector, which has no rows"):
        drafted(remove_oldest, round_of=labelling)
    drafted(remove_oldest, round_of=labelling, header={"per_vector": 1})


def test_no_pass_for_a_smaller_budget():
    model = taught(drafted()(9, K))
    with pytest.raises(NotImplementedError, match=r"smaller budget: Algorithm\(shrink="):
        model.mutate({"budget": 1})
    assert model.budget == 9


def test_a_maintenance_without_a_pass():
    base = rb.BSGDClassifier.algorithm
    kinds = dict(list(base.learn.items())[:1])
    kind = type("Some", (rb.BSGDClassifier,), {"algorithm": dataclasses.replace(base, learn=kinds)})
    with pytest.raises(ValueError, match="Some has no pass for maintenance Project"):
        kind(9, K, rb.maintenance.Project())


def test_a_class_that_is_not_registered(tmp_path):
    with pytest.raises(
        rb.SavedModelError, match=r"decorate the class with river_budget\.saving\.reg"
    ):
        rb.save(taught(drafted()(9, K)), tmp_path / "model.rb")


def test_a_class_whose_module_is_not_imported(tmp_path, monkeypatch):
    kind = derived()
    kind.__name__ = "NotImported"
    saving.register(kind)
    rb.save(kind(5, K, seed=1), tmp_path / "model.rb")
    monkeypatch.delitem(saving.nodes._registered, "NotImported")
    with pytest.raises(rb.SavedModelError, match="import the module that registers it first"):
        rb.load(tmp_path / "model.rb")


def test_a_text_with_the_name_of_a_field():
    class Text(Classifier):
        hardness = Fixed(one_of("hard", "soft"))
        algorithm = algorithm(storing, "hardness")

        def __init__(self, budget: int = 10, hardness: str = "hard", classes: tuple | None = None):
            super().__init__(locals())

    with pytest.raises(TypeError, match="hardness='hard' of Text is no number, and its record"):
        Text().learn_one({"a": 1.0}, True)


def test_a_parameter_without_a_check():
    with pytest.raises(TypeError, match="pace of Loose has no check"):

        class Loose(Classifier):
            algorithm = algorithm(storing)

            def __init__(self, budget: int = 10, pace: float = 1.0):
                super().__init__(locals())
