"""The order of summation follows from the names alone, also where the keys of names are equal."""

from __future__ import annotations

import fractions
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from folders import ROOT, TESTS
from optional import needs_dict_reader
from saved_models import file_of

import river_budget as rb
from river_budget.core.block import blocks
from river_budget.core.examples import dict_reader
from river_budget.kernels import RBF, Laplacian
from river_budget.maintenance import Merge
from river_budget.model.inputs import sparse_examples
from river_budget.saving import opened

K = RBF(0.05)
TWINS = ("plumless", "buckeroo")  # two words of one CRC-32
MODELS = [
    rb.BSGDClassifier(20, K),
    rb.BSGDClassifier(20, K, Merge(4)),
    rb.BPAClassifier(20, K),
    rb.RBPClassifier(20, K, seed=1),
    rb.NORMAClassifier(20, K),
    rb.BOGDClassifier(20, K, seed=1),
    rb.KernelPerceptronClassifier(Laplacian(0.05)),
    rb.RBPClassifier(20, Laplacian(0.05), seed=1),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:60])


def documents(n, twins=TWINS, seed=0):
    rng = random.Random(seed)
    for t in range(n):
        names = [f"w{rng.randrange(20 + 5 * t)}" for _ in range(5)]
        names += [word for word in twins if rng.random() < 0.4]
        rng.shuffle(names)
        x = {name: 1.0 + len(name) % 3 for name in names}
        yield x, (twins[0] in x) != (twins[1] in x)


def scores_of(model, stream):
    found = []
    for x, y in stream:
        found.append(model.decision_function_one(x))
        model.learn_one(x, y)
    return found


def test_two_words_have_one_key_and_two_ties():
    (key, tie), (other_key, other_tie) = map(sparse_examples.key_and_tie, TWINS)
    assert key == other_key
    assert tie != other_tie


def test_other_names_are_told_apart():
    crc = int(sparse_examples.key_and_tie("a")[0])
    names = [2**53, 2**53 + 1, 1 / 3, fractions.Fraction(1, 3), -1, -2]
    names += ["a", crc, ("a", "b"), "('a', 'b')"]
    assert len({sparse_examples.key_and_tie(name) for name in names}) == len(names)
    for equal in ([1, 1.0, True, np.int64(1), fractions.Fraction(1)], ["a", np.str_("a")]):
        assert len({sparse_examples.key_and_tie(name) for name in equal}) == 1


@each_model
def test_renaming_a_twin_changes_nothing_but_the_order_of_sums(model):
    found = scores_of(model.clone(), documents(1500))
    expected = scores_of(model.clone(), documents(1500, ("plumless", "bxckeroo")))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


SLOW_BITS = [pytest.param(bits, marks=pytest.mark.slow) for bits in (32, 4)]


@pytest.fixture(params=[2, 0, *SLOW_BITS], ids=lambda bits: f"{bits} bits")
def bits(request, monkeypatch):
    """Fewer bits of keys: many names have the same, or all."""
    monkeypatch.setattr(sparse_examples, "key_mask", 2**request.param - 1)
    return request.param


@each_model
def test_the_order_of_a_dict_has_no_influence(model, bits):
    rng, stream = random.Random(1), list(documents(250))
    shuffled = [(dict(rng.sample(list(x.items()), len(x))), y) for x, y in stream]
    assert scores_of(model.clone(), stream) == scores_of(model.clone(), shuffled)


@each_model
def test_files_and_copies_go_on_exactly(model, bits):
    model, stream = model.clone(), list(documents(250))
    scores_of(model, stream[:180])
    twin = opened(file_of(model))
    assert file_of(twin) == file_of(model)
    assert scores_of(twin, stream[180:]) == scores_of(model, stream[180:])


@each_model
def test_many_examples_are_a_loop(model, bits):
    """A sparse matrix has one order of columns, dicts have another."""
    sparse = pytest.importorskip("scipy.sparse")
    stream = list(documents(200))
    names = sorted({name for x, _ in stream for name in x})
    columns = {name: i for i, name in enumerate(names)}
    lengths = [len(x) for x, _ in stream]
    data = [value for x, _ in stream for value in x.values()]
    places = [columns[name] for x, _ in stream for name in x]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    matrix = sparse.csr_matrix((data, places, starts), (len(stream), len(names)))
    numbered = [({columns[name]: value for name, value in x.items()}, y) for x, y in stream]
    one, many = model.clone(), model.clone()
    scores_of(one, numbered)
    many.learn_many(matrix, np.array([y for _, y in stream]))
    for x, _ in numbered:
        assert one.decision_function_one(x) == many.decision_function_one(x)


@needs_dict_reader
@pytest.mark.parametrize("bits", [32, 2], indirect=True)
def test_compiled_code_has_the_same_keys_and_ties(bits):
    """Names get their keys from compiled code where it reads examples, else from Python."""
    model = rb.RBPClassifier(30, K, seed=1)
    for i, (x, y) in enumerate(documents(300)):
        more = {("a", i): 1.0, ("b", "c", i % 7): 2.0, i % 90 - 20: 1.0, f"ü{i}": 1.0, "": 0.5}
        model.predict_one(x | more)
        model.learn_one(x | more, y)
    assert model.features.loose
    assert model.fast_path.block is model.block
    block = blocks.views(model.block)
    for name, place in model.features.places.items():
        found = block.keys[place], int(block.ties[place])
        assert found == sparse_examples.key_and_tie(name), name


def test_both_are_made_of_the_same_numbers():
    assert int(dict_reader.TEXT_MODULUS) == sparse_examples.TEXT_MODULUS
    assert dict_reader.NUMBER_MODULUS == sparse_examples.NUMBER_MODULUS
    assert int(dict_reader.OF_TEXT) == sparse_examples.TEXT[0]
    assert int(dict_reader.OF_TUPLE) == sparse_examples.TUPLE[0]


SUITES = [
    "sparse",
    "merged_words",
    "fast_path",
    "pickles",
    "replay",
    "replay_family",
    "family_laws",
]
SUITES += ["merge", "fuzz"]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [4, 2, 0])
@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_passes_where_names_have_few_keys(suite, kept):
    """tests/conftest.py keeps so many bits of every key."""
    (place,) = TESTS.rglob(f"test_{suite}.py")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", place]
    command += ["-k", "not another_process"]  # which would keep all bits
    environment = os.environ | {"RIVER_BUDGET_TEST_KEY_BITS": str(kept)}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
