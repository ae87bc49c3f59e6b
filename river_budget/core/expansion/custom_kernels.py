"""Kernel functions of users: numba compiles each on its own, and passes call it by its address.

A block contains a number that follows from the name of the function, and every process looks up the address
itself. So a block can be copied to another process, and no pass has to be compiled again.
"""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import numba
from llvmlite import ir
from numba.core import config, types

from ..compiling.array_views import compiled_as, f64

SIGNATURE = types.float64(types.CPointer(types.float64), types.CPointer(types.float64), types.intp)
_functions: dict[int, Any] = {}  # by number: the function as the user has written it
_addresses: dict[int, int] = {}  # by number
# All functions ever compiled, as a pass may still run one after its name was given to another function
_kept: list[Any] = []
_lock = threading.RLock()
_plain: dict[int, Any] = {}  # by address, where nothing is compiled


def number_of(name: str) -> int:
    """The number that stands for a name: 63 bits, and not 0."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % (2**63 - 1) + 1


def function_of(name: str) -> Any:
    """The user's function with this name, or None."""
    return _functions.get(number_of(name))


def make_known(name: str, function: Any) -> None:
    """Compile a function and register it under this name."""
    number = number_of(name)
    with _lock:
        if _functions.get(number) is not function:
            _addresses[number], machine_code = _compiled(number, function)
            _kept.append(machine_code)
            _functions[number] = function


def address_for(number: int) -> int:
    """The address of the function with this number."""
    try:
        return _addresses[number]
    except KeyError:
        raise RuntimeError(
            "this model has a kernel function that this process does not know: make "
            "rb.kernels.Custom(function) of it first"
        ) from None


def _compiled(number: int, function: Any) -> tuple[int, Any]:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        _plain[number] = function
        return number, function
    inner = function if hasattr(function, "py_func") else numba.njit(function)

    @numba.cfunc(SIGNATURE)
    def kernel(x, z, n):
        return inner(numba.carray(x, n), numba.carray(z, n))

    return int(kernel.address or 0), kernel


def call_function(address, x, z, n):
    """Call the function at an address with the n numbers at x and the n numbers at z."""
    return float(_plain[address](f64(x, n).copy(), f64(z, n).copy()))


@compiled_as(call_function, types.float64, *[types.Integer] * 4)
def _call_function(context, builder, signature, args):
    word = context.get_value_type(types.intp)
    kind = ir.FunctionType(ir.DoubleType(), [word] * 3)
    words = [
        context.cast(builder, value, given, types.intp)
        for value, given in zip(args, signature.args, strict=True)
    ]
    return builder.call(builder.inttoptr(words[0], kind.as_pointer()), words[1:])
