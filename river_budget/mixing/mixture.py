"""Mixture: models of River, mixed online as AutoKernel mixes its experts."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from river import base, compose

from ..inputs.targets import Labels, plain, real, weight
from ..parameters import finite
from .many import MOST_AT_ONCE, ManyProbabilities, ManyRows
from .mixer import LogMixer, Mixed, Mixer, SumMixer
from .refitted import Refitted


class Mixture(ManyRows):
    """River's classifiers, or regressors, mixed by weights that are learned online.

    All models learn every example. What they say of it before is mixed: of classifiers the
    logarithms of their probabilities under the log loss, of regressors their numbers under the
    squared loss. The weights follow Newton steps that forget, as those of the experts in AutoKernel
    do, so a model that falls behind soon counts for little, and one that errs where another is
    right may get a negative weight. The probability of the most probable label is then corrected by
    how often such ones were right. The mixture is rarely worse than its best model, and better
    where models err differently.

    Its time and memory are the sum of those of its models. A call of `learn_one` takes as long as
    the slowest does: see `rb.Refitted`. Predicting an example before it is learned costs nothing
    more, as the opinions on the last one are kept.

    Not for models that are all of one kind: they err together, and one of them is as good. If a
    model raises an error while it learns, those before it have learned the example.

    Parameters
    ----------
    models
        Classifiers, or regressors, also pipelines and other mixtures.
    first_weights
        The weights at first, one of each model. None: all are equal, and their sum is 1.

    Examples
    --------

    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = rb.Mixture(
    ...     preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    ...     rb.AutoKernelClassifier(seed=1),
    ... )
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 91...%
    >>> model.weights()
    {'LogisticRegression': 0.3..., 'AutoKernelClassifier': 0.8...}

    References
    ----------
    [^1]: The guide, [boosters](guide/boosters.md).
    [^2]: [Hazan, E., Agarwal, A. and Kale, S., 2007. Logarithmic regret algorithms for online convex optimization. Machine Learning 69.](https://doi.org/10.1007/s10994-007-5016-8)

    """  # noqa: E501

    learning_predicts = True
    _mixer: Mixer

    def __init__(self, *models: Any, first_weights: tuple[float, ...] | None = None):
        regression = is_regression(models)
        if type(self) is Mixture:
            self.__class__ = MixtureRegressor if regression else MixtureClassifier
        if first_weights is not None and len(first_weights) != len(models):
            raise ValueError(
                f"first_weights must have {len(models)} numbers, one of each model, not "
                f"{first_weights!r}"
            )
        for each in first_weights or ():
            finite("first_weights", each)
        self.models, self.first_weights = models, first_weights
        self._begin()

    def _first(self) -> Any:
        """The weights at first."""
        return self.first_weights or [1.0 / len(self.models)] * len(self.models)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        return iter(())  # by keyword alone none can be made

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Any:
        """A mixture of clones of the models; see River."""
        given = {"first_weights": self.first_weights} | (new_params or {})
        models = given.pop("_POSITIONAL_ARGS", self.models)
        if include_attributes:
            raise ValueError("a mixture is copied with all it has learned by copy.deepcopy")
        return type(self)(*(model.clone() for model in models), **given)

    def weights(self) -> dict[str, float]:
        """The weight of each model in the mixture. They need not be positive, nor have the sum
        1.
        """
        found: dict[str, float] = {}
        with self._lock:
            for model, value in zip(self.models, self._mixer.weights.tolist(), strict=True):
                name, n = name_of(model), 2
                while name in found:
                    name, n = f"{name_of(model)} {n}", n + 1
                found[name] = value
        return found

    def _many_rows(self) -> list[ManyRows]:
        """The models that can foresee. (Pipelines say that they are of the class of their last
        step.)
        """
        return [model for model in self.models if issubclass(type(model), ManyRows)]

    def foresee(self, examples: Sequence[dict[Any, Any]]) -> None:
        for model in self._many_rows():
            model.foresee(examples)

    def rows_until_fit(self) -> int:
        return min((model.rows_until_fit() for model in self._many_rows()), default=MOST_AT_ONCE)

    def check_many(self, examples: Sequence[dict[Any, Any]], targets: Sequence[Any]) -> None:
        for y in targets:
            self._checked(y)
        for model in self._many_rows():
            model.check_many(examples, targets)

    def _opinions(self, x: dict[Any, Any]) -> Any:
        """What the models say of an example, which is kept until the mixture learns."""
        if self._last is None or self._last[0] != x:
            self._last = copy.copy(x), self._ask(x)
        return self._last[1]

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn what the models are worth from an example, and let them learn it."""
        y, w = self._checked(y), weight(w)
        with self._lock:
            opinions = self._opinions(x)
            self._last = None
            for model in self.models:
                model.learn_one(x, y, **({} if w == 1.0 else {"w": w}))
            if w > 0.0:
                self._weigh(opinions, y, w)

    def _ask(self, x: dict[Any, Any]) -> Any:
        raise NotImplementedError

    def _checked(self, y: Any) -> Any:
        raise NotImplementedError

    def _weigh(self, opinions: Any, y: Any, w: float) -> None:
        raise NotImplementedError


class MixtureClassifier(ManyProbabilities, Mixture, base.MiniBatchClassifier):
    """What `rb.Mixture` makes of classifiers."""

    _mixer: LogMixer

    def _begin(self) -> None:
        super()._begin()
        self._mixer = LogMixer(self._first())

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self.models)

    def _ask(self, x: dict[Any, Any]) -> Any:
        """(opinions, all labels that a model or the mixture knows, the mixture if these are
        several)
        """
        opinions = [model.predict_proba_one(x) for model in self.models]
        labels = list(dict.fromkeys(itertools.chain(self._labels, *opinions)))
        return opinions, labels, self._mix(opinions, labels)

    def _mix(self, opinions: Any, labels: Sequence[Any]) -> Mixed | None:
        return self._mixer.mix(shares_of(opinions, labels)) if len(labels) > 1 else None

    def _checked(self, y: Any) -> Any:
        Labels().check([y])
        return plain(y)

    def predict_proba_one(self, x: dict[Any, Any], **further: Any) -> dict[Any, float]:
        """The calibrated probabilities of all labels that a model or the mixture knows."""
        with self._lock:
            _, labels, mixed = self._opinions(x)
            if mixed is None:
                return dict.fromkeys(labels, 1.0)
            return dict(zip(labels, self._mixer.calibrated(mixed).tolist(), strict=True))

    def _weigh(self, opinions: Any, y: Any, w: float) -> None:
        said, labels, mixed = opinions
        for label in labels:
            self.number_of(label)
        number = self.number_of(y)
        if len(labels) < len(self._labels):  # y is new
            mixed = self._mix(said, list(self._labels))
        if mixed is not None:
            self._mixer.learn(mixed, number, w)


class MixtureRegressor(Mixture, base.MiniBatchRegressor):
    """What `rb.Mixture` makes of regressors."""

    _mixer: SumMixer

    def _begin(self) -> None:
        super()._begin()
        self._mixer = SumMixer(self._first())

    def _ask(self, x: dict[Any, Any]) -> Any:
        return np.array([model.predict_one(x) for model in self.models], float)

    def _checked(self, y: Any) -> float:
        return real(y)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The mixture of the predicted numbers."""
        with self._lock:
            return self._mixer.mix(self._opinions(x))

    def _weigh(self, opinions: Any, y: Any, w: float) -> None:
        self._mixer.learn(opinions, y, w)


def is_regression(models: Sequence[Any]) -> bool:
    """Whether these are regressors. Raises TypeError unless they are, or all are classifiers."""
    if not models:
        raise TypeError("a mixture needs models: rb.Mixture(first, second)")
    found = []
    for model in models:
        if not isinstance(model, (base.Classifier, base.Regressor)):
            advice = ": rb.Refitted makes a model of River of it" if hasattr(model, "fit") else ""
            raise TypeError(f"{model!r} is no classifier or regressor of River{advice}")
        found.append(isinstance(model, base.Regressor))
    if len(set(found)) > 1:
        raise TypeError("a mixture has classifiers or regressors, not both")
    return bool(found[0])


def name_of(model: Any) -> str:
    """The name of the class that predicts."""
    if isinstance(model, compose.Pipeline):
        return name_of(list(model.steps.values())[-1])
    if issubclass(type(model), Refitted):
        return f"Refitted({type(model.estimator).__name__})"
    return type(model).__name__


def shares_of(opinions: Sequence[dict[Any, float]], labels: Sequence[Any]) -> Any:
    """(models, labels): the probabilities, with the sum 1; where a model says nothing all are
    equal.
    """
    found = []
    for row in opinions:
        values = [max(float(row.get(label, 0.0)), 0.0) for label in labels]
        total = sum(values)
        known = 0.0 < total < math.inf
        found.append([value / total if known else 1.0 / len(labels) for value in values])
    return np.array(found)
