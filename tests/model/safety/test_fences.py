"""The harness of the fuzzer notices what it is there for: bytes touched beside arrays, in processes of their own."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
from fence_probe import NOTICED
from folders import PYTHONPATH, SUPPORT
from guarded import Overrun, guarded
from processes import output_of

from river_budget.model.calls.fast_path import may_read_dicts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
FATAL = {-signal.SIGSEGV, -getattr(signal, "SIGBUS", 0)}  # the second on macOS
GAPS = ("scratch space",)  # between their ends and the page
UNPAGED = ("freed", "padding")  # arrays that are gone when somebody looks, and bytes between tables
MEMORY = (
    "block",
    "block of lists",
    "scratch space of whole lines",
    *("rows", "targets", "weights", "scores", "desk", "vacant places"),
    *(("strangers", "entry") if may_read_dicts() else ()),
    *("names at places", "starts of lists", "places of lists", "values of lists", "keys of lists"),
    *("row of an example", "scores of an example", "values of a listed example"),
)


@pytest.mark.parametrize(("where", "side"), [("behind", "end"), ("before", "start")])
def test_a_byte_beside_any_memory_is_noticed(where, side):
    """Fatal where the page is, also when it is read, and seen later on the other side, where a canary is."""
    found = json.loads(output_of(SUPPORT / "fence_probe.py", where, PYTHONPATH=PYTHONPATH))
    codes = {(name, at, how): code for name, _, at, how, code in found}
    assert {name for name, _, _ in codes} >= {*MEMORY, *GAPS, "nodes"}
    written = {place: code for place, code in codes.items() if place[2] == "write"}
    assert set(written.values()) <= {NOTICED, *FATAL}, written
    assert all(codes[name, "end", "write"] == NOTICED for name in UNPAGED)
    # 56 bytes at most, or the rest of a page, may be read behind these
    spared = {*UNPAGED, *(GAPS if where == "behind" else ())}
    fatal = {place: c for place, c in codes.items() if place[1] == side and place[0] not in spared}
    assert set(fatal.values()) <= FATAL, fatal


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
