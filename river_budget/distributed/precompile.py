"""Compile the code that a model needs, or load it from the cache.

Call it in one thread, before times are measured and before several processes write the same cache.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from river import base

from ..model.estimators.estimators import Classifier
from ..nested import all_ours, steps_of
from .dicts import learn_example

EXAMPLE = {"a": 0.5, "b": -0.5}


def precompile(model: Any, examples: Iterable[Any] = ()) -> None:
    """Have the passes of a model compiled, by clones that predict and learn.

    Some passes run only when a model is full: to compile these, give `examples` that fill it, as (x, y) or, as in
    River's streams, (x, y, arguments). Without examples, each model of this package inside `model` learns one.

    Raises no error of a model: the same error occurs when the model itself learns the examples.
    """
    with contextlib.suppress(Exception):
        if examples := list(examples):
            _predict_and_learn(model.clone(), examples)
        else:
            for ours in all_ours(model):
                _predict_and_learn(ours.clone(), [(EXAMPLE, _target(ours))])


def _target(model: Any) -> Any:
    if isinstance(model, Classifier):
        return True if model.classes is None else model.classes[0]
    return 0.0


def _predict_and_learn(model: base.Estimator, examples: list[Any]) -> None:
    """Learn all examples, and predict each one before; the first one also afterwards."""
    last = steps_of(model)[-1]  # a pipeline has the methods of all kinds of models
    names = (name for name in ("score_one", "predict_one", "transform_one") if hasattr(last, name))
    predict = getattr(model, next(names))
    for example in examples:
        predict(example[0])
        learn_example(model, *example)
    predict(examples[0][0])
