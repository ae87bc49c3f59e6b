"""The Ray that backends use: one that runs already, or one of our own on this machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

STORE = 512 * 2**20  # bytes of memory that a cluster of our own shares; Ray spills what is more
DIRECT = 2**20  # bytes of an argument that go from process to process: sharing takes 2 ms more
TOKEN = secrets.token_hex(32)  # who does not know it cannot talk to a cluster of our own


def imported() -> Any:
    """Ray, with what has to be said before it is first imported."""
    try:
        with environment():
            import ray
    except ImportError as error:
        raise ImportError(
            'backend="ray" needs Ray: pip install "river-budget[ray]", or use backend="serial"'
        ) from error
    return ray


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """What Ray is told by the environment: on Linux too, stay on the loopback interface; report nothing;
    let in who knows the token, which is not to be kept in the user's home."""
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
    """The Ray that has been started here, and how many backends use it."""

    users = 0
    folder = ""


def join(ray: Any, workers: int) -> Any:
    """Use the Ray that runs, or start one. Returns how to leave it."""
    if _Cluster.users == 0 and ray.is_initialized():
        return _nothing
    if not ray.is_initialized():
        shutil.rmtree(_Cluster.folder, ignore_errors=True)  # of one that somebody else has ended
        _start(ray, workers)
    _Cluster.users += 1
    return _leave


def _nothing() -> None:
    """The Ray of somebody else is left as it is."""


def _start(ray: Any, workers: int) -> None:
    # Names of sockets are limited in length, and so is the folder they are in.
    place = "/tmp" if sys.platform == "darwin" else None
    _Cluster.folder = tempfile.mkdtemp(prefix="rb-", dir=place)
    try:
        with environment(), contained():
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                log_to_driver=False,
                configure_logging=False,
                logging_level="ERROR",
                object_store_memory=STORE,
                _temp_dir=_Cluster.folder,
                _system_config={"max_direct_call_object_size": DIRECT},
            )
    except BaseException:
        _stop(ray)
        raise


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Stay on this machine. Where Ray had been imported before, it has read the environment already. And
    the server of its dashboard, which it starts without a dashboard too, asks the network in which cloud
    it is. All this is private to Ray: a version that has no such names is left as it is."""
    from ray._private import ray_constants, services

    _read_environment_again()
    with (
        _replaced(ray_constants, "ENABLE_RAY_CLUSTER", False),
        _replaced(services, "start_api_server", lambda *options, **named: (None, None)),
    ):
        yield


def _read_environment_again() -> None:
    with contextlib.suppress(ImportError, AttributeError):
        from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]

        Config.initialize("")
        AuthenticationTokenLoader.instance().reset_cache()


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
    shutil.rmtree(_Cluster.folder, ignore_errors=True)
