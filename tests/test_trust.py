"""Long tests of what users rely on: files that survive, any order of operations, constant memory, threads.

`pytest -m slow tests/test_trust.py` runs them in minutes. The soak takes its number of examples from the
environment: RIVER_BUDGET_SOAK=10000000 is the full one. `python tests/test_trust.py` prints how much faster
two threads predict than one.
"""

from __future__ import annotations

import contextlib
import copy
import faulthandler
import gc
import math
import os
import pickle
import random
import resource
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from forging import FORGED, forge, outcome_of, signed, unpacked
from inside import plain
from models import MODELS, list_of, may_be_unlimited, two_classes_only
from river import base
from saved_models import ALL, answers, file_of, is_supervised, stream_of, taught, teach

import river_budget as rb
from river_budget.core.block.blocks import table_of, views
from river_budget.core.passes.window import sbp
from river_budget.kernels import RBF, Linear, Polynomial
from river_budget.maintenance import Merge, Project
from river_budget.saving import opened

pytestmark = pytest.mark.slow

FILES = 200_000
SEQUENCES = 300  # for each of about 80 models
SOAK = int(os.environ.get("RIVER_BUDGET_SOAK", "300000"))
GROWTH = 50e6  # bytes that a long test may add to the process


def resident():
    """Bytes of memory that this process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.fixture
def no_hang():
    """A loop without end in compiled code answers no signal: end the process and say where it was."""
    faulthandler.dump_traceback_later(1200, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


# Mutated files


def mutated(rng, data, others):
    """The bytes of a file after one to four changes."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            data[place : place + 1] = bytes([rng.randrange(256)])
        elif kind == 1 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[place : place + rng.choice([1, 8, 100, 10**6])]
        elif kind == 3:
            data[place:place] = rng.randbytes(rng.choice([1, 8, 50]))
        elif kind == 4:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            length = rng.choice([1, 8, 64, 1000])
            data[place : place + length] = other[start : start + length]
        else:  # a digit or a sign of the header
            digits = [i for i in range(48, min(len(data), 1500)) if chr(data[i]) in '0123456789-"']
            if digits:
                data[rng.choice(digits)] = ord(rng.choice('0123456789-"'))
    return bytes(data)


def test_mutated_files_are_refused_or_hold_a_model_that_works(no_hang):
    """A third keeps a wrong checksum, a third is signed again, and of the rest the header is kept in order."""
    rng = random.Random(1)
    files = [file_of(taught(model, 30)) for model in FORGED]
    sources = [unpacked(data) for data in files]
    for data in files:  # what is compiled late is no growth
        outcome_of(data)
    gc.collect()
    before, most, loaded = resident(), 0, 0
    for i in range(FILES):
        if i % 3 == 0:
            data = mutated(rng, rng.choice(files), files)
        elif i % 3 == 1:
            data = signed(mutated(rng, rng.choice(files), files)[40:])
        else:
            data = forge(rng, *rng.choice(sources))
        loaded += outcome_of(data) == "loaded"
        if i % 500 == 0:
            most = max(most, resident() - before)
    print(
        f"{FILES} files, {loaded} of them loaded; memory grew by at most {most / 1e6:.1f} MB "
        f"to {(before + most) / 1e6:.0f} MB"
    )
    assert loaded > 100
    assert most < GROWTH


LOADER = """
import re, sys
import river_budget as rb
from river_budget.saving import opened

loaded, read = 0, sys.stdin.buffer.read
while size := int.from_bytes(read(8), "little"):
    try:
        opened(read(size - 1), max_bytes=2**24)
        loaded += 1
    except rb.SavedModelError:
        pass
print(loaded, re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""


def test_a_process_that_loads_mutated_files_stays_below_250_MB(no_hang):
    """A process with nothing but the package in it, which needs 176 MB, and 230 with a model of AutoKernel."""
    rng = random.Random(3)
    files = [file_of(taught(model, 30)) for model in FORGED]
    sources = [unpacked(data) for data in files]
    loader = subprocess.Popen(
        [sys.executable, "-c", LOADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for i in range(FILES):
        if i % 2:
            data = signed(mutated(rng, rng.choice(files), files)[40:])
        else:
            data = forge(rng, *rng.choice(sources))
        loader.stdin.write((len(data) + 1).to_bytes(8, "little") + data)  # 0 would be the end
    output, _ = loader.communicate()
    assert loader.returncode == 0  # no other exception
    loaded, kilobytes = map(int, output.split())
    print(f"{FILES} files, {loaded} of them loaded; at most {kilobytes / 1e3:.0f} MB")
    assert loaded > 100
    assert kilobytes < 250_000


def test_with_the_usual_limit_a_forged_file_takes_no_memory(no_hang):
    """The same without a limit of one's own, loaded and not used: sizes up to 4 GB pass the checks."""
    rng = random.Random(2)
    sources = [unpacked(file_of(taught(model, 30))) for model in FORGED]
    before, most = resident(), 0
    for i in range(20_000):
        with contextlib.suppress(rb.SavedModelError):
            opened(forge(rng, *rng.choice(sources)))
        if i % 100 == 0:
            most = max(most, resident() - before)
    assert most < GROWTH


# Operations in any order

MORE = [
    pytest.param(rb.ProjectronClassifier(9, Linear()), id="Projectron-linear"),
    pytest.param(rb.ProjectronRegressor(9, Polynomial(2)), id="Projectron-R-polynomial"),
    pytest.param(rb.BPAClassifier(9, Polynomial(2), update="projection"), id="BPA-P-polynomial"),
    pytest.param(rb.BPAClassifier(9, Linear(), update="nearest"), id="BPA-N-linear"),
    pytest.param(rb.BSGDClassifier(9, Polynomial(), Project()), id="BSGD-P-polynomial"),
    pytest.param(rb.BudgetPerceptronClassifier(9, Linear()), id="CKS-linear"),
    pytest.param(rb.NOGDClassifier(9, Linear(), 4), id="NOGD-linear"),
    pytest.param(rb.BOGDClassifier(9, Linear(), sampling="nonuniform", seed=1), id="BOGD-linear"),
    pytest.param(rb.SBPClassifier(9, Polynomial(3, 1.0, -1.0), fit_bias=True), id="SBP-not-psd"),
    pytest.param(rb.SBPClassifier(9, Linear(), fit_bias=True, eviction="oldest"), id="SBP-linear"),
]
ESTIMATORS = ALL + MORE

MAGNITUDES = [10.0**power for power in (-300, -160, -30, -8, 8, 30, 150, 155, 300)]
NAMES = ["a", "b", "c", "d", "e", "f", 7, ("g", 1)]
LABELS = ["blue", "amber", "coral", "dun"]


def any_example(rng, seen):
    """An example: often a repetition or nothing at all, at times with values of any size."""
    kind = rng.randrange(10)
    if kind == 0:
        return {}
    if kind <= 2 and seen:
        return rng.choice(seen)
    names = rng.sample(NAMES, rng.randrange(1, 5))
    if kind == 3:
        return dict.fromkeys(names, 0.0)
    if kind <= 5:
        return {name: rng.choice([-1, 1]) * rng.choice(MAGNITUDES) for name in names}
    return {name: rng.gauss(0.0, 1.0) for name in names}


def any_target(rng, model):
    if isinstance(model, base.Regressor):
        return rng.choice([-1.0, 0.5, 2.0, 0.0, 1e300, -1e-300])
    if getattr(model, "classes", None):
        return rng.choice(model.classes)
    return rng.random() < 0.5 if two_classes_only(model) else rng.choice(LABELS)


def learn_something(rng, model, seen):
    x = any_example(rng, seen)
    seen.append(x)
    if not is_supervised(model):
        model.learn_one(x)
    else:
        w = rng.choice([1.0, 1.0, 1.0, 0.0, 0.3, 5.0, 1e-300, 1e8])
        model.learn_one(x, any_target(rng, model), w)
    return model


def predict_something(rng, model, seen):
    answers(model, [(any_example(rng, seen) | {"unknown": 1.0}, None)])
    return model


def mutate_something(rng, model, seen):
    if hasattr(model, "budget"):
        choices = [1, 2, 5, 20, None] if may_be_unlimited(model) else [1, 2, 5, 20]
        least = getattr(model, "rank", None) or 1
        budget = rng.choice([b for b in choices if b is None or b >= least] or [model.budget])
        with contextlib.suppress(ValueError):  # only the Gaussian kernel can merge
            model.mutate({"budget": budget})
    elif hasattr(model, "window"):
        model.mutate({"window": rng.choice([1, 2, 5, 20])})
    elif hasattr(model, "learning_rate") and "learning_rate" in model._mutable_attributes:
        model.mutate({"learning_rate": rng.choice([1e-8, 0.1, 0.9])})
    return model


def refine_something(rng, model, seen):
    if hasattr(model, "refine"):
        model.refine(rng.choice([0, 1, 7]))
    return model


def save_and_load(rng, model, seen):
    twin = opened(file_of(model))
    assert file_of(twin) == file_of(model)
    return twin


def freeze_a_copy(rng, model, seen):
    frozen = opened(file_of(model), predict_only=True)
    stream = [(x, None) for x in seen[-3:]]
    assert answers(frozen, stream) == answers(model, stream)
    with pytest.raises(RuntimeError):
        frozen.learn_one({})
    return model


OPERATIONS = [
    *[learn_something] * 8,
    predict_something,
    mutate_something,
    refine_something,
    save_and_load,
    freeze_a_copy,
    lambda rng, model, seen: pickle.loads(pickle.dumps(model)),
    lambda rng, model, seen: copy.deepcopy(model),
    lambda rng, model, seen: model.clone(include_attributes=True),
]


def check(model, seen):
    """Nothing but finite numbers, and never more than the budget."""
    for x in (seen[-1] if seen else {}, {"a": 1.0, "new": -1.0}):
        if hasattr(model, "transform_one"):
            scores = model.transform_one(x).values()
        else:
            scores = list_of(model.decision_function_one(x))
        assert all(map(math.isfinite, scores))
        if isinstance(model, base.Classifier):
            assert all(0.0 <= share <= 1.0 for share in model.predict_proba_one(x).values())
            model.predict_one(x)
    if model.block is None:
        return
    block = views(model.block)
    n = int(block.head.count)
    limit = getattr(model, "budget", None) or getattr(model, "window", None)
    assert limit is None or n <= limit
    for table in (table_of(block), block.coefficients, block.per_vector):
        assert np.isfinite(table).all()
    assert not np.isnan(block.norms).any()
    assert not block.coefficients[:, n:].any()
    if isinstance(model, (rb.AutoKernelClassifier, rb.AutoKernelRegressor)):
        return  # arrivals stand elsewhere
    if hasattr(model, "n_support_vectors"):
        arrivals = block.arrivals[:n]
        assert len(set(arrivals.tolist())) == n
        assert n == 0 or 0 <= arrivals.min() <= arrivals.max() < block.head.arrived


@pytest.mark.parametrize("number", range(len(ESTIMATORS)), ids=[e.id for e in ESTIMATORS])
def test_models_survive_any_sequence_of_operations(number, no_hang):
    (original,) = ESTIMATORS[number].values
    for seed in range(SEQUENCES):
        rng, seen = random.Random(1000 * number + seed), []
        model, done = original.clone(), []
        for _ in range(rng.randrange(8, 23)):
            operation = rng.choice(OPERATIONS)
            done.append(operation.__name__)
            try:
                model = operation(rng, model, seen)
                check(model, seen)
            except Exception as error:
                error.add_note(f"seed {1000 * number + seed}: {done}")
                raise


ZERO, FAR = {}, {"c": 1e300}
OVERFLOWING = [
    pytest.param(
        rb.ProjectronClassifier(9, Linear()),
        [({"b": 1e-160}, "coral"), ({"b": 1e300}, "amber")],
        id="the factor of a tiny vector times a huge kernel value",
    ),
    pytest.param(
        rb.BPAClassifier(1, Linear(), update="nearest"),
        [({"a": 1.0}, "dun"), ({"a": -1e-160}, "dun"), (ZERO, "blue")],
        id="a loss that is NaN has no least",
    ),
    pytest.param(
        rb.NOGDClassifier(9, Linear(), rank=4),
        [
            *(({"c": 1.0}, "coral"), (ZERO, "blue"), (ZERO, "blue"), (ZERO, "coral")),
            *((FAR, "amber"), (ZERO, "amber"), (ZERO, "amber")),
            *(({"c": 1.0, 7: 1.0}, "blue"), ({7: 1.0}, "dun"), (ZERO, "dun")),
        ],
        id="a Gram matrix whose largest values are cut off",
    ),
]


@pytest.mark.parametrize(("model", "stream"), OVERFLOWING)
def test_extreme_values_do_no_harm_with_kernels_that_have_no_bound(model, stream):
    model = model.clone()
    for example in stream:
        teach(model, [example])
        check(model, [example[0]])


# Special streams


def targets_for(model, n, one_class=False):
    if isinstance(model, base.Regressor):
        return [1.0 if one_class else math.sin(i) for i in range(n)]
    if getattr(model, "classes", None):
        return [model.classes[0 if one_class else i % len(model.classes)] for i in range(n)]
    return [True if one_class else i % 2 == 0 for i in range(n)]


def special_streams(model):
    rng = np.random.default_rng(0)
    point = {"a": 0.5, "b": -1.0}
    two, one = targets_for(model, 150), targets_for(model, 150, one_class=True)
    points = [dict(zip("abc", row, strict=True)) for row in rng.normal(size=(150, 3)).tolist()]
    yield "constant", [(point, y) for y in one]
    yield "contradiction", [(point, y) for y in two]
    yield "one class", list(zip(points, one, strict=True))
    yield "duplicates", [(points[i % 3], y) for i, y in enumerate(two)]
    yield "zero vectors", [({"a": 0.0}, y) for y in two[:75]] + [({}, y) for y in two[75:]]
    yield "collinear", [({"a": 1.0 + i, "b": 2.0 + 2 * i}, y) for i, y in enumerate(two)]
    yield "tiny steps", [({"a": 1.0 + 1e-12 * i}, y) for i, y in enumerate(two)]


@pytest.mark.parametrize("model", ESTIMATORS)
def test_special_streams_do_no_harm(model, no_hang):
    for name, stream in special_streams(model):
        twin = model.clone()
        for i, example in enumerate(stream):
            teach(twin, [example])
            if i % 10 == 9:
                check(twin, [example[0]])
        assert file_of(opened(file_of(twin))) == file_of(twin), name


@pytest.mark.parametrize("model", ESTIMATORS)
def test_ten_thousand_features(model):
    rng, model = np.random.default_rng(0), model.clone()
    names = [f"feature {i}" for i in range(10_000)]
    targets = targets_for(model, 25)
    for i, row in enumerate(rng.normal(size=(25, 10_000)) / 100.0):
        teach(model, [(dict(zip(names, row.tolist(), strict=True)), targets[i])])
    for i in range(5):  # and few of them
        teach(model, [({f"feature {i}": 1.0, f"another {i}": 0.5}, targets[i])])
    check(model, [{"feature 3": 1.0}])
    twin = opened(file_of(model))
    stream = [(dict.fromkeys(names, 0.01), None), ({"feature 3": 1.0}, None)]
    assert answers(twin, stream) == answers(model, stream)


@pytest.mark.parametrize(
    "model",
    [e for e in MODELS if isinstance(e.values[0], base.Classifier) and not two_classes_only(e.values[0])],
)  # fmt: skip
def test_five_hundred_classes(model):
    rng, model = np.random.default_rng(0), model.clone()
    centres = rng.normal(size=(500, 4))
    for i in range(700):
        x = centres[i % 500] + 0.1 * rng.normal(size=4)
        model.learn_one(dict(enumerate(x.tolist())), f"class {i % 500}")
    check(model, [dict(enumerate(centres[0].tolist()))])
    shares = model.predict_proba_one({0: 1.0})
    assert len(shares) == 500
    assert math.isclose(sum(shares.values()), 1.0)
    assert opened(file_of(model)).predict_proba_one({0: 1.0}) == shares


# Long streams

CHUNK = 10_000
EXACT = 1e-6
SOAKING = {
    "BSGD-merge": rb.BSGDClassifier(40, RBF(0.5), Merge()),
    "BSGD-strong-l2": rb.BSGDClassifier(40, RBF(0.5), Project(), l2=0.1),
    "BSGD-project": rb.BSGDClassifier(40, RBF(0.5), Project()),
    "Projectron": rb.ProjectronClassifier(40, RBF(0.5)),
    "Forgetron": rb.ForgetronClassifier(40, RBF(0.5)),
    "NOGD": rb.NOGDClassifier(40, RBF(0.5)),
    "SBP": rb.SBPClassifier(40, RBF(0.5), seed=1),
    "SBP-bias": rb.SBPClassifier(40, RBF(0.5), fit_bias=True, eviction="oldest", seed=1),
}


def drifting(number):
    """Chunk `number` of a stream whose clusters wander and whose classes change places."""
    rng = np.random.default_rng(number)
    t = (number + np.arange(CHUNK) / CHUNK) / 10.0
    side = rng.random(CHUNK) < 0.5
    rows = rng.normal(size=(CHUNK, 4))
    rows[:, 0] += np.where(side, 1.5, -1.5) * np.cos(t)
    rows[:, 1] += np.where(side, 1.5, -1.5) * np.sin(t)
    return rows, side ^ (rng.random(CHUNK) < 0.05)


@pytest.mark.parametrize("name", SOAKING)
def test_a_long_stream_leaves_memory_flat_and_the_model_exact(name, no_hang):
    model = SOAKING[name].clone()
    flat, start, right, errors = 0, time.time(), 0, {}
    chunks = max(SOAK // CHUNK, 12)
    for number in range(chunks):
        rows, targets = drifting(number)
        right += int(np.sum(model.predict_then_learn_many(rows, targets) == targets))
        if number == 9:
            gc.collect()
            flat = resident()
        block = views(model.block)
        assert np.isfinite(block.coefficients).all()
        assert block.head.count <= 40
        if number % 10 == 9 or number == chunks - 1:
            now = errors_of(model)
            errors = {name: max(errors.get(name, 0.0), error) for name, error in now.items()}
    gc.collect()
    grown = resident() - flat
    print(
        f"{name}: {chunks * CHUNK} examples in {time.time() - start:.0f} s, {right / chunks / CHUNK:.3f} right, "
        f"memory {grown / 1e6:+.2f} MB, errors {errors}"
    )
    assert grown < 4e6
    assert model.n_repairs == 0
    assert all(math.isfinite(model.decision_function_one(dict(enumerate(row)))) for row in rows[:9])
    assert all(error <= EXACT for error in errors.values())


def errors_of(model):
    """Maintained quantities against their recomputation, relative to their size where that is above 1."""
    block, own = views(model.block), model.state_record()
    n = int(block.head.count)
    X, a = block.vectors[: len(model.features), :n].T, block.coefficients[0, :n]
    weights = block.head.scale * a
    gram = plain(model.kernel)(X, X)
    norm2 = float(weights @ gram @ weights)
    errors = {"norms": off(block.norms[:n], np.sum(X**2, axis=1))}
    names = own.dtype.names
    if "norm2" in names and not ("bounded" in names and own.bounded):
        errors["norm2"] = off(own.norm2, norm2)
    elif "norm2" in names:  # a bound from above
        errors["bound"] = max(0.0, 1.0 - own.norm2 / norm2)
    if isinstance(model, rb.SBPClassifier):
        labels = block.per_vector[sbp.LABELS, :n]
        errors["table"] = off(block.factor[:n, :n], gram)
        errors["responses"] = off(block.per_vector[sbp.RESPONSES, :n], labels * (gram @ a))
        errors["positives"] = abs(own.positives - np.sum(labels > 0))
    elif block.head.factored:
        factor = np.tril(block.factor[:n, :n])
        errors["factor"] = off(factor @ gram @ factor.T, np.eye(n))
    if "kept" in names:
        basis = block.per_vector[: own.kept, :n]
        errors["basis"] = off(basis @ gram @ basis.T, np.eye(int(own.kept)))
    if "damage" in names:
        errors["allowance"] = max(0.0, own.damage / own.mistakes - 15.0 / 32.0)
    return {name: float(f"{error:.1e}") for name, error in errors.items()}


def off(found, expected):
    return float(np.max(np.abs(found - expected)) / max(1.0, np.max(np.abs(expected))))


# Threads


def in_threads(functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("model", ESTIMATORS)
def test_threads_predict_what_one_would(model):
    model = taught(model, 60)
    stream = stream_of(model, 50, seed=1)
    stream += [(x | {"unknown": 1.0}, y) for x, y in stream[:5]]
    expected, found = answers(model, stream), [[] for _ in range(4)]
    rows = np.random.default_rng(0).normal(size=(500, 3))
    batches = ("predict_many", "score_many", "transform_many")
    many = next(getattr(model, name) for name in batches if hasattr(model, name))
    expected_many = many(rows)

    def predict(results):
        for _ in range(5):
            results.append(answers(model, stream))
            assert np.array_equal(many(rows), expected_many)

    in_threads([lambda results=results: predict(results) for results in found])
    assert found == [[expected] * 5] * 4


def throughput(n_threads, seconds=2.0):
    """Rows predicted in a second by so many threads, and their predictions."""
    rng = np.random.default_rng(0)
    model = rb.BSGDClassifier(500, RBF(0.1))
    model.learn_many(rng.normal(size=(5000, 20)), rng.random(5000) < 0.5)
    rows = rng.normal(size=(5000, 20))
    model.predict_many(rows)
    counts, last = [0] * n_threads, [None] * n_threads
    end = time.perf_counter() + seconds

    def work(i):
        while time.perf_counter() < end:
            last[i] = model.predict_many(rows)
            counts[i] += len(rows)

    in_threads([lambda i=i: work(i) for i in range(n_threads)])
    return sum(counts) / seconds, last


def test_two_threads_predict_the_same_as_one():
    (_, one), (_, two) = throughput(1, 0.3), throughput(2, 0.3)
    assert all(np.array_equal(found, one[0]) for found in two)


if __name__ == "__main__":
    for _ in range(3):
        one, two = throughput(1)[0], throughput(2)[0]
        print(f"one thread {one:,.0f} rows/s, two {two:,.0f}: {two / one:.2f} times")
