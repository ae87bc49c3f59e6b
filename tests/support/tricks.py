"""What each trick of the core gains: `python tests/support/tricks.py [--rounds n] [name ...]`.

A trick stays if it gains 10 % on a default configuration, or 2x in a use that the README names. So whoever adds one adds
an entry here, and whoever reads of a gain below `least` may take the trick out.

Two copies of the package are timed in turns, one as it is and one where plain code stands in the place of the trick.
Prints the least time of each and their ratio.
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

from folders import ROOT

PACKAGE = ROOT / "river_budget"
ON_DEFAULTS, IN_NAMED_USE = 1.1, 2.0  # the ratio that a trick must reach


class Change(NamedTuple):
    """In `file`, `old`, which occurs once, becomes `new`."""

    file: str
    old: str
    new: str


class Trick(NamedTuple):
    """What plain code would be, and the model and the use that show the difference.

    `plain_model` is the model without the trick, where it is a parameter that switches it off.
    """

    changes: tuple[Change, ...]
    model: str = "BSGDClassifier()"
    features: int = 21
    use: str = "rows"
    least: float = ON_DEFAULTS
    plain_model: str = ""


TRICKS = {
    # how a model lies in memory
    "views": Trick(
        (
            Change(
                "core/compiling/array_views.py",
                'View(element, ndim, "C") if ndim',
                'types.Array(element, ndim, "C") if ndim',
            ),
        ),
        features=2,
    ),
    "odd-columns": Trick(
        (
            Change(
                "core/block/blocks.py",
                "    return in_a_line * (-(-vectors // in_a_line) | 1)\n",
                "    return -(-vectors // 512) * 512\n",
            ),
        ),
        "RBPClassifier(500)",
        64,
    ),
    "memory-in-reserve": Trick(
        (
            Change(
                "core/block/blocks.py",
                "    if slots and nbytes >= RESERVED_FROM_BYTES and _PRIVATE_MAPPING:\n",
                "    if False:\n",
            ),
        ),
        "KernelPerceptronClassifier(rb.kernels.Linear())",
        use="documents",
        least=IN_NAMED_USE,
    ),
    # arithmetic on many numbers at once
    "exponential": Trick(
        (
            Change(
                "core/vectors/table.py",
                "    gaussians(products, model.row, model.logs, model.norms, norm, head.gamma, n)\n",
                "    for j in range(n):\n        distance = model.norms[j] + norm - 2.0 * products[j]\n"
                "        model.logs[j] = -head.gamma * (0.0 if distance < 0.0 else distance)\n"
                "        model.row[j] = math.exp(max(model.logs[j], -708.0))\n",
            ),
            Change(
                "core/vectors/table.py",
                "from typing import Any\n",
                "import math\nfrom typing import Any\n",
            ),
        ),
        "RBPClassifier()",
        2,
    ),
    "sums-in-registers": Trick(
        (
            Change(
                "core/simd/vector_sums.py",
                "GROUPS_IN_REGISTERS = 8 if HAS_AVX512 else 4  #",
                "GROUPS_IN_REGISTERS = 1  #",
            ),
        ),
        "RBPClassifier()",
    ),
    "wide-vectors": Trick(
        (
            Change(
                "core/compiling/numba_pipeline.py",
                "        set.add(self.function.attributes, WIDEST_VECTORS)\n",
                "",
            ),
        ),
    ),
    "least-in-eights": Trick(
        (
            Change(
                "core/expansion/support.py",
                "    return oldest_of_least(weights, model.head.count, TIE, model.arrivals)\n",
                "    least, place, first = 1e308, 0, 2**62\n    for j in range(model.head.count):\n"
                "        least = min(least, weights[j])\n    for j in range(model.head.count):\n"
                "        if weights[j] <= TIE * least and model.arrivals[j] < first:\n"
                "            place, first = j, model.arrivals[j]\n    return place\n",
            ),
        ),
        "BSGDClassifier(maintenance=rb.maintenance.RemoveSmallest())",
    ),
    # the search for whom to merge
    "tags": Trick(
        (
            Change(
                "core/simd/argmin.py",
                "        bits[j] = (bits[j] & ~places) | j\n",
                "        bits[j] = bits[j]\n",
            ),
            Change(
                "core/simd/argmin.py",
                "    bits, least = as_i64(losses), LAST_ARRIVAL\n    for j in range(n):\n"
                "        least = min(least, bits[j])\n    return least & index_mask(n)\n",
                "    place = 0\n    for j in range(1, n):\n        if losses[j] < losses[place]:\n"
                "            place = j\n    return place\n",
            ),
        ),
        features=2,
    ),
    "estimate-in-float32": Trick(
        (Change("core/simd/exponential.py", "F = np.float32\n", "F = np.float64\n"),),
        "BSGDClassifier(500)",
    ),
    # several examples at a time
    "products-ahead": Trick(
        (
            Change(
                "core/expansion/products_ahead.py",
                "FEW_NUMBERS = 2**11  #",
                "FEW_NUMBERS = 2**62  #",
            ),
        ),
        "RBPClassifier()",
        100,
    ),
    "scored-together": Trick(
        (
            Change(
                "core/expansion/scoring.py",
                "    together, first = is_ready(score_together) and are_in_a_table(model), ZERO\n",
                "    together, first = False, ZERO\n",
            ),
        ),
        use="scores",
    ),
    # other ways to store a vector
    "float32": Trick(
        (),
        "BSGDClassifier(500, dtype='float32')",
        use="scores",
        least=ON_DEFAULTS,
        plain_model="BSGDClassifier(500)",
    ),
    "long-vectors": Trick(
        (
            Change(
                "core/budget/long_vectors.py",
                "    pays = length >= LONG and 0 < LONGER_BY * x[2] <= length\n",
                "    pays = False\n",
            ),
        ),
        "BSGDClassifier(kernel=rb.kernels.RBF(0.05))",
        use="documents",
        least=IN_NAMED_USE,
    ),
    "prefetching": Trick(
        (
            Change(
                "core/simd/prefetch.py",
                "    builder.call(intrinsic, [place, to_be_read, often, data])\n",
                "",
            ),
        ),
        "KernelPerceptronClassifier(rb.kernels.Linear())",
        use="documents",
    ),
    # dicts
    "dict-reader": Trick(
        (
            Change(
                "model/calls/fast_path.py",
                '    return compiles and getattr(sys, "_is_gil_enabled", lambda: True)() and not PLAIN\n',
                "    return False\n",
            ),
        ),
        use="dicts",
    ),
    # the first call
    "linking": Trick(
        (
            Change(
                "core/compiling/jit.py",
                '    linked = options["no_cpython_wrapper"] and not apart and Compiler is not None\n',
                "    linked = False\n",
            ),
        ),
        use="first call",
    ),
    "numba-pipeline": Trick(
        (
            Change(
                "core/compiling/numba_pipeline.py",
                "        self.context.typing_context = _caching_in_lowering(self.context.typing_context, self.flags)\n",
                "",
            ),
            Change(
                "core/compiling/numba_pipeline.py",
                "        state.typingctx = _caching_in_inference(state.typingctx, state.flags.copy())\n",
                "",
            ),
            Change(
                "core/compiling/numba_pipeline.py",
                "        if state.func_id.modname.startswith(PACKAGE):\n",
                "        if False:\n",
            ),
        ),
        use="first call",
    ),
    "by-address": Trick(
        (
            Change(
                "core/compiling/by_address.py",
                "        name, cell = _name_of(function), ctypes.c_size_t()\n",
                "        return compiled(function)\n",
            ),
            Change(
                "core/compiling/by_address.py",
                "def is_ready(function: Any) -> bool:\n",
                "@compiled(always_inlined=True)\ndef is_ready(function):\n",
            ),
            Change(
                "core/compiling/by_address.py",
                "@compiled_as(is_ready, types.boolean, types.Any)\n",
                "",
            ),
        ),
        use="first call",
    ),
}

HEAD = """
import json, sys, time
import numpy as np, river_budget as rb
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, int(sys.argv[2])))
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
    "scores": """
model.learn_many(X, y)
model.predict_many(X)
print(json.dumps(least_of(lambda: model.predict_many(X)) / len(y) * 1e6))
""",
    "dicts": """
stream = [({f"f{i}": v for i, v in enumerate(x)}, bool(t)) for x, t in zip(X.tolist(), y)]

def work():
    for x, t in stream:
        model.predict_one(x)
        model.learn_one(x, t)

work()
print(json.dumps(least_of(work, 15) / len(y) * 1e6))
""",
    "documents": """
names = (40_000 * rng.random((3000, 30)) ** 4).astype(int)
stream = [({f"w{n}": 1.0 for n in row}, row[0] % 2 == 0) for row in names.tolist()]

def work():
    fresh = model.clone()
    for x, t in stream:
        fresh.learn_one(x, t)

work()
print(json.dumps(least_of(work, 3) / len(stream) * 1e6))
""",
    "first call": """
start = time.process_time()  # it takes long, and others use the machine
model.learn_one(dict(enumerate(X[0].tolist())), True)
print(json.dumps(time.process_time() - start))
""",
}


def applies(change: Change) -> bool:
    """Whether what it replaces occurs once."""
    file = PACKAGE / change.file
    return file.exists() and file.read_text().count(change.old) == 1


def copied(folder: pathlib.Path, changes: tuple[Change, ...]) -> pathlib.Path:
    """A copy of the package with these changes."""
    shutil.copytree(PACKAGE, folder / "river_budget", ignore=shutil.ignore_patterns("__pycache__"))
    for change in changes:
        if not applies(change):
            raise SystemExit(f"{change.file} has changed: write the trick anew")
        file = folder / "river_budget" / change.file
        file.write_text(file.read_text().replace(change.old, change.new))
    return folder


def time_of(folder: pathlib.Path, trick: Trick, model: str) -> float:
    """The least time in a process of its own: microseconds per example, or seconds until the first is learned."""
    if trick.use == "first call":
        shutil.rmtree(folder / "cache", ignore_errors=True)
    command = [sys.executable, "-W", "ignore", "-c", HEAD + USES[trick.use], model]
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [*command, str(trick.features)],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(json.loads(done.stdout))


def times_of(trick: Trick, rounds: int) -> tuple[float, float]:
    """The least times with the trick and without it."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        pairs = (
            (copied(pathlib.Path(one), ()), trick.model),
            (copied(pathlib.Path(two), trick.changes), trick.plain_model or trick.model),
        )
        times = [[time_of(folder, trick, model) for folder, model in pairs] for _ in range(rounds)]
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
        word = "" if ratio >= trick.least else "  does not pay"
        print(
            f"{name:20} {trick.use:11} {with_it:8.3f} {without:8.3f} {ratio:6.2f} {trick.least:6.2f}{word}",
            flush=True,
        )


if __name__ == "__main__":
    main()
