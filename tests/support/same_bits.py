"""The scores of models, in all bits, to compare processors and systems.

    python tests/support/same_bits.py [name ...] > here           everything, or these models only
    python tests/support/same_bits.py compare here there          how far they are apart; fails beyond 1e-12

Each model learns 300 examples one by one and predicts before each. A line is an object in JSON: the name, and
all scores as hexadecimal floats. Seconds and the processor go to the standard error stream.
"""

from __future__ import annotations

import json
import pathlib
import platform
import sys
import time

import llvmlite.binding
import numpy as np

import river_budget as rb

LARGEST_GAP = 1e-12  # between different processors; the largest on 64-bit ARM was 2.4e-15
GAUSSIAN = rb.kernels.RBF(0.5)
MODELS = {
    "rbp": rb.RBPClassifier(20, GAUSSIAN, seed=1),
    "remove": rb.BSGDClassifier(20, GAUSSIAN, rb.maintenance.RemoveSmallest()),
    "merge": rb.BSGDClassifier(20, GAUSSIAN, rb.maintenance.Merge()),
    "project": rb.BSGDClassifier(20, GAUSSIAN, rb.maintenance.Project()),
    "projectron": rb.ProjectronClassifier(20, GAUSSIAN),
    "polynomial": rb.ForgetronClassifier(20, rb.kernels.Polynomial(2)),
    "nogd": rb.NOGDClassifier(20, GAUSSIAN),
    "fogd": rb.FOGDClassifier(20, GAUSSIAN, seed=1),
    "sbp": rb.SBPClassifier(20, GAUSSIAN, seed=1),
    "auto": rb.AutoKernelClassifier(seed=1),
    "auto-regressor": rb.AutoKernelRegressor(seed=1),
}


def stream(n=300):
    """Seven features, some of them absent, and a target that only a kernel can learn."""
    rng = np.random.default_rng(7)
    for row in rng.normal(size=(n, 7)):
        target = row[0] * row[1] + 0.3 * row[2]
        yield {f"x{i}": float(v) for i, v in enumerate(row) if abs(v) > 0.2}, float(target)


def scores(model):
    """The score of every example before it is learned."""
    numbers = isinstance(model, rb.AutoKernelRegressor)
    for x, target in stream():
        yield model.predict_one(x) if numbers else model.predict_proba_one(x).get(True, 0.0)
        model.learn_one(x, target if numbers else target > 0)


def print_scores(names):
    """A line for each model."""
    host = llvmlite.binding.get_host_cpu_name()
    print(platform.machine(), platform.system(), host, rb.__file__, file=sys.stderr)
    for name in names or MODELS:
        begin = time.monotonic()
        found = [score.hex() for score in scores(MODELS[name].clone())]
        print(json.dumps([name, found]), flush=True)
        print(f"{name} {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


def compare(here, there):
    """Print the differences between two files. Returns whether all are at most LARGEST_GAP."""
    mine, yours = (
        dict(map(json.loads, pathlib.Path(path).read_text().splitlines())) for path in (here, there)
    )
    both, close = [name for name in mine if name in yours], True
    for name in both:
        a, b = (np.array([*map(float.fromhex, found[name])]) for found in (mine, yours))
        same, far = np.mean(a == b), np.max(np.abs(a - b))
        print(
            f"{name:16} {'same bits' if same == 1 else f'{same:.0%} same, at most {far:.1e} apart'}"
        )
        close = close and far <= LARGEST_GAP
    return bool(both) and close


if __name__ == "__main__":
    if sys.argv[1:2] == ["compare"]:
        sys.exit(not compare(*sys.argv[2:]))
    print_scores(sys.argv[1:])
