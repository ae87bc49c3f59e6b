"""Regressors for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from river import base
from sklearn.base import RegressorMixin

from ..algorithms.auto.estimators import AutoKernelRegressor
from .common import RiverEstimator

__all__ = ["BudgetRegressor"]


class BudgetRegressor(RegressorMixin, RiverEstimator):  # type: ignore[misc]
    """Any regressor of this package, alone or in a River pipeline, as a regressor of scikit-learn.

    For `Pipeline`, `GridSearchCV`, `cross_val_score`, and comparisons with the regressors there.

    Not for streams: if examples come one after the other, use the model itself.

    Our regressors, with the exception of `AutoKernelRegressor`, expect targets of order one: put
    River's `TargetStandardScaler` around them. The parameters of the regressor are then
    `model__regressor__...`.

    Columns of text are taken where the model is `AutoKernel`, which takes gaps too, or begins with
    an encoder or a selection of River, such as `compose.SelectType(str) |
    preprocessing.OneHotEncoder() | model`.

    Attributes are as usual: `n_features_in_`, `feature_names_in_`, and `model_`, the fitted River
    model, which can learn on, be saved and be exported.

    Parameters
    ----------
    model
        The regressor. It is cloned and never changed itself. None: `AutoKernelRegressor()`.
    epochs
        How often `fit` goes through the examples. (`partial_fit` goes through them once.)
    shuffle
        Whether `fit` shuffles the examples for each epoch. Stream models give late examples more
        weight, so examples sorted by target or by time should be shuffled.
    random_state
        An int or a generator, as in scikit-learn, for shuffling and for seeds of the model that are
        None.

    Examples
    --------

    >>> from river import preprocessing
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> import river_budget as rb

    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.FOGDRegressor(learning_rate=0.1)
    ... )
    >>> regressor = rb.sklearn.BudgetRegressor(model, epochs=5, random_state=1)
    >>> bool(cross_val_score(regressor, X, y).mean() > 0.35)
    True

    References
    ----------
    [^1]: [Buitinck, L. et al., 2013. API design for machine learning software: experiences from the scikit-learn project.](https://arxiv.org/abs/1309.0238)

    """  # noqa: E501

    _default_kind = AutoKernelRegressor
    _kind = base.Regressor
    _numeric = True

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Continue learning: these examples once, in the given order.

        Parameters
        ----------
        X
            A frame or an array of examples.
        y
            Their targets.
        sample_weight
            Their weights. None: all are 1.

        """
        first = not hasattr(self, "model_")
        X, y, weights = self._checked(X, y, sample_weight, first)
        if first:
            self._begin(y)
        self._learn(X, self._targets(y), weights)
        return self

    def _begin(self, y: Any) -> None:
        self.model_ = self._fresh()

    def _targets(self, y: Any) -> Any:
        return y.astype(np.float64)

    def predict(self, X: Any) -> Any:
        """The predictions.

        Parameters
        ----------
        X
            A frame or an array of examples.

        """
        return np.array(self._predictions(self._rows(X)), np.float64)
