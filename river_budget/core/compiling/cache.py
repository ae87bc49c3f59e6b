"""numba's cache of compiled functions on disk, without its errors.

With a damaged cache or a full disk a function is compiled again: that takes time, and nothing fails.
"""

from __future__ import annotations

import warnings
from typing import Any

from numba.core import caching


class CacheFile(caching.IndexDataCacheFile):
    """The cache entries of one function.

    An entry that cannot be read is compiled again; failed writes are ignored.
    """

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
                warn_once(True, str(error))
                return
            except Exception:
                self.flush()  # the index cannot be read: start a new one and try again


_warned: set[bool] = set()


def warn_once(no_folder: bool, message: str) -> None:
    """Warn that nothing is cached; at most once per process for each of the two reasons.

    no_folder: the reason is that no cache folder can be written; otherwise, that this version of numba
    organises its cache differently.
    """
    if no_folder in _warned:
        return
    _warned.add(no_folder)
    reason = (
        f"no folder for numba's cache can be written ({message}): set NUMBA_CACHE_DIR to one that can"
        if no_folder
        else f"this version of numba keeps its cache in another way ({message})"
    )
    warnings.warn(
        f"river_budget compiles anew in every process, as {reason}", RuntimeWarning, stacklevel=2
    )
