"""The cache of compiled code on disk: damaged files, sources in a zip, several processes."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import zipfile

from folders import ROOT
from optional import needs_cache

USE = """
import numpy as np
from river_budget.core.block.random_numbers import fill_uniforms
drawn = np.zeros((1, 3))
fill_uniforms(np.array([7], np.uint64), drawn)
print(drawn.tolist(), sum(fill_uniforms.stats.cache_hits.values()))
"""


def used(cache, path=ROOT, script=USE):
    """(what the script prints, whether compiled code was found on disk)"""
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(path)}
    made = subprocess.run(
        [sys.executable, "-c", script],
        env=env,
        cwd=cache,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert made.returncode == 0, made.stderr
    numbers, hits = made.stdout.rsplit(" ", 1)
    return numbers, int(hits) > 0


def files_of(cache):
    return sorted(path for path in pathlib.Path(cache).rglob("*.nb?") if path.is_file())


@needs_cache
def test_a_flipped_bit_in_every_file_only_compiles_again(tmp_path):
    numbers, found = used(tmp_path)
    assert not found
    assert used(tmp_path) == (numbers, True)
    kept = {path: path.read_bytes() for path in files_of(tmp_path)}
    assert kept
    for share in (0.0, 0.03, 0.5, 0.97):
        for path, data in kept.items():
            damaged = bytearray(data)
            damaged[int(share * (len(data) - 1))] ^= 4
            path.write_bytes(bytes(damaged))
        assert used(tmp_path) == (numbers, False), share
    assert used(tmp_path) == (numbers, True)


@needs_cache
def test_processes_that_compile_side_by_side_leave_a_cache_that_holds(tmp_path):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first, *others = pool.map(used, [tmp_path] * 3)
    assert all(numbers == first[0] for numbers, _ in others)
    assert used(tmp_path) == (first[0], True)


@needs_cache
def test_sources_in_a_zip_have_a_stamp_of_their_own(tmp_path):
    stamp = "from river_budget.core.compiling import jit; print(jit.stamp(), 0)"
    stamps = []
    for version, text in enumerate(("", "# another version\n")):
        path = tmp_path / f"{version}.zip"
        with zipfile.ZipFile(path, "w") as packed:
            for source in sorted((ROOT / "river_budget").rglob("*.py")):
                own = text if source.name == "random_numbers.py" else ""
                packed.writestr(str(source.relative_to(ROOT)), source.read_text() + own)
        stamps.append(used(tmp_path, path, stamp)[0])
    assert stamps[0] != stamps[1]
    assert stamps[0] == used(tmp_path, ROOT, stamp)[0]
