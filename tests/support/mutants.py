"""Small mistakes put into the package on purpose: do the tests notice each of them?

    python tests/support/mutants.py                      all mutants of mutants.txt, two at a time (hours)
    python tests/support/mutants.py --only 7 12 --rest   two of them; survivors also run the other quick tests
    python tests/support/mutants.py --list               all mutants, and which no longer apply

Each worker has its own copy of the package and of the tests, with its own cache of numba. For each mutant it changes
one file, runs the named test files until the first failure, and restores the file. A mutant of core is compiled again.
A crash or a test that hangs counts as a failure.

An entry of mutants.txt names a file, the tests that notice the change (those that -k selects run first), and
the change as changes.py reads it.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from changes import Change, applies, changed, changes_of, entries
from folders import ROOT, SUPPORT, TESTS

COPIED = ("river_budget", "tests", "examples", "README.md", "CHANGELOG.md", "pyproject.toml")
PATIENCE = 900  # seconds for the named files; three times as many for the rest


class Mutant(NamedTuple):
    """An entry of mutants.txt: the files with tests that are run, narrowed at first by `only` (pytest's -k)."""

    change: Change
    tests: str
    only: str


def read(text):
    """The mutants of a text such as mutants.txt."""
    for first, *lines in entries(text):
        file, _, tests = first.partition(": ")
        tests, _, only = tests.partition(" -k ")
        (change,) = changes_of([file, *lines])
        yield Mutant(change, tests, only)


MUTANTS = list(read((SUPPORT / "mutants.txt").read_text()))


def files_of(mutant):
    """The test files that it names, from the root."""
    found = {path.stem: str(path.relative_to(ROOT)) for path in TESTS.rglob("test_*.py")}
    return [found[f"test_{name}"] for name in mutant.tests.split()]


class Worker:
    """A copy of the package and the tests, and a cache for it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.copy = self.folder / "copy"
        self.copy.mkdir(parents=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
                shutil.copytree(source, self.copy / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, self.copy / name)

    def pytest(self, patience, *arguments):
        """(whether a test failed, the first failure) of a run that stops at the first failure."""
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONPATH": str(self.copy),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options, *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=self.copy,
                env=environment,
                capture_output=True,
                text=True,
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            return True, "a test that hangs"
        failures = [x for x in done.stdout.splitlines() if x.startswith(("FAILED", "ERROR"))]
        if failures:
            return True, failures[0].partition(" ")[2].partition(" - ")[0]
        if done.returncode < 0 or done.returncode == 2:
            return True, f"a crash (return code {done.returncode})"
        return done.returncode == 1, "?"  # 5: no tests were chosen

    def judge(self, mutant, rest):
        """(killed, by what) of one mutant."""
        file = self.copy / "river_budget" / mutant.change.file
        before = file.read_text()
        file.write_text(changed(mutant.change))
        first = files_of(mutant)
        try:
            killed, by = self.pytest(
                PATIENCE, *first, *(["-k", mutant.only, "-m", ""] if mutant.only else [])
            )
            if not killed and rest:
                killed, by = self.pytest(PATIENCE, *first)
            if not killed and rest:
                left_out = [f"--ignore={name}" for name in first]
                killed, by = self.pytest(3 * PATIENCE, "tests", *left_out)
        finally:
            file.write_text(before)
            if mutant.change.file.startswith("core/"):
                shutil.rmtree(self.folder / "cache", ignore_errors=True)
        return killed, by


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants")
    parser.add_argument("--rest", action="store_true", help="the rest of the quick tests as well")
    parser.add_argument("--list", action="store_true", help="only say which mutants apply")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    numbers = range(len(MUTANTS)) if options.only is None else options.only
    chosen = []
    for number in numbers:
        if applies(MUTANTS[number].change):
            chosen.append(number)
        else:
            print(f"{number:3} DOES NOT APPLY ANY MORE: {describe(MUTANTS[number])}", flush=True)
    if options.list:
        for number in chosen:
            print(f"{number:3} {describe(MUTANTS[number])}")
        return
    alive = run(chosen, options)
    print(f"{len(chosen) - len(alive)} of {len(chosen)} killed; alive: {alive or 'none'}")


def describe(mutant):
    old, new = (" ".join(text.split()) or "(nothing)" for text in mutant.change[1:])
    return f"{mutant.change.file}: {old}  ->  {new}"


def run(numbers, options):
    """The numbers of the surviving mutants."""
    alive, workers = [], queue.Queue()

    def one(number):
        worker, start = workers.get(), time.perf_counter()
        try:
            killed, by = worker.judge(MUTANTS[number], options.rest)
        finally:
            workers.put(worker)
        took = time.perf_counter() - start
        word = f"killed by {by}" if killed else "ALIVE"
        print(f"{number:3} {took:4.0f} s {describe(MUTANTS[number])}\n         {word}", flush=True)
        return number if not killed else None

    with tempfile.TemporaryDirectory() as folder:
        for place in range(options.workers):
            workers.put(Worker(pathlib.Path(folder) / str(place)))
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            alive = [number for number in pool.map(one, numbers) if number is not None]
    return alive


if __name__ == "__main__":
    main()
