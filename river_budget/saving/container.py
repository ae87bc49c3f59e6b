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

import dataclasses
import hashlib
import math
from typing import Any

import numpy as np

from .envelope import Envelope, as_length, length_of
from .errors import SavedModelError, damaged

MAGIC = b"RBUDGET\n"
FORMAT = 1
ENVELOPE = Envelope(MAGIC, FORMAT, "is no model saved by river_budget")
DTYPES = ("<f8", "<i8")
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


# reading


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
