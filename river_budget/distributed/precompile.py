"""Compile what a model needs before workers need it: several processes at once might write the same cache."""

from __future__ import annotations

from typing import Any

from river import base

from ..model.inspection import all_ours
from ..model.shells import Classifier, Regressor

EXAMPLE = {"a": 0.5, "b": -0.5}


def warm(model: base.Base) -> None:
    """Have the passes of all models of ours in a model compiled, by one example each."""
    for ours in all_ours(model):
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
