"""How numba compiles the functions of this package: numba's own compiler with less to do for each function.

A pass consists of hundreds of functions, and numba takes each through some thirty steps written in Python.
These changes make a first call faster:

- The signature that an operation has for given argument types is looked up once per process, not once per
  function.
- References to arrays are not counted (`Context`).
- Sizes of types and the list of steps are found once per process, and steps run without numba's events.
- Steps for language constructs that no function of this package contains are left out (`LEFT_OUT`).
- A function that is inlined is copied as it stands. numba would first inline the calls inside it,
  again for each caller.

Each change affects only the function being compiled and no other part of the process (the garbage collector,
numba's locks and their callbacks stay as they are). The names used here are private to numba. Where a version
of numba lacks them at import, or with RIVER_BUDGET_PLAIN (core/compiling/plain.py),
core/compiling/jit.py does without this module; where it lacks them later, core/compiling/trial.py finds out.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from numba.core import (
    compiler,
    compiler_machinery,
    cpu,
    lowering,
    registry,
    typed_passes,
    types,
    untyped_passes,
)

from .linking import LinkableLibrary, Wrapper
from .trial import private_parts_work

PACKAGE = __name__.removesuffix("core.compiling.numba_pipeline")
LEFT_OUT = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.FindLiterallyCalls,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,  # rewrites expressions with whole arrays
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.AnnotateTypes,  # a listing of the function for readers
    typed_passes.DumpParforDiagnostics,
    typed_passes.IRLegalization,  # finds where references to variables end, for reference counting
}
TO_BE_INLINED = (  # the steps that a function goes through before it is copied into its caller
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
)

# The signatures found so far, by compiler options: options may change which implementation numba chooses.
_signatures: dict[Any, dict[Any, Any]] = {}


_ARITHMETIC = {
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.iadd, operator.isub, operator.imul, operator.and_, operator.or_, operator.xor),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.lshift, operator.rshift),
}


def _without_literals(operation: Any, args: Any) -> tuple[Any, ...]:
    """The types of arguments, where literals get their general type if numba tries that first anyway."""
    kinds = tuple(types.unliteral(kind) for kind in args)
    numbers = all(isinstance(kind, types.Integer | types.Float) for kind in kinds)
    wide = operation.typing_key in _ARITHMETIC and numbers
    return kinds if wide and any(kind in kinds for kind in args) else tuple(args)


def _cached_signature(
    known: Any, operation: Any, args: Any, named: Any, resolve: Callable[[], Any]
) -> Any:
    """The signature of an operation for arguments of these types, from `known` or found by `resolve`.

    Modifies `known`, and numba's own table of the implementations of the operation, which lowering reads.
    """
    implementations = operation._impl_keys  # by argument types
    key = operation, _without_literals(operation, args), tuple(named.items())
    if key not in known:
        signature = resolve()
        if signature is None or signature.args not in implementations:
            return signature
        known[key] = signature, implementations[signature.args]
    signature, implementations[signature.args] = known[key]  # as `resolve` sets it
    return signature


def _caching_in_inference(context: Any, options: Any) -> Any:
    """numba's typing context with a cache of signatures, for type inference."""
    if not hasattr(context, "_lookup_global"):  # another version of numba
        return context
    known = _signatures.setdefault(options, {})

    def resolve_function_type(function: Any, args: Any, named: Any) -> Any:
        def resolve() -> Any:
            return context.resolve_function_type(function, args, named)

        operation = context._lookup_global(function) or function
        if not hasattr(operation, "_impl_keys"):  # a compiled function: numba remembers its types
            return resolve()
        return _cached_signature(known, operation, args, named, resolve)

    return Wrapper(context, resolve_function_type=resolve_function_type)


def _caching_in_lowering(context: Any, options: Any) -> Any:
    """numba's typing context with the same cache for lowering, which looks up each signature again."""
    known = _signatures.setdefault(options, {})

    def resolve_value_type(value: Any) -> Any:
        operation = context.resolve_value_type(value)
        if not isinstance(operation, types.Function) or not hasattr(operation, "_impl_keys"):
            return operation

        def get_call_type(rules: Any, args: Any, named: Any) -> Any:
            def resolve() -> Any:
                return operation.get_call_type(rules, args, named)

            return _cached_signature(known, operation, args, named, resolve)

        # not by calling the class: numba's class would return the operation that all functions share
        remembering = object.__new__(type(operation))
        remembering.__dict__.update(operation.__dict__, get_call_type=get_call_type)
        return remembering

    return Wrapper(context, resolve_value_type=resolve_value_type)


class Options(compiler.Flags):  # type: ignore[misc]
    """numba's options of a function, with a fast comparison, as numba compares them for every operation."""

    __slots__ = ()
    # numba hashes the names of the options, which are the same for all
    HASH = hash(compiler.Flags())

    def __hash__(self) -> int:
        return self.HASH

    def __eq__(self, other: Any) -> Any:
        return self._values == other._values or super().__eq__(other)


def of_the_package(described: Any) -> bool:
    """Whether a function, by numba's description, is one of this package and not a user's."""
    name: str = described.modname
    return name.startswith(PACKAGE)


@functools.cache
def _size_of(target: Any, kind: Any) -> int:
    """The size of an LLVM type in bytes: to find it, llvmlite parses a module."""
    return int(kind.get_abi_size(target))


class Context(cpu.CPUContext):  # type: ignore[misc]
    """numba's context without reference counting, for functions of this package.

    They allocate nothing, and their callers keep arrays alive. With counting, a first call takes a sixth longer.
    """

    def __init__(self, given: Any):
        # not by numba's constructor: a context is copied with all that it knows, as `subtarget` does
        self.__dict__.update(given.__dict__, enable_nrt=False)

    def refresh(self) -> None:
        """Nothing: numba has searched for new operations just before."""

    def add_dynamic_addr(self, builder: Any, address: int, info: str) -> Any:
        """The address of a Python object as a constant; null for a called function, as calls do not use it.

        numba keeps no function on disk that holds such an address.
        """
        if info == registry.CPUDispatcher.__name__:
            return self.get_constant_null(types.voidptr)
        return super().add_dynamic_addr(builder, address, info)


class Lower(lowering.Lower):  # type: ignore[misc]
    """numba's translation to LLVM, with cached signatures and sizes."""

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        # numba makes a context for each function, so that changing this one affects no other function
        self.context.typing_context = _caching_in_lowering(self.context.typing_context, self.flags)
        self.context.get_abi_sizeof = functools.partial(_size_of, self.context.target_data)

    def lower(self) -> None:
        """Translate a function; one of this package with a context of its own."""
        context = self.context
        if of_the_package(self.func_ir.func_id):
            self.context = Context(context)
        super().lower()
        self.context = context  # for the wrapper that Python calls


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(typed_passes.NativeLowering):  # type: ignore[misc]
    """numba's lowering step, with the class above."""

    lowering_class = Lower


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Inlining(untyped_passes.InlineInlinables):  # type: ignore[misc]
    """numba's inlining step, one level at a time: calls inside an inlined function become calls of its caller."""

    def _do_work(self, state: Any, work: Any, block: Any, i: int, call: Any, worker: Any) -> Any:
        worker._compiler_pipeline = lambda state: _steps(
            "inlined", [(s, "") for s in TO_BE_INLINED]
        )
        return super()._do_work(state, work, block, i, call, worker)


IN_ALL = {typed_passes.NativeLowering: Lowering}  # {numba's step: its replacement}
IN_THE_PACKAGE = IN_ALL | {untyped_passes.InlineInlinables: Inlining}


def _replaced(own: dict[Any, Any], steps: list[tuple[Any, str]]) -> list[tuple[Any, str]]:
    return [(own.get(step, step), title) for step, title in steps]


class Steps(compiler_machinery.PassManager):  # type: ignore[misc]
    """numba's list of steps without its events and timers, which take longer than some of the steps."""

    def _runPass(self, index: int, step: Any, state: Any) -> None:
        step.analysis = self._analysis
        step.run_initialization(state)
        step.run_pass(state)
        step.run_finalizer(state)


def _steps(name: str, steps: list[tuple[Any, str]]) -> Any:
    """The compilation steps for a function of this package."""
    chosen = Steps(name)
    chosen.passes = _replaced(IN_THE_PACKAGE, [pair for pair in steps if pair[0] not in LEFT_OUT])
    chosen.finalize()
    return chosen


_known_steps: dict[Any, Any] = {}  # steps for functions of the package, by their options


class Compiler(compiler.Compiler):  # type: ignore[misc]
    """The compiler of functions that Python calls, or that passes call by address."""

    def compile_extra(self, function: Any) -> Any:
        if private_parts_work(Compiler, LinkableCompiler):
            self.state.flags = Options(self.state.flags)
        return super().compile_extra(function)

    def define_pipelines(self) -> Any:
        if not private_parts_work(Compiler, LinkableCompiler):
            return super().define_pipelines()
        state, options = self.state, self.state.flags.copy()
        state.typingctx = _caching_in_inference(state.typingctx, options)
        if options in _known_steps and of_the_package(state.func_id):
            return [_known_steps[options]]
        (usual,) = super().define_pipelines()
        if of_the_package(state.func_id):
            _known_steps[options] = _steps(usual.pipeline_name, usual.passes)
            return [_known_steps[options]]
        usual.passes = _replaced(IN_ALL, usual.passes)
        return [usual]  # a user's kernel function may contain what the steps LEFT_OUT are for


class LinkableCompiler(Compiler):
    """The compiler of functions that are linked into their callers (core/compiling/linking.py)."""

    def define_pipelines(self) -> Any:
        state = self.state
        if private_parts_work(Compiler, LinkableCompiler):
            state.library = LinkableLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()
