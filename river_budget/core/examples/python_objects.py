"""Functions of CPython's C API for compiled code that holds the GIL.

Objects are addresses; 0 means that there is no result and an error is set. Results marked as new are new
references: another function must steal or release them. All others are borrowed: they may become invalid as
soon as Python code runs.
"""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from ..compiling.array_views import compiled_as, i64
from ..compiling.jit import compiled

WORD, INT, DOUBLE, NOTHING = ir.IntType(64), ir.IntType(32), ir.DoubleType(), ir.VoidType()
SEEN_AS: dict[Any, Any] = {
    WORD: types.intp,
    INT: types.int32,
    DOUBLE: types.float64,
    NOTHING: types.void,
}
TYPE_AT = object.__basicsize__ - ctypes.sizeof(
    ctypes.c_void_p
)  # where an object holds its type: behind the reference count


def imported(name: str, result: Any, *arguments: Any) -> Any:
    """A function that calls a C function of the interpreter; for compiled code only."""

    def function(*given):
        raise NotImplementedError(f"{name} is called by compiled code")

    kind = ir.FunctionType(result, arguments)
    taken = [types.Float if given is DOUBLE else types.Integer for given in arguments]

    @compiled_as(function, SEEN_AS[result], *taken)
    def generate(context, builder, signature, args):
        found = cgutils.get_or_insert_function(builder.module, kind, name)
        values = [
            context.cast(builder, value, have, SEEN_AS[want])
            for value, have, want in zip(args, signature.args, arguments, strict=True)
        ]
        answer = builder.call(found, values)
        return context.get_dummy_value() if result is NOTHING else answer

    return function


dict_size = imported("PyDict_Size", WORD, WORD)
dict_next = imported("PyDict_Next", INT, WORD, WORD, WORD, WORD)  # dict, &position, &key, &value
dict_get = imported("PyDict_GetItemWithError", WORD, WORD, WORD)
dict_set = imported("PyDict_SetItem", INT, WORD, WORD, WORD)
dict_copy = imported("PyDict_Copy", WORD, WORD)  # new
dict_remove = imported("PyDict_DelItem", INT, WORD, WORD)
list_new = imported("PyList_New", WORD, WORD)  # new
list_set = imported("PyList_SetItem", INT, WORD, WORD, WORD)  # steals the reference to the item
float_new = imported("PyFloat_FromDouble", WORD, DOUBLE)  # new
float_value = imported("PyFloat_AsDouble", DOUBLE, WORD)
int_new = imported("PyLong_FromLongLong", WORD, WORD)  # new
int_value = imported("PyLong_AsLongLong", WORD, WORD)
address_value = imported("PyLong_AsVoidPtr", WORD, WORD)
utf8_of = imported("PyUnicode_AsUTF8AndSize", WORD, WORD, WORD)  # text, &size
tuple_size = imported("PyTuple_Size", WORD, WORD)
tuple_get = imported("PyTuple_GetItem", WORD, WORD, WORD)
hash_of = imported("PyObject_Hash", WORD, WORD)
repr_new = imported("PyObject_Repr", WORD, WORD)  # new
error_set = imported("PyErr_Occurred", WORD)
clear_error = imported("PyErr_Clear", NOTHING)
hold = imported("Py_IncRef", NOTHING, WORD)
release = imported("Py_DecRef", NOTHING, WORD)
leave_lock = imported("PyEval_SaveThread", WORD)  # new
take_lock = imported("PyEval_RestoreThread", NOTHING, WORD)


@compiled(always_inlined=True)
def type_of(thing):
    """The type of an object."""
    return i64(thing + TYPE_AT, 1)[0]
