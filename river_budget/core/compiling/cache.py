"""Compiled functions on disk: a cache that is damaged or full costs time and nothing else."""

from __future__ import annotations

import warnings
from typing import Any

from numba.core import caching


class CacheFile(caching.IndexDataCacheFile):
    """The entries of a function on disk. What cannot be read is compiled anew, and what cannot be written is not."""

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except Exception:  # damaged, or of a program that was killed: unpickling may raise anything
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
                self.flush()  # an index that cannot be read


_said: set[bool] = set()


def warn_once(no_folder: bool, message: str) -> None:
    """Each of the two things once in a process, whichever function found it out."""
    if no_folder in _said:
        return
    _said.add(no_folder)
    reason = (
        f"no folder for numba's cache can be written ({message}): set NUMBA_CACHE_DIR to one that can"
        if no_folder
        else f"this version of numba keeps its cache in another way ({message})"
    )
    warnings.warn(
        f"river_budget compiles anew in every process, as {reason}", RuntimeWarning, stacklevel=2
    )
