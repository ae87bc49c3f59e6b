"""What makes first calls shorter than numba's own way to compile. (These parts of numba are private.)

Functions that only compiled code calls are kept as they are, to be linked into passes. numba would optimise each of
them with all that it calls, over and over on the way up, and make machine code of it that nothing runs: half of the
time that a first call takes. A pass is optimised once, as a whole.

What an operation on some types gives is found out once, and not in each of the hundreds of functions of a pass: an
eighth of that time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core import caching, codegen, compiler


class _Around:
    """An object of numba's, with some of its attributes replaced."""

    def __init__(self, inner: Any, **own: Any):
        self._inner = inner
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _nothing(*given: Any) -> None:
    """No environment is set, as there is no function yet."""


class Library(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code that waits to be linked."""

    @property
    def codegen(self) -> Any:
        return _Around(self._codegen, set_env=_nothing)

    def _optimize_final_module(self) -> None:
        """A pass will be."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        return self.name, "bitcode", self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, generator: Any, state: Any) -> Any:
        name, _, data = state
        self = cls(generator, name)
        self._final_module = self._shared_module = binding.parse_bitcode(data)
        self._finalize_final_module()
        return self


# What was found, for each set of options: these may change what numba compiles for an operation.
_signatures: dict[Any, Any] = {}


def _typing(context: Any, options: Any) -> Any:
    """numba's rules of what operations give, which remember what they have said."""
    if not hasattr(context, "_lookup_global"):  # in another version of numba
        return context
    known = _signatures.setdefault(options, {})

    def resolve_function_type(function: Any, args: Any, named: Any) -> Any:
        kind = context._lookup_global(function) or function
        chosen = getattr(kind, "_impl_keys", None)  # which implementation, for which types
        if chosen is None:  # a compiled function, which numba remembers itself
            return context.resolve_function_type(function, args, named)
        key = kind, tuple(args), tuple(named.items())
        if key not in known:
            signature = context.resolve_function_type(function, args, named)
            if signature is None or signature.args not in chosen:
                return signature
            known[key] = signature, chosen[signature.args]
        signature, chosen[signature.args] = known[key]  # as if it had been found out anew
        return signature

    return _Around(context, resolve_function_type=resolve_function_type)


class Remembering(compiler.Compiler):  # type: ignore[misc]
    """numba's, with these rules."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.typingctx = _typing(state.typingctx, state.flags.copy())
        return super().define_pipelines()


class Compiler(Remembering):
    """The same, which puts what it compiles into such a library."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class Cached(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """How such functions come back from disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        generator = target_context.codegen()
        reading = _Around(
            generator, unserialize_library=lambda data: Library._unserialize(generator, data)
        )
        context = _Around(target_context, codegen=lambda: reading)
        return super().rebuild(context, payload)._replace(target_context=target_context)
