"""Models for machines without Python: files of ONNX."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

from ..algorithms.gradient.one_class import KernelOneClassSVM
from ..nested import last_step
from ..saving import container
from .graph import Columns, Graph
from .outputs import give_out, give_out_strangeness
from .predictors import predicted
from .transformers import features_of

__all__ = ["onnx"]

MATRIX = "features"  # the name of the input where there is one for all features


def onnx(model: Any, path: str | os.PathLike[str], matrix: bool = False) -> None:
    """Write a model as a file of ONNX, which runs without Python and River.

    All of the model is written, the scalers in front of it included, in standard operators (opset 17) and with
    float64, so that predictions agree with those of `predict_one` up to rounding. What learning needs is left out.

    Not for going on learning: `rb.save` keeps all of a model.

    There is an input for each feature, under its name and with one column; NaN stands for a feature that is not
    there (behind `Guard("last")`, for its last good value). A classifier has the outputs `label`, `probabilities` (one column per label, in the
    order of the property `classes`) and `scores`; a regressor has `prediction`; a `KernelOneClassSVM` has
    `score`. An output whose name is the name of a feature gets a `_` behind it.

    What can be exported: the kernel expansions of this package with all kernels but `Custom`, FOGD and
    NOGD; behind `RandomFourier`, `RBFSampler`, `Nystroem`, `PolynomialCountSketch` and River's `StandardScaler` and `MinMaxScaler`; inside
    `TargetStandardScaler` and `OneVsRestClassifier`; and River's linear models behind our maps. `AutoKernel*`
    cannot, as its memory of examples under a learned metric would be a graph of some hundred operators. It needs
    the package onnx (`pip install onnx`).

    onnxruntime scores single examples about twice as fast where its session option `intra_op_num_threads` is 1.

    Parameters
    ----------
    model
        A classifier, a regressor or a `KernelOneClassSVM`, alone or at the end of a pipeline.
    path
        Where to. The file appears at once and whole.
    matrix
        Whether there is one input for all features, called `features`, with a column for each: better for
        hundreds of them. Their order is that of the property `features`.

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
    model = copy.deepcopy(model)  # between two examples, whatever another thread learns meanwhile
    names = features_of(model)
    if not names:
        raise ValueError("a model that has learned nothing cannot be exported")
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts) or "" in texts:
        raise ValueError(f"names of inputs are texts, and {names!r} are not different ones")
    graph = Graph({MATRIX} if matrix else set(texts))
    tensor = MATRIX if matrix else graph.node("Concat", *texts, axis=1)
    found = predicted(graph, model, Columns(tensor, names))
    last, properties = last_step(model)[1], {}
    if isinstance(last, KernelOneClassSVM):
        give_out_strangeness(graph, found, last._level)
    else:
        properties = give_out(graph, found)
    inputs = [(MATRIX, len(texts))] if matrix else [(text, 1) for text in texts]
    if matrix:
        properties["features"] = json.dumps(texts)
    made = graph.model(inputs, properties)
    container.write(path, [made.SerializeToString()])
