"""Write models to ONNX files, for machines without Python."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import numpy as np

from ..algorithms.gradient.one_class import KernelOneClassSVM
from ..model.inputs.targets import plain
from ..nested import last_step
from ..saving import container
from .graph import Columns, Graph, Tensor
from .predictors import Found, predicted
from .transformers import features_of, texts_of

__all__ = ["onnx"]

MATRIX = "features"  # the name of the input if it holds all features
KINDS = {bool: "BOOL", int: "INT64", str: "STRING", float: "DOUBLE"}


def onnx(model: Any, path: str | os.PathLike[str], matrix: bool = False) -> None:
    """Write a model to an ONNX file, which runs without Python and River.

    The file contains everything that predictions need, including scalers, in standard operators (opset 17) and in
    float64, so that predictions agree with those of `predict_one` up to rounding.

    Not for continued learning: `rb.save` saves the whole model.

    There is an input for each feature, under its name and with one column; NaN stands for a missing
    feature (behind `Guard("last")`, for its last valid value). A feature that River's `OneHotEncoder` knows as text
    has an input of texts, where "" stands for a missing one. A classifier has the outputs `label`, `probabilities` (one
    column per label, in the order of the property `classes`) and `scores`; a regressor has `prediction`; a
    `KernelOneClassSVM` has `score`. If a feature has the name of an output, `_` is appended to the output's name.

    What can be exported: the kernel expansions of this package with all kernels but `Custom`, `AutoKernel*`, FOGD and
    NOGD; behind `RandomFourier`, `RBFSampler`, `Nystroem`, `PolynomialCountSketch`, `Guard`, and River's `StandardScaler`,
    `MinMaxScaler`, `OneHotEncoder`, `Select`, `Discard` and unions of these; inside `TargetStandardScaler` and
    `OneVsRestClassifier`; and River's linear models behind our maps. It needs the package onnx (`pip install onnx`).

    A category that `OneHotEncoder` has not learned counts as missing.

    onnxruntime scores single examples about twice as fast if its session option `intra_op_num_threads` is 1.

    Parameters
    ----------
    model
        A classifier, a regressor or a `KernelOneClassSVM`, alone or at the end of a pipeline.
    path
        The file to write. It appears in one step, as in `rb.save`.
    matrix
        Whether there is one input for all features, called `features`, with a column for each: better for
        hundreds of features. Their order is that of the property `features`. Not if a feature is a text.

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
    if getattr(last_step(model)[1], "word_slots", 0):
        raise ValueError(
            "a model of words, names without end, cannot be exported: a graph has inputs of a fixed number"
        )
    if not names:
        raise ValueError("a model that has learned nothing cannot be exported")
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts) or "" in texts:
        raise ValueError(f"names of inputs are texts, and {names!r} are not different ones")
    graph = Graph({MATRIX} if matrix else set(texts))
    found = predicted(graph, model, columns_in(graph, model, names, matrix))
    last, properties = last_step(model)[1], {}
    if isinstance(last, KernelOneClassSVM):
        give_out_strangeness(graph, found, last._level)
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
    container.write(path, [made.SerializeToString()])


def columns_in(graph: Graph, model: Any, names: list[Any], matrix: bool) -> Columns:
    """The inputs: a matrix of numbers, and columns of texts."""
    words = texts_of(model)
    if not matrix:
        numbers = [name for name in names if name not in words]
        inputs = {name: Tensor(graph, str(name)) for name in names}
        given = [inputs[name] for name in numbers]
        tensor = graph.node("Concat", *given, axis=1) if given else graph.nothing
        return Columns(tensor, numbers, {name: inputs[name] for name in names if name in words})
    if found := [name for name in names if name in words]:
        raise ValueError(f"one matrix for all features cannot hold {found[0]!r}, which is a text")
    return Columns(Tensor(graph, MATRIX), names)


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
            f"labels must all be texts, all whole numbers, all floats or all booleans, not {labels!r}"
        )
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
