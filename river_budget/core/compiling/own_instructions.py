"""Our own instructions for operations that numba translates to many more, or compiles a function for.

numba compiles `min`, `max`, `int` and indexing of tuples to machine code for each combination of argument types, in
25 ms each. This code never runs, as LLVM inlines the operation into its callers.

For `array[i]`, numba writes all fields of the array to memory and reads back those that it needs. For a loop over a
range it does the same, and divides by the step. LLVM removes all that again, but a tenth to a quarter of the time of
a first call goes into writing, printing, reading and removing it.

A stand-in is a Python function that numba takes for the operation; a generator of instructions is registered for it.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import signature
from numba.extending import lower_builtin
from numba.np import arrayobj

from .array_views import struct

_ARITHMETIC = {
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.iadd, operator.isub, operator.imul, operator.and_, operator.or_, operator.xor),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.lshift, operator.rshift),
}


def without_literals(operation: Any, args: Any) -> tuple[Any, ...]:
    """The types of arguments, where literals get their general type if numba tries that first anyway."""
    kinds = _general(*args)
    wide = operation.typing_key in _ARITHMETIC and all(_is_number(kind) for kind in kinds)
    return kinds if wide and any(kind in kinds for kind in args) else tuple(args)


def own_form(operation: Any, args: Any) -> Any:
    """(the signature of an operation for these types, our stand-in for it), or None to use numba's own."""
    form = _FORMS.get(operation.typing_key)
    return form(*args) if form else None


def _general(*kinds: Any) -> tuple[Any, ...]:
    """The types without literals."""
    return tuple(types.unliteral(kind) for kind in kinds)


def _is_number(kind: Any) -> bool:
    return isinstance(kind, types.Integer | types.Float)


# min, max, int


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


def _pair_form(stand_in: Any) -> Any:
    def form(*args: Any) -> Any:
        kinds = _general(*args)
        if len(kinds) == 2 and kinds[0] == kinds[1] and _is_number(kinds[0]):
            return signature(kinds[0], *kinds), stand_in
        return None

    return form


def _whole_form(*args: Any) -> Any:
    kinds = _general(*args)
    if len(kinds) == 1 and isinstance(kinds[0], types.Float):
        return signature(types.intp, *kinds), _whole
    return None


# items of tuples and arrays


def _item(items: Any, place: Any) -> Any:
    """A stand-in for an item of a tuple, at a place that is a literal."""
    return items[place]


@lower_builtin(_item, types.BaseTuple, types.IntegerLiteral)
def _generate_item(context, builder, sig, args):
    items, place = sig.args
    return builder.extract_value(args[0], place.literal_value % len(items))


def _array_item(array: Any, place: Any) -> Any:
    """A stand-in for a number in an array, or for a row of a matrix."""
    return array[place]


def _set_array_item(array: Any, place: Any, value: Any) -> None:
    """A stand-in for setting a number in an array."""
    array[place] = value


def _field(context: Any, kind: Any, name: str) -> int:
    """The position of a field in numba's struct for an array."""
    return int(context.data_model_manager[kind].get_field_position(name))


def _pointer(context: Any, builder: Any, kinds: Any, array: Any, place: Any) -> Any:
    """(a pointer to a number in an array, or to a row of a matrix; the length of a row)"""
    kind, place_kind = kinds
    shape_field = _field(context, kind, "shape")
    shape = [builder.extract_value(array, [shape_field, axis]) for axis in range(kind.ndim)]
    indexes = [place]
    if isinstance(place_kind, types.BaseTuple):
        indexes = [builder.extract_value(place, axis) for axis in range(len(place_kind))]
    offset = None
    for axis, (index_kind, index) in enumerate(zip(_places(place_kind), indexes, strict=True)):
        if index_kind.signed:  # an index below 0 counts from the end
            negative = builder.icmp_signed("<", index, index.type(0))
            index = builder.select(negative, builder.add(index, shape[axis]), index)
        if context.enable_boundscheck:
            cgutils.do_boundscheck(context, builder, index, shape[axis], axis)
        offset = builder.add(builder.mul(offset, shape[axis]), index) if axis else index
    if len(indexes) < kind.ndim:
        offset = builder.mul(offset, shape[-1])
    data = builder.extract_value(array, _field(context, kind, "data"))
    return builder.gep(data, [offset]), shape[-1]


@lower_builtin(_array_item, types.Array, types.Any)
def _generate_array_item(context, builder, sig, args):
    (kind, _), found = sig.args, sig.return_type
    pointer, length = _pointer(context, builder, sig.args, *args)
    if found == kind.dtype:
        return arrayobj.load_item(context, builder, kind, pointer)
    unchanged = ("meminfo", "parent", "itemsize")
    fields = {
        name: builder.extract_value(args[0], _field(context, kind, name)) for name in unchanged
    }
    stride = builder.extract_value(args[0], [_field(context, kind, "strides"), 1])
    fields |= {
        "data": pointer,
        "nitems": length,
        "shape": cgutils.pack_array(builder, [length]),
        "strides": cgutils.pack_array(builder, [stride]),
    }
    row = struct(context, builder, found, fields)
    # counts a reference, in users' functions
    return impl_ret_borrowed(context, builder, found, row)


@lower_builtin(_set_array_item, types.Array, types.Any, types.Any)
def _generate_set_array_item(context, builder, sig, args):
    kind, _, value_kind = sig.args
    pointer, _ = _pointer(context, builder, sig.args[:2], *args[:2])
    value = context.cast(builder, args[2], value_kind, kind.dtype)
    arrayobj.store_item(context, builder, kind, value, pointer)


def _places(place: Any) -> tuple[Any, ...]:
    """The types in a tuple, or the one type that is none: a place in an array is one index or a tuple of them."""
    return tuple(place.types) if hasattr(place, "types") else (place,)


def _place_kind(array: Any, place: Any) -> Any:
    """The type that numba gives to the place of an item, indexes of 64 bits; None for other places or arrays."""
    places = _places(place)
    if not all(isinstance(kind, types.Integer) for kind in places):
        return None
    if not isinstance(array, types.Array) or array.layout != "C" or not array.aligned:
        return None
    if not 0 < len(places) <= array.ndim <= 2 or not _is_number(array.dtype):
        return None
    wide = [types.intp if kind.signed else types.uintp for kind in places]
    return types.BaseTuple.from_types(wide) if isinstance(place, types.BaseTuple) else wide[0]


def _item_form(items: Any, place: Any) -> Any:
    """For a literal place in a tuple, and for numbers and rows of arrays."""
    if isinstance(items, types.BaseTuple) and isinstance(place, types.IntegerLiteral):
        kinds, k = _places(items), place.literal_value
        return (signature(kinds[k], items, place), _item) if -len(kinds) <= k < len(kinds) else None
    kind = _place_kind(items, place)
    if kind is None:
        return None
    complete = len(_places(kind)) == items.ndim
    return signature(items.dtype if complete else items.copy(ndim=1), items, kind), _array_item


def _set_item_form(items: Any, place: Any, value: Any) -> Any:
    """For a number that is set in an array. numba has refused arrays that may not change while it inferred types."""
    found = _item_form(items, place)
    value = types.unliteral(value)
    if found is None or found[1] is not _array_item or found[0].return_type != items.dtype:
        return None  # not one number of an array
    if not _is_number(value):
        return None
    return signature(types.none, *found[0].args, value), _set_array_item


# ranges


def _range(*limits: Any) -> Any:
    """A stand-in for `range`."""
    return range(*limits)


@lower_builtin(_range, types.intp)
@lower_builtin(_range, types.intp, types.intp)
@lower_builtin(_range, types.intp, types.intp, types.intp)
def _generate_range(context, builder, sig, args):
    one = context.get_constant(types.intp, 1)
    limits = [one.type(0), *args, one] if len(args) == 1 else [*args, one][:3]
    fields = dict(zip(("start", "stop", "step"), limits, strict=True))
    return struct(context, builder, sig.return_type, fields)


def _range_form(*args: Any) -> Any:
    kinds = _general(*args)
    if 0 < len(kinds) <= 3 and all(kind == types.intp for kind in kinds):
        return signature(types.range_state64_type, *kinds), _range
    return None


def _begin_range(context: Any, builder: Any, kind: Any, limits: Any) -> Any:
    """An iterator over a range: pointers to the next number and to how many are left; at or below 0, none is."""
    start, stop, step = (builder.extract_value(limits, i) for i in range(3))
    sign = builder.or_(builder.ashr(step, step.type(63)), step.type(1))  # 1 or -1
    distance = builder.sub(builder.add(builder.sub(stop, start), step), sign)
    fields = {
        "iter": cgutils.alloca_once_value(builder, start),
        "step": step,
        "count": cgutils.alloca_once_value(builder, builder.sdiv(distance, step)),
    }
    return struct(context, builder, kind, fields)


def _next_of_range(context: Any, builder: Any, kind: Any, iterator: Any) -> Any:
    """(the next number, whether there is one); moves the iterator."""
    place, _, step, count = (builder.extract_value(iterator, i) for i in range(4))
    number, left = builder.load(place), builder.load(count)
    valid = builder.icmp_signed(">", left, left.type(0))
    with builder.if_then(valid):  # without it, merging takes 4 % longer
        builder.store(builder.sub(left, left.type(1), flags=["nsw"]), count)
        builder.store(builder.add(number, step), place)
    return struct(context, builder, kind, {"first": number, "second": valid})


# {numba's name: (the type of what is iterated over, a generator of instructions)}
OF_RANGES = {
    "getiter": (types.range_state64_type, _begin_range),
    "iternext": (types.range_iter64_type, _next_of_range),
}

_FORMS = {
    min: _pair_form(_least_or_greatest(operator.lt)),
    max: _pair_form(_least_or_greatest(operator.gt)),
    int: _whole_form,
    range: _range_form,
    operator.getitem: _item_form,
    operator.setitem: _set_item_form,
}
