"""A graph of ONNX operators under construction."""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

from .._version import __version__

OPSET, IR_VERSION = 17, 8  # runtimes since 2022 support these versions
SURROGATE = re.compile("[\ud800-\udfff]")
TEXTS, TEXTS_OPSET = "ai.onnx.ml", 2  # the part of the standard that looks up texts


def not_exported(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{what} cannot be exported. What can: the kernel expansions, FOGD and NOGD of "
        "river_budget, its maps "
        "RandomFourier, RBFSampler, Nystroem and PolynomialCountSketch, Guard, and River's "
        "StandardScaler, MinMaxScaler, "
        "OneHotEncoder, Select, Discard, TransformerUnion, TargetStandardScaler, "
        "OneVsRestClassifier, LinearRegression, "
        "LogisticRegression and SoftmaxRegression"
    )


def check_texts(values: Iterable[Any]) -> None:
    """Refuse texts that no file of ONNX can hold."""
    for text in values:
        if isinstance(text, str) and (SURROGATE.search(text) or "\0" in text):
            raise ValueError(f"{text!r} cannot be exported: it has characters that are no text")


@dataclass(frozen=True)
class Tensor:
    """The result of an operator, or an input. Formulas of tensors, numbers and arrays are further
    operators.
    """

    graph: Graph
    name: str
    __array_ufunc__ = None  # an array on the left leaves the formula to the tensor

    def __add__(self, other: Any) -> Tensor:
        return self.graph.node("Add", self, other)

    def __sub__(self, other: Any) -> Tensor:
        return self.graph.node("Sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return self.graph.node("Sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return self.graph.node("Mul", self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return self.graph.node("Div", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return self.graph.node("Div", other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return self.graph.node("MatMul", self, other)

    def __neg__(self) -> Tensor:
        return self.graph.node("Neg", self)

    def __gt__(self, other: Any) -> Tensor:
        return self.graph.node("Greater", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return self.graph.node("GreaterOrEqual", self, other)

    def total(self, axis: int) -> Tensor:
        """The sums along an axis, which is gone after that."""
        return self.graph.node("ReduceSum", self, np.array([axis]), keepdims=0)

    def unsqueezed(self, axis: int) -> Tensor:
        return self.graph.node("Unsqueeze", self, np.array([axis]))

    def whole(self) -> Tensor:
        """Cut to whole numbers."""
        return self.graph.node("Cast", self, to=TensorProto.INT64)


@dataclass
class NamedMatrix:
    """A matrix in the graph, one row per example, and the names of its columns; and columns of
    texts by name.
    """

    tensor: Tensor  # `graph.nothing` if there is no column
    names: list[Any]
    texts: dict[Any, Tensor] = field(default_factory=dict)


class Graph:
    """Nodes and constants, with short names that no feature has. Numbers and arrays become
    constants.
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
        self.nothing = Tensor(self, "")

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

    def node(self, operator: str, *inputs: Any, **attributes: Any) -> Tensor:
        """Add an operator. Returns its result."""
        names = [x.name if isinstance(x, Tensor) else self.constant(x) for x in inputs]
        result = self.new_name()
        self.nodes.append(helper.make_node(operator, names, [result], **attributes))
        return Tensor(self, result)

    def output(self, name: str, tensor: Tensor, kind: str, *columns: Any) -> None:
        """Make a tensor an output with this name, or with `_` appended if a feature has this
        name.
        """
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        for node in self.nodes:
            for tensors in (node.input, node.output):
                tensors[:] = [name if each == tensor.name else each for each in tensors]
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
        versions = {"": OPSET}
        if any(node.domain == TEXTS for node in self.nodes):
            versions[TEXTS] = TEXTS_OPSET
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(*pair) for pair in versions.items()],
            ir_version=IR_VERSION,
            producer_name="river_budget",
            producer_version=__version__,
        )
        helper.set_model_props(model, properties)
        checker.check_model(model, full_check=True)
        return model
