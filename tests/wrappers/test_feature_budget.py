"""FeatureBudget: a bound on the number of names."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import river_budget as rb


def stream(n, vocabulary=2000, seed=0):
    rng = random.Random(seed)
    for _ in range(n):
        yield {f"w{int(rng.paretovariate(0.7)) % vocabulary}": 1.0 for _ in range(8)}


def test_as_many_names_as_are_allowed():
    budget = rb.FeatureBudget(20)
    for x in stream(500):
        budget.learn_one(x)
        assert len(budget.transform_one({f"w{i}": 1.0 for i in range(2000)})) <= 20
    assert len(budget.kept()) == 20


def test_frequent_names_are_never_missed_and_counts_never_too_low():
    budget, counts = rb.FeatureBudget(50), Counter()
    for x in stream(3000):
        budget.learn_one(x)
        counts.update(x)
    total = sum(counts.values())
    kept = budget.transform_one(dict.fromkeys(counts, 1.0))
    assert {name for name, n in counts.items() if n > total / 50} <= kept.keys()
    for name in kept:
        assert counts[name] <= budget.count_of(name) <= counts[name] + total / 50


def test_names_that_go_out_of_use_leave():
    fading, steady = rb.FeatureBudget(2, half_life=5), rb.FeatureBudget(2)
    for budget in (fading, steady):
        for _ in range(100):
            budget.learn_one({"old": 1.0, "also old": 1.0})
        for _ in range(30):
            budget.learn_one({"new": 1.0, "newer": 1.0})
        for _ in range(3000):  # long enough for weights to be brought back to ones
            budget.learn_one({"new": 1.0})
    assert "new" in fading.transform_one({"old": 1.0, "new": 1.0})
    assert fading.count_of("old") == 0.0
    assert 6.0 < fading.count_of("new") < 8.0  # 1 / (1 - 2^(-1/5))
    assert steady.count_of("new") > 3000.0


def test_absent_features_do_not_count():
    budget = rb.FeatureBudget(1)
    budget.learn_one({"a": 0.0, "b": 2.0})
    assert budget.transform_one({"a": 1.0, "b": 1.0}) == {"b": 1.0}


def test_the_order_of_a_dict_never_matters():
    one, other, rng = rb.FeatureBudget(9, 100.0), rb.FeatureBudget(9, 100.0), random.Random(1)
    for x in stream(300):
        one.learn_one(x)
        names = list(x)
        rng.shuffle(names)
        other.learn_one({name: x[name] for name in names})
    assert sorted(one.kept()) == sorted(other.kept())


@pytest.mark.parametrize("parameters", [{"max_features": 0}, {"half_life": 0.0}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        rb.FeatureBudget(**parameters)
