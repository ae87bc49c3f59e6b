"""What type checkers see of the package in a user's program."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest
from folders import ROOT

pytestmark = pytest.mark.slow

GOOD = """
    import numpy as np
    from numpy.typing import NDArray
    from river import compose, datasets as streams, feature_extraction, linear_model, preprocessing
    import river_budget as rb
    from river_budget import datasets, kernels, maintenance

    # first steps
    auto = rb.AutoKernelClassifier(seed=1)
    quick = rb.StandardScaler() | rb.BSGDClassifier()
    regressor = rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor())
    alone = rb.TargetStandardScaler(rb.BSGDRegressor())
    regressor.learn_one({"a": 1.0}, 2.0)
    predicted: float = regressor.predict_one({"a": 1.0})
    learner = rb.AutoKernelRegressor(seed=1)
    number: float = learner.predict_one({"a": 1.0})
    lower: float = learner.predict_one({"a": 1.0}, with_dist=True).interval(0.8).lower
    score: float = rb.KernelOneClassSVM().score_one({"a": 1.0})

    # pipelines
    late = rb.Delayed(rb.StandardScaler() | rb.BSGDClassifier())
    sure: dict[object, float] = late.predict_proba_one({"a": 1.0})
    guarded = rb.Guard("skip") | preprocessing.StandardScaler() | rb.BSGDClassifier()
    text = feature_extraction.BagOfWords() | rb.AutoKernelClassifier()
    curved = rb.RandomFourier(100) | linear_model.LogisticRegression()
    rare = rb.FeatureBudget(10) | linear_model.LogisticRegression()
    either: compose.Pipeline = preprocessing.OneHotEncoder() | auto

    # parameters
    def overlap(x: NDArray[np.float64], z: NDArray[np.float64]) -> float:
        return float(np.minimum(x, z).sum())

    kernel = kernels.RBF("2/d", scales={"a": 2.0})
    model = rb.BSGDClassifier(budget=50, kernel=kernel, maintenance=maintenance.Merge(3), seed=1)
    custom = rb.NOGDRegressor(budget=10, kernel=kernels.Custom(overlap))
    value: float = custom.predict_one({"a": 1.0})
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    shares: dict[object, float] = model.predict_proba_one({"a": 1.0})
    features = model.support_vectors()[0]["features"]

    # functions and modules
    used: int = rb.memory_usage(quick)
    shown: str = rb.summary(quick)
    rb.predict_then_learn_many(quick, np.zeros((2, 2)), [True, False])
    rb.save(model, "model.rb")
    again = rb.load("model.rb")
    both = rb.merge([rb.BSGDClassifier(), rb.BSGDClassifier()])
    data = datasets.Checkerboard()
    rb.plots.mistake_curve({"a": model, "b": quick}, streams.Phishing())
    rb.sklearn.BudgetClassifier(quick)
    rb.export.onnx(model, "model.onnx")
    with rb.distributed.KeyedModels(model, "key", backend="serial") as models:
        models.learn_many([], [])
"""
BAD = [
    'rb.BSGDClassifier(budget="many")',
    "rb.BSGDClassifier().learn_one([1.0], True)",
    "rb.kernels.RBF(gamma=[1])",
    "rb.FOGDRegressor(learning_rat=0.1)",
    'rb.save("model.rb")',
    "rb.foo",
    "rb.plots.foo",
    'rb.Guard("ignore")',
    'rb.maintenance.Merge(3, "cascades")',
    'rb.ProjectronClassifier(span="classes")',
    "text: str = rb.AutoKernelRegressor().predict_one({'a': 1.0})",
    "rb.TargetStandardScaler(3)",
]


def errors_of_mypy(path):
    """{line: message}, in mypy's strict mode; nothing is said about the package itself."""
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    options = ["--config-file=", "--strict", "--follow-imports=silent", "--no-incremental"]
    output, trouble, _ = api.run([*options, str(path)])
    assert not trouble
    lines = (line.split(":", 2) for line in output.splitlines() if ": error: " in line)
    return {int(line): message for _, line, message in lines}


def errors_of_pyright(path):
    """{line: message}."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    (path.parent / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(path.parent)]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {
        each["range"]["start"]["line"] + 1: each["message"]
        for each in found
        if each["severity"] == "error"
    }


CHECKERS = [errors_of_mypy, errors_of_pyright]


@pytest.mark.parametrize("errors_of", CHECKERS)
def test_a_users_program_passes(errors_of, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(GOOD))
    assert errors_of(path) == {}


@pytest.mark.parametrize("errors_of", CHECKERS)
def test_mistakes_are_seen(errors_of, tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import river_budget as rb\n" + "\n".join(BAD))
    assert errors_of(path).keys() == {number + 2 for number in range(len(BAD))}
