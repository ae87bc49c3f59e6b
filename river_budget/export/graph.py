"""A graph of ONNX operators under construction."""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

from .._version import __version__

OPSET, IR_VERSION = 17, 8  # runtimes since 2022 support these versions
TEXTS, TEXTS_OPSET = "ai.onnx.ml", 2  # the part of the standard that looks up texts


@dataclass
class Columns:
    """A matrix in the graph, one row per example, and the names of its columns; and columns of texts by name."""

    tensor: str  # empty if there is no column
    names: list[Any]
    texts: dict[Any, str] = field(default_factory=dict)


class Graph:
    """Nodes and constants, with short names that no feature has.

    A tensor is represented by its name; numbers and arrays become constants.
    """

    def __init__(self, taken: set[str]):
        self.taken = set(taken)
        letters = string.ascii_letters
        self.free_names = map(
            "".join, itertools.chain(letters, itertools.product(letters, letters, letters))
        )
        self.nodes: list[Any] = []
        self.constants: dict[Any, Any] = {}
        self.outputs: list[Any] = []

    def new_name(self) -> str:
        name = next(name for name in self.free_names if name not in self.taken)
        self.taken.add(name)
        return name

    def constant(self, value: Any) -> str:
        """The name of a constant. Equal constants have the same name."""
        array = np.asarray(value)
        if array.dtype.kind == "U":
            array = array.astype(object)
        content = repr(array.tolist()) if array.dtype == object else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self.constants:
            self.constants[key] = numpy_helper.from_array(array, self.new_name())
        name: str = self.constants[key].name
        return name

    def node(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add an operator. Returns the name of its result."""
        return self.nodes_of(1, operator, *inputs, **attributes)[0]

    def nodes_of(self, n: int, operator: str, *inputs: Any, **attributes: Any) -> list[str]:
        """Add an operator with n results. Returns their names."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        results = [self.new_name() for _ in range(n)]
        self.nodes.append(helper.make_node(operator, names, results, **attributes))
        return results

    def for_each_row(self, matrix: str, n: int, function: Callable[[str], str], m: int) -> str:
        """Apply a function from n to m numbers to each row, one row after the other: intermediate results of all rows
        at once would grow with the number of rows."""
        row, outside = self.new_name(), self.nodes
        self.nodes = []
        result = function(row)
        kinds = [self._numbers(row, (n,))], [self._numbers(result, (m,))]
        body = helper.make_graph(self.nodes, self.new_name(), *kinds)
        self.nodes = outside
        return self.node("Scan", matrix, body=body, num_scan_inputs=1)

    def _numbers(self, name: str, shape: Any) -> Any:
        return self._described(name, "DOUBLE", shape)

    def output(self, name: str, tensor: str, kind: str, *columns: Any) -> None:
        """Make a tensor an output with this name, or with `_` appended if a feature has this name."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        for node in self.nodes:
            for tensors in (node.input, node.output):
                tensors[:] = [name if each == tensor else each for each in tensors]
        self.outputs.append(self._described(name, kind, ("n", *columns)))

    def _described(self, name: str, kind: str, shape: Any) -> Any:
        type_of = getattr(TensorProto, kind)
        return helper.make_tensor_value_info(name, type_of, shape)

    def model(self, inputs: list[tuple[str, str, int]], properties: dict[str, str]) -> Any:
        """The whole model, checked. `inputs` are names, kinds and numbers of columns."""
        described = [self._described(name, kind, ("n", columns)) for name, kind, columns in inputs]
        graph = helper.make_graph(
            self.nodes, "g", described, self.outputs, list(self.constants.values())
        )
        model = helper.make_model(
            graph,
            opset_imports=self._opsets(),
            ir_version=IR_VERSION,
            producer_name="river_budget",
            producer_version=__version__,
        )
        helper.set_model_props(model, properties)
        checker.check_model(model, full_check=True)
        return model

    def _opsets(self) -> list[Any]:
        texts = any(node.domain == TEXTS for node in self.nodes)
        return [helper.make_opsetid("", OPSET)] + texts * [helper.make_opsetid(TEXTS, TEXTS_OPSET)]
