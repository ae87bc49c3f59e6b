"""Write a file completely or not at all, and open one to read it, without harm to pipes and
devices.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import secrets
import stat
import time
from collections.abc import Iterator
from typing import IO

from .errors import SavedModelError

DRAFT_PREFIX = ".river_budget-"  # the prefix of names of temporary files
READERS_BLOCK = os.name == "nt"  # Windows does not replace a file that somebody reads
LONGEST_WAIT = 2.0  # seconds to wait for readers of the old file


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file with this content."""
    with created(path) as file:
        file.write(data)


@contextlib.contextmanager
def created(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to be written: at every moment the path names the old file or the complete new one.

    Follows symbolic links, and keeps the permissions of the old file. A process that is killed
    meanwhile may leave a temporary file.
    """
    permissions = _permissions(path)
    place = pathlib.Path(os.path.realpath(path))
    # nobody can foresee the name, and what has it nevertheless is neither opened nor followed ("x")
    draft = place.parent / f"{DRAFT_PREFIX}{secrets.token_hex(16)}.tmp"
    file = open(draft, "xb")  # noqa: SIM115, it is closed before the draft is renamed or removed
    try:
        with file:
            yield file
            file.flush()
            if permissions is not None and os.chmod in os.supports_fd:  # not on Windows
                os.chmod(file.fileno(), permissions)
            os.fsync(file.fileno())
        _permissions(path)
        _replace(draft, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    _sync(place.parent)


def _permissions(path: str | os.PathLike[str]) -> int | None:
    """The permissions of the file at this path; None if there is none. Raises if there is something
    else.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):  # renaming a file to the path of a device would replace the device
        reason = "it is no regular file, and is not replaced by one"
        raise FileExistsError(errno.EEXIST, reason, os.fspath(path))
    return stat.S_IMODE(mode)


def _replace(draft: pathlib.Path, place: pathlib.Path) -> None:
    """Rename a draft to its place. Windows refuses while somebody reads the old file: wait for the
    reader.
    """
    end = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            return os.replace(draft, place)
        except PermissionError:
            if not READERS_BLOCK or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _sync(folder: pathlib.Path) -> None:
    """Write the folder to the disk too, if the system can, so that the renaming survives a
    crash.
    """
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def opened(path: str | os.PathLike[str]) -> IO[bytes]:
    """A regular file, open to be read: reading a pipe or a device might never end."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder")

    def without_blocking(path: str, flags: int) -> int:  # opening a pipe would wait for a writer
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

    file = open(path, "rb", opener=without_blocking)  # noqa: SIM115, for the caller
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise SavedModelError(f"{path} is no regular file")
    return file


def read(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """The bytes of a file, which may have at most `max_bytes`.

    Opens the file and then measures it: by its path, one file could be measured and another one
    read that was renamed to this path in between.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise SavedModelError(f"{path} has {size} bytes, more than max_bytes={max_bytes}")
        return file.read(size)
