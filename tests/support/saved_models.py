"""Every model that can be saved, and functions to compare two models."""

from __future__ import annotations

import pytest
from models import MODELS, TRANSFORMERS, stream_for
from river import base
from streams import smooth

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.maintenance import Project, RemoveRandom
from river_budget.saving import archive, nodes

ONE_CLASS = [
    pytest.param(rb.KernelOneClassSVM(0.2, 15, RBF(0.5)), id="OneClass"),
    pytest.param(rb.KernelOneClassSVM(0.2, 15, maintenance=Project()), id="OneClass-project"),
    pytest.param(rb.KernelOneClassSVM(0.2, 15, None, RemoveRandom()), id="OneClass-random"),
]


ALL = MODELS + TRANSFORMERS + ONE_CLASS


def stream_of(model, n, seed=0):
    """Examples for any model; transformers and detectors ignore the targets."""
    return stream_for(model, n, seed) if is_supervised(model) else smooth(n, seed=seed)


def is_supervised(model):
    return isinstance(model, (base.Classifier, base.Regressor))


def teach(model, stream):
    for x, y in stream:
        if is_supervised(model):
            model.learn_one(x, y)
        else:
            model.learn_one(x)


def taught(model, n=60, seed=0):
    model = model.clone()
    teach(model, stream_of(model, n, seed))
    return model


def answers(model, stream):
    method = "transform_one" if hasattr(model, "transform_one") else "decision_function_one"
    return [getattr(model, method)(x) for x, _ in stream]


def alike(a, b, stream):
    return file_of(a) == file_of(b) and answers(a, stream) == answers(b, stream)


def file_of(model):
    """The bytes of a model's file, which contain its whole state."""
    return archive.packed(*nodes.encoded(model))
