"""The base class of the estimators for scikit-learn."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import base, compose
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..guard.passing import reads_tables, takes_text
from ..inputs.batches import Batch
from ..parameters import boolean, whole
from ..wrappers.nested import changed, is_estimator, parameters_of

NO_NUMBER = "could not convert string to float"  # what numpy says of text


class RiverEstimator(BaseEstimator):  # type: ignore[misc]
    """A model of River behind the methods of scikit-learn."""

    _default_kind: Any  # the class of the default model
    _kind: Any  # River's base class of such models

    def __init__(
        self,
        model: Any = None,
        *,
        epochs: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
    ):
        self.model = model
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state

    # parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep`, those of the model too, as `model__budget` and so on."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.model, base.Base):
            found |= {f"model__{name}": value for name, value in parameters_of(self.model)}
        return found

    def set_params(self, **params: Any) -> Any:
        """Set parameters. One of the model, such as `model__budget`, replaces the model by an
        untrained clone.
        """
        own = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**own)
        for name in sorted(params.keys() - own.keys(), key=lambda name: name.count("__")):
            first, _, rest = name.partition("__")
            if first != "model" or not isinstance(self.model, base.Base):
                raise ValueError(f"{name!r} is no parameter of {self!r}")
            self.model = changed(self.model, rest, params[name])
        return self

    def _fresh(self) -> Any:
        """An untrained clone of the model; if `random_state` is set, so are all its seeds."""
        whole(1)("epochs", self.epochs)
        boolean("shuffle", self.shuffle)
        model = self._default_kind() if self.model is None else self.model
        if not isinstance(model, self._kind):
            raise ValueError(
                f"model must be a {self._kind.__name__.lower()} of River or river_budget, not "
                f"{model!r}"
            )
        model = model.clone()
        if self.random_state is not None:
            random = check_random_state(self.random_state)
            for name, value in list(parameters_of(model)):
                if name.rpartition("__")[2] == "seed" and value is None:
                    model = changed(model, name, int(random.randint(2**31 - 1)))
        return model

    # learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from scratch.

        Parameters
        ----------
        X
            A frame or an array of examples.
        y
            Their labels, or numbers.
        sample_weight
            Their weights. None: all are 1.

        """
        X, y, weights = self._checked(X, y, sample_weight, first=True)
        self._begin(y)
        self._learn_epochs(X, self._targets(y), weights)
        return self

    @abc.abstractmethod
    def _begin(self, y: Any) -> None:
        """Make an untrained model for these targets."""

    @abc.abstractmethod
    def _targets(self, y: Any) -> Any:
        """Targets as the model takes them."""

    def _learn_epochs(self, X: Any, targets: Any, weights: Any) -> None:
        order, random = np.arange(len(X)), check_random_state(self.random_state)
        for _ in range(self.epochs):
            if self.shuffle:
                random.shuffle(order)
            self._learn(X[order], targets[order], None if weights is None else weights[order])

    def _learn(self, X: Any, targets: Any, weights: Any) -> None:
        model, targets = self.model_, targets.tolist()
        if is_estimator(model):
            w = np.ones(len(X)) if weights is None else weights
            model.learn_many(self._batch(X), targets, w)
        elif weights is None:
            for x, y in zip(self._dicts(X), targets, strict=True):
                model.learn_one(x, y)
        else:
            for x, y, w in zip(self._dicts(X), targets, weights.tolist(), strict=True):
                _learn_weighted(model, x, y, w)

    def _checked(self, X: Any, y: Any, weights: Any, first: bool) -> tuple[Any, Any, Any]:
        X, y = self._validated(X, y, reset=first, y_numeric=self._numeric)
        if weights is not None:
            weights = _check_sample_weight(weights, X, dtype=np.float64, ensure_non_negative=True)
            if not weights.any():
                raise ValueError("sample_weight is 0 for all examples")
            used = weights > 0.0
            X, y, weights = X[used], y[used], weights[used]
        return X, y, weights

    _numeric = False  # whether targets are numbers

    # examples

    def _rows(self, X: Any) -> Any:
        """Check examples to predict and convert them to rows."""
        check_is_fitted(self, "model_")
        return self._validated(X, reset=False)

    def _validated(self, *given: Any, **further: Any) -> Any:
        """Examples, and targets if they are given, as scikit-learn checks them.

        Cells are numbers; with AutoKernel in front also text and gaps, and anything where an
        encoder is.
        """
        further["order"] = "C"
        raw: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}
        numbers: dict[str, Any] = {"dtype": np.float64}
        if self._reads_tables():
            numbers["ensure_all_finite"] = "allow-nan"
            try:
                with _advice_on_text():
                    return validate_data(self, *given, **further, **numbers)
            except ValueError as error:
                if NO_NUMBER not in str(error):
                    raise
            return validate_data(self, *given, **further, **raw)
        cells = raw if takes_text(self.model) else numbers
        with _advice_on_text():
            return validate_data(self, *given, **further, **cells)

    def _reads_tables(self) -> bool:
        """Whether the model itself takes text and gaps."""
        return self.model is None or reads_tables(self.model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = self._reads_tables()
        return tags

    @property
    def _names(self) -> list[Any]:
        if hasattr(self, "feature_names_in_"):
            return self.feature_names_in_.tolist()  # type: ignore[no-any-return]
        return list(range(self.n_features_in_))

    def _batch(self, X: Any) -> Batch:
        if not self._reads_tables():
            return Batch.of(self._names, np.require(X, np.float64, ["C", "A"]))
        batch = Batch(X)
        batch.names = self._names
        return batch

    def _dicts(self, X: Any) -> Any:
        names = self._names
        return (dict(zip(names, row, strict=True)) for row in X.tolist())

    def _predictions(self, X: Any) -> list[Any]:
        if is_estimator(self.model_):
            found: list[Any] = self.model_.predict_many(self._batch(X)).tolist()
            return found
        return [self.model_.predict_one(x) for x in self._dicts(X)]


@contextlib.contextmanager
def _advice_on_text() -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError) as error:
        if "real number, not" in str(error):
            error.add_note("Of a date take numbers: its weekday, the days since a first one")
        if NO_NUMBER in str(error):
            error.add_note(
                "Text needs an encoder: in front of the model, as in "
                "BudgetClassifier(preprocessing.OneHotEncoder() | model) "
                "with River's, or in front of this estimator with one of scikit-learn's"
            )
        raise


def _learn_weighted(model: Any, x: dict[Any, Any], y: Any, w: float) -> None:
    """Learn an example with a weight: River's scalers of targets take none, so the regressor inside
    gets it.
    """
    if isinstance(model, compose.TargetTransformRegressor):
        model._update(y)  # type: ignore[no-untyped-call]
        _learn_weighted(model.regressor, x, model.func(y), w)
    else:
        model.learn_one(x, y, w=w)
