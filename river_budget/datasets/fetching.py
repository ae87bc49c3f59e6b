"""Where files come from: a folder of the user, the cache, or their published address.

A file is read from the folder in the environment variable RIVER_BUDGET_DATA, to which nothing is
written, else from the folder river_budget in River's data folder. If it is in neither, it is
downloaded into the second, where it gets its name only after it has been read completely.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.resources
import lzma
import os
import pathlib
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TypeVar

from ..messages.progress import Progress

Result = TypeVar("Result")

VARIABLE = "RIVER_BUDGET_DATA"
# SHA-256 of files whose content is known byte by byte, as `sha256sum -c sha256.txt` reads it: those
# of the project's own mirror (.xz), and those of the authors of the 2016 paper (.mat). For other
# downloads no digest is published: they are checked by length, by the checksums inside .bz2, .gz
# and .zip files, and by the number of rows and features.
_LIST = importlib.resources.files(__package__).joinpath("sha256.txt").read_text("utf-8")
SHA256 = {name: digest for digest, name in map(str.split, _LIST.splitlines())}
TIMEOUT = 30  # seconds without a byte
PIECE = 1 << 18
FAILURES = (  # errors of reading, unpacking and downloading
    OSError,
    EOFError,
    ValueError,
    http.client.HTTPException,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


class DatasetUnavailable(RuntimeError):
    """A file of a dataset is missing and cannot be downloaded, or has wrong content."""


def mirror_folder() -> pathlib.Path | None:
    named = os.environ.get(VARIABLE)
    return pathlib.Path(named).expanduser() if named else None


def cache_folder() -> pathlib.Path:
    """The cache in River's data folder. (River's own function would create that folder, which
    reading need not.)
    """
    home = os.environ.get("RIVER_DATA", "~/river_data")
    return pathlib.Path(home).expanduser() / "river_budget"


def find(names: Iterable[str]) -> pathlib.Path | None:
    """The first existing file with one of these names, in the mirror or else in the cache."""
    folders = [folder for folder in (mirror_folder(), cache_folder()) if folder]
    places = (folder / name for folder in folders for name in names)
    return next((place for place in places if place.is_file()), None)


def saved_as(address: str) -> str:
    return address.rpartition("/")[2]


def stored_as(address: str) -> tuple[str, str]:
    """The names of an authors' matrix, which the mirror has in a folder of its own."""
    name = saved_as(address)
    return name, f"lsokl/{name}"


def obtain(
    names: Sequence[str], address: str | None, examine: Callable[[pathlib.Path], Result]
) -> Result:
    """The result of `examine` for a file that has one of these names.

    Without an address the file is published to registered users only.
    """
    path = find(names)
    try:
        if path:
            return _examined(path, examine)
        if address:
            return _fetched(address, examine)
    except FAILURES as error:
        reason = str(error) or type(error).__name__
        if path:
            source = f"; it is published at {address}" if address else ""
            why = f"{path} is of no use ({reason}){source}"
        else:
            why = f"it could not be fetched from {address} ({reason})"
        raise DatasetUnavailable(_advice(names, why)) from error
    raise DatasetUnavailable(_advice(names, "its publisher gives it to registered users"))


def _examined(path: pathlib.Path, examine: Callable[[pathlib.Path], Result]) -> Result:
    expected = SHA256.get(path.name)
    if expected:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise ValueError(f"its SHA-256 is {found} instead of {expected}")
    return examine(path)


def _fetched(address: str, examine: Callable[[pathlib.Path], Result]) -> Result:
    """Download a file into a temporary folder, and move it to the cache after `examine` has
    accepted it.
    """
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=cache) as unfinished:
        path = pathlib.Path(unfinished, saved_as(address))
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer, path.open("wb") as file:
            size = answer.headers.get("Content-Length")
            _copy(answer, file, address, int(size) if size else None)
        result = _examined(path, examine)
        path.replace(cache / path.name)
    return result


def _copy(source: IO[bytes], target: IO[bytes], address: str, size: int | None) -> None:
    done, whole = 0, "?" if size is None else f"{size / 1e6:.1f}"
    with Progress(1, address) as bar:
        while piece := source.read(PIECE):
            target.write(piece)
            done += len(piece)
            bar.show(f"{done / 1e6:.1f} of {whole} MB")
        bar.advance()
    if size is not None and done != size:
        raise ValueError(f"{done:,} of {size:,} bytes arrived")


def _advice(names: Sequence[str], why: str) -> str:
    folder = mirror_folder()
    state = f"now {folder}" if folder else "not set now"
    return (
        f"{names[0].removesuffix('.xz')} is not available: {why}. "
        f"You can put it, as {' or '.join(names)}, into the folder that the environment variable "
        f"{VARIABLE} names ({state}), or into the cache folder {cache_folder()}."
    )
