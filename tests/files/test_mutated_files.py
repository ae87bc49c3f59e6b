"""Files with random changes are refused, or hold a model that works; and loading them takes no
memory.
"""

from __future__ import annotations

import contextlib
import gc
import random

import pytest
from forging import FORGED, forge, outcome_of, signed, unpacked
from long_runs import resident
from saved_models import file_of, taught

import river_budget as rb
from river_budget.saving import opened

pytestmark = pytest.mark.slow

FILES = 200_000
GROWTH = 50e6  # bytes that a long test may add to the process


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
            digits = [i for i in range(min(len(data), 1500)) if chr(data[i]) in '0123456789-"']
            if digits:
                data[rng.choice(digits)] = ord(rng.choice('0123456789-"'))
    return bytes(data)


def test_mutated_files_are_refused_or_hold_a_model_that_works(no_hang):
    """A third keeps a wrong checksum, a third is signed again, and of the rest the header is kept
    in order.
    """
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
            data = signed(mutated(rng, rng.choice(files), files))
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


def test_with_the_usual_limit_a_forged_file_takes_no_memory(no_hang):
    """The same without a limit of one's own, loaded and not used: sizes up to 4 GB pass the
    checks.
    """
    rng = random.Random(2)
    sources = [unpacked(file_of(taught(model, 30))) for model in FORGED]
    before, most = resident(), 0
    for i in range(20_000):
        with contextlib.suppress(rb.SavedModelError):
            opened(forge(rng, *rng.choice(sources)))
        if i % 100 == 0:
            most = max(most, resident() - before)
    assert most < GROWTH
