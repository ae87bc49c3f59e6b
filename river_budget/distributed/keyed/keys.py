"""Convert keys to bytes, which are the same on every machine and in every process, and back.

Keys that are equal in Python are one key: 1, 1.0 and True have the same bytes, as they have the same place
in a dict. So it does not matter whether a column of numbers came as integers or as floats.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

LENGTH = struct.Struct("<I")
REAL = struct.Struct("<d")


def packed(key: Any) -> bytes:
    """The bytes of a key: a letter for its kind, then its content."""
    if isinstance(key, np.generic):
        key = key.item()
    if type(key) is str:
        return b"s" + key.encode("utf-8", "surrogatepass")
    if isinstance(key, int):
        return b"i%d" % key
    if type(key) is float and key == key:
        return b"i%d" % int(key) if key.is_integer() else b"f" + REAL.pack(key)
    if type(key) is bytes:
        return b"b" + key
    if type(key) is tuple:
        parts = [packed(part) for part in key]
        return b"t" + b"".join(LENGTH.pack(len(part)) + part for part in parts)
    raise ValueError(
        f"a key must be text, bytes, a number or a tuple of these, and must not be missing: not {key!r}"
    )


def unpacked(data: bytes) -> Any:
    """The key of these bytes."""
    kind, content = data[:1], data[1:]
    if kind == b"s":
        return content.decode("utf-8", "surrogatepass")
    if kind == b"i":
        return int(content)
    if kind == b"f":
        return REAL.unpack(content)[0]
    if kind == b"b":
        return content
    if kind == b"t":
        return tuple(map(unpacked, _parts(content)))
    raise ValueError(f"{data[:20]!r} is no key")


def _parts(content: bytes) -> list[bytes]:
    parts, start = [], 0
    while start < len(content):
        stop = start + LENGTH.size + LENGTH.unpack_from(content, start)[0]
        parts.append(content[start + LENGTH.size : stop])
        start = stop
    return parts


def shard_of(key: bytes, shards: int) -> int:
    """The shard to which a key belongs."""
    return zlib.crc32(key) % shards
