"""Encode and decode River's own models that may be steps of a pipeline with one of ours.

scalers        {"class": "StandardScaler", "parameters": ..., "table": [[feature, count, mean, var], ...]}
               {"class": "MinMaxScaler", "parameters": ..., "table": [[feature, min, max], ...]}
targets        {"class": "TargetStandardScaler", "regressor": node, "targets": [count, mean, sum of squares]}
               our scalers are the same, with "rb." before the class
classes        {"class": "OneVsRestClassifier", "classifier": node, "classifiers": [[label, node], ...]}
linear models  {"class": ..., "parameters": ..., "weights": [[feature, weight], ...], "steps": n, ...}
the guard      {"class": "Guard", "parameters": ..., "table": [[feature, last value], ...],
                "skipped": [[feature as text, reason, examples], ...]}
names          {"class": "FeatureBudget", "parameters": ..., "table": [[feature, count, arrival], ...],
                "weight": n}

Linear models are saved with plain gradient descent at a constant rate, their usual loss and no l1 penalty:
the state of other optimizers is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from river import utils

from ..algorithms.scaling.scalers import MinMaxScaler, StandardScaler
from ..algorithms.scaling.targets import TargetStandardScaler
from ..feature_budget import LARGEST_COUNT, FeatureBudget
from ..guard import Guard
from . import plain
from .errors import SavedModelError, damaged

Node = dict[str, Any]
MOST_EXAMPLES = 2**53  # largest number of examples that a scaler in a file may have counted
LINEAR = ("l2", "intercept_init", "clip_gradient")
Inner = Callable[[Any], Any]  # encodes or decodes a model within another


# River's modules are imported where they are needed: they take longer to load than this whole package.


# to the file


def encoded(model: Any, inner: Inner) -> Node:
    """The node of a model of River."""
    from river import linear_model, multiclass, preprocessing

    kind = type(model)
    if kind is preprocessing.StandardScaler and model.window_size is None:
        table = [[name, n, model.means[name], model.vars[name]] for name, n in model.counts.items()]
        return _with_table(model, table, {"with_std": model.with_std})
    if kind is preprocessing.MinMaxScaler and model.window_size is None:
        table = [[name, low.get(), model.max[name].get()] for name, low in model.min.items()]
        return _with_table(model, table, {})
    if kind in (StandardScaler, MinMaxScaler):
        return encoded(model.as_river(), inner) | {"class": f"rb.{kind.__name__}"}
    if kind in (preprocessing.TargetStandardScaler, TargetStandardScaler):
        return _targets(model, inner, "rb." if kind is TargetStandardScaler else "")
    if kind is multiclass.OneVsRestClassifier:
        each = [[plain.encoded(label), inner(one)] for label, one in model.classifiers.items()]
        node = {"class": kind.__name__, "classifier": inner(model.classifier), "classifiers": each}
        return node | {"target_name": plain.encoded(model._y_name)}
    if kind in (linear_model.LogisticRegression, linear_model.LinearRegression):
        return _linear(model)
    if kind is linear_model.SoftmaxRegression:
        return _softmax(model)
    if kind is Guard:
        skipped = [[*fault, count] for fault, count in model._skipped.items()]
        node = _with_table(model, model._last.items(), {"on_bad": model.on_bad})
        return node | {"skipped": skipped}
    if kind is FeatureBudget:
        parameters = {"max_features": model.max_features, "half_life": model.half_life}
        node = _with_table(model, model.kept(), parameters)
        return node | {"weight": plain.number(model._weight)}
    raise SavedModelError(
        f"{kind.__name__} cannot be saved: the models of river_budget can, and River's pipelines of them with "
        "its StandardScaler and MinMaxScaler (without window_size), TargetStandardScaler, OneVsRestClassifier, "
        "LinearRegression, LogisticRegression and SoftmaxRegression. For all else there is pickle, between equal "
        "versions"
    )


def _with_table(model: Any, table: Iterable[Any], parameters: dict[str, Any]) -> Node:
    rows = [[plain.encoded(row[0]), *map(plain.number, row[1:])] for row in table]
    values = {name: plain.encoded(value) for name, value in parameters.items()}
    return {"class": type(model).__name__, "parameters": values, "table": rows}


def _targets(model: Any, inner: Inner, whose: str) -> Node:
    regressor, seen = inner(model.regressor), model.var
    targets = [plain.number(float(each)) for each in (seen.mean.n, seen.mean._mean, seen._S)]
    return {"class": f"{whose}TargetStandardScaler", "regressor": regressor, "targets": targets}


def _rate(model: Any, optimizer: Any) -> Any:
    """The rate of an optimizer, which must be plain SGD with a constant rate."""
    from river import optim  # imported here: it loads scipy.special, which takes long

    if type(optimizer) is not optim.SGD or type(optimizer.lr) is not optim.schedulers.Constant:
        raise SavedModelError(
            f"{type(model).__name__} cannot be saved with another optimizer than SGD at a constant rate"
        )
    return plain.number(float(optimizer.lr.learning_rate))


def _linear(model: Any) -> Node:
    from river import optim

    usual: Any = type(model)()
    same_loss = repr(model.loss) == repr(usual.loss)
    zeros = type(model.initializer) is optim.initializers.Zeros
    constant = type(model.intercept_lr) is optim.schedulers.Constant
    if not (same_loss and zeros and constant and model.l1 == 0):
        raise SavedModelError(
            f"{type(model).__name__} cannot be saved with another loss, initializer or schedule than its usual "
            "ones, nor with l1"
        )
    parameters = {name: float(getattr(model, name)) for name in LINEAR}
    node = _with_table(model, model.weights.items(), parameters)
    node |= {"rate": _rate(model, model.optimizer), "steps": model.optimizer.n_iterations}
    node["intercept_rate"] = plain.number(float(model.intercept_lr.learning_rate))
    node["intercept"] = plain.number(float(model.intercept))
    return node | {"target_name": plain.encoded(model._y_name)}


def _softmax(model: Any) -> Node:
    if repr(model.loss) != repr(type(model)().loss):
        raise SavedModelError(
            "SoftmaxRegression cannot be saved with another loss than its usual one"
        )
    each = []
    for label, weights in model.weights.items():
        table = [[plain.encoded(name), plain.number(float(w))] for name, w in weights.items()]
        each.append([plain.encoded(label), model.optimizers[label].n_iterations, table])
    parameters = {"l2": plain.number(float(model.l2))}
    rate = _rate(model, model.optimizer)
    return {"class": "SoftmaxRegression", "parameters": parameters, "rate": rate, "weights": each}


# from the file


def n_rows(node: Node) -> int:
    """How many rows the tables of a node have."""
    tables = [node.get(name) for name in ("table", "weights", "classifiers", "skipped")]
    return sum(len(table) for table in tables if isinstance(table, list))


def rows_of(table: Any, length: int) -> list[list[Any]]:
    """The rows of a table, each a list of this length."""
    if not isinstance(table, list):
        raise damaged("a table is missing")
    for row in table:
        if not isinstance(row, list) or len(row) != length:
            raise damaged("a table has a row of another length")
    return table


def _named(table: Any, length: int) -> list[list[Any]]:
    """The rows of a table that begin with a name, which are different."""
    rows = [[plain.name(row[0]), *row[1:]] for row in rows_of(table, length)]
    if len({row[0] for row in rows}) < len(rows):
        raise damaged("names are not different from each other")
    return rows


def _number(value: Any, what: str, least: float = -1e300, most: float = 1e300) -> float:
    number = plain.decoded(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise damaged(f"{what} is no number")
    if not least <= number <= most:
        raise damaged(f"{what} is out of range")
    return float(number)


def _count(value: Any, what: str) -> int:
    if type(value) is not int or not 0 <= value < MOST_EXAMPLES:
        raise damaged(f"{what} is no count")
    return value


def _parameters(node: Node, *names: str) -> dict[str, float]:
    found = node.get("parameters")
    if not isinstance(found, dict):
        raise damaged(f"{plain.short(found)} are no parameters")
    return {name: _number(found.get(name), name) for name in names}


def _statistic(value: Any) -> Any:
    """A number of a scaler; those of whole features may be whole, of a size that arithmetic with others can take."""
    number = plain.decoded(value)
    whole = type(number) is int and abs(number) <= 2**1000
    if not whole and type(number) is not float:
        raise damaged(f"{plain.short(number)} in a scaler")
    return number


def _standard_scaler(node: Node, inner: Inner) -> Any:
    from river import preprocessing

    scaler = plain.built(preprocessing.StandardScaler, node.get("parameters"))
    if type(scaler.with_std) is not bool or scaler.window_size is not None:
        raise damaged("a StandardScaler with other parameters")
    for name, count, mean, var in _named(node.get("table"), 4):
        scaler.counts[name] = _count(count, "what a scaler has seen")
        scaler.means[name], scaler.vars[name] = _statistic(mean), _statistic(var)
    return scaler


def _min_max_scaler(node: Node, inner: Inner) -> Any:
    from river import preprocessing

    scaler = preprocessing.MinMaxScaler()
    for name, low, high in _named(node.get("table"), 3):
        scaler.min[name].min, scaler.max[name].max = _statistic(low), _statistic(high)
    return scaler


def _our_scaler(node: Node, inner: Inner) -> Any:
    theirs = KINDS[node["class"].removeprefix("rb.")](node, inner)
    standard = node["class"] == "rb.StandardScaler"
    ours = StandardScaler(theirs.with_std) if standard else MinMaxScaler()
    ours.take_from(theirs)
    return ours


def _target_scaler(node: Node, inner: Inner) -> Any:
    from river import preprocessing, stats

    regressor, (seen,) = inner(node.get("regressor")), rows_of([node.get("targets")], 3)
    if not hasattr(regressor, "predict_one"):
        raise damaged("a TargetStandardScaler has no regressor")
    ours = node["class"].startswith("rb.")
    model: Any = (TargetStandardScaler if ours else preprocessing.TargetStandardScaler)(regressor)
    var = stats.Var()
    var.mean.n = _number(seen[0], "a count of targets", 0.0)
    var.mean._mean = _number(seen[1], "a mean of targets")
    var._S = _number(seen[2], "a sum of squares", 0.0)
    model.var = var
    return model


def _one_vs_rest(node: Node, inner: Inner) -> Any:
    from river import multiclass

    model = multiclass.OneVsRestClassifier(inner(node.get("classifier")))
    for label, one in _named(node.get("classifiers"), 2):
        model.classifiers[label] = inner(one)
        if type(model.classifiers[label]) is not type(model.classifier):
            raise damaged("a OneVsRestClassifier has classifiers of several kinds")
    model._y_name = plain.name(node.get("target_name"))
    return model


def _descent(node: Node, steps: Any) -> Any:
    from river import optim

    optimizer = optim.SGD(_number(node.get("rate"), "a rate"))
    optimizer.n_iterations = _count(steps, "the number of steps")
    return optimizer


def _weights(table: Any) -> dict[Any, float]:
    return {name: _number(weight, "a weight") for name, weight in _named(table, 2)}


def _linear_model(node: Node, inner: Inner) -> Any:
    from river import linear_model

    kind = getattr(linear_model, node["class"])
    rate = _number(node.get("intercept_rate"), "a rate")
    optimizer = _descent(node, node.get("steps"))
    model = kind(optimizer=optimizer, intercept_lr=rate, **_parameters(node, *LINEAR))
    model._weights = utils.VectorDict(_weights(node.get("table")), model.initializer)
    model.intercept = _number(node.get("intercept"), "an intercept")
    model._y_name = plain.name(node.get("target_name"))
    return model


def _softmax_model(node: Node, inner: Inner) -> Any:
    from river import linear_model

    l2 = _parameters(node, "l2")["l2"]
    model = linear_model.SoftmaxRegression(optimizer=_descent(node, 0), l2=l2)
    for label, steps, table in _named(node.get("weights"), 3):
        model.weights[label].update(_weights(table))
        model.optimizers[label].n_iterations = _count(steps, "the number of steps")
    return model


def _guard(node: Node, inner: Inner) -> Any:
    guard = plain.built(Guard, node.get("parameters"))
    for name, value in _named(node.get("table"), 2):
        guard._last[name] = plain.name(value)
    for feature, reason, count in rows_of(node.get("skipped"), 3):
        if type(feature) is not str or type(reason) is not str:
            raise damaged("what a guard has skipped is no text")
        guard._skipped[feature, reason] = _count(count, "what a guard has skipped")
    return guard


def _feature_budget(node: Node, inner: Inner) -> Any:
    budget = plain.built(FeatureBudget, node.get("parameters"))
    rows = _named(node.get("table"), 3)
    if len(rows) > budget.max_features:
        raise damaged("it keeps more names than it may")
    weight = _number(node.get("weight"), "a weight", 1.0, LARGEST_COUNT)
    found = [(name, _number(n, "a count"), _count(at, "an arrival")) for name, n, at in rows]
    budget.restore(found, weight)
    return budget


# the model of a node, by its class
KINDS: dict[str, Callable[[Node, Inner], Any]] = {
    "StandardScaler": _standard_scaler,
    "MinMaxScaler": _min_max_scaler,
    "rb.StandardScaler": _our_scaler,
    "rb.MinMaxScaler": _our_scaler,
    "TargetStandardScaler": _target_scaler,
    "rb.TargetStandardScaler": _target_scaler,
    "OneVsRestClassifier": _one_vs_rest,
    "LinearRegression": _linear_model,
    "LogisticRegression": _linear_model,
    "SoftmaxRegression": _softmax_model,
    "Guard": _guard,
    "FeatureBudget": _feature_budget,
}
