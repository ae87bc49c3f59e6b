"""Seconds until an estimator has predicted and learned for the first time, with an empty cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from .compiling import families

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
