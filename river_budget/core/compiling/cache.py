"""numba's cache of compiled functions on disk, without its errors.

With a damaged cache or a full disk a function is compiled again: that takes time, and nothing fails.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from typing import Any

from numba.core import caching

from .plain import warn_of_no_cache


class Cache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of one function; `stamp` is a part of the names of its files."""

    def __init__(self, function: Any, stamp: str):
        super().__init__(function)
        name = f"{self._impl.filename_base}-{stamp}"
        self._cache_file = CacheFile(
            cache_path=self._cache_path, filename_base=name, source_stamp=stamp
        )


DIGEST_BYTES = 16


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def _undamaged(data: bytes) -> Any:
    """What `CacheFile._dump` has written."""
    digest, data = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    if digest != _digest(data):
        raise ValueError("a damaged file")
    return pickle.loads(data)


class CacheFile(caching.IndexDataCacheFile):
    """The cache entries of one function.

    An entry that cannot be read, or whose digest is not that of its bytes, is compiled again: machine code with a
    flipped bit would end the process. Failed writes are ignored.
    """

    def _dump(self, found: Any) -> bytes:
        data: bytes = super()._dump(found)
        return _digest(data) + data

    def _load_index(self) -> Any:
        try:
            with open(self._index_path, "rb") as file:
                version, data = pickle.load(file), file.read()
        except FileNotFoundError:
            return {}
        stamp, overloads = _undamaged(data) if version == self._version else (None, {})
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            return _undamaged(file.read())

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except Exception:  # a damaged or half-written entry: unpickling it may raise anything
            return None

    def save(self, key: Any, data: Any) -> None:
        for _ in range(2):
            try:
                super().save(key, data)
                return
            except OSError as error:
                warn_of_no_cache(error)
                return
            except Exception:
                with contextlib.suppress(Exception):
                    self.flush()  # the index cannot be read: start a new one and try again
