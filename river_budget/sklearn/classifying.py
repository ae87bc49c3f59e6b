"""Classifiers for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from river import base
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ..algorithms.auto.estimators import AutoKernelClassifier
from ..wrappers.nested import changed, is_estimator, last_step
from ..wrappers.pipelines import decision_function_one
from .common import RiverEstimator

__all__ = ["BudgetClassifier"]


def _scores_exist(estimator: Any) -> bool:
    """Whether the model has a raw score: all models of this package have one, River's do not."""
    model = estimator._default_kind() if estimator.model is None else estimator.model
    return hasattr(last_step(model)[1], "decision_function_one")


class BudgetClassifier(ClassifierMixin, RiverEstimator):  # type: ignore[misc]
    """Any classifier of this package, alone or at the end of a River pipeline, as a classifier of
    scikit-learn.

    For `Pipeline`, `GridSearchCV`, `cross_val_score`, `CalibratedClassifierCV`, and comparisons
    with the classifiers there.

    Not for streams: if examples come one after the other, use the model itself.

    Parameters of the model have names such as `model__budget`, or `model__BSGDClassifier__budget`
    in a pipeline. Columns of a frame are features by name, columns of an array by number. Sparse
    matrices are refused.

    Columns of text are taken where the model is `AutoKernel`, which takes gaps too, or begins with
    an encoder or a selection of River, such as `compose.SelectType(str) |
    preprocessing.OneHotEncoder() | model`.

    Attributes are as usual: `classes_`, `n_features_in_`, `feature_names_in_`, and `model_`, the
    fitted River model, which can learn on, be saved and be exported.

    Parameters
    ----------
    model
        The classifier. It is cloned and never changed itself. None: `AutoKernelClassifier()`.
    epochs
        How often `fit` goes through the examples. (`partial_fit` goes through them once.)
    shuffle
        Whether `fit` shuffles the examples for each epoch. Stream models give late examples more
        weight, so examples sorted by class or by time should be shuffled.
    random_state
        An int or a generator, as in scikit-learn, for shuffling and for seeds of the model that are
        None.

    Examples
    --------

    >>> from river import preprocessing
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> import river_budget as rb

    >>> X, y = make_moons(500, noise=0.2, random_state=1)
    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(budget=50)
    >>> classifier = rb.sklearn.BudgetClassifier(model, epochs=3, random_state=1)
    >>> bool(cross_val_score(classifier, X, y).mean() > 0.9)
    True

    >>> search = GridSearchCV(classifier, {"model__BSGDClassifier__budget": [2, 50]}).fit(X, y)
    >>> search.best_params_
    {'model__BSGDClassifier__budget': 50}

    References
    ----------
    [^1]: [Buitinck, L. et al., 2013. API design for machine learning software: experiences from the scikit-learn project.](https://arxiv.org/abs/1309.0238)

    """  # noqa: E501

    _default_kind = AutoKernelClassifier
    _kind = base.Classifier

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.model, base.Classifier):
            tags.classifier_tags.multi_class = last_step(self.model)[1]._multiclass
        return tags

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Continue learning: these examples once, in the given order.

        Parameters
        ----------
        X
            A frame or an array of examples.
        y
            Their labels.
        classes
            All labels that may occur: required at the first call.
        sample_weight
            The weights of the examples. None: all are 1.

        """
        first = not hasattr(self, "model_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y, weights = self._checked(X, y, sample_weight, first)
        if first:
            self._begin(y, np.unique(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} are not those of the first call to partial_fit, "
                f"{self.classes_!r}"
            )
        self._learn(X, self._targets(y), weights)
        return self

    def _begin(self, y: Any, classes: Any = None) -> None:
        """An untrained model for these classes, and the label that it gets for each of them."""
        check_classification_targets(y)
        classes = np.unique(y) if classes is None else classes
        if len(classes) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(classes)} class"
            )
        model = self._fresh()
        path, last = last_step(model)
        if len(classes) > 2 and not last._multiclass:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(classes)}. {type(last).__name__} separates two classes: put it "
                "into "
                "river's multiclass.OneVsRestClassifier"
            )
        labels = classes.tolist()
        if "classes" in last._get_params():
            if last.classes is None:
                model = changed(model, f"{path}__classes".lstrip("_"), tuple(labels))
        elif len(classes) == 2:
            labels = [False, True]  # the only labels of River's binary classifiers
        self.model_, self.classes_ = model, classes
        self._model_labels = np.empty(len(labels), object)
        self._model_labels[:] = labels

    def _targets(self, y: Any) -> Any:
        """The labels that the model gets."""
        places = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = np.flatnonzero(self.classes_[places] != y)
        if len(unknown):
            raise ValueError(
                f"the label {y[unknown[:1]].tolist()[0]!r} is none of "
                f"classes={self.classes_.tolist()}"
            )
        return self._model_labels[places]

    def predict(self, X: Any) -> Any:
        """The predicted labels.

        Parameters
        ----------
        X
            A frame or an array of examples.

        """
        X = self._rows(X)
        place_of = {label: place for place, label in enumerate(self._model_labels)}
        places = [place_of.get(label, 0) for label in self._predictions(X)]
        return self.classes_[np.array(places, np.intp)]

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, with a column for each of `classes_`.

        Parameters
        ----------
        X
            A frame or an array of examples.

        """
        X = self._rows(X)
        if is_estimator(self.model_):
            found = self.model_.predict_proba_many(self._batch(X))
            return np.column_stack([found[label] for label in self._model_labels])
        rows = [self.model_.predict_proba_one(x) for x in self._dicts(X)]
        shares = np.array([[row.get(label, 0.0) for label in self._model_labels] for row in rows])
        return shares.reshape(len(X), len(self._model_labels))

    @available_if(_scores_exist)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Raw scores: positive for the second of two classes; with three or more, a column for
        each.

        Parameters
        ----------
        X
            A frame or an array of examples.

        """
        X = self._rows(X)
        labels, n = last_step(self.model_)[1]._labels.known, len(self.classes_)
        if is_estimator(self.model_):
            scores = self.model_._score_batch(self._batch(X))
        else:
            found = [decision_function_one(self.model_, x) for x in self._dicts(X)]
            scores = np.array([list(one.values()) if n > 2 else [one] for one in found])
        if n > 2:
            return scores[:, [labels.index(label) for label in self._model_labels]]
        return scores[:, 0] if labels[1] == self._model_labels[1] else -scores[:, 0]
