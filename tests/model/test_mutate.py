"""A change of parameters happens as a whole or not at all: with wrong values, without memory, and
of several at once.
"""

from __future__ import annotations

import pickle

import pytest
from models import MODELS, TRANSFORMERS, learned, one_of_each, stream_for, variant
from optional import given, settings, st

import river_budget as rb
from river_budget.core import memory
from river_budget.kernels import RBF

HUGE = 10**12  # no memory holds a table of so many vectors
VALUES = [0, 1, 3, 30, 0.0, 0.25, 1e-300, 1e300, None, HUGE, 2**53, 10**400, -1, "5", 1j, [1.0]]


def changeable(models):
    """(model, name) for every parameter that may change."""
    return [
        pytest.param(entry.values[0], name, id=f"{entry.id}-{name}")
        for entry in models
        for name in sorted(entry.values[0]._mutable_attributes)
    ]


EACH = changeable([*one_of_each(MODELS), *TRANSFORMERS])


def taught(model, n=40):
    """The model after n examples of a stream; maps learn them without their targets."""
    stream = stream_for(rb.BSGDClassifier() if hasattr(model, "transform_one") else model, n)
    for x, y in stream:
        model.learn_one(*((x, y) if model._supervised else (x,)))
    return model


def through_a_file(model, folder):
    rb.save(model, folder / "model.rb")
    return rb.load(folder / "model.rb")


@pytest.mark.parametrize(("model", "name"), EACH)
@pytest.mark.parametrize("assigned", [False, True])
def test_a_change_takes_effect_or_changes_nothing(model, name, assigned, tmp_path):
    model = taught(variant(model, seed=1))
    for value in VALUES:
        before = pickle.dumps(model)
        try:
            if assigned:
                setattr(model, name, value)
            else:
                model.mutate({name: value})
        except (ValueError, MemoryError):
            assert pickle.dumps(model) == before
        else:
            assert getattr(model, name) == value
            model = pickle.loads(before)
    assert through_a_file(model, tmp_path).summary() == model.summary()
    taught(model, 5)


@pytest.mark.parametrize(("model", "name"), EACH)
def test_without_memory_for_it_a_change_changes_nothing(model, name, monkeypatch):
    model, allocate = taught(variant(model, seed=1)), memory.zeros
    value = 4 if name in ("budget", "window", "steps") else 0.25
    for most in range(99):
        left = [most]

        def scarce(nbytes, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise MemoryError
            return allocate(nbytes)

        before = pickle.dumps(model)
        with monkeypatch.context() as patch:
            patch.setattr(memory, "zeros", scarce)
            try:
                model.mutate({name: value})
                break
            except MemoryError:
                assert pickle.dumps(model) == before
    assert most >= 1  # it was refused at least once
    assert getattr(model, name) == value


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["budget", "l2", "learning_rate", "epsilon", "kernel", "nonsense"]),
            st.sampled_from([*VALUES, RBF(2.0)]),
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(deadline=None, max_examples=60)
def test_of_several_changes_all_happen_or_none(changes):
    model = learned(rb.BSGDRegressor(10, RBF(0.5), seed=1), 30)
    before, changes = pickle.dumps(model), dict(changes)
    try:
        model.mutate(changes)
    except ValueError:
        assert pickle.dumps(model) == before
    else:
        assert {name: getattr(model, name) for name in changes} == changes
