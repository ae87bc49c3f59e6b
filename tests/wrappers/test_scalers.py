"""Our scalers: River's numbers, whatever comes in whatever order, and from any number of
threads.
"""

from __future__ import annotations

import copy
import functools
import math
import pickle
import random
import sys

import numpy as np
import pytest
from optional import given, pandas, polars, settings, st
from processes import in_threads, interrupted
from river import preprocessing

import river_budget as rb

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


@pytest.mark.parametrize("scaler", OURS)
def test_examples_with_exactly_the_known_names_have_the_numbers_of_all_others(scaler):
    """One scaler meets an example's own names only, the other one more, so that its rows are never
    whole.
    """
    whole, other = scaler.clone(), scaler.clone()
    other.learn_one({"other": 1.0})
    for x in [dict.fromkeys(PLAIN_NAMES, float(i)) for i in range(5)] + list(stream(50)):
        order = dict(sorted(x.items(), key=lambda item: repr(item[0])))
        assert repr(whole.transform_one(order)) == repr(other.transform_one(order))
        whole.learn_one(x)
        other.learn_one(x)
    assert repr(whole.table()) == repr([row for row in other.table() if row[0] != "other"])


@pytest.mark.parametrize("scaler", OURS)
@pytest.mark.parametrize(
    "bad", [None, "1.0", b"1", 10**400, 1j, np.complex128(1j), np.complex64(1), [1.0]], ids=repr
)
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


@pytest.mark.parametrize("scaler", OURS)
def test_threads_learn_every_example_once_and_others_transform(scaler):
    """Each of two threads meets the same new names, which then have one place."""
    scaler, switching = scaler.clone(), sys.getswitchinterval()

    def work(call):
        for i in range(1500):
            call({"a": float(i), "b": 1.0, f"n{i // 5}": 2.0})

    calls = [scaler.learn_one] * 2 + [scaler.transform_one] * 2 + [lambda x: scaler.table()]
    sys.setswitchinterval(1e-5)
    try:
        in_threads(*(functools.partial(work, call) for call in calls))
    finally:
        sys.setswitchinterval(switching)
    expected = {"a": 3000, "b": 3000} | {f"n{i}": 10 for i in range(300)}
    assert {name: count for name, count, _, _ in scaler.table()} == expected


@pytest.mark.parametrize("adds_up", [True, False])
@pytest.mark.parametrize("scaler", OURS)
def test_a_value_that_uses_the_scaler_leaves_both_examples_right(scaler, adds_up):
    """Converting it learns another example, with more new names than there is room for, and scales
    one.
    """
    nested, apart = scaler.clone(), scaler.clone()
    other = {"a": 5.0} | {f"n{i}": 1.0 for i in range(20)}

    class Nested:
        def __float__(self):
            nested.learn_one(other)
            nested.transform_one({"a": 9.0, "b": 9.0})
            return 3.0

        def __radd__(self, other):
            return other if adds_up else NotImplemented

    for x in ({"a": 1.0, "b": 2.0}, other, {"a": 2.0, "b": 3.0}):
        apart.learn_one(x)
    nested.learn_one({"a": 1.0, "b": 2.0})
    nested.learn_one({"a": 2.0, "b": Nested()})
    assert sorted(nested.table()) == sorted(apart.table())
    apart.learn_one(other)
    expected = apart.transform_one({"a": 4.0, "b": 3.0})
    assert nested.transform_one({"a": 4.0, "b": Nested()}) == expected


@pytest.mark.parametrize("scaler", OURS)
def test_a_signal_handler_may_make_room_while_room_is_made(scaler, monkeypatch):
    """It comes where the table has been measured and a wider one made, and learns even more new
    names.
    """
    scaler, apart = scaler.clone(), scaler.clone()
    narrow, wide = ({f"{n}-{i}": float(i) for i in range(n)} for n in (20, 200))
    tile = np.tile

    def interrupted_once(*given):
        monkeypatch.setattr(np, "tile", tile)
        scaler.learn_one({"a": 3.0} | wide)
        return tile(*given)

    for each in (scaler, apart):
        each.learn_one({"a": 1.0})
    monkeypatch.setattr(np, "tile", interrupted_once)
    scaler.learn_one(narrow)
    for x in ({"a": 3.0} | wide, narrow):
        apart.learn_one(x)
    assert np.tile is tile
    assert sorted(scaler.table()) == sorted(apart.table())


@pytest.mark.parametrize("scaler", OURS)
def test_two_orders_and_two_sets_of_names_in_turn(scaler):
    """Each has the numbers that River's has, in the order of the example."""
    ours, theirs = scaler.clone(), scaler.as_river()
    for i in range(12):
        x = {"a": float(i), "b": i**2.0, "c": -1.0}
        forms = x, dict(reversed(x.items())), {"c": 2.0, "a": 1.0}
        form = forms[i % 2 + i // 8]
        ours.learn_one(form)
        theirs.learn_one(form)
        same(ours.transform_one(form), theirs.transform_one(form))


@pytest.mark.parametrize(
    "x",
    [{"a": 2.0, "b": 3.0}, {"b": 2.0}, {"b": 2.0, "n": 1.0}, {f"n{i}": 1.0 for i in range(20)}],
    ids=["known names", "some of them", "a new one", "more than there is room for"],
)
@pytest.mark.parametrize("scaler", OURS)
def test_an_interrupt_anywhere_leaves_all_of_an_example_or_nothing(scaler, x):
    """Ctrl-C before every line of a call, in turn."""
    before, after = scaler.clone(), scaler.clone()
    for each in (before, after):
        each.learn_one({"a": 1.0, "b": 1.0})
    after.learn_one(x)
    for lines in range(1, 1000):
        twin = copy.deepcopy(before)
        finished = not interrupted(functools.partial(twin.learn_one, x), lines, "line")
        if twin.table() == before.table():
            assert not finished
            twin.learn_one(x)
        assert twin.table() == after.table()
        if finished:
            break
    assert 5 < lines < 999


def test_what_is_no_frame_is_said():
    scaler = rb.StandardScaler()
    scaler.learn_one({"a": 1.0})
    for call in (scaler.learn_many, scaler.transform_many):
        with pytest.raises(TypeError, match="examples must come as a frame, a 2-D array"):
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
    for call in (scaler.learn_many, scaler.transform_many):
        with pytest.raises(ValueError, match="'b' must be a finite number, not 'text'"):
            call(pandas.DataFrame({"a": [1.0], "b": ["text"]}))
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


# batches


@pytest.mark.parametrize("with_std", [True, False])
def test_batches_are_a_loop_over_rows_whether_frames_or_arrays(with_std):
    X = np.random.default_rng(0).normal([3.0, 1e6, 0.0], [2.0, 1e-3, 1e6], (50, 3))
    loop = rb.StandardScaler(with_std)
    forms = [
        lambda X: X,
        lambda X: pandas.DataFrame(X, columns=[*"abc"]),
        lambda X: pandas.DataFrame(X),  # River's refuses names that are whole numbers
        lambda X: polars.DataFrame(X, [*"abc"]),
    ]
    scalers = [rb.StandardScaler(with_std) for _ in forms]
    for part in (X[:20], X[20:20], X[20:]):
        for row in part.tolist():
            loop.learn_one(dict(enumerate(row)))
        for form, scaler in zip(forms, scalers, strict=True):
            scaler.learn_many(form(part))
    scaled = [[*loop.transform_one(dict(enumerate(row))).values()] for row in X.tolist()]
    for form, scaler in zip(forms, scalers, strict=True):
        assert [row[1:] for row in scaler.table()] == [row[1:] for row in loop.table()]
        found = np.asarray(scaler.transform_many(form(X)))
        assert found == pytest.approx(np.array(scaled), rel=1e-12, abs=1e-12)


def test_an_array_is_scaled_as_a_frame_of_the_same_numbers():
    """Also features that are new, or do not vary, and NaN."""
    on_arrays, on_frames = rb.StandardScaler(), rb.StandardScaler()
    on_arrays.learn_many(np.array([[1.0, 2.0], [1.0, 5.0]]))
    on_frames.learn_many(pandas.DataFrame({"a": [1.0, 1.0], "b": [2.0, 5.0]}))
    X = np.array([[3.0, math.nan, 4.0], [1.0, 3.0, 5.0]])
    expected = on_frames.transform_many(pandas.DataFrame(X, columns=[*"abc"])).to_numpy()
    assert np.array_equal(on_arrays.transform_many(X), expected, equal_nan=True)
    with pytest.raises(ValueError, match="must have 2 dimensions"):
        on_arrays.learn_many(X[0])
