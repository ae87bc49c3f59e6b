"""Speed, as ratios of times to those of other packages, all in one run.

A separate process measures, as the algebra library reads its number of threads, here one, when it
is loaded.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import numpy as np

from ..common.results import one_by_one
from ..common.tables import Table
from .compiling import families
from .speed_cases import STREAMS, comparisons, large_products, missing

CAPTION = (
    "Microseconds per example, of the processor and not of the clock: medians of {repeats} runs "
    "that take turns, and "
    "the smallest and largest ratio of a turn. Below 1: ours is faster. scikit-learn: RBFSampler, "
    "or Nystroem for NOGD, "
    "and SGDClassifier.partial_fit in batches of 1000, with as many features as our budget. "
    "Examples that are scored "
    "together share what they load."
)
HEADER = ["what", "data", "ours", "theirs", "ratio", "spread", "against"]
MANY_FEATURES = "many features"
OPTIONAL_PACKAGES = ("sklearn", "pandas")
THREAD_VARIABLES = (  # of the usual algebra libraries
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

FIRST_CALL = """
import sys, time
import river_budget as rb
model = getattr(rb, sys.argv[1])()
x = {i: 0.1 * i for i in range(5)}
start = time.process_time()
for y in (True, False):
    if hasattr(model, "score_one"):
        model.score_one(x), model.learn_one(x)
    elif hasattr(model, "transform_one"):
        model.learn_one(x), model.transform_one(x)
    else:
        model.predict_one(x), model.learn_one(x, y)
print(time.process_time() - start)
"""


def estimators() -> list[str]:
    """The names of all estimators."""
    return sorted({kind.__name__ for kinds in families().values() for kind in kinds})


def first_call(name: str) -> float:
    """Seconds of the processor that a first call takes, in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-W", "ignore", "-c", FIRST_CALL, name]
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        raise RuntimeError(f"the first call of {name} failed")
    return float(run.stdout)


def measured(data: list[str], examples: int, repeats: int, complete: bool) -> list[Table]:
    """Measure in this process: the table of all comparisons, and that of first calls."""

    def rows(name: str) -> list[list[str]]:
        if name == MANY_FEATURES:
            found = large_products(complete)
        else:
            found = comparisons(STREAMS[name][0](examples), complete)
        return [row for comparison in found for row in comparison.rows(repeats)]

    tasks = {name: functools.partial(rows, name) for name in data or [*STREAMS, MANY_FEATURES]}
    tables = [(HEADER, [row for found in one_by_one("speed", tasks) for row in found])]
    if complete:
        calls = {name: functools.partial(first_call, name) for name in estimators()}
        seconds = one_by_one("first calls", calls)
        spent = [[name, f"{one:.1f}"] for name, one in zip(calls, seconds, strict=True)]
        tables.append((["first call of", "seconds"], spent))
    return tables


def speed(
    data: Sequence[str] = (), examples: int = 20_000, repeats: int = 5, complete: bool = False
) -> list[tuple[Table, str]]:
    """Measure in a process of its own: the tables, the last one with the caption of all."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    options = json.dumps([list(data), examples, repeats, complete])
    command = [sys.executable, "-W", "ignore", "-m", __name__, options]
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        raise RuntimeError(f"the process that measures ended with {run.returncode}")
    ran_on, *tables, last = json.loads(run.stdout)
    notes = [CAPTION.format(repeats=repeats), f"On {ran_on}."]
    if made_up := missing(list(data)):
        notes.append(f"Made up, of the same shape, as no file is at hand: {', '.join(made_up)}.")
    notes += [
        f"Left out: {name} is not installed."
        for name in OPTIONAL_PACKAGES
        if importlib.util.find_spec(name) is None
    ]
    return [*((one, "") for one in tables), (last, "\n".join(notes))]


def described() -> str:
    """The processor of this process, and what multiplies matrices."""
    return f"{processor()}{vectors()}; one thread; numpy {np.__version__}"


def vectors() -> str:
    """Whether the processor has wide vectors, where Linux says so."""
    try:
        with open("/proc/cpuinfo") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return ""
    return f", {'with' if 'avx512f' in flags.split() else 'without'} AVX-512" if flags else ""


def processor() -> str:
    """The name of the processor."""
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


if __name__ == "__main__":  # the process that measures
    try:
        found = measured(*json.loads(sys.argv[1]))
    except KeyboardInterrupt:  # the parent process prints it
        sys.exit(130)
    json.dump([described(), *found], sys.stdout)
