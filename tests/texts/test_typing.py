"""What a type checker sees of the package in a user's program."""

from __future__ import annotations

import textwrap

import pytest

api = pytest.importorskip("mypy.api", reason="mypy is not installed")

GOOD = """
    import numpy as np
    from numpy.typing import NDArray
    from river import preprocessing
    import river_budget as rb
    from river_budget import datasets, kernels, maintenance

    def overlap(x: NDArray[np.float64], z: NDArray[np.float64]) -> float:
        return float(np.minimum(x, z).sum())

    kernel = kernels.RBF("2/d", scales={"a": 2.0})
    model = rb.BSGDClassifier(budget=50, kernel=kernel, maintenance=maintenance.Merge(3), seed=1)
    pipeline = preprocessing.StandardScaler() | model
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    shares: dict[object, float] = model.predict_proba_one({"a": 1.0})
    features = model.support_vectors()[0]["features"]
    used: int = rb.memory_usage(pipeline)
    regressor = rb.NOGDRegressor(budget=10, kernel=kernels.Custom(overlap))
    value: float = regressor.predict_one({"a": 1.0})
    auto = rb.AutoKernelClassifier(seed=1)
    data = datasets.Checkerboard()
    rb.save(model, "model.rb")
"""
BAD = [
    'rb.BSGDClassifier(budget="many")',
    "rb.BSGDClassifier().learn_one([1.0], True)",
    "rb.kernels.RBF(gamma=[1])",
    "rb.FOGDRegressor(learning_rat=0.1)",
    'rb.save("model.rb")',
]


def checked(program):
    """(messages, all is well) of mypy in its strict mode; nothing is said about the package itself."""
    options = ["--config-file=", "--strict", "--follow-imports=silent", "--no-incremental"]
    output, errors, status = api.run([*options, "-c", program])
    assert not errors
    return output, status == 0


@pytest.mark.slow
def test_a_users_program_passes_in_strict_mode():
    output, passed = checked(textwrap.dedent(GOOD))
    assert passed, output


@pytest.mark.slow
def test_mistakes_are_seen():
    output, passed = checked("import river_budget as rb\n" + "\n".join(BAD))
    assert not passed
    for number in range(len(BAD)):
        assert f"<string>:{number + 2}: error" in output, BAD[number]
