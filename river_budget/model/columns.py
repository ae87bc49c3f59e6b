"""Columns: what the columns of a model's tables are, as a part of its Algorithm; each name of a
feature has a row in them.

Here whole rows of features that stay. Stored examples, whose names may be forgotten: stored.py.
Random numbers, which follow from names: algorithms/features/drawn.py. AutoKernel's own tables:
algorithms/auto/room.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from ..core import memory
from .calls import Matrix

SPARE_FEATURES_SHARE = 0.25  # table rows in reserve, as a share, once new features have appeared


def check_compiled(name: str, value: Any, known: tuple[int, ...]) -> None:
    """Raise for a kernel or a maintenance whose code has no branch in core: core would treat it as
    another one.
    """
    if value.header_fields(1)[name] not in known:
        raise NotImplementedError(f"{name} {value!r} has no branch in the compiled core")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What a model does where names, parameters or classes come. Each method is given the model."""

    approximates: bool = False  # warns where gamma="c/d" counts the features of a first example

    # {name: shape} of tables of an algorithm's own, which follow the vectors
    own: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    draws: ClassVar[bool] = False  # whether names that the model does not know count in scores
    largest_usual_block: ClassVar[float] = float("inf")  # bytes; beyond, `narrow` is called
    lends: ClassVar[bool] = False  # whether new names keep places only if their example is stored

    def check(self, model: Any, parameters: Mapping[str, Any]) -> None:
        """Raise if parameters, each valid alone, cannot be combined."""

    def header(self, model: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Further fields of the header of a block that has these."""
        return {}

    def extra_arguments(self, model: Any, block: Any) -> dict[str, Any]:
        """What passes may name beside m, states and rows: arrays of the block, or scratch space."""
        return {}

    def init_tables(self, model: Any) -> None:
        """Write what stands in the tables of a new block."""

    def tables(self, model: Any) -> dict[str, Any]:
        """{name: table} of further tables that are saved to files."""
        return {}

    def restore(self, model: Any, own: Mapping[str, Any]) -> None:
        """Take over what the record in a file says of the sizes of tables, before there is a
        block.
        """

    def of_names(self, model: Any) -> dict[str, Any]:
        """What is saved to files about the names, beside their places: values of JSON."""
        return {}

    def restore_names(self, model: Any, found: Mapping[str, Any]) -> None:
        """Take it over from a file."""
        if found:
            raise ValueError("its names have no such facts")

    def most_entries(self, model: Any) -> int:
        """How many entries of a sparse matrix are learned at a time."""
        return 2**18

    def make_room(self, model: Any, new: int, beside: Collection[Any]) -> None:
        """Make room for so many new names; those `beside` keep their places."""
        wanted = len(model._features) + new
        if wanted > memory.head_of(model._block).width:
            model._resize_block(width=wanted + int(SPARE_FEATURES_SHARE * wanted))

    def write(self, model: Any, names: Collection[Any], places: Iterable[int]) -> None:
        """Write into the tables what new names need, before they get these places."""

    def scores(self, model: Any, batch: Any, score: Any) -> tuple[Matrix, Any]:
        """Where names are drawn: the scores of examples with unknown names, by this pass, and the
        `_reading` of them.
        """
        raise NotImplementedError

    def narrow(self, model: Any, beside: Collection[Any]) -> None:
        """Bring a table that has become larger than usual back to its bound; names `beside`
        stay.
        """

    def width(self, model: Any) -> int:
        """How many rows of the table of vectors are in use, or one."""
        return max(int(model._features.width), 1)

    def take_back(self, model: Any, names: Collection[Any]) -> None:
        """Forget names that were added for an example that could not be learned."""

    def grow(self, model: Any) -> None:
        """Give the block more room, for which a pass has stopped."""
        raise NotImplementedError

    def changed(self, model: Any, name: str) -> None:
        """A parameter has another value."""

    def promoted(self, model: Any) -> None:
        """The coefficients a of one output have become (-a/2, a/2, 0)."""
