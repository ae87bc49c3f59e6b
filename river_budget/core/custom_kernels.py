"""Kernel functions of users: numba compiles each on its own, and passes get it as an argument, in
`m.function`, for which numba takes 3 us in each call of a pass.

A block contains a number that follows from the name of the function, and every process looks up the
function itself. So a block can be copied to another process, and no pass is compiled again for
another function.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from typing import Any

import numba
from numba import types

from .compiling import inner

_functions: dict[int, Any] = {}  # by number: the function as the user has written it
_compiled: dict[int, Any] = {}  # by number: what passes take
# All machine code ever made, as a pass may still run one after its name was given to another
# function
_kept: list[Any] = []
_lock = threading.RLock()


def number_of(name: str) -> int:
    """The number that stands for a name: 63 bits, and not 0."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % (2**63 - 1) + 1


def known_function(name: str) -> Any:
    """The user's function with this name, or None."""
    return _functions.get(number_of(name))


def register(name: str, function: Any) -> None:
    """Compile a function and make it known by this name."""
    number = number_of(name)
    with _lock:
        if _functions.get(number) is not function:
            _compiled[number] = _compile(function)
            _functions[number] = function


def function_for(number: int) -> Any:
    """What passes take for the function with this number."""
    try:
        return _compiled[number]
    except KeyError:
        raise RuntimeError(
            "this model has a kernel function that this process does not know: make "
            "rb.kernels.Custom(function) of it first"
        ) from None


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def _compile(function: Any) -> Any:
        return function

    def call_function(function, x, z, n):
        """The user's function of two rows of n numbers."""
        return float(function(x[:n].copy(), z[:n].copy()))

else:
    importlib.import_module(
        "numba.experimental.function_type"
    )  # numba registers it with the first function it compiles

    ROW = types.CPointer(types.float64)
    SIGNATURE = types.float64(ROW, ROW, types.intp)  # of all kernels: two rows and their length

    class KernelFunction(types.WrapperAddressProtocol):  # type: ignore[misc]
        """A compiled function as passes take it: numba asks for its type and its address.

        It refers to no compiled code, which River would count as the memory of a model; `_kept`
        does.
        """

        __slots__ = ("address",)

        def __init__(self, address: int):
            self.address = address

        def __wrapper_address__(self) -> int:
            return self.address

        def signature(self) -> Any:
            return SIGNATURE

    def _compile(function: Any) -> Any:
        plain = function if hasattr(function, "py_func") else numba.njit(function)

        @numba.cfunc(SIGNATURE)
        def kernel(x, z, n):
            return plain(numba.carray(x, n), numba.carray(z, n))

        _kept.append(kernel)
        address: Any = kernel.address
        return KernelFunction(address)

    @inner
    def call_function(function, x, z, n):
        """The user's function of two rows of n numbers."""
        if function is None:  # it is never called then, but numba must have a type for it
            return 0.0
        return function(x.ctypes, z.ctypes, n)
