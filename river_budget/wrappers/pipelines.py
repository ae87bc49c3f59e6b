"""Methods of our models that River's pipelines lack, as functions for a pipeline that ends in one
of our models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from river import compose

from ..guard.passing import part_of
from ..inputs.frames import as_list
from ..inputs.targets import array_of
from .nested import batch_for, before_last, is_model, last_step, memory_of

__all__ = [
    "decision_function_one",
    "memory_usage",
    "predict_then_learn_many",
    "summary",
    "support_vectors",
]


def _last(model: Any) -> Any:
    """The model of this package at the end of a pipeline, within wrappers, or the model itself."""
    last = last_step(model)[1]
    if not is_model(last):
        raise TypeError(f"{type(last).__name__} is no model of river_budget")
    return last


def decision_function_one(model: Any, x: dict[Any, Any]) -> Any:
    """The raw score of an example behind the transformers of a pipeline.

    Not for comparing models, whose scores have different units: compare probabilities.

    Parameters
    ----------
    model
        A pipeline that ends in a model of river_budget, or such a model.
    x
        An example for the pipeline.

    Examples
    --------

    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier()
    >>> for i in range(100):
    ...     model.learn_one({"a": i % 7, "b": i % 3}, i % 7 > 3)
    >>> rb.decision_function_one(model, {"a": 6, "b": 1}) > 0 > rb.decision_function_one(model, {"a": 0, "b": 1})
    True

    References
    ----------
    [^1]: The guide, [what a kernel learner does](guide/README.md).

    """  # noqa: E501
    return _last(model).decision_function_one(before_last(model, x))


def support_vectors(model: Any) -> list[dict[str, Any]]:
    """The support vectors of the model at the end of a pipeline, with features as the transformers
    return them.

    Not for models without support vectors, such as `FOGDClassifier`.

    Parameters
    ----------
    model
        A pipeline that ends in a model of river_budget, or such a model.

    Examples
    --------

    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier()
    >>> model.learn_one({"a": 1.0}, False)
    >>> model.learn_one({"a": 3.0}, True)
    >>> [vector["features"] for vector in rb.support_vectors(model)]  # 3.0 lies one deviation above the mean
    [{}, {'a': 1.0}]

    References
    ----------
    [^1]: The guide, [what a kernel learner does](guide/README.md).

    """  # noqa: E501
    vectors: list[dict[str, Any]] = _last(model).support_vectors()
    return vectors


def summary(model: Any) -> str:
    """The state of a pipeline as text: River's steps with their parameters, our models with their
    summary.

    Within `Delayed` and `TargetStandardScaler` too.

    Not for programs: the text is for people and may change. Each of its numbers is an attribute
    too.

    Parameters
    ----------
    model
        A pipeline, or any River estimator.

    Examples
    --------

    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.MinMaxScaler() | rb.RBPClassifier(budget=10, seed=1)
    >>> for i in range(100):
    ...     model.learn_one({"a": i % 7, "b": i % 3}, i % 7 > 3)
    >>> print(rb.summary(model))
    MinMaxScaler (
      window_size=None
    )
    RBPClassifier
      examples       100
      features       2
      classes        False, True
      kernel         RBF(gamma='2/d'), here gamma = 1
      vectors        10 of 10
      memory         ... kB
      best features  a (...), b (...)

    References
    ----------
    [^1]: The guide, [what a kernel learner does](guide/README.md).

    """
    if isinstance(model, compose.Pipeline):
        return "\n".join(summary(step) for step in model.steps.values())
    if name := part_of(model):
        own = {key: value for key, value in model._get_params().items() if key != name}
        given = ", ".join(f"{key}={value!r}" for key, value in own.items())
        return f"{type(model).__name__} ({given})\n{summary(getattr(model, name))}"
    return str(model.summary() if is_model(model) else repr(model))


def memory_usage(model: Any) -> int:
    """Bytes of a pipeline: our models by their `memory_usage`, River's steps as River counts them.

    Not for the memory of a process: Python and compiled code take far more than most models.

    Parameters
    ----------
    model
        A pipeline, or any River estimator.

    Examples
    --------

    >>> import river_budget as rb

    >>> small, large = rb.FOGDClassifier(10, seed=1), rb.FOGDClassifier(1000, seed=1)
    >>> for model in (small, large):
    ...     model.learn_one({"a": 1.0}, True)
    >>> rb.memory_usage(small) < 0.1 * rb.memory_usage(large)
    True

    References
    ----------
    [^1]: The guide, [saving and serving](guide/saving.md).

    """
    return memory_of(model)


def predict_then_learn_many(model: Any, X: Any, y: Any, w: Any = None) -> Any:
    """The predictions of each example before it is learned: progressive validation in one call.

    The model is afterwards exactly as after a loop of `predict_one` and `learn_one`, also behind
    scalers, whose statistics change from row to row (mini-batches of River's pipelines use those of
    the whole batch).

    A frame may hold text and gaps where the first step takes them, as an encoder, an imputer or a
    `Guard` does: each row goes through the pipeline as its dict would.

    Not for streams where labels come late: here every label is known before the next prediction.

    Parameters
    ----------
    model
        A pipeline, or any River classifier or regressor.
    X
        A frame, or a 2-D array whose columns are the features 0, 1, ...
    y
        The targets.
    w
        Weights of the examples. None: all are 1.

    Examples
    --------

    >>> from river import preprocessing
    >>> import numpy as np
    >>> import river_budget as rb

    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = preprocessing.StandardScaler() | rb.KernelOGDClassifier()
    >>> predictions = rb.predict_then_learn_many(model, X, y)
    >>> bool(np.mean(predictions == y) > 0.8)
    True

    References
    ----------
    [^1]: The guide, [choosing a model](guide/choosing_a_model.md).

    """
    # a pipeline passes on what its last step has, so this looks at the class
    if hasattr(type(model), "predict_then_learn_many"):
        further = {} if w is None else {"w": w}
        return model.predict_then_learn_many(X, y, **further)  # type: ignore[attr-defined]
    batch = batch_for(model, X)
    targets = as_list(y)
    weights = [None] * len(batch) if w is None else np.asarray(w, float).tolist()
    if not len(batch) == len(targets) == len(weights):
        raise ValueError(f"there must be {len(batch)} targets and weights, one for each example")
    batch.check_series(targets)
    predictions = []
    for x, target, weight in zip(batch.as_given(), targets, weights, strict=True):
        predictions.append(model.predict_one(x))
        model.learn_one(x, target, **({} if weight is None else {"w": weight}))
    return batch.series(array_of(predictions), getattr(y, "name", None))
