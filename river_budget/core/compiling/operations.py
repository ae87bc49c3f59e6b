"""Operations for which numba would compile a function for each type: instructions of our own instead.

numba compiles `min`, `max`, `int` and indexing of tuples down to machine code, which never runs, as LLVM inlines
the operation into its callers. That takes 25 ms for each combination of argument types.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types
from numba.core.typing.templates import signature
from numba.extending import lower_builtin


def _least_or_greatest(comparison: Any) -> Any:
    """A stand-in for numba's `min` or `max` of two numbers of one type, with the same instructions."""

    def chosen(a: Any, b: Any) -> Any:
        return b if comparison(b, a) else a

    @lower_builtin(chosen, types.Any, types.Any)
    def generate(context, builder, sig, args):
        kind, (a, b) = sig.return_type, args
        compare = context.get_function(comparison, signature(types.boolean, kind, kind))
        return builder.select(compare(builder, (b, a)), b, a)

    return chosen


def _whole(number: Any) -> Any:
    """A stand-in for `int` of a floating-point number."""
    return int(number)


@lower_builtin(_whole, types.Float)
def _generate_whole(context, builder, sig, args):
    return context.cast(builder, args[0], sig.args[0], sig.return_type)


def _item(items: Any, place: Any) -> Any:
    """A stand-in for an item of a tuple, at a place that is a literal."""
    return items[place]


@lower_builtin(_item, types.BaseTuple, types.IntegerLiteral)
def _generate_item(context, builder, sig, args):
    items, place = sig.args
    return builder.extract_value(args[0], place.literal_value % len(items))


_OF_TWO = {min: _least_or_greatest(operator.lt), max: _least_or_greatest(operator.gt)}
_ARITHMETIC = {
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.iadd, operator.isub, operator.imul, operator.and_, operator.or_, operator.xor),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.lshift, operator.rshift),
}


def own_form(operation: Any, args: Any) -> Any:
    """(the signature of an operation for these types, our stand-in for it), or None to use numba's own."""
    key, kinds = operation.typing_key, [types.unliteral(kind) for kind in args]
    if key in _OF_TWO and len(kinds) == 2 and kinds[0] == kinds[1] and _is_number(kinds[0]):
        return signature(kinds[0], *kinds), _OF_TWO[key]
    if key is int and len(kinds) == 1 and isinstance(kinds[0], types.Float):
        return signature(types.intp, *kinds), _whole
    if key is operator.getitem and _is_item(*args):
        return signature(args[0].types[args[1].literal_value], *args), _item
    return None


def _is_number(kind: Any) -> bool:
    return isinstance(kind, types.Integer | types.Float)


def _is_item(items: Any, place: Any) -> bool:
    """Whether this is a tuple, and a place in it that is a literal."""
    literal = isinstance(items, types.BaseTuple) and isinstance(place, types.IntegerLiteral)
    return literal and -len(items) <= place.literal_value < len(items)


def without_literals(operation: Any, args: Any) -> tuple[Any, ...]:
    """The types of arguments, where literals get their general type if numba tries that first anyway."""
    kinds = tuple(types.unliteral(kind) for kind in args)
    wide = operation.typing_key in _ARITHMETIC and all(_is_number(kind) for kind in kinds)
    return kinds if wide and any(kind in kinds for kind in args) else tuple(args)
