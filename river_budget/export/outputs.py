"""The outputs of an ONNX file and their names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..model.inputs.targets import plain
from .graph import Graph
from .predictors import Found

KINDS = {bool: "BOOL", int: "INT64", str: "STRING", float: "DOUBLE"}


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
        inside = graph.node("Max", graph.node("Neg", outside), 0.0)
        graph.output("score", graph.node("Div", 0.5, graph.node("Add", inside, 1.0)), "DOUBLE")
        return
    f = graph.node("Max", graph.node("Sub", level, outside), 0.0)
    far = graph.node("Sub", 1.0, graph.node("Mul", f, 0.5 / level))
    near = graph.node("Mul", graph.node("Pow", graph.node("Div", level, f), 4.0), 0.5)
    is_outside = graph.node("Greater", outside, 0.0)
    graph.output("score", graph.node("Where", is_outside, far, near), "DOUBLE")


def _column(graph: Graph, matrix: Any) -> str:
    """The only column of a matrix."""
    return graph.node("Squeeze", matrix, np.array([1]))
