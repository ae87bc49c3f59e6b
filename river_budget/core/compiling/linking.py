"""Functions that only compiled code calls, kept as they are, to be linked into passes.

numba would optimise each of them with all that it calls, over and over on the way up, and make machine code of it that
nothing runs: half of the time that a first call takes. A pass is optimised once, as a whole. (These parts of numba are
private.)
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from llvmlite.binding import newpassmanagers
from numba.core import caching, codegen

# whether LLVM's steps for a function can be chosen one by one: in older versions they cannot
CHOOSES_STEPS = hasattr(getattr(newpassmanagers, "NewPassManager", None), "add_sroa_pass")


class Around:
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
        return Around(self._codegen, set_env=_nothing)

    def _optimize_functions(self, module: Any) -> None:
        """Just enough to make them small, as they are copied for each that calls them."""
        if not CHOOSES_STEPS:
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
        """A pass will be, with all that it calls."""

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


class Cached(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """How such functions come back from disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        generator = target_context.codegen()
        reading = Around(
            generator, unserialize_library=lambda data: Library._unserialize(generator, data)
        )
        context = Around(target_context, codegen=lambda: reading)
        return super().rebuild(context, payload)._replace(target_context=target_context)
