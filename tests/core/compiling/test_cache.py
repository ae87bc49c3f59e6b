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
def none_chosen(monkeypatch):
    """No locator is chosen for any folder yet."""
    monkeypatch.setattr(cache.FolderLocator, "chosen", {})


def test_numba_checks_once_for_each_folder_that_it_is_writable(none_chosen, monkeypatch, tmp_path):
    checked, check = [], caching._CacheLocator.ensure_cache_path

    def noted(locator):
        checked.append(locator.get_cache_path())
        check(locator)

    def another():
        pass

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", noted)
    for folder in (tmp_path / "one", tmp_path / "other"):
        monkeypatch.setattr(config, "CACHE_DIR", str(folder))
        first, second = (cache.Cache(function, "stamp") for function in (noted, another))
        assert first.cache_path == second.cache_path == checked[-1]
        assert checked[-1].startswith(str(folder))
        assert first._cache_file._index_path != second._cache_file._index_path
    assert len(checked) == 2


def test_a_folder_that_is_not_writable_is_checked_again(none_chosen, monkeypatch):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator available"):
        cache.Cache(cache.warn_once, "stamp")
    assert not cache.FolderLocator.chosen
    monkeypatch.undo()
    assert cache.Cache(cache.warn_once, "stamp").cache_path
