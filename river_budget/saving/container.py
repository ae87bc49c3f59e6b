"""The file: a header in JSON, then arrays.

    bytes 0 to 7     RBUDGET and a newline
    8 to 39          SHA-256 of all that follows
    40 to 47         length of the header, little endian
    then             the header, JSON in ASCII, padded with blanks to a multiple of 8
    then             the arrays, one after the other, little endian, C order

The header is an object with `format` (the version of the format, a number), `river_budget` (the version that
wrote it), `arrays` (a list of {"dtype": "<f8" or "<i8", "shape": [...]}) and `model` (see nodes.py).
A version of the package reads every format up to the one it writes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
import os
import pathlib
import secrets
import stat
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from .envelope import Envelope, as_length, length_of
from .errors import SavedModelError, damaged

MAGIC = b"RBUDGET\n"
FORMAT = 1
ENVELOPE = Envelope(MAGIC, FORMAT, "is no model saved by river_budget")
DTYPES = ("<f8", "<i8")
DRAFT_PREFIX = ".river_budget-"  # the prefix of names of temporary files
READERS_BLOCK = os.name == "nt"  # Windows does not replace a file that somebody reads
LONGEST_WAIT = 2.0  # seconds to wait for readers of the old file
FIXED_BYTES = 48  # bytes before the header
# Parsed JSON may take so many times the memory of its text: "[]," becomes 64 bytes
JSON_EXPANSION = 32


# writing


def content(model: dict[str, Any], arrays: list[Any]) -> list[Any]:
    """The bytes of a file, in parts."""
    shapes = [{"dtype": array.dtype.str, "shape": list(array.shape)} for array in arrays]
    try:
        header = ENVELOPE.header({"arrays": shapes, "model": model})
    except (ValueError, RecursionError) as error:  # such as an int with thousands of digits
        raise SavedModelError(f"the model cannot be saved: {error}") from None
    header += b" " * (-len(header) % 8)
    return signed([length_of(header), header, *map(octets, arrays)])


def octets(array: Any) -> Any:
    """The memory of an array as bytes, without a copy."""
    return array.reshape(-1).view(np.uint8).data


def signed(parts: list[Any]) -> list[Any]:
    """The magic bytes and the checksum, followed by these parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return [MAGIC, digest.digest(), *parts]


def write(path: str | os.PathLike[str], parts: list[Any]) -> None:
    """Write a file atomically: at every moment the path names the old file or the complete new one.

    Follows symbolic links, and keeps the permissions of the old file.
    """
    place = pathlib.Path(os.path.realpath(path))
    nameless = _unnamed_file(place.parent)
    if nameless is None:
        draft = place.parent / f"{DRAFT_PREFIX}{secrets.token_hex(8)}.tmp"
        with _removed_on_failure(draft):
            with open(draft, "xb") as file:
                _write_content(file, parts, place)
            _replace(draft, place)
    else:
        with nameless as file:
            _write_content(file, parts, place)
            draft = _named(file, place)
            with _removed_on_failure(draft):
                _replace(draft, place)
    _sync(place.parent)


def _replace(draft: pathlib.Path, place: pathlib.Path) -> None:
    """Rename a draft to its place. Windows refuses while somebody reads the old file: wait for the reader."""
    end = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            return os.replace(draft, place)
        except PermissionError:
            if not READERS_BLOCK or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _unnamed_file(folder: pathlib.Path) -> Any:
    """A new file without a name in this folder: if the process is killed, the system removes it.

    None on systems without such files.
    """
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # not all file systems support it
            return open(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    return None


def _write_content(file: Any, parts: list[Any], place: pathlib.Path) -> None:
    """Write the content to the disk, with the permissions of the file that it will replace."""
    file.writelines(parts)
    file.flush()
    if os.chmod in os.supports_fd:  # on other systems, as Windows, the folder has permissions
        with contextlib.suppress(FileNotFoundError):
            os.chmod(file.fileno(), stat.S_IMODE(os.stat(place).st_mode))
    os.fsync(file.fileno())


@contextlib.contextmanager
def _removed_on_failure(draft: pathlib.Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _named(file: Any, place: pathlib.Path) -> pathlib.Path:
    """Give a completely written file a temporary name, so that it can be renamed to its final path.

    A process killed before the renaming leaves this file. The system releases the lock of a killed process, so
    the next process that saves there sees that the file is stale.
    """
    stem = hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]
    with contextlib.suppress(OSError):  # without file locks, a draft of a killed process may remain
        _lock(file)
    number = 0
    while True:
        draft = place.parent / f"{DRAFT_PREFIX}{stem}-{number}.tmp"
        if _linked(file, draft) or (_remove_stale(draft) and _linked(file, draft)):
            return draft
        number += 1  # a process that is still saving has this name


def _linked(file: Any, draft: pathlib.Path) -> bool:
    """Link the file to a name; False if the name is taken.

    (With src_dir_fd, whatever its value, Python follows the link in /proc to the file itself.)
    """
    with contextlib.suppress(FileExistsError):
        os.link(f"/proc/self/fd/{file.fileno()}", draft, src_dir_fd=file.fileno())
        return True
    return False


def _lock(file: Any) -> None:
    """Lock a file; raise OSError if another process, or another file object, has locked it."""
    import fcntl  # imported here: only systems with unnamed files have it for sure

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_stale(draft: pathlib.Path) -> bool:
    """Remove a draft that a killed process left; returns whether the name is free now."""
    try:
        with open(draft, "rb") as left:
            _lock(left)
            if os.path.samestat(
                os.fstat(left.fileno()), os.stat(draft)
            ):  # the locked file still has this name
                os.unlink(draft)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _sync(folder: pathlib.Path) -> None:
    """Write the folder to the disk too, if the system can, so that the renaming survives a crash."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# reading


def read(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """The bytes of a file, which may have at most `max_bytes`.

    Opens the file and then measures it: by its path, one file could be measured and another one read that was
    renamed to this path in between.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder")

    def without_blocking(path: str, flags: int) -> int:  # opening a pipe would wait for a writer
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", opener=without_blocking) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device might never end
            raise SavedModelError(f"{path} is no regular file")
        if status.st_size > max_bytes:
            raise SavedModelError(
                f"{path} has {status.st_size} bytes, more than max_bytes={max_bytes}"
            )
        return file.read(status.st_size)


def parsed(data: bytes, path: Any, max_bytes: int) -> tuple[dict[str, Any], list[Any]]:
    """(model, arrays) from the bytes of a file, after the checks of the container."""
    ENVELOPE.check_magic(data, path)
    ENVELOPE.check_digest(hashlib.sha256(memoryview(data)[40:]).digest(), data[8:40], path)
    length = as_length(data[40:48])
    if FIXED_BYTES + length > len(data):
        raise SavedModelError(f"{path} is damaged: the header is longer than the file")
    if JSON_EXPANSION * length > max_bytes:
        raise SavedModelError(f"{path} has a header too large for max_bytes={max_bytes}")
    start = FIXED_BYTES + length
    header = ENVELOPE.parsed(data[FIXED_BYTES:start], path)
    if header["format"] < 1 or not isinstance(header.get("model"), dict):
        raise SavedModelError(f"{path} is damaged: its header holds no model")
    if not isinstance(header.get("arrays"), list):
        raise SavedModelError(f"{path} is damaged: its header lists no arrays")
    return header["model"], _arrays(data, start, header["arrays"], path)


def _arrays(data: bytes, start: int, described: list[Any], path: Any) -> list[Any]:
    arrays = []
    for entry in described:
        if not _is_array(entry):
            raise SavedModelError(f"{path} is damaged: a part of it describes no array")
        shape = entry["shape"]
        count = math.prod(shape)
        if start + 8 * count > len(data):
            raise SavedModelError(f"{path} is damaged: an array is longer than the file")
        arrays.append(np.frombuffer(data, entry["dtype"], count, start).reshape(shape))
        start += 8 * count
    if start != len(data):
        raise SavedModelError(f"{path} is damaged: it is longer than its arrays")
    return arrays


def _is_array(entry: Any) -> bool:
    """Whether this describes an array."""
    if not isinstance(entry, dict) or entry.get("dtype") not in DTYPES:
        return False
    shape = entry.get("shape")
    if not isinstance(shape, list) or len(shape) not in (1, 2):
        return False
    return all(type(n) is int and 0 <= n < 2**40 for n in shape)


@dataclasses.dataclass
class Source:
    """The arrays of a file, and checked access to them."""

    arrays: list[Any]
    predict_only: bool
    room: int  # bytes of memory that models may still allocate

    def reserve(self, nbytes: int) -> None:
        """Reserve memory for a model; raises SavedModelError beyond the limit."""
        self.room -= nbytes
        if self.room < 0:
            raise SavedModelError("the models in the file need more than max_bytes")

    def array(self, place: Any, shape: tuple[int, ...], kind: str, what: str) -> Any:
        """The array with this index; raises SavedModelError unless it has this shape and type."""
        if type(place) is not int or not 0 <= place < len(self.arrays):
            raise damaged(f"its {what} are missing")
        array = self.arrays[place]
        if array.shape != shape or array.dtype.kind != kind:
            raise damaged(f"its {what} have another shape")
        return array
