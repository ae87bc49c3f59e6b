"""Our scalers: River's numbers, whatever comes in whatever order, by compiled code and by Python alike."""

from __future__ import annotations

import copy
import ctypes
import math
import pickle
import random
import sys
import threading

import numpy as np
import pytest
from optional import given, needs_compiler, needs_dict_reader, pandas, polars, settings, st
from river import checks, preprocessing

import river_budget as rb
from river_budget.algorithms.scaling import statistics
from river_budget.model.calls.fast_path import no_fast_path

PAIRS = [
    pytest.param(rb.StandardScaler(), preprocessing.StandardScaler(), id="standard"),
    pytest.param(rb.StandardScaler(False), preprocessing.StandardScaler(False), id="centred"),
    pytest.param(rb.MinMaxScaler(), preprocessing.MinMaxScaler(), id="min-max"),
]
OURS = [pytest.param(pair.values[0], id=pair.id) for pair in PAIRS]
RIVERS = "counts", "means", "vars"
PLAIN_NAMES = ["a", "b", "ä", 3, -1, 2**60, ("a", 1), "half \ud800", "", *"cdefghij"]
NAMES = [*PLAIN_NAMES, 2.5, None, True, frozenset("a")]
NUMBERS = st.one_of(
    st.floats(-1e6, 1e6),
    st.integers(-1000, 1000),
    st.booleans(),
    st.floats(-1e6, 1e6).map(np.float64),
    st.integers(-1000, 1000).map(np.int64),
)
COPIES = [
    copy.copy,
    copy.deepcopy,
    lambda scaler: pickle.loads(pickle.dumps(scaler)),
    lambda scaler: scaler.clone(include_attributes=True),
]


def frame(x, kind):
    """A frame of three rows, whose columns are the names that are text."""
    columns = {
        name: [value, 2.0 * value, value + 1.0] for name, value in x.items() if type(name) is str
    }
    return kind.DataFrame(columns)


def same(ours, theirs):
    """Whether two dicts have equal names, in one order, and numbers up to rounding."""
    assert list(ours) == list(theirs)
    assert all(type(value) is float for value in ours.values())
    assert list(ours.values()) == pytest.approx(
        list(theirs.values()), rel=1e-12, abs=1e-12, nan_ok=True
    )


def examples(names):
    return st.dictionaries(st.sampled_from(names), NUMBERS, max_size=12)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of numpy's numbers in River
@pytest.mark.parametrize("names", [PLAIN_NAMES, NAMES], ids=["plain names", "any names"])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_rivers_numbers_under_any_order_of_calls(ours, theirs, names, data):
    ours, theirs = ours.clone(), theirs.clone()
    verbs = ["learn", "learn", "learn", "transform", "copy"]
    if hasattr(theirs, "learn_many"):
        verbs += ["learn_many", "transform_many"]
    for _ in range(data.draw(st.integers(1, 25))):
        verb, x = data.draw(st.sampled_from(verbs)), data.draw(examples(names))
        if verb == "learn":
            ours.learn_one(x)
            theirs.learn_one(x)
        elif verb == "copy":
            ours = data.draw(st.sampled_from(COPIES))(ours)
        elif verb == "transform":
            same(ours.transform_one(x), theirs.transform_one(x))
        elif texts := {f"{len(name)}": float(v) for name, v in x.items() if type(name) is str}:
            X = frame(texts, data.draw(st.sampled_from([pandas, polars])))
            if verb == "learn_many":
                ours.learn_many(X)
                theirs.learn_many(X)
            else:
                found, expected = ours.transform_many(X), theirs.transform_many(X)
                assert type(found) is type(expected)
                assert found.to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-9, abs=1e-9)
    for name in RIVERS if hasattr(theirs, "counts") else ():
        if name != "vars" or ours.with_std:
            known = {key: getattr(theirs, name)[key] for key in theirs.counts}
            assert getattr(ours, name) == pytest.approx(known, rel=1e-9, abs=1e-9)


def stream(n, names=PLAIN_NAMES, seed=0):
    """Examples whose names come and go, of all kinds of numbers."""
    rng = random.Random(seed)
    for _ in range(n):
        x = {name: rng.gauss(3.0, 2.0) for name in rng.sample(names, rng.randrange(len(names)))}
        yield x | {
            name: rng.choice([1, True, np.float32(0.5), -0.0, math.nan]) for name in list(x)[:1]
        }


def answers(scaler, xs, without=None):
    """What comes out before each example is learned, and the table in the end, as text: to the bit."""
    found = []
    for x in xs:
        found.append(scaler.transform_one(x))
        scaler.learn_one(x)
        if without is not None:
            scaler._path = without
    return repr([found, scaler.table()])


@pytest.mark.parametrize("scaler", OURS)
def test_python_gives_the_bits_that_compiled_code_gives(scaler, monkeypatch):
    xs = list(stream(300))
    found = answers(scaler.clone(), xs)
    monkeypatch.setattr(statistics, "c_functions", list)
    assert answers(scaler.clone(), xs) == found


@needs_dict_reader
@pytest.mark.parametrize("scaler", OURS)
def test_names_that_are_known_take_the_short_way_also_in_a_copy(scaler):
    scaler = scaler.clone()
    for x in stream(50):
        scaler.learn_one(x)
    scaler.learn_one(dict.fromkeys(PLAIN_NAMES, 1.0))
    twin = copy.deepcopy(scaler)
    assert twin._path.scale is no_fast_path
    twin.transform_one({"a": 1.0})  # makes it
    for x in stream(50, seed=1):
        assert repr(scaler._path.scale(x)) == repr(twin._path.scale(x))
    for x in stream(50, seed=1):
        assert scaler._path.learn(x)
    assert twin.table() != scaler.table()


@pytest.mark.parametrize("scaler", OURS)
@pytest.mark.parametrize("bad", [None, "1.0", b"1", 10**400, 1j, [1.0]], ids=repr)
def test_what_is_no_number_is_refused_and_nothing_is_learned(scaler, bad):
    scaler = scaler.clone()
    for x in [{"a": 1.0, "b": 2.0}, {"b": 4.0, "a": 2.0}]:
        scaler.learn_one(x)
    before = scaler.table()
    for call in (scaler.learn_one, scaler.transform_one):
        for x in ({"a": 3.0, "b": bad}, {"new": 1.0, "b": bad}):
            with pytest.raises(ValueError, match="feature 'b' must be a finite number"):
                call(x)
    assert scaler.table() == before


@pytest.mark.parametrize("scaler", OURS)
def test_the_example_stays_as_it_is_and_what_comes_out_is_a_dict_of_its_own(scaler):
    scaler = scaler.clone()
    x = {"a": 1.0, "b": 2}
    for _ in range(3):
        scaler.learn_one(x)
        found = scaler.transform_one(x)
    found["a"] = 7.0
    assert x == {"a": 1.0, "b": 2}
    assert [type(value) for value in x.values()] == [float, int]
    assert scaler.transform_one(x)["a"] == 0.0


@needs_compiler
@pytest.mark.parametrize("scaler", OURS)
def test_nothing_is_held_and_nothing_is_lost(scaler):
    """References to names and values after very many calls."""
    scaler, names, values = (
        scaler.clone(),
        [f"name {i}" for i in range(20)],
        [float(i) for i in range(20)],
    )
    x = dict(zip(names, values, strict=True))
    scaler.learn_one(x)
    held = [sys.getrefcount(each) for each in names + values]
    for i in range(5000):
        scaler.learn_one(x)
        scaler.transform_one(x)
        assert scaler._path.scale(x | {"new": None}) is None
        assert scaler._path.learn(x | {"new": float(i)}) is None
    assert [sys.getrefcount(each) for each in names + values] == held


@pytest.mark.parametrize("scaler", OURS)
def test_threads_learn_every_example_once_and_others_transform(scaler):
    scaler, errors = scaler.clone(), []
    scaler.learn_one({"a": 1.0, "b": 1.0})

    def work(call):
        try:
            for i in range(3000):
                call({"a": float(i), "b": 1.0})
        except Exception as error:
            errors.append(error)

    calls = [scaler.transform_one, scaler.transform_one, lambda x: scaler.table()]
    if not isinstance(scaler, rb.MinMaxScaler):
        calls.append(scaler.learn_one)
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert isinstance(scaler, rb.MinMaxScaler) or scaler.counts == {"a": 3001, "b": 3001}


@pytest.mark.parametrize("scaler", OURS)
def test_a_second_thread_that_learns_is_refused(scaler):
    scaler = scaler.clone()
    scaler.learn_one({"a": 1.0})
    scaler.turn.taken = True
    for x in ({"a": 2.0}, {"new": 1.0}):
        with pytest.raises(RuntimeError, match="two threads"):
            scaler.learn_one(x)
    assert list(scaler.transform_one({"a": 1.0, "new": 2.0})) == ["a", "new"]


@needs_compiler
@pytest.mark.parametrize("scaler", OURS)
def test_without_memory_there_is_an_error_and_the_scaler_is_what_it_was(scaler):
    """The n-th request for memory fails, for every n there is; also while names are new and room is made."""
    testcapi = pytest.importorskip(
        "_testcapi", reason="this Python cannot be told to have no memory"
    )
    scaler, failures = scaler.clone(), 0
    xs = [
        dict.fromkeys(["a", "b"], 1.0),
        {"b": 2.0, "a": 1},
        {f"n{i}": 1.0 for i in range(20)},
        {2.5: 1.0},
    ]
    for x in xs:
        expected = copy.deepcopy(scaler)
        expected.learn_one(x)
        for call in (scaler.transform_one, scaler.learn_one):
            before = scaler.table()
            for n in range(2000):
                testcapi.set_nomemory(n, n + 1)
                try:
                    call(x)
                    break
                except (
                    MemoryError,
                    SystemError,
                    ctypes.ArgumentError,
                ):  # as numpy and ctypes say it
                    failures += 1
                finally:
                    testcapi.remove_mem_hooks()
                assert scaler.table() == before, (n, x)
                assert not scaler.turn.taken
        assert scaler.table() == expected.table()
        assert scaler.transform_one(xs[0]) == expected.transform_one(xs[0])
    assert failures > 20


@pytest.mark.parametrize("scaler", OURS)
def test_what_is_no_dict_and_no_frame_is_said(scaler):
    scaler = scaler.clone()
    scaler.learn_one({"a": 1.0})
    for call in (scaler.learn_one, scaler.transform_one):
        with pytest.raises(TypeError, match="an example must be a dict of its features, not"):
            call([1, 2])
    if hasattr(scaler, "learn_many"):
        for call in (scaler.learn_many, scaler.transform_many):
            with pytest.raises(TypeError, match="rows must come as a frame, not as list"):
                call([{"a": 1.0}])
            with pytest.raises(TypeError, match=r"X\.collect\(\)"):
                call(polars.LazyFrame({"a": [1.0]}))


def test_a_name_that_cannot_be_compared_leaves_the_scaler_as_it_was():
    class Name:
        def __init__(self, good):
            self.good = good

        def __hash__(self):
            return 1

        def __eq__(self, other):
            assert self.good
            assert other.good
            return self is other

    scaler, good = rb.StandardScaler(), Name(True)
    scaler.learn_one({good: 1.0, "a": 2.0})
    before = scaler.table()
    with pytest.raises(AssertionError):
        scaler.learn_one({"a": 3.0, Name(False): 1.0, "b": 1.0})
    assert scaler.table() == before
    scaler.learn_one({good: 3.0})
    assert scaler.counts == {good: 2, "a": 1}


def test_a_variance_below_zero_by_rounding_counts_as_none():
    scaler = rb.StandardScaler()
    X = pandas.DataFrame({"a": [1e8 + 1.1] * 3})
    scaler.learn_many(X)
    scaler.set_table([["a", 3.0, 1e8, -1e-9]])
    assert scaler.transform_one({"a": 5.0}) == {"a": 0.0}
    assert scaler.transform_many(X)["a"].tolist() == pytest.approx([1.1] * 3)


def test_a_frame_that_cannot_be_read_leaves_the_scaler_as_it_was():
    scaler = rb.StandardScaler()
    scaler.learn_one({"a": 1.0})
    before = scaler.table()
    with pytest.raises(ValueError, match="text"):
        scaler.learn_many(pandas.DataFrame({"a": [1.0], "b": ["text"]}))
    assert scaler.table() == before
    scaler.learn_one({"a": 2.0})
    assert scaler.counts == {"a": 2}


@pytest.mark.parametrize("scaler", OURS)
def test_memory_grows_with_names_only(scaler):
    scaler = scaler.clone()
    xs = list(stream(200))
    sizes = []
    for _ in range(2):
        for x in xs:
            scaler.learn_one(x)
            scaler.transform_one(x)
        sizes.append(scaler._raw_memory_usage)
    assert sizes[0] == sizes[1] < 8000


PIPELINES = [
    pytest.param(
        pair.values[0] | rb.BSGDClassifier(15), id=f"{pair.id} in front", marks=pytest.mark.slow
    )
    for pair in PAIRS
]


@pytest.mark.parametrize("scaler", OURS + PIPELINES)
def test_river_takes_it_for_one_of_its_own(scaler):
    pytest.importorskip("sklearn", reason="River's checks take data from scikit-learn")
    for check in checks.yield_checks(scaler):
        if check.__name__ != "check_learn_many_matches_learn_one":
            check(scaler.clone())
