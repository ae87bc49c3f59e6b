"""Fixtures that several test files share."""

from __future__ import annotations

import collections
import faulthandler
import functools
import importlib.util
import os
import pathlib
import re
import secrets
import signal
import traceback

# Before NumPy is loaded: threads that share out small tables wait for each other, and burn all
# processors
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Ray starts its workers with niceness 15: where other processes keep all processors busy, a worker
# takes a minute to start instead of two seconds. It shall stay on the loopback interface, on Linux
# too, report no usage, and refuse processes without a token that is not written to the user's home.
os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
if "RAY_AUTH_MODE" not in os.environ:
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}

import pytest
from folders import ROOT, SUPPORT

# The package is imported in functions: the process of `pytest -n` that only distributes tests does
# not need it, and would make the others wait for four seconds.

DATA = pathlib.Path(os.environ.get("RIVER_BUDGET_DATA", ROOT.parent / "shared" / "data"))
if DATA.is_dir():  # so that the package and other processes use the same folder
    os.environ["RIVER_BUDGET_DATA"] = str(DATA)
NO_DATA = "no real datasets here: RIVER_BUDGET_DATA names the folder that holds them"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=NO_DATA)


@functools.cache
def _load(name):
    from river_budget.datasets import reading

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
            pytest.skip(NO_DATA)
        return _load(name)

    return load


@pytest.fixture
def ctrl_c():
    """Python's own answer to Ctrl-C, also where the tests run in the background and it is
    ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


pytest.register_assert_rewrite(
    *(path.stem for path in SUPPORT.glob("*.py") if path.stem != "folders")
)  # their asserts then show values

NO_RAY = []  # the reason why Ray does not start here, once known


def raised_inside_ray(error):
    """Whether Ray itself failed, as it does on a busy machine after 30 seconds, and not our call of
    it.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    inside = frame.f_globals.get("__name__", "").partition(".")[0] == "ray"
    return inside and not isinstance(error, (TypeError, ValueError, AttributeError))


def started_ray():
    """The module ray, with a Ray on this machine. Skips the test if Ray cannot start."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    if not NO_RAY:
        try:
            ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
            return ray
        except Exception as error:
            if not raised_inside_ray(error):
                raise
            first, *_ = [*str(error).strip().splitlines(), type(error).__name__]
            NO_RAY.append(f"Ray does not start here: {first}")
    pytest.skip(NO_RAY[0])


# The files whose tests need a Ray. They run one after the other in one process and share a Ray, as
# it takes 7 seconds to start one.
WITH_RAY = {
    *("test_backends", "test_guide", "test_keyed", "test_keyed_losses", "test_sweep"),
    "test_train_shards",
}
SHARED_RAY = []


@pytest.fixture
def ray():
    """The module ray, with a Ray that the files of `WITH_RAY` share."""
    if not SHARED_RAY:
        SHARED_RAY.append(started_ray())
    return SHARED_RAY[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """End the Ray behind the last test that may need it: the others shall run without."""
    yield
    if SHARED_RAY and (nextitem is None or nextitem.path.stem not in WITH_RAY):
        SHARED_RAY.pop().shutdown()


@pytest.fixture
def no_hang():
    """End the process, and print where it was, in an endless loop of compiled code, which no signal
    stops.
    """
    faulthandler.dump_traceback_later(1200, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `-n`, all tests of a file run in one process: shared objects (data, compiled passes) are
    made once.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "files with a Ray" if pathlib.PurePath(file).stem in WITH_RAY else file

    config.option.loadscopereorder = False  # items are in order already, see below
    return Scheduling(config, log)


# The files that take longest, so that no process waits at the end for one of them. One process
# begins with a file that compiles most, the other with those that wait for Ray, so that they do not
# compile the same at the same time.
LONGEST = (
    *("test_saving", "test_backends", "test_keyed", "test_train_shards", "test_guide"),
    "test_sweep",
    *("test_lifecycle", "test_laws", "test_compiling"),
    *("test_auto_replay", "test_fuzz", "test_bounds", "test_experiments"),
)


def longest_first(items):
    """Sort the items by files: first the longest ones, then those with the most tests."""
    number = collections.Counter(item.path for item in items)
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(
        key=lambda item: (places.get(item.path.stem, len(LONGEST)), -number[item.path], item.path)
    )


NEEDED_BY = {"matplotlib": "rb.plots.", "pandas": "import pandas"}


def pytest_collection_modifyitems(items):
    """Sort the items, and skip docstring examples that need an extra which is not installed."""
    longest_first(items)
    missing = [name for name in NEEDED_BY if importlib.util.find_spec(name) is None]
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            source = "".join(example.source for example in item.dtest.examples)
            for name in missing:
                if NEEDED_BY[name] in source:
                    item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))
