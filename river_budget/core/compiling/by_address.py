"""Functions compiled once for all passes and called by their address.

Every other function is copied into each pass that calls it. A shared function is compiled when the first
model that needs it makes a call, so that a first call does not wait for code that only other models need.

The address of such a function is stored in a memory cell, which generated code finds by the name of the
function. model/calls.py compiles the functions that a pass may need before it calls the pass.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import types

from .array_views import compiled_as
from .jit import IN_ALL, compiled
from .needs import Need
from .plain import PLAIN

_functions: dict[Need, list[Any]] = {}  # (function, its signature, cell)
_callbacks: dict[Any, Any] = {}  # with PLAIN, by function: or numba would free them
ready = 0  # the needs whose functions are compiled, as bits


def shared(need: Need, result: Any, *arguments: Any) -> Callable[[Any], Any]:
    """Decorator: compile a function with this signature once, for all passes of models with this need."""

    def decorate(function: Any) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function
        name, cell = _name_of(function), ctypes.c_size_t()
        binding.add_symbol(name, ctypes.addressof(cell))
        signature = result(*arguments)
        _functions.setdefault(need, []).append((compiled(function, apart=True), signature, cell))
        _register_call(function, name, signature)
        return function

    return decorate


def _name_of(function: Any) -> str:
    return f"{function.__module__}.{function.__name__}"


def _cell(context: Any, builder: Any, name: str) -> Any:
    """The global variable that holds the address of a shared function, declared in this module."""
    known = builder.module.globals
    if name not in known:
        ir.GlobalVariable(builder.module, context.get_value_type(types.intp), name)
    return known[name]


def _register_call(function: Any, name: str, signature: Any) -> None:
    """Register how compiled code calls a shared function: through the address in its cell."""
    result, arguments = signature.return_type, signature.args

    @compiled_as(function, lambda *given: signature, *arguments)
    def generate(context, builder, given, args):
        address = builder.load(_cell(context, builder, name))
        if PLAIN:
            taken = [context.get_value_type(kind) for kind in arguments]
            kind = ir.FunctionType(context.get_value_type(result), taken)
            return builder.call(builder.inttoptr(address, kind.as_pointer()), args)
        kind = context.call_conv.get_function_type(result, arguments)
        address = builder.inttoptr(address, kind.as_pointer())
        _, found = context.call_conv.call_function(builder, address, result, arguments, args)
        return found


def functions(needs: int) -> list[tuple[Any, Any]]:
    """The shared functions for these needs, each with the types of its arguments."""
    found = [_functions.get(need, ()) for need in Need if need & needs]
    return [(function, signature.args) for some in found for function, signature, _ in some]


def make_ready(needs: int) -> None:
    """Compile, or load from disk, the shared functions for these needs that are not ready yet."""
    global ready
    missing = int(needs) & ~ready
    for need in Need if missing else ():
        if need & missing:
            for function, signature, cell in _functions.get(need, ()):
                cell.value = _compiled(function, signature)
            ready |= int(need)


def _compiled(function: Any, signature: Any) -> int:
    """Compile a function and return the address of its machine code."""
    if PLAIN:
        if function not in _callbacks:
            _callbacks[function] = numba.cfunc(signature, **IN_ALL)(function.py_func)
        return int(_callbacks[function].address)
    function.compile(signature.args)  # the names from here on are private to numba
    found = function.overloads[signature.args]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))
