"""Write models to ONNX files, for machines without Python, and the model at the end of a pipeline
as operators.

A model gives scores, probabilities, labels or predictions.
"""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from river import compose, optim

from ..algorithms.features.fogd import FOGDClassifier, FOGDRegressor
from ..algorithms.gradient.one_class import KernelOneClassSVM
from ..algorithms.scaling.targets import TargetStandardScaler
from ..algorithms.window.sbp import SBPClassifier
from ..core import memory
from ..inputs.targets import Labels, plain
from ..model.expansion import BudgetModel
from ..saving import files
from ..wrappers.nested import last_step
from .expansions import expansion, waves
from .graph import Graph, NamedMatrix, Tensor, check_texts, not_exported
from .transformers import features_of, present, texts_of, transformed

WITH_WAVES = FOGDClassifier, FOGDRegressor


@dataclass
class Found:
    """The outputs of a model: matrices with one row per example."""

    scores: Tensor | None  # raw scores: one column, or from three labels on one for each
    labels: list[Any] | None = None  # the labels of a classifier
    probabilities: Any = None  # a column for each label
    chosen: Any = None  # the index of the predicted label, one number per example


def predicted(graph: Graph, model: Any, columns: NamedMatrix) -> Found:
    """The outputs of the model for these columns."""
    # imported here: they take longer to load than this package
    from river import linear_model, multiclass

    kind = type(model)
    if isinstance(model, compose.Pipeline):
        *steps, last = model.steps.values()
        for step in steps:
            columns = transformed(graph, step, columns)
        return predicted(graph, last, columns)
    if isinstance(model, compose.TargetTransformRegressor):
        return _in_units(graph, model, columns)
    if kind is multiclass.OneVsRestClassifier:
        return _one_against_the_rest(graph, model, columns)
    columns = present(graph, columns)
    if kind in (linear_model.LinearRegression, linear_model.LogisticRegression):
        return _linear(graph, model, columns, kind is linear_model.LogisticRegression)
    if kind is linear_model.SoftmaxRegression:
        table = [_weights(weights, columns) for weights in model.weights.values()]
        scores = columns.tensor @ np.array(table).T
        return _best(graph, list(model.weights), scores, graph.node("Softmax", scores, axis=1))
    if issubclass(kind, (BudgetModel, *WITH_WAVES)):
        return _ours(graph, model, columns)
    raise not_exported(kind.__name__)


def _ours(graph: Graph, model: Any, columns: NamedMatrix) -> Found:
    if model._block is None:
        raise ValueError(f"a {type(model).__name__} that has learned nothing cannot be exported")
    scores = _scores(graph, model, columns)
    if not hasattr(model, "_labels"):
        return Found(scores)
    labels: Labels = model._labels
    if len(labels.known) < 2:
        raise ValueError(
            f"a {type(model).__name__} that knows one class only, {labels.known}, cannot be "
            "exported"
        )
    _, slope, lead = model._reading()
    if len(labels.known) == 2:
        return _two(graph, labels.known, scores, scores * float(slope))
    logits = _with_lead(graph, scores, len(labels.known), slope, lead)
    return _best(graph, labels.known, scores, graph.node("Softmax", logits, axis=1))


def _scores(graph: Graph, model: Any, columns: NamedMatrix) -> Tensor:
    block = memory.views(model._block)
    n, state = block.head.count, model._state_record()
    if isinstance(model, WITH_WAVES):
        rows = len(block.per_vector) // len(block.coefficients)
        first = 0 if rows == 1 else 2
        sines = block.per_vector[first::rows, :n]
        cosines = block.coefficients[:, :n] if rows == 1 else block.per_vector[1::rows, :n]
        weights = np.concatenate([cosines, sines], axis=1).T
        return waves(graph, model, columns) @ np.ascontiguousarray(weights)
    by_mean = getattr(model, "average", False)
    coefficients = model._mean_rows()[:, :n] if by_mean else model._coefficient_columns()
    scores = expansion(graph, model, columns, coefficients)
    if isinstance(model, SBPClassifier):
        return scores + float(state.bias)
    if isinstance(model, KernelOneClassSVM):
        return float(state.level) - scores
    return scores


def _two(
    graph: Graph, labels: list[Any], scores: Tensor, logits: Tensor, strict: bool = False
) -> Found:
    """Two classes, of which the second one is positive. `strict`: a score of 0 is negative."""
    positive = graph.node("Sigmoid", logits)
    shares = graph.node("Concat", 1.0 - positive, positive, axis=1)
    above = scores > 0.0 if strict else scores >= 0.0
    chosen = graph.node("Squeeze", above.whole(), np.array([1]))
    return Found(scores, labels, shares, chosen)


def _best(graph: Graph, labels: list[Any], scores: Tensor, shares: Tensor) -> Found:
    """The class with the highest score."""
    return Found(scores, labels, shares, graph.node("ArgMax", scores, axis=1, keepdims=0))


def _with_lead(graph: Graph, scores: Tensor, n: int, slope: float, lead: float) -> Tensor:
    """Logits: slope times scores, plus the lead for the highest one, unless all are equal."""
    highest = graph.node("ReduceMax", scores, axes=[1], keepdims=1)
    behind = scores - highest
    logits = behind * float(slope)
    if lead == 0.0:
        return logits
    lowest = graph.node("ReduceMin", behind, axes=[1], keepdims=1)
    first = graph.node("ArgMax", scores, axis=1, keepdims=1)
    others = graph.node("Not", graph.node("Equal", first, np.arange(n)[None]))
    chased = graph.node("And", others, graph.node("Less", lowest, 0.0))
    return logits - graph.node("Where", chased, float(lead), 0.0)


def _weights(weights: Any, columns: NamedMatrix) -> list[float]:
    return [float(weights.get(name, 0.0)) for name in columns.names]


def _linear(graph: Graph, model: Any, columns: NamedMatrix, classifier: bool) -> Found:
    """A linear model of River."""
    usual = optim.losses.Log if classifier else optim.losses.Squared
    if not isinstance(model.loss, usual):
        raise not_exported(f"a {type(model).__name__} with another loss than its usual one")
    weights = np.array(_weights(model.weights, columns))[:, None]
    scores = graph.node("Gemm", columns.tensor, weights, np.array([float(model.intercept)]))
    return _two(graph, [False, True], scores, scores, strict=True) if classifier else Found(scores)


def _in_units(graph: Graph, model: Any, columns: NamedMatrix) -> Found:
    """The regressor inside a TargetStandardScaler, in the units of the targets."""
    from river import preprocessing

    if type(model) not in (preprocessing.TargetStandardScaler, TargetStandardScaler):
        raise not_exported(type(model).__name__)
    inside = predicted(graph, model.regressor, columns)
    spread, mean = float(model.var.get()) ** 0.5, float(model.var.mean.get())
    assert inside.scores is not None
    return Found(inside.scores * spread + mean)


def _one_against_the_rest(graph: Graph, model: Any, columns: NamedMatrix) -> Found:
    shares = []
    for one in model.classifiers.values():
        found = predicted(graph, one, columns)
        if found.labels is None or True not in found.labels:
            raise not_exported(f"{type(one).__name__} in a {type(model).__name__}")
        place = np.array([found.labels.index(True)])
        shares.append(graph.node("Gather", found.probabilities, place, axis=1))
    if not shares:
        raise ValueError("a OneVsRestClassifier that has learned nothing cannot be exported")
    votes = graph.node("Concat", *shares, axis=1)
    total = graph.node("ReduceSum", votes, np.array([1]), keepdims=1)
    probabilities = graph.node("Where", total > 0.0, votes / total, 1.0 / len(shares))
    labels = list(model.classifiers)
    return Found(None, labels, probabilities, graph.node("ArgMax", votes, axis=1, keepdims=0))


__all__ = ["onnx"]

MATRIX = "features"  # the name of the input if it holds all features
KINDS = {bool: "BOOL", int: "INT64", str: "STRING", float: "DOUBLE"}


def onnx(model: Any, path: str | os.PathLike[str], matrix: bool = False) -> None:
    """Write a model to an ONNX file, which runs without Python and River.

    The file contains everything that predictions need, including scalers, in standard operators
    (opset 17) and in float64, so that predictions agree with those of `predict_one` up to rounding;
    with the `Linear` kernel as long as no product of two examples is beyond 1e100, where the model
    clamps it. FOGD and random waves take sines of sums of features: of sums beyond 1e8, as of
    features that nothing scales, rounding is magnified by the size of the sum.

    Not for continued learning: `rb.save` saves the whole model.

    There is an input for each feature, under its name and with one column; NaN stands for a missing
    feature (behind `Guard("last")`, for its last valid value). A feature that River's
    `OneHotEncoder` knows as text has an input of texts, where "" stands for a missing one. A
    classifier has the outputs `label`, `probabilities` (one column per label, in the order of the
    property `classes`) and `scores`; a regressor has `prediction`; a `KernelOneClassSVM` has
    `score`. If a feature has the name of an output, `_` is appended to the output's name.

    What can be exported: the kernel expansions of this package with all kernels but `Custom`, FOGD
    and NOGD; behind `RandomFourier`, `RBFSampler`, `Nystroem`, `PolynomialCountSketch`, `Guard`,
    and River's `StandardScaler`, `MinMaxScaler`, `OneHotEncoder`, `Select`, `Discard` and unions of
    these; inside `TargetStandardScaler` and `OneVsRestClassifier`; and River's linear models behind
    our maps. It needs the package onnx (`pip install onnx`).

    A category that `OneHotEncoder` has not learned counts as missing.

    onnxruntime scores single examples about twice as fast if its session option
    `intra_op_num_threads` is 1.

    Parameters
    ----------
    model
        A classifier, a regressor or a `KernelOneClassSVM`, alone or at the end of a pipeline.
    path
        The file to write. It appears in one step, as in `rb.save`.
    matrix
        Whether there is one input for all features, called `features`, with a column for each:
        better for hundreds of features. Their order is that of the property `features`. Not if a
        feature is a text.

    Examples
    --------

    >>> import pathlib, tempfile
    >>> from river import datasets, preprocessing
    >>> from onnx.reference import ReferenceEvaluator
    >>> import numpy as np
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(budget=50)
    >>> for x, y in datasets.Phishing():
    ...     model.learn_one(x, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.onnx"
    ...     rb.export.onnx(model, path)
    ...     session = ReferenceEvaluator(str(path))  # or onnxruntime.InferenceSession
    >>> labels, probabilities, scores = session.run(
    ...     None, {name: np.array([[value]], float) for name, value in x.items()}
    ... )
    >>> bool(labels[0]) == model.predict_one(x)
    True

    References
    ----------
    [^1]: [Open Neural Network Exchange.](https://onnx.ai)

    """
    model = copy.deepcopy(model)  # a state between two examples, as another thread may learn
    names = features_of(model)
    if not names:
        raise ValueError("a model that has learned nothing cannot be exported")
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts) or "" in texts:
        raise ValueError(f"names of inputs are texts, and {names!r} are not different ones")
    check_texts(texts)
    graph = Graph({MATRIX} if matrix else set(texts))
    found = predicted(graph, model, columns_in(graph, model, names, matrix))
    last, properties = last_step(model)[1], {}
    if isinstance(last, KernelOneClassSVM):
        give_out_strangeness(graph, found, last._reading())
    else:
        properties = give_out(graph, found)
    inputs = [(MATRIX, "DOUBLE", len(texts))]
    if matrix:
        properties["features"] = json.dumps(texts)
    else:
        words = texts_of(model)
        kinds = ["STRING" if name in words else "DOUBLE" for name in names]
        inputs = [(text, kind, 1) for text, kind in zip(texts, kinds, strict=True)]
    made = graph.model(inputs, properties)
    files.write(path, made.SerializeToString())


def columns_in(graph: Graph, model: Any, names: list[Any], matrix: bool) -> NamedMatrix:
    """The inputs: a matrix of numbers, and columns of texts."""
    words = texts_of(model)
    if not matrix:
        numbers = [name for name in names if name not in words]
        inputs = {name: Tensor(graph, str(name)) for name in names}
        given = [inputs[name] for name in numbers]
        tensor = graph.node("Concat", *given, axis=1) if given else graph.nothing
        return NamedMatrix(tensor, numbers, {name: inputs[name] for name in names if name in words})
    if found := [name for name in names if name in words]:
        raise ValueError(f"one matrix for all features cannot hold {found[0]!r}, which is a text")
    return NamedMatrix(Tensor(graph, MATRIX), names)


# outputs


def give_out(graph: Graph, found: Found) -> dict[str, str]:
    """Name the outputs. Returns the properties of the file."""
    if found.labels is None:  # a regressor
        graph.output("prediction", _column(graph, found.scores), "DOUBLE")
        return {}
    labels = [plain(label) for label in found.labels]
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 or not kinds <= KINDS.keys():
        raise ValueError(
            "labels must all be texts, all whole numbers, all floats or all booleans, not "
            f"{labels!r}"
        )
    if any(isinstance(label, int) and not -(2**63) <= label < 2**63 for label in labels):
        raise ValueError(f"labels that are whole numbers must fit into 64 bits, unlike {labels!r}")
    check_texts(labels)
    table = np.array(labels, object if kinds == {str} else None)
    graph.output("label", graph.node("Gather", table, found.chosen), KINDS[kinds.pop()])
    graph.output("probabilities", found.probabilities, "DOUBLE", len(labels))
    if found.scores is not None and len(labels) == 2:
        graph.output("scores", _column(graph, found.scores), "DOUBLE")
    elif found.scores is not None:
        graph.output("scores", found.scores, "DOUBLE", len(labels))
    return {"classes": json.dumps(labels)}


def give_out_strangeness(graph: Graph, found: Found, level: float) -> None:
    """The anomaly score, as `score_one` returns it: from 0 to 1, and .5 at the threshold."""
    outside = _column(graph, found.scores)
    if level <= 0.0:
        inside = graph.node("Max", -outside, 0.0)
        graph.output("score", 0.5 / (inside + 1.0), "DOUBLE")
        return
    f = graph.node("Max", level - outside, 0.0)
    far = 1.0 - f * (0.5 / level)
    near = graph.node("Pow", level / f, 4.0) * 0.5
    graph.output("score", graph.node("Where", outside > 0.0, far, near), "DOUBLE")


def _column(graph: Graph, matrix: Any) -> Tensor:
    """The only column of a matrix."""
    return graph.node("Squeeze", matrix, np.array([1]))
