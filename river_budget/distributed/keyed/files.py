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
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

from ...saving import SavedModelError, container
from ...saving.envelope import Envelope, as_length, length_of
from .storage import Form

ENVELOPE = Envelope(b"RBKEYED\n", 1, "was not saved by KeyedModels")
DIGEST = 32
BLOCK = 2**20
HEADER = {"form": (str,), "key": (str, int), "rows": (int,)}


def write(
    path: str | os.PathLike[str],
    about: dict[str, Any],
    template: bytes,
    models: Iterable[tuple[bytes, bytes]],
) -> None:
    """Write a file in one step (as saving/container.py does)."""
    container.write(path, _content(about, template, models))  # type: ignore[arg-type]


def _content(
    about: dict[str, Any], template: bytes, models: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for part in _parts(ENVELOPE.header(about), template, models):
        digest.update(part)
        yield part
    yield digest.digest()


def _parts(
    header: bytes, template: bytes, models: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes]:
    yield ENVELOPE.magic
    yield from _measured(header)
    yield from _measured(template)
    for key, state in models:
        yield from _measured(key)
        yield from _measured(state)


def _measured(part: bytes) -> Iterator[bytes]:
    yield length_of(part)
    yield part


class Reader:
    """Reads a file, whose checksum is checked first."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)
        self.file = open(self.path, "rb")  # noqa: SIM115, it is read when the models are asked for
        try:
            self.end = os.fstat(self.file.fileno()).st_size - DIGEST
            self._check()
            self.about = self._header()
            self.template = self._next()
        except BaseException:
            self.file.close()
            raise

    def _check(self) -> None:
        magic = self.file.read(len(ENVELOPE.magic))
        ENVELOPE.check_magic(magic, self.path)
        digest, left = hashlib.sha256(magic), self.end - len(magic)
        while left > 0:
            block = self.file.read(min(BLOCK, left))
            digest.update(block)
            left -= len(block)
        ENVELOPE.check_digest(digest.digest(), self.file.read(), self.path)
        self.file.seek(len(magic))

    def _header(self) -> dict[str, Any]:
        about = ENVELOPE.parsed(self._next(), self.path)
        if any(type(about.get(name)) not in kinds for name, kinds in HEADER.items()):
            raise SavedModelError(f"{self.path} is damaged: its header is incomplete")
        if about["form"] not in list(Form):
            raise SavedModelError(f"{self.path} is damaged: its models have no known form")
        return about

    def _next(self) -> bytes:
        length = as_length(self.file.read(8))
        if length > self.end - self.file.tell():
            raise SavedModelError(f"{self.path} is damaged: a part of it is longer than the file")
        return self.file.read(length)

    def models(self) -> Iterator[tuple[bytes, bytes]]:
        """Key and state of every model. The file is closed at the end."""
        with self.file:
            while self.file.tell() < self.end:
                yield self._next(), self._next()
