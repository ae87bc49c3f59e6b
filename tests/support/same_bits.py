"""Hashes of what models score, to compare processors and systems: `python tests/support/same_bits.py [name ...]`.

Each model learns 300 examples one by one and predicts before each. A line holds its name, the first half of
the SHA-256 of all scores, and the last score in full, so that two outputs can be compared by `diff`. What
differs from machine to machine (processor, seconds) goes to the standard error stream.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import time

import llvmlite.binding
import numpy as np

import river_budget as rb

GAUSSIAN = rb.kernels.RBF(0.5)
MODELS = {
    "rbp": rb.RBPClassifier(20, GAUSSIAN, seed=1),
    "remove": rb.BSGDClassifier(20, GAUSSIAN, rb.maintenance.RemoveSmallest()),
    "merge": rb.BSGDClassifier(20, GAUSSIAN, rb.maintenance.Merge()),
    "merge32": rb.BSGDClassifier(20, GAUSSIAN, rb.maintenance.Merge(), dtype="float32"),
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
    for x, target in stream():
        if isinstance(model, rb.AutoKernelRegressor):
            yield model.predict_one(x)
            model.learn_one(x, target)
        else:
            yield model.predict_proba_one(x).get(True, 0.0)
            model.learn_one(x, target > 0)


def main(names):
    """Print a line per model."""
    host = llvmlite.binding.get_host_cpu_name()
    print(platform.machine(), platform.system(), host, rb.__file__, file=sys.stderr)
    for name in names or MODELS:
        begin = time.monotonic()
        found = list(scores(MODELS[name].clone()))
        digest = hashlib.sha256(np.array(found, "<f8").tobytes()).hexdigest()[:32]
        print(name, digest, found[-1].hex(), flush=True)
        print(f"  {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
