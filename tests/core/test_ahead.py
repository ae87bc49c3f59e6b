"""Memory kept free behind a large block: nothing follows from it."""

from __future__ import annotations

import copy
import mmap
import pickle

import numpy as np
import pytest
from inside import check_nodes
from saved_models import file_of

import river_budget as rb
from river_budget.core.block import blocks, layout
from river_budget.model.inputs.sparse_examples import vectors_of

K = rb.kernels.RBF(0.05)


def growing(n, start=0):
    """Documents of words that become more and more, with names of other kinds among them."""
    rng = np.random.default_rng(start)
    for t in range(start, start + n):
        words = rng.integers(0, 20 + 30 * t, 12).tolist()
        x = {(f"w{w}" if w % 5 else w if w % 2 else (f"w{w}", "b")): 1.0 + w % 3 for w in words}
        yield x, bool(sum(words) % 2)


def learned(model, stream):
    scores = []
    for x, y in stream:
        scores.append(model.predict_proba_one(x).get(True))
        model.learn_one(x, y)
    return scores


def new_model():
    return rb.BSGDClassifier(60, K, l2=1e-3, seed=1)


@pytest.fixture(scope="module")
def as_it_is():
    model = new_model()
    return model, learned(model, growing(2500))


@pytest.mark.parametrize(
    "without",
    [
        lambda patch: patch.setattr(blocks, "_PRIVATE_MAPPING", 0),
        lambda patch: patch.setattr(mmap, "mmap", refused),
    ],
    ids=["nothing kept free", "refused"],
)
def test_scores_are_the_same_without(without, as_it_is, monkeypatch):
    without(monkeypatch)
    model = new_model()
    scores = learned(model, growing(2500))
    assert len(model.features) > 2**14
    assert scores == as_it_is[1]
    assert file_of(model) == file_of(as_it_is[0])


def refused(*size):
    raise OSError("so much is not allowed")


def test_lists_grow_where_they_are(as_it_is):
    model = copy.deepcopy(as_it_is[0])
    start, size = model.block.ctypes.data, model.block.nbytes
    assert size >= blocks.RESERVED_FROM_BYTES
    before, twin = copy.deepcopy(model), copy.deepcopy(model)
    places = []
    for x, y in growing(2500, 2500):
        model.learn_one(x, y)
        places.append((model.block.ctypes.data, model.block.nbytes))
    grown = [nbytes for at, nbytes in places if at == start and nbytes > size]
    assert grown
    assert model.memory_usage >= model.block.nbytes
    # copies have memory of their own
    assert pickle.dumps(before) == pickle.dumps(twin)
    check_nodes(blocks.views(model.block))
    learned(twin, growing(2500, 2500))
    assert file_of(twin) == file_of(model)
    restored = pickle.loads(pickle.dumps(model))
    assert restored.block.nbytes == model.block.nbytes
    assert learned(restored, growing(100, 9000)) == learned(model, growing(100, 9000))


def test_a_block_goes_on_behind_itself_as_far_as_there_is_room(as_it_is):
    block = copy.deepcopy(as_it_is[0]).block
    slots = int(blocks.views(block).head.slots)
    longer = blocks.lengthened(block, 2 * slots)
    assert longer.ctypes.data == block.ctypes.data
    assert 0 <= len(longer) - len(block) - slots * int(layout.NODE_SIZE) < 64
    assert not longer[len(block) :].any()
    assert blocks.lengthened(block, 2 * blocks.RESERVED_TIMES * slots) is None
    assert blocks.lengthened(block.copy(), 2 * slots) is None
    assert len(vectors_of(block)) == 60
