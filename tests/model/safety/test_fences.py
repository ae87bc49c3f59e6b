"""The harness of the fuzzer notices what it is there for: bytes touched beside arrays, in processes of their own."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest
from fence_probe import NOTICED, UNSEEN
from folders import PYTHONPATH, SUPPORT
from guarded import Overrun, guarded
from processes import output_of

import river_budget as rb
from river_budget.core.block import blocks

GAPS = ("scratch space", "block that has grown into its room")  # between their ends and the page
MEMORY = (
    "block",
    "block of lists",
    "block before its reserved room",
    "block that has grown up to a page",
    "scratch space of whole lines",
    *("rows", "targets", "weights", "scores", "desk", "strangers", "entry", "vacant places"),
    *("names at places", "starts of lists", "places of lists", "values of lists", "keys of lists"),
    *("row of an example", "scores of an example", "values of a listed example"),
)


@pytest.fixture(scope="module", params=["behind", "before"])
def probed(request):
    """Where the pages are, and what became of each process: by memory, side, and what was done."""
    printed = output_of(SUPPORT / "fence_probe.py", request.param, PYTHONPATH=PYTHONPATH)
    found = json.loads(printed)
    return request.param, {(name, side, how): code for name, _, side, how, code in found}


def beside_the_page(where):
    return "end" if where == "behind" else "start"


def test_every_kind_of_memory_is_looked_at(probed):
    _, found = probed
    assert {name for name, _, _ in found} >= {*MEMORY, *GAPS, "nodes"}


@pytest.mark.parametrize("how", ["read", "write"])
def test_a_byte_beside_the_page_is_fatal(probed, how):
    where, found = probed
    codes = {
        name: code
        for (name, side, done), code in found.items()
        if (side, done) == (beside_the_page(where), how) and name not in ("freed", "padding")
    }
    if (
        where == "behind"
    ):  # 56 bytes at most, or the rest of a page: test_writes_into_gaps_are_noticed
        codes = {name: code for name, code in codes.items() if name not in GAPS}
    assert set(codes.values()) == {-signal.SIGSEGV}, codes


def test_a_byte_written_on_the_other_side_is_noticed(probed):
    where, found = probed
    codes = {
        name: code
        for (name, side, how), code in found.items()
        if side != beside_the_page(where) and how == "write"
    }
    assert set(codes.values()) <= {NOTICED, -signal.SIGSEGV}, codes


def test_nothing_that_was_written_beside_an_array_stays_unseen(probed):
    """Of gaps, of arrays that are gone when somebody looks, and of padding between tables."""
    _, found = probed
    codes = {place: code for place, code in found.items() if place[2] == "write"}
    assert UNSEEN not in codes.values(), codes
    assert all(found[name, "end", "write"] == NOTICED for name in ("freed", "padding"))


def test_what_is_read_in_gaps_is_no_number_and_no_index():
    with guarded(behind=True) as fence:
        scratch = fence.zeros(64 + 8)
        gap = np.frombuffer(scratch.base, "f8", 7, fence_start(fence, scratch) + 72)
        assert np.isnan(gap).all()
        assert np.isnan(gap.view("f4")[1::2]).all()
        assert (gap.view("i8") > 2**62).all()


def fence_start(fence, array):
    (region,) = [r for r in fence.regions.values() if r.address + r.start == array.ctypes.data]
    return region.start


def test_a_write_is_reported_with_its_place():
    with guarded(behind=False) as fence:
        array = fence.zeros(640)
        (region,) = fence.regions.values()
        region.memory[region.start + 643] = 1
        with pytest.raises(Overrun, match="640 bytes: byte 643 of it was written, and 0 more"):
            fence.check()
        region.watch(640)
        assert len(array) == 640


@pytest.mark.parametrize("behind", [True, False])
def test_a_block_that_grows_holds_zeros_where_canaries_were(behind):
    with guarded(behind) as fence:
        model = rb.RBPClassifier(20)
        for i in range(400):
            model.learn_one({f"w{3 * i + k}": 1.0 for k in range(5)}, i % 3 == 0)
        block = blocks.resized(model.block, slots=256)
        grown = [fence.lengthened(LENGTHENED, block, slots) for slots in (300, 300, 301, 999, 999)]
        for longer in grown:
            assert longer is None or not longer[len(block) :].any()
        assert sum(longer is not None for longer in grown) in (2, 3)


LENGTHENED = blocks.lengthened  # as it is without a fence
