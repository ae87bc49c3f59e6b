"""Workers in this process and in Ray actors: the same calls, the same results, the same errors."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import conftest
import pytest
from processes import KILL, output_of

import river_budget as rb
from river_budget.distributed import WorkerLost
from river_budget.distributed.workers import backends
from river_budget.distributed.workers import ray as cluster


@pytest.fixture(params=["serial", "ray"])
def backend(request):
    if request.param == "ray":
        return request.getfixturevalue("ray")
    return backends.open("serial", workers=2)


def process(backend):
    """A worker that is the module `os` of its process."""
    return backend.worker(importlib.import_module, "os")


def test_another_backend_is_refused():
    with pytest.raises(ValueError, match=r"backend must be one of .*'dask'"):
        backends.open("dask", workers=1)


def test_without_ray_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install ray"):
        backends.open("ray", workers=1)


def test_calls_are_made_in_their_order_on_the_same_object_until_it_is_stopped(backend):
    """An error is raised as itself, and the next call is made."""
    worker = backend.worker(list, "a")
    for i in range(20):
        worker.submit("append", i)
    with pytest.raises(ValueError, match="not in list"):
        worker.submit("remove", "nothing").result()
    ticket = worker.submit("copy")
    assert ticket.result() == ["a", *range(20)]
    assert ticket.ready()
    worker.stop()
    with pytest.raises(WorkerLost, match="stopped"):
        worker.submit("copy").result()


def test_an_error_of_the_constructor_is_raised_by_every_call(backend):
    worker = backend.worker(int, "seven")
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            worker.submit("bit_length").result()


def test_workers_share_a_value_and_the_first_ticket_has_its_result(backend):
    shared = backend.put({"a": 1})
    workers = [backend.worker(list) for _ in range(2)]
    for worker in workers:
        worker.submit("append", shared)
    tickets = [worker.submit("copy") for worker in workers]
    assert backend.first(tickets) in tickets
    assert backend.first(tickets[1:]).result() == [{"a": 1}]
    assert tickets[0].result() == [{"a": 1}]


def test_a_serial_worker_is_in_this_process():
    assert process(backends.open("serial", 1)).submit("getpid").result() == os.getpid()


# Ray


def test_a_cluster_has_a_short_folder_and_one_who_removes_it(monkeypatch, tmp_path):
    """On macOS temporary folders have long names; on Windows Ctrl-C reaches all but other groups."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert pathlib.Path(cluster._new_folder()).parent == tmp_path
    monkeypatch.setattr(sys, "platform", "darwin")
    made = []
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix, dir: made.append(dir) or dir)
    assert made == [cluster._new_folder()] == ["/tmp"]
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **named: named)
    assert cluster._remover("folder")["creationflags"] == 512


def test_there_may_be_more_workers_than_processors(ray):
    workers = [process(ray) for _ in range(3)]
    pids = {worker.submit("getpid").result() for worker in workers}
    assert len(pids | {os.getpid()}) == 4


def test_calls_carry_classes_that_only_this_program_knows(ray):
    class Echo:
        def of(self, value):
            return value

    worker = ray.worker(Echo)
    assert isinstance(worker.submit("of", Echo()).result(), Echo)
    assert worker.submit("of", lambda: 5).result()() == 5


def test_a_worker_outlives_errors_and_is_lost_when_it_is_killed(ray):
    worker = process(ray)
    with pytest.raises(FileNotFoundError) as error:
        worker.submit("makedirs", "").result()
    assert "in makedirs" in error.value.__notes__[0]  # it says where in the worker it happened
    with pytest.raises(TypeError, match="pickle"):
        worker.submit("scandir").result()
    os.kill(worker.submit("getpid").result(), KILL)
    with pytest.raises(WorkerLost, match="gone"):
        worker.submit("getpid").result()
    assert ray.first([worker.submit("getpid")])


def test_a_worker_of_another_version_says_so():
    pytest.importorskip("ray")
    RayHost = cluster.RayHost

    threshold = gc.get_threshold()
    try:
        for version in ("0.0.1", ""):
            value, error = RayHost(version, dict, [("a", 1)]).call("get", "a")
            assert value is None
            with pytest.raises(RuntimeError, match=f"river_budget {rb.__version__}.*{version}"):
                raise error
        assert RayHost(rb.__version__, dict, [("a", 1)]).call("get", "a") == (1, None)
    finally:
        gc.set_threshold(*threshold)


def test_ray_stays_on_the_loopback_interface(ray):
    assert [node["NodeManagerAddress"] for node in ray.ray.nodes()] == ["127.0.0.1"]
    processes = ray.ray._private.worker._global_node.all_processes
    assert "raylet" in processes
    assert "dashboard" not in processes  # which would ask the network in which cloud it is


def test_another_backend_uses_the_ray_that_runs(ray):
    with backends.open("ray", workers=1) as second:
        assert second.worker(int, 5).submit("__int__").result() == 5
    assert ray.worker(int, 6).submit("__int__").result() == 6


FORGETFUL = """
from river_budget.distributed import backends
backend = backends.open("ray", workers=1)
print(backend.worker(int, 7).submit("__int__").result(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="folders of POSIX")
def test_a_program_that_forgets_to_close_leaves_nothing_behind(ray):
    home = pathlib.Path(tempfile.mkdtemp(prefix="h"))  # short: names of sockets are limited
    try:
        places = {"HOME": str(home), "TMPDIR": str(home)}
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")} | places
        run = [sys.executable, "-c", FORGETFUL]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=100)
        assert done.stdout == "7\n"
        assert list(home.iterdir()) == []
    finally:
        shutil.rmtree(home)


BUSY = """
import river_budget as rb
backend = rb.distributed.backends.open("ray", 2)
workers = [backend.worker(int, 7) for _ in range(2)]
print([worker.submit("__int__").result() for worker in workers], flush=True)
input()
"""
KILLED = int(os.environ.get("RIVER_BUDGET_KILLED_DRIVERS", "2"))
ON_POSIX = pytest.mark.skipif(os.name != "posix", reason="files that are open can be removed")


@contextlib.contextmanager
def busy_driver(home):
    """A program with a cluster of its own, whose files are below this folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    environment |= {"HOME": str(home), "TMPDIR": str(home)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", BUSY], env=environment, **pipes) as driver:
        assert driver.stdout.readline() == b"[7, 7]\n"
        yield driver


@pytest.fixture
def home(ray):
    """A folder with a short name, as names of sockets are limited."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="h"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def comes_true(condition, seconds):
    """Whether a condition holds before so many seconds have passed."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


@pytest.mark.slow
@ON_POSIX
@pytest.mark.parametrize("way", ["by itself", "killed"])
def test_who_reads_a_log_of_the_cluster_outlives_the_program(way, home):
    """Nothing is ended that the program has not started."""
    follow = "import sys; log = open(sys.argv[1]); print(flush=True); sys.stdin.read(); log.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with busy_driver(home) as driver:
        (log,) = home.glob("rb-*/session_2*/logs/raylet.out")
        reader = subprocess.Popen([sys.executable, "-c", follow, str(log)], **pipes)
        assert reader.stdout.readline() == b"\n"
        if way == "killed":
            driver.kill()
        driver.communicate(b"\n")
    assert comes_true(lambda: not list(home.iterdir()), 20.0)
    assert reader.poll() is None
    reader.communicate()
    assert reader.returncode == 0


@pytest.mark.slow
@ON_POSIX
def test_a_program_that_is_killed_leaves_nothing_behind(home):
    """Ray itself ends its processes: two of them give up their last report after a minute."""
    import psutil  # comes with Ray

    processes = []
    for _ in range(KILLED):
        with busy_driver(home) as driver:
            started = psutil.Process(driver.pid).children(recursive=True)
            driver.kill()
            driver.communicate()
        processes += started
        assert comes_true(lambda: not list(home.iterdir()), 20.0)
    assert len(processes) > 2 * KILLED

    def are_gone():
        return not any(process.is_running() for process in processes)

    assert comes_true(are_gone, 120.0)
    assert list(home.iterdir()) == []


@pytest.mark.slow
def test_ray_may_have_been_imported_before(ray):
    code = (
        "import ray, river_budget as rb\n"
        "with rb.distributed.backends.open('ray', 1) as backend:\n"
        "    print(backend.worker(int, 6).submit('__int__').result())"
    )
    assert output_of("-c", "import river_budget.distributed.workers.backends\n" + code) == "6\n"


def test_where_ray_gives_up_its_tests_are_skipped_and_our_own_errors_are_not(monkeypatch):
    def gives_up(name, workers):
        namespace = {"__name__": "ray._private.node"}
        exec("def start(): raise Exception('The node timed out')", namespace)
        namespace["start"]()

    def breaks(name, workers):
        raise RuntimeError("ours")

    monkeypatch.setattr(conftest, "NO_RAY", [])
    monkeypatch.setattr(conftest.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(backends, "open", breaks)
    with pytest.raises(RuntimeError, match="ours"):
        conftest.opened_ray()
    monkeypatch.setattr(backends, "open", gives_up)
    with pytest.raises(pytest.skip.Exception, match="The node timed out"):
        conftest.opened_ray()
    monkeypatch.setattr(backends, "open", breaks)  # it is not tried again
    with pytest.raises(pytest.skip.Exception, match="The node timed out"):
        conftest.opened_ray()


def test_the_package_is_at_hand_under_its_name():
    code = "import river_budget as rb; print(rb.distributed.KeyedModels.__name__)"
    assert output_of("-c", code) == "KeyedModels\n"
