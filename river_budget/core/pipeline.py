"""numba's compiler without what our functions do not need: a first call takes a third less.

A pass is made of hundreds of functions, each of which numba compiles by some thirty steps in Python. (These parts of
numba are private.)

- What an operation on some types gives is found out once, and not in each function.
- Steps for what the functions of this package do not contain are left out of theirs, and so is what numba does between
  steps for those that follow.
- A function that is inlined is copied by itself, and not with all that is inlined into it, again and again.
- Garbage is looked for among what a function has left, and not among all that has been compiled before.
- LLVM is called tens of thousands of times: nobody is told of each call, if nobody but numba's own timers listens.
- numba asks LLVM for the size of a double wherever an array is read, and all its modules for what they may have
  registered wherever a function is called: sizes are kept, and modules are asked when there are new ones.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import ffi
from numba.core import (
    compiler,
    compiler_machinery,
    event,
    lowering,
    typed_passes,
    types,
    untyped_passes,
)

from .linkable import Around, Library

PACKAGE = __name__.removesuffix("core.pipeline")
# of garbage; a Python without them would search all that is in memory
GENERATIONS = not sysconfig.get_config_var("Py_GIL_DISABLED")
WIDEST = '"prefer-vector-width"="512"'
LEFT_OUT = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.FindLiterallyCalls,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,  # of expressions with whole arrays
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.AnnotateTypes,  # a listing of the function for readers
    typed_passes.DumpParforDiagnostics,
}
TO_BE_INLINED = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
)

# What was found, for each set of options: these may change what numba compiles for an operation.
_signatures: dict[Any, dict[Any, Any]] = {}


def _remember(known: Any, operation: Any, args: Any, named: Any, resolve: Callable[[], Any]) -> Any:
    """What an operation gives for arguments of these types, from `resolve` if it is not known."""
    implementations = operation._impl_keys  # for which types
    key = operation, tuple(args), tuple(named.items())
    if key not in known:
        signature = resolve()
        if signature is None or signature.args not in implementations:
            return signature
        known[key] = signature, implementations[signature.args]
    signature, implementations[signature.args] = known[key]  # as if it had been found out anew
    return signature


def _typing(context: Any, options: Any) -> Any:
    """numba's rules for type inference, which remember."""
    if not hasattr(context, "_lookup_global"):  # in another version of numba
        return context
    known = _signatures.setdefault(options, {})

    def resolve_function_type(function: Any, args: Any, named: Any) -> Any:
        def resolve() -> Any:
            return context.resolve_function_type(function, args, named)

        operation = context._lookup_global(function) or function
        if not hasattr(operation, "_impl_keys"):  # a compiled function: numba remembers these
            return resolve()
        return _remember(known, operation, args, named, resolve)

    return Around(context, resolve_function_type=resolve_function_type)


def _looking_up(context: Any, options: Any) -> Any:
    """The same for the step that looks up what has been inferred."""
    known = _signatures.setdefault(options, {})

    def resolve_value_type(value: Any) -> Any:
        operation = context.resolve_value_type(value)
        if not isinstance(operation, types.Function) or not hasattr(operation, "_impl_keys"):
            return operation

        def get_call_type(rules: Any, args: Any, named: Any) -> Any:
            def resolve() -> Any:
                return operation.get_call_type(rules, args, named)

            return _remember(known, operation, args, named, resolve)

        remembering = object.__new__(type(operation))  # numba keeps but one of those that are made
        remembering.__dict__.update(operation.__dict__, get_call_type=get_call_type)
        return remembering

    return Around(context, resolve_value_type=resolve_value_type)


_sizes: dict[str, int] = {}  # of LLVM's types
_modules = 0  # when they were asked last


def _spare(context: Any) -> None:
    """Let a context of numba's that belongs to one function ask for less."""
    size, refresh = context.get_abi_sizeof, context.refresh

    def get_abi_sizeof(kind: Any) -> int:
        name = str(kind)
        if name not in _sizes:
            _sizes[name] = size(kind)
        return _sizes[name]

    def refresh_if_new() -> None:
        global _modules
        if len(sys.modules) != _modules:
            refresh()
            _modules = len(sys.modules)

    context.get_abi_sizeof, context.refresh = get_abi_sizeof, refresh_if_new


class Lower(lowering.Lower):  # type: ignore[misc]
    """Remembers, and makes loops as wide as the registers: LLVM would leave half of each empty on some processors."""

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        # the context is this one's own
        self.context.typing_context = _looking_up(self.context.typing_context, self.flags)

    def setup_function(self, described: Any) -> None:
        super().setup_function(described)
        set.add(self.function.attributes, WIDEST)  # a set that takes what it knows, and not this


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(typed_passes.NativeLowering):  # type: ignore[misc]
    lowering_class = Lower


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Inlining(untyped_passes.InlineInlinables):  # type: ignore[misc]
    """Calls within what has been inlined come later, as those of the caller."""

    def _do_work(self, state: Any, work: Any, block: Any, i: int, call: Any, worker: Any) -> Any:
        worker._compiler_pipeline = lambda state: _steps(
            "inlined", [(s, "") for s in TO_BE_INLINED]
        )
        return super()._do_work(state, work, block, i, call, worker)


IN_ALL = {typed_passes.NativeLowering: Lowering}  # of our own for one of numba's
IN_THE_PACKAGE = IN_ALL | {untyped_passes.InlineInlinables: Inlining}


class Steps(compiler_machinery.PassManager):  # type: ignore[misc]
    """One after the other. (numba lists, after each, which variables live where: the last ones do so again.)"""

    def _runPass(self, index: int, step: Any, state: Any) -> None:
        step.analysis = self._analysis
        step.run_initialization(state)
        step.run_pass(state)
        step.run_finalizer(state)


def _with(own: dict[Any, Any], steps: list[tuple[Any, str]]) -> list[tuple[Any, str]]:
    return [(own.get(step, step), title) for step, title in steps]


def _steps(name: str, steps: list[tuple[Any, str]]) -> Any:
    chosen = Steps(name)
    chosen.passes = _with(IN_THE_PACKAGE, [pair for pair in steps if pair[0] not in LEFT_OUT])
    chosen.finalize()
    return chosen


class Compiler(compiler.Compiler):  # type: ignore[misc]
    """For functions that Python calls."""

    def compile_extra(self, function: Any) -> Any:
        with _sweeping(), _unobserved():
            return super().compile_extra(function)

    def define_pipelines(self) -> Any:
        state = self.state
        _spare(state.targetctx)
        state.typingctx = _typing(state.typingctx, state.flags.copy())
        (usual,) = super().define_pipelines()
        if state.func_id.modname.startswith(PACKAGE):
            return [_steps(usual.pipeline_name, usual.passes)]
        usual.passes = _with(IN_ALL, usual.passes)
        return [usual]  # somebody else's function may contain anything


class LinkableCompiler(Compiler):
    """For functions that are linked into these."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


_instead = False  # of the interpreter, when that would do it


@contextmanager
def _sweeping() -> Iterator[None]:
    """Collect what a function has left as soon as it is compiled. Python would search all that is in memory, as a
    function leaves more than it thinks a program should."""
    global _instead
    outermost = GENERATIONS and gc.isenabled()
    if outermost:
        gc.disable()
        _instead = True
    try:
        yield
    finally:
        if _instead:
            gc.collect(0)
        if outermost:
            gc.enable()
            _instead = False


@contextmanager
def _unobserved() -> Iterator[None]:
    """Without events of numba's for each call of LLVM, where only numba's own timers listen to them: there is one for
    every function that waits for another."""
    lock: Any = getattr(ffi.lib, "_lock", None)
    told = getattr(lock, "_cblist", None)
    if not told or any(type(one) is not event.TimingListener for one in _listeners()):
        yield
        return
    lock._cblist = []
    try:
        yield
    finally:
        lock._cblist = told


def _listeners() -> list[Any]:
    found: list[Any] = getattr(event, "_registered", {}).get("numba:llvm_lock", [])
    return found
