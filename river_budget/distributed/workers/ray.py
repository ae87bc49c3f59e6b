"""Workers in processes of their own, which Ray runs."""

from __future__ import annotations

import contextlib
import gc
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import traceback
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from ..._version import __version__
from .backends import Backend, Host, Returned, Ticket, WorkerLost, stopped

# Objects before Python collects garbage: dicts then arrive twice as fast
GARBAGE_THRESHOLD = 50_000


class RayHost(Host):
    """Holds the object of a worker in a process of its own. Errors carry the traceback of that process."""

    def __init__(self, version: str, kind: Any, *arguments: Any):
        gc.set_threshold(GARBAGE_THRESHOLD)
        if version == __version__:
            super().__init__(kind, *arguments)
            return
        self.object = None
        self.error = RuntimeError(
            f"a worker has river_budget {__version__}, and the program that started it {version}: both need the same"
        )

    def call(self, method: str, *arguments: Any) -> Returned:
        value, error = super().call(method, *arguments)
        if error is not None and not hasattr(error, "__notes__"):
            error.add_note("in a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
        return value, error


class Ray(Backend):
    """Workers in Ray actors."""

    def __init__(self, workers: int):
        self.ray = imported()
        self._leave = weakref.finalize(
            self, join(self.ray, workers)
        )  # also called at the end of the program
        # Reserve so little that any number of workers fits, and enough that Ray spreads them over its nodes.
        options = {"num_cpus": 0.01, "scheduling_strategy": "SPREAD", "max_restarts": 0}
        self._actor = self.ray.remote(**options)(RayHost)

    def worker(self, kind: Any, *arguments: Any) -> RayWorker:
        return RayWorker(self.ray, self._actor.remote(__version__, kind, *arguments))

    def put(self, value: Any) -> Any:
        return self.ray.put(value)

    def first(self, tickets: Sequence[RayTicket]) -> RayTicket:
        done, _ = self.ray.wait([ticket.reference for ticket in tickets], num_returns=1)
        return next(ticket for ticket in tickets if ticket.reference == done[0])

    def close(self) -> None:
        self._leave()


class RayWorker:
    """A worker in a Ray actor."""

    def __init__(self, ray: Any, actor: Any):
        self.ray, self.actor = ray, actor
        self.stopped = False

    def submit(self, method: str, *arguments: Any) -> Ticket:
        if self.stopped:  # Ray itself would accept calls for a while
            return stopped()
        return RayTicket(self.ray, self.actor.call.remote(method, *arguments))

    def stop(self) -> None:
        self.stopped = True
        if self.ray.is_initialized():
            self.ray.kill(self.actor)


class RayTicket:
    """The result of a call in a Ray actor."""

    def __init__(self, ray: Any, reference: Any):
        self.ray, self.reference = ray, reference

    def ready(self) -> bool:
        done, _ = self.ray.wait([self.reference], timeout=0)
        return bool(done)

    def result(self) -> Any:
        try:
            value, error = self.ray.get(self.reference)
        except self.ray.exceptions.RayTaskError as failure:  # the request cannot be pickled
            raise failure.cause from None
        except self.ray.exceptions.RayError as failure:
            reason = str(failure).splitlines()[0].rstrip(".")
            raise WorkerLost(f"a worker is gone: {reason}") from None
        if error is not None:
            raise error
        return value


# the cluster: one that runs already, or a new one on this machine

# Bytes of memory that the processes of a new cluster share. Ray spills the rest to disk.
SHARED_MEMORY = 512 * 2**20
# Arguments up to so many bytes are sent directly, as shared memory takes 2 ms more.
DIRECT = 2**20
TOKEN = secrets.token_hex(32)  # a new cluster refuses processes that do not know it
# A script that waits until the program at the other end of its input has ended, and then removes a folder. It repeats
# that for some seconds, as processes of Ray still write into the folder. It does not end these processes.
REMOVER = """
import os, shutil, sys, time
sys.stdin.buffer.read()
for _ in range(25):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not os.path.isdir(sys.argv[1]):
        break
    time.sleep(0.2)
"""


def imported() -> Any:
    """The module ray, imported with the environment that it reads then."""
    try:
        with environment():
            import ray
    except ImportError as error:
        raise ImportError(
            'backend="ray" needs Ray: pip install ray, or use backend="serial"'
        ) from error
    return ray


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """The environment that Ray reads. It makes Ray stay on the loopback interface (on Linux too), report no usage,
    and refuse processes without the token, which is not written to the user's home."""
    settings = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    if "RAY_AUTH_MODE" not in os.environ:
        settings |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Cluster:
    """The cluster that this process has started, and how many backends use it.

    If this process is killed, Ray ends the processes that it has started: most within three seconds, two of them
    after a minute, in which they try to report what happened.
    """

    users = 0
    folder = ""
    remover: Any = None  # removes the folder if this process is killed


def join(ray: Any, workers: int) -> Any:
    """Use the cluster that runs, or start one. Returns the function that leaves it."""
    if _Cluster.users == 0 and ray.is_initialized():
        return lambda: None  # other code has started it, and will stop it
    if not ray.is_initialized():
        _clear_up()  # after a cluster that other code has stopped
        _start(ray, workers)
    _Cluster.users += 1
    return _leave


def _start(ray: Any, workers: int) -> None:
    _Cluster.folder = _new_folder()
    _Cluster.remover = _remover(_Cluster.folder)
    try:
        with environment(), contained():
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                log_to_driver=False,
                configure_logging=False,
                logging_level="ERROR",
                object_store_memory=SHARED_MEMORY,
                _temp_dir=_Cluster.folder,
                _system_config={"max_direct_call_object_size": DIRECT},
            )
    except BaseException:
        _stop(ray)
        raise


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Keep Ray on this machine, even if it has been used in this process before.

    If Ray was imported earlier, it has already read the environment and must read it again. Its dashboard server,
    which also starts without a dashboard, would ask the network in which cloud it runs. The names used here are
    private to Ray: in a version without them, this changes nothing.
    """
    from ray._private import ray_constants, services

    with contextlib.suppress(ImportError, AttributeError):
        from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]

        Config.initialize("")
        AuthenticationTokenLoader.instance().reset_cache()
    with (
        _replaced(ray_constants, "ENABLE_RAY_CLUSTER", False),
        _replaced(services, "start_api_server", lambda *options, **named: (None, None)),
    ):
        yield


@contextlib.contextmanager
def _replaced(place: Any, name: str, value: Any) -> Iterator[None]:
    if not hasattr(place, name):
        yield
        return
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


def _leave() -> None:
    _Cluster.users -= 1
    if _Cluster.users == 0:
        _stop(sys.modules["ray"])


def _stop(ray: Any) -> None:
    ray.shutdown()
    _clear_up()


def _new_folder() -> str:
    """A new folder with a short name, as the path of a socket is limited in length. Those of macOS are long."""
    return tempfile.mkdtemp(prefix="rb-", dir="/tmp" if sys.platform == "darwin" else None)


def _remover(folder: str) -> subprocess.Popen[bytes]:
    """A process that removes the folder when this process ends, also if it is killed."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", REMOVER, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C does not reach it; on Windows by the next line
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def _clear_up() -> None:
    """Remove what a cluster has left: its folder, and the process that waits for the end of this one."""
    shutil.rmtree(_Cluster.folder, ignore_errors=True)
    if _Cluster.remover is not None:
        _Cluster.remover.terminate()
        _Cluster.remover.communicate()
        _Cluster.remover = None
