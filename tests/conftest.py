"""Fixtures that several test files share."""

from __future__ import annotations

import functools
import importlib.util
import os
import pathlib
import re

import pytest

from river_budget.datasets import reading
from river_budget.distributed.workers import backends

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("RIVER_BUDGET_DATA", ROOT.parent / "shared" / "data"))


@functools.cache
def _load(name):
    path = DATA / f"{name}.xz"
    with reading.unpacked(path, "") as file:
        text = file.read()
    n_features = max(map(int, set(re.findall(rb" (\d+):", text))))
    rows, targets = reading.read(path, "", reading.libsvm, text.count(b"\n"), n_features)
    for array in (rows, targets):
        array.setflags(write=False)  # one copy serves all tests
    return rows, targets


@pytest.fixture
def data():
    """data(name): rows and targets of a real dataset, both read-only."""

    def load(name):
        if not DATA.is_dir():
            pytest.skip("no real datasets here: RIVER_BUDGET_DATA names the folder that holds them")
        return _load(name)

    return load


@pytest.fixture(scope="module")
def ray():
    """A Ray for all tests of a file, on the loopback interface."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    with backends.open("ray", workers=2) as opened:
        yield opened


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file"
