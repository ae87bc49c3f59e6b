"""Keys as bytes, which are the same on every machine and in every process, and back.

The bytes are JSON: text and whole numbers as they are, a tuple as a list, {"float": hexadecimal},
{"bytes": hexadecimal}. Keys that are equal in Python are one key: 1, 1.0 and True have the same
bytes, as they have the same place in a dict. So it does not matter whether a column of numbers came
as integers or as floats.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import reprlib
from typing import Any

import numpy as np

from ...saving import SavedModelError

DEEPEST = 20  # the depth up to which tuples may be nested
MANY = 2**16  # keys whose bytes and shards are remembered for later chunks


def packed(key: Any) -> bytes:
    return json.dumps(_plain(key), separators=(",", ":")).encode()


def _plain(key: Any, depth: int = 0) -> Any:
    """A key as a value of JSON, which equal keys share."""
    if isinstance(key, np.generic):
        key = key.item()
    if type(key) is str:
        return key
    if isinstance(key, int) or (type(key) is float and key.is_integer()):
        return int(key)
    if type(key) is float and key == key:
        return {"float": key.hex()}
    if type(key) is bytes:
        return {"bytes": key.hex()}
    if type(key) is tuple and depth < DEEPEST:
        return [_plain(part, depth + 1) for part in key]
    raise ValueError(
        "a key must be text, bytes, a number or a tuple of these, and must not be missing: not "
        f"{key!r}"
    )


def unpacked(name: Any) -> Any:
    """The key of these bytes, which must be the ones that the key has."""
    with contextlib.suppress(ValueError, TypeError, AttributeError, RecursionError):
        key = _key(json.loads(name))
        if packed(key) == name:
            return key
    raise SavedModelError(f"{reprlib.repr(name)} is no key of a model")


def _key(plain: Any) -> Any:
    match plain:
        case list():
            return tuple(map(_key, plain))
        case {"float": text}:
            return float.fromhex(text)
        case {"bytes": text}:
            return bytes.fromhex(text)
    return plain


def shard_of(name: bytes, shards: int) -> int:
    """The shard to which the key with these bytes belongs."""
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little") % shards


@functools.lru_cache(MANY, typed=True)
def address(key: Any, shards: int) -> tuple[bytes, int]:
    name = packed(key)
    return name, shard_of(name, shards)
