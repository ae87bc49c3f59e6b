"""Touch one byte beside each kind of memory that compiled code is given, each time in a process of its own.

    python tests/support/fence_probe.py behind|before        prints what became of each process, as JSON

Started by test_fences.py. For each byte, a forked process touches it and checks the canaries of the fence: it ends by a
signal, or with exit code NOTICED or UNSEEN.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

import numpy as np
from guarded import LINE, Overrun, check_padding, guarded

import river_budget as rb
from river_budget.core.block import blocks, layout
from river_budget.core.block.blocks import views
from river_budget.kernels import RBF, Laplacian
from river_budget.model.calls.calls import Call, Workspace
from river_budget.model.calls.fast_path import may_read_dicts
from river_budget.model.inputs.sparse_examples import Lists

UNSEEN, NOTICED = 0, 3
INSIDE = ("nodes", "start")  # another table of the same block


def of_rows():
    """A model with a table, which learns by the fast path."""
    model = rb.BSGDClassifier(9, RBF(0.5))
    for i in range(30):
        model.learn_one({"a": i % 7, "b": i % 5, "c": 1.0}, i % 3 == 0)
        model.predict_one({"a": 1.0, "b": 2.0, "c": 3.0})
    return model


def of_words(n=400):
    """A model with lists, which adds and forgets names."""
    model = rb.RBPClassifier(20, Laplacian(0.5))
    for i in range(n):
        x = {f"w{3 * i + k}": 1.0 for k in range(5)} | {"a": i % 7}
        model.predict_one(x)
        model.learn_one(x, i % 3 == 0)
    return model


def scratch_spaces(model):
    """Scratch space as allocated, and scratch space that ends with a cache line."""
    yield "scratch space", Workspace, model
    for budget in range(1, 40):
        other = rb.BSGDClassifier(budget, RBF(0.5))
        other.learn_one({"a": 1.0}, True)
        if layout.read_header(other.block.ctypes.data).scratch % LINE == 0:
            yield "scratch space of whole lines", Workspace, other
            return


def of_calls(block):
    """The arrays of calls: numpy arrays, of which passes get copies."""
    rows, targets, weights, scores = np.ones((3, 3)), np.ones(3), np.ones(3), np.zeros((3, 1))
    call = Call(block, rows, targets, weights, scores)
    yield from zip(("rows", "targets", "weights", "scores"), call.arrays[2:6], strict=True)
    yield "desk", call.desk.space
    yield "addresses of a call", call.addresses
    lists = Lists(np.array([0, 2, 3]), np.array([0, 1, 2]), np.ones(3), np.ones(3))
    given = Call(block, lists, targets[:2], weights[:2], scores[:2]).arrays[2]
    for name in given.__slots__:
        yield f"{name} of lists", getattr(given, name)


def of_the_short_way(table, words):
    """The arrays that model/calls/fast_path.py keeps."""
    yield "entry", table.fast_path.entry
    for kept in table.fast_path.kept:
        if isinstance(kept, np.ndarray) and kept.dtype == np.int64 and len(kept) == 9:
            yield "names of a row", kept
    strangers = words.fast_path.kept[-1]
    assert len(strangers) == words.fast_path.list.room
    yield "strangers", strangers


def of_examples(table, words):
    """The arrays of prepared calls, and the places of names."""
    row = table._new_row()
    for name, array in zip(("row", "target", "weight", "scores"), row.arrays[2:6], strict=True):
        yield f"{name} of an example", array
    yield "addresses of an example", row.addresses
    prepared = words.fast_path.list or words.free_lists.pop()
    listed = prepared.arrays[2]
    for name in listed.__slots__:
        array = getattr(listed, name)
        if name not in ("starts", "places"):  # parts of one array
            yield f"{name} of a listed example", array
    yield "starts and places of a listed example", np.asarray(prepared.places)
    vacant, features = words.features.vacant, words.features
    yield from (("vacant places", vacant.places), ("how many are vacant", vacant.left))
    yield from (("names at places", features.names_at), ("given back", features.given_back))


def kinds(fence):
    """(name, array, owner) of each kind of memory."""
    table, words = of_rows(), of_words()
    yield "block", table.block, table
    block = blocks.resized(words.block, slots=251)
    yield "block of lists", block, block
    yield "nodes", views(block).nodes, block
    for name, make, model in scratch_spaces(table):
        workspace = make()
        workspace.scratch_for(model.block)
        yield name, workspace.space, workspace
    for name, array in of_calls(table.block):
        yield name, array, table
    arrays = [*of_examples(table, words)]
    if may_read_dicts():
        arrays += of_the_short_way(table, words)
    for name, array in arrays:
        yield name, array, (table, words)


def in_another_process(work):
    """Do the work in a forked process. Returns the exit code, below 0 after a signal."""
    child = os.fork()
    if not child:
        code = 9
        try:
            work()
            code = UNSEEN
        except Overrun:
            code = NOTICED
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def touch(fence, address, write):
    octet = ctypes.c_ubyte.from_address(address)
    value = octet.value
    if write:
        octet.value = value ^ 0xFF
    fence.check()


def main(where):
    found = []
    with guarded(where == "behind") as fence:
        for name, array, _keeper in kinds(fence):
            first, n = array.ctypes.data, array.nbytes
            for side, address in (("end", first + n), ("start", first - 1)):
                if (name, side) == INSIDE:
                    continue
                for how in ("read", "write"):
                    code = in_another_process(
                        lambda address=address, how=how: touch(fence, address, how == "write")
                    )
                    found.append((name, n, side, how, code))
        found.append(
            ("freed", 0, "end", "write", in_another_process(lambda: write_and_free(fence)))
        )
        found.append(("padding", 0, "end", "write", in_another_process(write_into_padding)))
    print(json.dumps(found))


def write_and_free(fence):
    """Write a byte beside an array that is freed before the check."""
    array = fence.zeros(640)
    ctypes.c_ubyte.from_address(array.ctypes.data + (-1 if fence.behind else 640)).value = 1
    del array
    fence.check()


def write_into_padding():
    """Write a byte behind the keys of three features."""
    model = of_rows()
    keys = views(model.block).keys
    check_padding(model.block)
    ctypes.c_ubyte.from_address(keys.ctypes.data + keys.nbytes).value = 1
    check_padding(model.block)


if __name__ == "__main__":
    main(sys.argv[1])
