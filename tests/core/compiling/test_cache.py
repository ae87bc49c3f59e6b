"""numba's cache on disk, as this package uses it. Damaged and full ones: test_start.py."""

from __future__ import annotations

import pytest
from optional import needs_compiler

from river_budget.core.compiling.plain import PLAIN

if PLAIN:
    pytest.skip("RIVER_BUDGET_PLAIN is set: nothing is kept on disk", allow_module_level=True)

from numba.core import caching, config

from river_budget.core.compiling import cache

pytestmark = needs_compiler


@pytest.fixture
def unknown(monkeypatch):
    """Places that know no folder yet."""
    monkeypatch.setattr(cache.Places, "known", {})


def test_numba_asks_once_for_each_folder_whether_it_can_be_written(unknown, monkeypatch, tmp_path):
    asked, ask = [], caching._CacheLocator.ensure_cache_path

    def noted(place):
        asked.append(place.get_cache_path())
        ask(place)

    def another():
        pass

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", noted)
    for folder in (tmp_path / "one", tmp_path / "other"):
        monkeypatch.setattr(config, "CACHE_DIR", str(folder))
        first, second = (cache.Cache(function, "stamp") for function in (noted, another))
        assert first.cache_path == second.cache_path == asked[-1]
        assert asked[-1].startswith(str(folder))
        assert first._cache_file._index_path != second._cache_file._index_path
    assert len(asked) == 2


def test_a_folder_that_cannot_be_written_is_asked_for_again(unknown, monkeypatch):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator available"):
        cache.Cache(cache.warn_once, "stamp")
    assert not cache.Places.known
    monkeypatch.undo()
    assert cache.Cache(cache.warn_once, "stamp").cache_path
