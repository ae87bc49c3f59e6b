"""Encode a Refitted, its learner as a class with parameters and its rows as numbers, and the state
of a Mixture.

A file holds no fitted learner: `Refitted` fits it again to the same rows when it is first used.
Which classes of scikit-learn and LightGBM may be named, and with which values, is listed here. None
of them runs code or reads a file that a value names.
"""

from __future__ import annotations

import base64
import importlib
import inspect
import math
import re
from typing import Any

import numpy as np

from ...inputs.features import in_order
from ...mixing.fits import PackedExample, kind_of, matrix_of, row_of
from .. import plain
from ..errors import SavedModelError, damaged
from .kinds import (
    COUNT,
    NAME,
    NUMBER,
    POSITIVE,
    ROW_BYTES,
    Codec,
    Optional,
    Reading,
    Table,
    Writing,
    list_of,
    pair,
    real,
)

MODULES = {  # of the classes of learners, and of what may stand before them
    "lightgbm": "LGBMClassifier LGBMRegressor",
    "sklearn.calibration": "CalibratedClassifierCV",
    "sklearn.compose": "TransformedTargetRegressor",
    "sklearn.ensemble": "ExtraTreesClassifier ExtraTreesRegressor HistGradientBoostingClassifier "
    "HistGradientBoostingRegressor RandomForestClassifier RandomForestRegressor",
    "sklearn.linear_model": "ElasticNet Lasso LinearRegression LogisticRegression Ridge RidgeClassifier "  # noqa: E501
    "SGDClassifier SGDRegressor",
    "sklearn.naive_bayes": "BernoulliNB GaussianNB",
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor",
    "sklearn.neural_network": "MLPClassifier MLPRegressor",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "MaxAbsScaler MinMaxScaler PolynomialFeatures QuantileTransformer "
    "RobustScaler StandardScaler",
    "sklearn.svm": "LinearSVC LinearSVR NuSVC NuSVR SVC SVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",  # noqa: E501
}
PLACES = {name: module for module, names in MODULES.items() for name in names.split()}
OF_LIGHTGBM = {"deterministic", "force_col_wise", "force_row_wise", "max_bin", "num_threads"}
OF_LIGHTGBM |= {"seed", "verbose", "verbosity"}  # numbers that it takes without naming them
WORD = re.compile(r"[A-Za-z0-9_-]{1,40}")  # a choice such as "rbf", and no path
DEEPEST_ESTIMATOR, LEARNER_BYTES = 5, 4096
ARRAY_PARTS = "shape", "float64"


def _is_setting(name: str, value: Any) -> bool:
    """Whether a learner's parameter can have this value: a number, a word, or a tuple or table of
    these.
    """
    if isinstance(value, tuple):
        return all(_is_setting(name, each) for each in value)
    if isinstance(value, dict):
        return all(_is_setting(name, each) for each in value.values())
    if name == "memory":  # a folder, in which a pipeline looks for pickles
        return value is None
    if isinstance(value, str):
        return WORD.fullmatch(value) is not None
    return value is None or isinstance(value, (bool, int, float))


class Learner(Codec):
    """A learner of a library for batches: {"class": ..., "parameters": ...}."""

    def encoded(self, value: Any, write: Writing) -> Any:
        return self._node(value, 0)

    def _node(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if depth > DEEPEST_ESTIMATOR or kind is not _class_of(kind.__name__):
            raise SavedModelError(
                f"{kind.__name__} cannot be saved; what can be: {', '.join(sorted(PLACES))}"
            )
        parameters = value.get_params(deep=False)
        return {
            "class": kind.__name__,
            "parameters": {name: self._value(name, parameters[name], depth) for name in parameters},
        }

    def _value(self, name: str, value: Any, depth: int) -> Any:
        if name == "steps":
            return {"steps": [[one, self._node(step, depth + 1)] for one, step in value]}
        if hasattr(value, "get_params"):
            return {"learner": self._node(value, depth + 1)}
        if not _is_setting(name, value):
            raise SavedModelError(
                f"{name}={plain.short(value)} cannot be saved: it must be a number, a word or a "
                "tuple of them"
            )
        return {"value": plain.encoded(value)}

    def decoded(self, node: Any, old: Any, read: Reading, depth: int = 0) -> Any:
        if not isinstance(node, dict) or depth > DEEPEST_ESTIMATOR:
            raise damaged("a learner is missing in it")
        kind, given = _class_of(node.get("class")), node.get("parameters")
        if kind is None or not isinstance(given, dict):
            raise damaged(f"it holds the learner {plain.short(node.get('class'))}")
        read.reserve(LEARNER_BYTES)
        allowed = set(inspect.signature(kind).parameters)
        allowed |= OF_LIGHTGBM if PLACES[kind.__name__] == "lightgbm" else set()
        if not given.keys() <= allowed:
            raise damaged(f"a learner has the parameters {plain.short(sorted(given))}")
        arguments = {name: self._setting(name, each, read, depth) for name, each in given.items()}
        try:
            return kind(**arguments)
        except (TypeError, ValueError) as error:
            raise damaged(f"{kind.__name__}: {error}") from None

    def _setting(self, name: str, node: Any, read: Reading, depth: int) -> Any:
        """The value of a parameter."""
        if not isinstance(node, dict) or len(node) != 1:
            raise damaged("a learner has a parameter without a value")
        ((form, content),) = node.items()
        if form == "learner":
            return self.decoded(content, None, read, depth + 1)
        if form == "steps" and name == "steps":
            steps = map(pair, list_of(content, read))
            return [(str(one), self.decoded(step, None, read, depth + 1)) for one, step in steps]
        value = plain.decoded(content)
        if form != "value" or not _is_setting(name, value):
            raise damaged(f"{name} of a learner is {plain.short(value)}")
        return value


def _class_of(name: Any) -> Any:
    """The class of a learner that files may name; None if there is none."""
    if not isinstance(name, str) or name not in PLACES:
        return None
    try:
        return getattr(importlib.import_module(PLACES[name]), name)
    except ImportError as error:
        raise SavedModelError(
            f"the model holds a {name}, whose package is missing: {error}"
        ) from error


class Numbers(Codec):
    """An array of float64: {"shape": ..., "float64": its bytes in base64}."""

    def encoded(self, value: Any, write: Writing) -> Any:
        data = np.asarray(value, "<f8", order="C")
        text = base64.b64encode(data.tobytes()).decode()
        return {"shape": list(data.shape), "float64": text}

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        shape, text = (node.get(name) if isinstance(node, dict) else None for name in ARRAY_PARTS)
        if not isinstance(shape, list) or not isinstance(text, str):
            raise damaged("an array is missing in it")
        read.reserve(2 * len(text))
        try:
            data = np.frombuffer(base64.b64decode(text, validate=True), "<f8")
        except ValueError as error:
            raise damaged(f"an array in it is none: {error}") from None
        if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != len(data):
            raise damaged("an array has another size than it says")
        return data.reshape(shape).copy()


NUMBERS = Numbers()


class HeldRows(Codec):
    """The rows of a Refitted: names, their matrix with NaN where a value is missing, targets and
    weights.
    """

    def encoded(self, value: Any, write: Writing) -> Any:
        names = in_order(set().union(*{row.names for row in value}))
        arrays = matrix_of((row.x for row in value), names), [row[2:] for row in value]
        table = [NAME.encoded(name, write) for name in names]
        return [table, *(NUMBERS.encoded(array, write) for array in arrays)]

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if not isinstance(node, list) or len(node) != 3:
            raise damaged("the rows are missing in it")
        names = [NAME.decoded(name, None, read) for name in list_of(node[0], read)]
        X, ends = (NUMBERS.decoded(array, None, read) for array in node[1:])
        n = len(X)
        if X.shape != (n, len(names)) or ends.size != 2 * n or len(set(names)) < len(names):
            raise damaged("its rows have several lengths")
        if (
            np.isinf(X).any()
            or not np.isfinite(ends).all()
            or (ends.reshape(n, 2)[:, 1] <= 0).any()
        ):
            raise damaged("its rows hold what is no finite number")
        read.reserve(ROW_BYTES * n + 16 * X.size)
        rows: list[PackedExample] = []
        for values, (target, weight) in zip(X.tolist(), ends.tolist(), strict=True):
            found = {a: b for a, b in zip(names, values, strict=True) if b == b}
            rows.append(row_of(found, target, weight, rows))
        return rows


class MixerState(Codec):
    """The numbers and arrays of a mixer, filled into one of the same number of models."""

    def encoded(self, value: Any, write: Writing) -> Any:
        return {name: NUMBERS.encoded(each, write) for name, each in vars(value).items()}

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if not isinstance(node, dict) or node.keys() != vars(old).keys():
            raise damaged("a mixer has other attributes")
        for name, before in vars(old).items():
            value = NUMBERS.decoded(node[name], None, read)
            if value.shape != np.shape(before) or not np.isfinite(value).all():
                raise damaged(f"the {name} of a mixer are others")
            setattr(old, name, value if value.shape else type(before)(value))
        if np.linalg.eigvalsh(old.curvature)[0] <= 0.0:
            raise damaged("a mixer has a curvature that is not positive definite")
        return old


def is_a_refit(model: Any) -> bool:
    """Whether the parts of a Refitted fit together."""
    n, labels = len(model._rows), getattr(model, "_labels", None)
    targets = [row.target for row in model._rows]
    if labels is not None and not (
        list(labels.values()) == list(range(len(labels)))
        and np.isin(targets, np.arange(len(labels))).all()
    ):
        return False
    kind = "regressor" if labels is None else "classifier"
    counted = model._fitted_on <= n <= model._seen < model._next
    return counted and n <= model.window + model.max_wait and kind_of(model.estimator) == kind


REFIT: dict[str, Codec] = {
    "estimator": Learner(),
    "grow": real(0.0),
    "window": POSITIVE,
    "first": POSITIVE,
    "max_wait": POSITIVE,
    "fill": Optional(NUMBER),
}
REFIT_STATE: dict[str, Codec] = {
    "n_fits": COUNT,
    "_seen": COUNT,
    "_next": COUNT,
    "_fitted_on": COUNT,
    "_rows": HeldRows(),
}
LABELS: dict[str, Codec] = {"_labels": Table(COUNT)}
