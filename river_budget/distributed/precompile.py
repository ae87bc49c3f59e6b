"""Compile what a model needs before workers need it: several processes at once might write the same cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base

from ..model.base import StreamModel
from ..model.shells import Classifier, Regressor
from .keyed.shared_indexes import is_ours

EXAMPLE = {"a": 0.5, "b": -0.5}


def warm(model: base.Base) -> None:
    """Have the passes of all models of ours in a model compiled, by one example each."""
    for ours in _inside(model):
        fresh: Any = ours.clone()
        if isinstance(fresh, Classifier):
            fresh.learn_one(EXAMPLE, True if fresh.classes is None else fresh.classes[0])
            fresh.predict_one(EXAMPLE)
        elif isinstance(fresh, Regressor):
            fresh.learn_one(EXAMPLE, 0.0)
            fresh.predict_one(EXAMPLE)
        else:
            fresh.learn_one(EXAMPLE)
            getattr(fresh, "score_one", getattr(fresh, "transform_one", len))(EXAMPLE)


def _inside(model: Any) -> Iterator[StreamModel]:
    """Our models in pipelines, wrappers and ensembles."""
    if is_ours(model):
        yield model
    elif isinstance(model, (list, tuple)):
        for part in model:
            yield from _inside(part)
    elif isinstance(model, dict):
        yield from _inside(list(model.values()))
    elif isinstance(model, base.Estimator):
        yield from _inside(vars(model))
