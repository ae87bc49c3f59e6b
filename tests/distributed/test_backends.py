"""Workers in this process and in Ray actors: the same calls, the same results, the same errors."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from concurrent import futures

import pytest
from processes import KILL, output_of

from river_budget.distributed import WorkerLost
from river_budget.distributed.workers import new_worker
from river_budget.distributed.workers.ray import Answers, RayExecutor
from river_budget.distributed.workers.serial import Host


@pytest.fixture(params=["serial", "ray"])
def start(request):
    """Starts workers in this process, or on Ray."""
    if request.param == "ray":
        request.getfixturevalue("ray")
    yield from started(request.param)


@pytest.fixture
def on_ray(ray):
    yield from started("ray")


def started(backend):
    with contextlib.ExitStack() as ends:

        def start(*arguments):
            worker = ends.enter_context(contextlib.closing(new_worker(backend)))
            worker.begin(*arguments).result()
            return worker

        yield start


def process(start):
    """A worker that is the module `os` of its process."""
    return start(importlib.import_module, "os")


def test_without_ray_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install ray"):
        new_worker("ray")


def test_no_ray_is_started(monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(RuntimeError, match=r"ray\.init\(\)"):
        new_worker("ray")


def test_calls_are_made_in_their_order_on_the_same_object(start):
    """An error is raised as itself, and the next call is made."""
    worker = start(list, "a")
    for i in range(20):
        worker.submit("append", i)
    with pytest.raises(ValueError, match="not in list") as error:
        worker.submit("remove", "nothing").result()
    assert type(error.value) is ValueError
    answer = worker.submit("copy")
    assert answer.result() == ["a", *range(20)]
    assert answer.done()


def test_a_worker_whose_object_could_not_be_made_refuses_calls_until_it_begins_anew(start):
    worker = start(int, "6")
    with pytest.raises(ValueError, match="invalid literal"):
        worker.begin(int, "seven").result()
    with pytest.raises(WorkerLost, match="gone"):
        worker.submit("bit_length").result()
    worker.begin(int, "7")
    assert worker.submit("bit_length").result() == 3


def test_a_worker_begins_anew_with_another_object(start):
    worker = start(list, "ab")
    worker.submit("append", "c")
    before = worker.submit("copy")
    worker.begin(list, "x")
    assert worker.submit("copy").result() == ["x"]
    assert before.result() == ["a", "b", "c"]


def test_a_call_for_an_earlier_object_is_refused():
    """As where a process has taken the place of a lost one, and gets what was sent to that."""
    host = Host()
    for epoch, content in ((1, "a"), (2, "b")):
        with pytest.raises(WorkerLost, match="in its place"):
            host.call(epoch, "copy")
        host.begin(epoch, list, content)
        assert host.call(epoch, "copy") == [content]
    with pytest.raises(WorkerLost, match="in its place"):
        host.call(1, "append", "c")
    assert host.call(2, "copy") == ["b"]


# Ray


def test_there_may_be_more_workers_than_processors(on_ray):
    workers = [process(on_ray) for _ in range(3)]
    pids = {worker.submit("getpid").result() for worker in workers}
    assert len(pids | {os.getpid()}) == 4


def test_calls_carry_classes_that_only_this_program_knows(on_ray):
    class Echo:
        def of(self, value):
            return value

    worker = on_ray(Echo)
    assert isinstance(worker.submit("of", Echo()).result(), Echo)
    assert worker.submit("of", lambda: 5).result()() == 5


def test_a_worker_outlives_errors_and_begins_anew_when_it_is_killed(on_ray):
    worker = process(on_ray)
    with pytest.raises(FileNotFoundError) as error:
        worker.submit("makedirs", "").result()
    assert "in makedirs" in str(error.value.__cause__)  # it says where in the worker it happened
    with pytest.raises(TypeError, match="pickle"):
        worker.submit("scandir").result()
    pid = worker.submit("getpid").result()
    os.kill(pid, KILL)
    for _ in range(2):  # the process in its place refuses calls, too
        with pytest.raises(WorkerLost, match="gone"):
            worker.submit("getpid").result()
    worker.begin(importlib.import_module, "os").result()
    assert worker.submit("getpid").result() not in (pid, os.getpid())


def test_an_error_that_cannot_be_read_here_is_no_loss(on_ray):
    class Odd(Exception):
        def __init__(self, one, two):
            super().__init__(one)

    class Raiser:
        def call(self):
            raise Odd(1, 2)

    with pytest.raises(Exception, match="Odd") as error:
        on_ray(Raiser).submit("call").result()
    assert not isinstance(error.value, WorkerLost)


NEVER_ANSWERED = """
import threading
from concurrent import futures
import ray
from river_budget.distributed import WorkerLost
from river_budget.distributed.workers import new_worker
from river_budget.distributed.workers.ray import RayExecutor, RayWorker

def wait():
    threading.Event().wait()

ray.init(num_cpus=2, include_dashboard=False)
worker, executor = RayWorker(), RayExecutor()
worker.begin(threading.Event).result()
answers = [worker.submit("wait"), executor.submit(wait)]
asked = threading.Thread(target=futures.wait, args=(answers,))  # somebody waits already
asked.start()
ray.shutdown()
for answer in (*answers, worker.submit("is_set"), executor.submit(wait)):
    assert isinstance(answer.exception(), WorkerLost)
    assert "Ray was shut down" in str(answer.exception())
asked.join()
worker.close()
executor.shutdown()
assert not ray.is_initialized()
"""


@pytest.mark.slow
def test_what_ray_has_not_answered_when_it_is_shut_down_is_lost():
    pytest.importorskip("ray")
    output_of("-c", NEVER_ANSWERED)


class QuietRay:
    """A Ray that runs until it is said not to, and never answers a call."""

    runs = True

    def is_initialized(self):
        return self.runs

    def remote(self):
        return self

    future = futures.Future


def test_a_call_that_was_not_answered_when_ray_was_shut_down_is_lost():
    ray = QuietRay()
    answers = Answers(ray)
    before = answers.to(ray)
    assert not before.done()
    ray.runs = False
    for answer in (before, answers.to(ray)):
        with pytest.raises(WorkerLost, match="Ray was shut down"):
            answer.result()
    assert not answers.waiting
    answers.closed.set()


def test_tasks_run_in_other_processes_and_raise_their_errors(ray):
    with RayExecutor() as executor:
        assert executor.submit(os.getpid).result() != os.getpid()
        with pytest.raises(ValueError, match="invalid literal"):
            executor.submit(int, "seven").result()


def test_the_package_is_at_hand_under_its_name():
    code = "import river_budget as rb; print(rb.distributed.KeyedModels.__name__)"
    assert output_of("-c", code) == "KeyedModels\n"
