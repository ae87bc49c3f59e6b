"""Keep functions that only compiled code calls as LLVM bitcode, to be linked into the passes that call them.

numba would optimise each function together with all functions that it calls, again at every level of calls,
and generate machine code that never runs. That is half of the time of a first call. Here a pass is optimised once, as a
whole, after linking. (The parts of numba used here are private.)
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from llvmlite.binding import newpassmanagers
from numba.core import caching, codegen

from .cache import Cache

# Whether optimisation passes for a function can be chosen one by one, which older versions of llvmlite
# do not allow.
CAN_CHOOSE_PASSES = hasattr(getattr(newpassmanagers, "NewPassManager", None), "add_sroa_pass")


class Wrapper:
    """A wrapper around an object of numba that replaces some of its attributes."""

    def __init__(self, inner: Any, **own: Any):
        self._inner = inner
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class LinkableLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A numba code library that keeps a function as bitcode and generates no machine code for it."""

    @property
    def codegen(self) -> Any:
        return Wrapper(self._codegen, set_env=lambda *given: None)  # nothing is compiled yet

    def _optimize_functions(self, module: Any) -> None:
        """Run only the optimisation passes that make functions small, as each caller links a copy."""
        if not CAN_CHOOSE_PASSES:
            super()._optimize_functions(module)
            return
        module.data_layout = self._codegen._data_layout
        builder = self._codegen._pass_builder()
        steps = newpassmanagers.create_new_function_pass_manager()
        steps.add_sroa_pass()
        steps.add_simplify_cfg_pass()
        steps.add_instruction_combine_pass()
        for function in module.functions:
            if not function.is_declaration:
                steps.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Skipped here: the pass is optimised as a whole after linking."""

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


class LinkableFunction(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """What is kept of a function that is linked into its callers: it is read back from disk as bitcode."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        generator = target_context.codegen()
        reading = Wrapper(
            generator,
            unserialize_library=lambda data: LinkableLibrary._unserialize(generator, data),
        )
        context = Wrapper(target_context, codegen=lambda: reading)
        return super().rebuild(context, payload)._replace(target_context=target_context)


class LinkableCache(Cache):
    """The cache of one function that is linked into its callers."""

    _impl_class = LinkableFunction  # type: ignore[assignment]
