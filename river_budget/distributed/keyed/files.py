"""All models of a KeyedModels in one file.

    bytes 0 to 7    RBKEYED and a newline
    then            a header in JSON: format, river_budget, form of the states, key, rows
    then            the state of the model that all are clones of
    then            key and state of every model, in the order of the keys
    the last 32     SHA-256 of all before

Header, states and keys are preceded by their length, 8 bytes, little endian. The bytes do not depend on how
the models were spread over shards.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

from ..._version import __version__
from ...saving import SavedModelError, container
from .storage import Form

MAGIC = b"RBKEYED\n"
FORMAT = 1
DIGEST = 32
BLOCK = 2**20
HEADER = {"format": (int,), "form": (str,), "key": (str, int), "rows": (int,)}


def write(
    path: str | os.PathLike[str],
    about: dict[str, Any],
    template: bytes,
    models: Iterable[tuple[bytes, bytes]],
) -> None:
    """Write a file, at once and whole."""
    container.write(path, _content(about, template, models))  # type: ignore[arg-type]


def _content(
    about: dict[str, Any], template: bytes, models: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes]:
    digest = hashlib.sha256()
    header = json.dumps({"format": FORMAT, "river_budget": __version__} | about).encode()
    for part in _parts(header, template, models):
        digest.update(part)
        yield part
    yield digest.digest()


def _parts(
    header: bytes, template: bytes, models: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes]:
    yield MAGIC
    yield from _measured(header)
    yield from _measured(template)
    for key, state in models:
        yield from _measured(key)
        yield from _measured(state)


def _measured(part: bytes) -> Iterator[bytes]:
    yield len(part).to_bytes(8, "little")
    yield part


class Reader:
    """A file that has been checked to be whole."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)
        self.end = self.path.stat().st_size - DIGEST
        self.file = open(self.path, "rb")  # noqa: SIM115, it is read when the models are asked for
        try:
            self._check()
            self.about = self._header()
            self.template = self._next()
        except BaseException:
            self.file.close()
            raise

    def _check(self) -> None:
        if self.file.read(len(MAGIC)) != MAGIC:
            raise SavedModelError(f"{self.path} was not saved by KeyedModels")
        digest, left = hashlib.sha256(MAGIC), self.end - len(MAGIC)
        while left > 0:
            block = self.file.read(min(BLOCK, left))
            digest.update(block)
            left -= len(block)
        if self.file.read() != digest.digest():
            raise SavedModelError(f"{self.path} is damaged: its content does not fit its checksum")
        self.file.seek(len(MAGIC))

    def _header(self) -> dict[str, Any]:
        try:
            about = json.loads(self._next())
        except (ValueError, RecursionError):
            about = None
        if not isinstance(about, dict) or any(
            type(about.get(name)) not in kinds for name, kinds in HEADER.items()
        ):
            raise SavedModelError(f"{self.path} is damaged: its header is incomplete")
        if about["format"] > FORMAT:
            raise SavedModelError(f"{self.path} has a format of a later version of river_budget")
        if about["form"] not in list(Form):
            raise SavedModelError(f"{self.path} is damaged: its models have no known form")
        return about

    def _next(self) -> bytes:
        length = int.from_bytes(self.file.read(8), "little")
        if length > self.end - self.file.tell():
            raise SavedModelError(f"{self.path} is damaged: a part of it is longer than the file")
        return self.file.read(length)

    def models(self) -> Iterator[tuple[bytes, bytes]]:
        """Key and state of every model. The file is closed at the end."""
        with self.file:
            while self.file.tell() < self.end:
                yield self._next(), self._next()
