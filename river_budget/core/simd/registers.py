"""SIMD vectors in LLVM code: eight float64 or sixteen float32 numbers, on which one instruction works."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

LANES = 8
WORD = ir.IntType(64)


class Kind:
    """A type of SIMD vector: `lanes` numbers of one type, with the instructions that passes need."""

    def __init__(self, number: Any, name: str, lanes: int):
        self.number, self.lanes = number, lanes
        self.vector, self._name = ir.VectorType(number, lanes), f"v{lanes}{name}"
        self._bytes = 8 if name == "f64" else 4
        self._first = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)

    def same(self, number: float) -> Any:
        """A constant in every lane."""
        return ir.Constant(self.vector, [number] * self.lanes)

    def in_all(self, builder: Any, number: Any) -> Any:
        """A number in every lane."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        one = builder.insert_element(undefined, number, ir.Constant(WORD, 0))
        return builder.shuffle_vector(one, undefined, self._first)

    def fused(self, builder: Any, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once."""
        fma = declared(builder, f"llvm.fma.{self._name}", self.vector, *[self.vector] * 3)
        return builder.call(fma, [a, b, c])

    def load(self, builder: Any, array: Any, start: Any) -> Any:
        """The numbers of an array from `start` on."""
        found = builder.load(self._place(builder, array, start))
        found.align = self._bytes
        return found

    def store(self, builder: Any, numbers: Any, array: Any, start: Any) -> None:
        """Write the numbers to an array from `start` on."""
        builder.store(numbers, self._place(builder, array, start)).align = self._bytes

    def _place(self, builder: Any, array: Any, start: Any) -> Any:
        return builder.bitcast(builder.gep(array, [start]), self.vector.as_pointer())


def declared(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """An LLVM intrinsic, declared in the module being generated."""
    kind = ir.FunctionType(result, list(arguments))
    return cgutils.get_or_insert_function(builder.module, kind, name)


DOUBLES = Kind(ir.DoubleType(), "f64", LANES)
FLOATS = Kind(ir.FloatType(), "f32", 2 * LANES)
