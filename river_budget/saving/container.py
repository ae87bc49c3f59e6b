"""The file: a header in JSON, then arrays.

    bytes 0 to 7     RBUDGET and a newline
    8 to 39          SHA-256 of all that follows
    40 to 47         length of the header, little endian
    then             the header, JSON in UTF-8, filled up with blanks to a multiple of 8
    then             the arrays, one after the other, little endian, C order

The header is an object with `format` (the version of the format, a number), `river_budget` (the version that
wrote it), `arrays` (a list of {"dtype": "<f8" or "<i8", "shape": [...]}) and `model` (see nodes.py).
Readers take every format up to their own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import pathlib
import tempfile
from typing import Any

import numpy as np

from .errors import SavedModelError

MAGIC = b"RBUDGET\n"
FORMAT = 1
DTYPES = ("<f8", "<i8")
FIXED = 48  # bytes before the header


def write(path: str | os.PathLike[str], model: dict[str, Any], arrays: list[Any]) -> None:
    from .. import __version__

    shapes = [{"dtype": array.dtype.str, "shape": list(array.shape)} for array in arrays]
    content = {"format": FORMAT, "river_budget": __version__, "arrays": shapes, "model": model}
    header = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    header += b" " * (-len(header) % 8)
    parts = [len(header).to_bytes(8, "little"), header, *(a.tobytes() for a in arrays)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    _replace(pathlib.Path(path), [MAGIC, digest.digest(), *parts])


def _replace(path: pathlib.Path, parts: list[bytes]) -> None:
    """The file is the old one or the new one, at every moment."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync(path.parent)


def _sync(folder: pathlib.Path) -> None:
    """Have the renaming on the disk as well, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(path: str | os.PathLike[str], max_bytes: int) -> tuple[dict[str, Any], list[Any]]:
    """(model, arrays) of a file, checked as far as the container goes."""
    size = os.stat(path).st_size
    if size > max_bytes:
        raise SavedModelError(f"{path} has {size} bytes, more than max_bytes={max_bytes}")
    data = pathlib.Path(path).read_bytes()
    if not data.startswith(MAGIC):
        raise SavedModelError(f"{path} is no model saved by river_budget")
    if len(data) < FIXED or hashlib.sha256(data[40:]).digest() != data[8:40]:
        raise SavedModelError(f"{path} is damaged: its content does not fit its checksum")
    end = FIXED + int.from_bytes(data[40:48], "little")
    if end > len(data):
        raise SavedModelError(f"{path} is damaged: the header is longer than the file")
    header = _header(data[FIXED:end], path)
    return header["model"], _arrays(data, end, header["arrays"], path)


def _header(text: bytes, path: Any) -> dict[str, Any]:
    try:
        header = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise SavedModelError(f"{path} is damaged: its header is no JSON ({error})") from None
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise SavedModelError(f"{path} is damaged: its header names no format")
    if header["format"] > FORMAT:
        raise SavedModelError(
            f"{path} has format {header['format']}, this version reads up to {FORMAT}: it was written by "
            f"river_budget {header.get('river_budget')}"
        )
    if header["format"] < 1 or not isinstance(header.get("model"), dict):
        raise SavedModelError(f"{path} is damaged: its header holds no model")
    if not isinstance(header.get("arrays"), list):
        raise SavedModelError(f"{path} is damaged: its header lists no arrays")
    return header


def _arrays(data: bytes, start: int, described: list[Any], path: Any) -> list[Any]:
    arrays = []
    for entry in described:
        dtype, shape = _description(entry, path)
        count = math.prod(shape)
        if start + 8 * count > len(data):
            raise SavedModelError(f"{path} is damaged: an array is longer than the file")
        arrays.append(np.frombuffer(data, dtype, count, start).reshape(shape))
        start += 8 * count
    if start != len(data):
        raise SavedModelError(f"{path} is damaged: it is longer than its arrays")
    return arrays


def _description(entry: Any, path: Any) -> tuple[str, list[int]]:
    if isinstance(entry, dict):
        dtype, shape = entry.get("dtype"), entry.get("shape")
        if isinstance(dtype, str) and dtype in DTYPES and isinstance(shape, list):
            if len(shape) in (1, 2) and all(type(n) is int and 0 <= n < 2**40 for n in shape):
                return dtype, shape
    raise SavedModelError(f"{path} is damaged: a part of it describes no array")
