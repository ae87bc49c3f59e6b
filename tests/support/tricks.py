"""What each trick of the core gains: `python tests/support/tricks.py [name ...]`.

Two copies of the package are timed in turns, one as it is and one where the trick is replaced by plain code.
Prints the least time of each, per example, and their ratio.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

from folders import ROOT

PACKAGE = ROOT / "river_budget"
ROUNDS = 5


class Trick(NamedTuple):
    """Where it stands, what stands there, what plain code would be, and the model that shows it.

    `also` is a second place in the same file.
    """

    file: str
    old: str
    new: str
    model: str
    features: int = 21
    also: tuple[str, str] = ("", "")


TRICKS = {
    "views": Trick(
        "core/compiling/array_views.py",
        'View(element, ndim, "C") if ndim',
        'types.Array(element, ndim, "C") if ndim',
        "BSGDClassifier(50)",
        2,
    ),
    "tags": Trick(
        "core/expansion/support.py",
        "        bits[j] = (bits[j] & ~places) | j\n",
        "        bits[j] = bits[j]\n",
        "BSGDClassifier(50)",
        2,
        (
            "    bits, least = as_i64(losses), LAST\n    for j in range(n):\n"
            "        least = min(least, bits[j])\n    return least & places_of(n)\n",
            "    place = 0\n    for j in range(1, n):\n        if losses[j] < losses[place]:\n"
            "            place = j\n    return place\n",
        ),
    ),
    "least-in-eights": Trick(
        "core/expansion/support.py",
        "    return oldest_of_least(weights, model.head.count, TIE, model.arrivals)\n",
        "    least, place, first = np.inf, 0, LAST\n    for j in range(model.head.count):\n"
        "        least = min(least, weights[j])\n    for j in range(model.head.count):\n"
        "        if weights[j] <= TIE * least and model.arrivals[j] < first:\n"
        "            place, first = j, model.arrivals[j]\n    return place\n",
        "BSGDClassifier(100, None, rb.maintenance.RemoveSmallest())",
    ),
    "exponential": Trick(
        "core/expansion/kernel_rows.py",
        "        gaussians(products, row, model.logs, model.norms, norm, head.gamma, n)\n",
        "        for j in range(n):\n            distance = model.norms[j] + norm - 2.0 * products[j]\n"
        "            model.logs[j] = -head.gamma * (0.0 if distance < 0.0 else distance)\n"
        "            row[j] = math.exp(max(model.logs[j], -708.0))\n",
        "RBPClassifier(100)",
        2,
        ("from .codes import Need\n", "import math\n\nfrom .codes import Need\n"),
    ),
    "products-ahead": Trick(
        "core/expansion/products_ahead.py", "FEW = 2**11  #", "FEW = 2**62  #", "RBPClassifier(500)"
    ),
    "sums-in-registers": Trick(
        "core/simd/vector_sums.py",
        "MOST = 8 if WIDE else 4  #",
        "MOST = 1  #",
        "RBPClassifier(100)",
    ),
    "odd-columns": Trick(
        "core/block/blocks.py",
        "    return in_a_line * (-(-vectors // in_a_line) | 1)\n",
        "    return -(-vectors // 512) * 512\n",
        "RBPClassifier(500)",
        64,
    ),
    "estimate-in-float32": Trick(
        "core/simd/exponential.py", "F = np.float32\n", "F = np.float64\n", "BSGDClassifier(500)"
    ),
}

RUN = """
import json, sys, time
import numpy as np, river_budget as rb
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, int(sys.argv[2])))
y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=2000) > 0
model = eval("rb." + sys.argv[1])
model.learn_many(X, y)
least = 1e9
for _ in range(40):
    start = time.perf_counter()
    model.learn_many(X, y)
    least = min(least, time.perf_counter() - start)
print(json.dumps(least / len(y) * 1e6))
"""


def copied(folder: pathlib.Path, trick: Trick | None) -> pathlib.Path:
    """A copy of the package, with plain code in the place of a trick."""
    shutil.copytree(PACKAGE, folder / "river_budget", ignore=shutil.ignore_patterns("__pycache__"))
    if trick is not None:
        file = folder / "river_budget" / trick.file
        text = file.read_text()
        for old, new in ((trick.old, trick.new), trick.also):
            if old and text.count(old) != 1:
                raise SystemExit(f"{trick.file} has changed: write the trick anew")
            text = text.replace(old, new) if old else text
        file.write_text(text)
    return folder


def time_of(folder: pathlib.Path, trick: Trick) -> float:
    """Least microseconds per example in a process of its own."""
    command = [sys.executable, "-c", RUN, trick.model, str(trick.features)]
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=True)
    return float(json.loads(done.stdout))


def main(names: list[str]) -> None:
    print(f"{'trick':20} {'with':>8} {'without':>8} {'ratio':>6}   us per example")
    for name in names or list(TRICKS):
        trick = TRICKS[name]
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            folders = copied(pathlib.Path(one), None), copied(pathlib.Path(two), trick)
            times = [[time_of(folder, trick) for folder in folders] for _ in range(ROUNDS)]
        with_it, without = (min(column) for column in zip(*times, strict=True))
        print(f"{name:20} {with_it:8.3f} {without:8.3f} {without / with_it:6.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
