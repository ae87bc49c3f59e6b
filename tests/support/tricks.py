"""Measures the gain of each trick of core: `python tests/support/tricks.py [--rounds n] [name ...]`.

A trick stays if it gains 25 % on a default configuration, or 2x in a use that the README names. So add
an entry to tricks.txt with each new trick, and remove a trick whose gain is below `least`.

Times two copies of the package in turns, one unchanged and one with plain code in place of the trick. Prints the
least time of each and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

from changes import PACKAGE, Change, changed, changes_of, entries
from folders import SUPPORT

ON_DEFAULTS, IN_NAMED_USE = 1.25, 2.0  # the ratio that a trick must reach


class Trick(NamedTuple):
    """An entry of tricks.txt: a model and a use that show the cost of the changes."""

    changes: tuple[Change, ...]
    model: str = "BSGDClassifier()"
    use: str = "rows"
    least: str = str(ON_DEFAULTS)


def read(text: str) -> dict[str, Trick]:
    """The tricks of a text such as tricks.txt, by their names."""
    found = {}
    for first, *lines in entries(text):
        name, _, options = first.partition(":")
        named = dict(
            option.strip().split("=", 1) for option in options.split(";") if option.strip()
        )
        found[name] = Trick(tuple(changes_of(lines)), **named)
    return found


TRICKS = read((SUPPORT / "tricks.txt").read_text())

HEAD = """
import json, sys, time
import numpy as np
import river_budget as rb
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 21))
y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=2000) > 0
model = eval("rb." + sys.argv[1])

def least_of(work, times=40):
    least = 1e9
    for _ in range(times):
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least
"""
USES = {  # each prints microseconds per example, or seconds
    "rows": """
model.learn_many(X, y)
print(json.dumps(least_of(lambda: model.learn_many(X, y)) / len(y) * 1e6))
""",
    "first call": """
start = time.process_time()  # it takes long, and others use the machine
model.learn_one(dict(enumerate(X[0].tolist())), True)
model.predict_one(dict(enumerate(X[0].tolist())))
print(json.dumps(time.process_time() - start))
""",
}


def copied(folder: pathlib.Path, changes: tuple[Change, ...]) -> pathlib.Path:
    """A copy of the package with these changes."""
    shutil.copytree(PACKAGE, folder / "river_budget", ignore=shutil.ignore_patterns("__pycache__"))
    for change in changes:
        text = changed(change)
        if text is None:
            raise SystemExit(f"{change.file} has changed: write the trick anew")
        (folder / "river_budget" / change.file).write_text(text)
    return folder


def time_of(folder: pathlib.Path, trick: Trick) -> float:
    """The least time in a separate process: microseconds per example, or seconds until the first is learned."""
    if trick.use == "first call":
        shutil.rmtree(folder / "cache", ignore_errors=True)
    command = [sys.executable, "-W", "ignore", "-c", HEAD + USES[trick.use], trick.model]
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, check=True)
    return float(json.loads(done.stdout))


def times_of(trick: Trick, rounds: int) -> tuple[float, float]:
    """The least times with the trick and without it."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        folders = copied(pathlib.Path(one), ()), copied(pathlib.Path(two), trick.changes)
        times = [[time_of(folder, trick) for folder in folders] for _ in range(rounds)]
    with_it, without = (min(column) for column in zip(*times, strict=True))
    return with_it, without


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="processes for each of the two")
    parser.add_argument("names", nargs="*", help="of tricks; all of them if none is given")
    options = parser.parse_args(arguments)
    print(f"{'trick':20} {'use':11} {'with':>8} {'without':>8} {'ratio':>6} {'least':>6}")
    for name in options.names or TRICKS:
        trick = TRICKS[name]
        with_it, without = times_of(trick, options.rounds)
        ratio = without / with_it
        word = "" if ratio >= float(trick.least) else "  does not pay"
        print(
            f"{name:20} {trick.use:11} {with_it:8.3f} {without:8.3f} {ratio:6.2f} {float(trick.least):6.2f}{word}",
            flush=True,
        )


if __name__ == "__main__":
    main()
