"""merge: the weighted sum of several models that have learned different examples, as one model."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from river import base, compose

from ..algorithms.features.nystroem import Nystroem
from ..algorithms.scaling.targets import TargetStandardScaler
from ..guard.guard import with_steps
from ..model.base import StreamModel
from ..parameters import as_float
from ..wrappers.nested import steps_of
from . import rivers
from .expansions import check_alike, takes_budget, weighted_sum

__all__ = ["merge"]


def merge(
    models: Iterable[Any], weights: Iterable[float] | None = None, budget: int | None = None
) -> Any:
    """The weighted sum of models of one kind, as a new model that predicts, learns on and can be
    saved.

    For models that have learned parts of a stream, on several machines for example. The models do
    not change. The new one has the parameters of the first; parameters that may be changed later,
    such as a learning rate, may differ, all others must be equal.

    Features and classes are united by name, and those that a model does not know count as 0. With
    two classes, f is the score of the positive one. If the models together know more than two
    classes, a model of two gives its negative class -f/2 and its positive class +f/2, as if it had
    learned a third class.

    Models over random waves (`FOGDClassifier`, `RandomFourier`) must have the same seed: their
    weights add up, and the sum is exact. Kernel expansions keep all their support vectors, equal
    ones as one. If these are more than `budget`, the model's own maintenance merges or projects
    some of them; models that only remove vectors remove those with the smallest coefficients.
    (Models that project replace a vector that lies within 1e-5 of its length in the span of the
    others by its projection, as in learning; a Projectron with a span for each class cannot be
    merged.) Counters, such as the rounds of `BSGDClassifier`, continue from the largest one.

    Pipelines are merged step by step: our models and maps, River's `LinearRegression`,
    `LogisticRegression`, `Perceptron`, `PAClassifier`, `PARegressor` and `SoftmaxRegression`, which
    continue with the optimizer of the first, and its `StandardScaler`, `MinMaxScaler` and
    `TargetStandardScaler`, which get the statistics of all examples together. (The score of a
    pipeline is the weighted sum only if its scalers are equal.) Transformers of other classes must
    be equal.

    Not for models whose labels of the same name mean different things: the mean of their scores has
    no meaning.

    Parameters
    ----------
    models
        Models of one class, or pipelines with the same steps.
    weights
        A number for each model. None: the mean of the models.
    budget
        The budget of the new model. None: the largest of the models' budgets. If it is large enough
        for all vectors, the sum is exact.

    Examples
    --------

    >>> from river import datasets, metrics
    >>> import river_budget as rb

    >>> shards = [rb.BSGDClassifier(budget=50, kernel=rb.kernels.RBF(1.0)) for _ in range(2)]
    >>> for i, (x, y) in enumerate(datasets.Bananas()):
    ...     shards[i % 2].learn_one(x, y)
    >>> model = rb.merge(shards)
    >>> model.n_support_vectors
    50

    With room for all vectors its scores are the weighted sums of the models' scores:

    >>> a, b = shards
    >>> both = rb.merge([a, b], weights=[0.25, 0.75], budget=100)
    >>> x = {"1": 0.5, "2": -1.0}
    >>> expected = 0.25 * a.decision_function_one(x) + 0.75 * b.decision_function_one(x)
    >>> abs(both.decision_function_one(x) - expected) < 1e-12
    True

    References
    ----------
    [^1]: The guide, [many models](guide/many_models.md).

    """
    if isinstance(models, base.Base):
        raise TypeError(f"models must be a list of models, not one {type(models).__name__}")
    all_models = list(models)
    if not all_models:
        raise ValueError("models must be at least one model")
    if budget is not None and not any(
        takes_budget(step) for model in all_models for step in steps_of(model)
    ):
        raise ValueError(f"budget={budget!r}: {type(all_models[0]).__name__} has none")
    return _merged(all_models, _shares(weights, len(all_models)), budget)


def _shares(weights: Iterable[float] | None, n: int) -> list[float]:
    if weights is None:
        return [1.0 / n] * n
    given = list(weights)
    shares = [share for share in map(as_float, given) if share is not None]
    if len(given) != n or len(shares) != n:
        raise ValueError(f"weights must be a finite number for each of {n} models, not {given!r}")
    return shares


def _merged(models: list[Any], weights: list[float], budget: int | None) -> Any:
    first = models[0]
    kinds = {type(model): None for model in models}
    if len(kinds) > 1:
        names = " and ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"models of different classes cannot be merged: {names}")
    for i, model in enumerate(models):
        if "learn_one" in vars(model):
            raise ValueError(
                f"model {i} cannot be merged: it only predicts (loaded with predict_only=True)"
            )
    if isinstance(first, compose.Pipeline):
        return _merged_pipeline(models, weights, budget)
    if isinstance(first, Nystroem):
        return _same_map(models)
    if isinstance(first, compose.TargetTransformRegressor):
        return _merged_target_scaler(models, weights, budget)
    if isinstance(first, StreamModel):
        if first._unmergeable_because:
            raise ValueError(
                f"models of {type(first).__name__} cannot be merged: {first._unmergeable_because}"
            )
        return weighted_sum(models, weights, budget)
    return rivers.merged(models, weights)


def _merged_pipeline(models: list[Any], weights: list[float], budget: int | None) -> Any:
    names = list(models[0].steps)
    for model in models:
        if list(model.steps) != names:
            raise ValueError(
                f"pipelines with different steps cannot be merged: {names} and {list(model.steps)}"
            )
    steps = []
    for name in names:
        try:
            step = _merged([model.steps[name] for model in models], weights, budget)
        except ValueError as error:
            raise ValueError(f"step {name!r}: {error}") from None
        steps.append((name, step))
    return with_steps(steps)


def _merged_target_scaler(models: list[Any], weights: list[float], budget: int | None) -> Any:
    from river import preprocessing  # imported here, as it takes longer to load than this package

    kind = type(models[0])
    if kind not in (preprocessing.TargetStandardScaler, TargetStandardScaler):
        raise ValueError(f"{kind.__name__} cannot be merged")
    result = kind(_merged([model.regressor for model in models], weights, budget))
    result.var = rivers.pooled_targets(models)
    return result


def _same_map(models: list[Nystroem]) -> Nystroem:
    """The first of these maps if all have the same landmarks; else an error, as their features
    differ.
    """
    check_alike(models, models[0])
    landmarks = [[each["features"] for each in model.support_vectors()] for model in models]
    if len({model.budget for model in models}) > 1 or any(one != landmarks[0] for one in landmarks):
        raise ValueError(
            "Nystroem maps with different landmarks cannot be merged: give all models one map that "
            "has learned"
        )
    return copy.deepcopy(models[0])
