"""numba's cache of compiled functions on disk, without its errors, and located once for each folder of source files.

With a damaged cache or a full disk a function is compiled again: that takes time, and nothing fails.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from typing import Any

from numba.core import caching, config

from .plain import warn_of_no_cache


class FolderLocator:
    """numba's cache locator (where compiled functions are kept), chosen once for each folder of source files.

    numba writes a test file for each function to see whether the cache folder is writable, which is a tenth of
    `import river_budget`.
    """

    chosen: dict[
        tuple[str, str], Any
    ] = {}  # numba's class of locators, by NUMBA_CACHE_DIR and folder

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """numba's locator for a function of this file, or None if no cache folder is writable."""
        key = config.CACHE_DIR, os.path.dirname(file)  # type: ignore[attr-defined]
        if key not in cls.chosen:
            kinds: list[Any] = caching.CompileResultCacheImpl._locator_classes
            found = (kind.from_function(function, file) for kind in kinds)
            locator = next((each for each in found if each is not None), None)
            if locator is None:
                return None  # numba raises an error
            cls.chosen[key] = type(locator)
        return cls.chosen[key](function, file)


class CompiledFunction(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """What numba keeps of a compiled function."""

    _locator_classes: list[Any] = [FolderLocator]


class Cache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of one function; `stamp` is a part of the names of its files."""

    _impl_class = CompiledFunction

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
