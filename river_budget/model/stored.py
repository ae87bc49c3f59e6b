"""The columns of an expansion are stored vectors: their table grows, forgets names that no vector
uses, and has a bound.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..core import memory, own_tables
from ..core.budget.strategies import STRATEGIES
from ..core.rounds.stream_warnings import FULL_TABLE
from ..kernels import RBF, Laplacian
from ..maintenance import Maintenance
from ..messages.stream_warnings import issue_once
from .columns import Columns, check_compiled

FULL_CAPACITY_BUDGET = 1024  # models with at most this budget allocate all vectors at the start
FREE_SHARE = 0.5  # a table grows if forgetting names leaves fewer free places
LARGEST_USUAL_TABLE = 2**26  # bytes of the table of vectors: a warning says how many
KEPT_SHARE = 0.75  # of the places of a table at its bound, the share that stays in use
GROWTH_FACTOR = 2  # the factor by which a block's capacity grows


@dataclass(frozen=True, kw_only=True)
class Vectors(Columns):
    """The columns of the tables are stored examples."""

    room: float = FULL_CAPACITY_BUDGET  # a larger budget gets its memory as it is needed
    # rows of `per_vector` that belong to the example, the label first: then vectors are a window of
    # the stream, and `factor` holds their kernel values
    marks: tuple[int, ...] = ()
    # tables of the algorithm's own: "B" stands for the vectors, as in ("B",), (3, "B") and ("B",
    # "B")
    own: Mapping[str, Any] = field(default_factory=dict)  # type: ignore[misc]
    limit: str = "budget"  # the parameter that limits the number of vectors
    # the maintenance where the parameter is None; None: by the kernel
    usual: Maintenance | None = None
    lends: ClassVar[bool] = True
    # bytes; a larger one may have been made for one very long example
    largest_usual_block: ClassVar[float] = 2 * LARGEST_USUAL_TABLE

    def __post_init__(self) -> None:
        own_tables.rows_and_squares(self.own)  # raises for other shapes

    # parameters

    def check(self, model: Any, parameters: Mapping[str, Any]) -> None:
        strategy = model._strategy
        if strategy is None:
            return
        check_compiled("maintenance", strategy, STRATEGIES)
        learn = model.algorithm.learn
        if isinstance(learn, Mapping) and not hasattr(model, "span") and strategy.kind not in learn:
            raise ValueError(f"{type(model).__name__} has no pass for maintenance {strategy!r}")
        limited = parameters["budget"] is not None
        if limited and strategy.needs_rbf and not isinstance(model._kernel_in_use, RBF):
            raise ValueError(
                f"maintenance {strategy!r} needs a Gaussian kernel (RBF), not "
                f"kernel={model._kernel_in_use!r}"
            )

    def changed(self, model: Any, name: str) -> None:
        if name != self.limit:
            return
        vars(model).pop("_strategy", None)
        strategy = model._strategy  # which may follow from the budget
        if model._block is None:
            return
        head, budget = memory.views(model._block).head, model._budget_in_use
        head.budget = memory.UNLIMITED if budget is None else budget
        if head.count > head.budget:
            model.algorithm.after.budget(model, False)
        sizes = {"capacity": model._capacity_for(memory.views(model._block).head.count)}
        if budget is None and strategy is not None:
            # another one by default: tables of a projection would grow with the square of the
            # number of vectors
            fields = strategy.header_fields()
            sizes["factored"] = fields.pop("factored")
            for field, value in fields.items():
                setattr(head, field, value)
        model._resize_block(**sizes)

    def promoted(self, model: Any) -> None:
        split(model._mean_rows())

    # vectors

    def header(self, model: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        budget, strategy = model._budget_in_use, model._strategy
        means = model._n_outputs if getattr(model, "average", False) else 0
        rows, squares = own_tables.rows_and_squares(self.own)
        if rows and fields.get("per_vector", 0):
            raise TypeError(f"{type(model).__name__} has own tables: all of its rows need names")
        return (strategy.header_fields() if strategy else {}) | {
            "capacity": model._capacity_for(0),
            "budget": memory.UNLIMITED if budget is None else budget,
            "per_vector": fields.get("per_vector", 0) + rows + means,
            "squares": squares,
        }

    def extra_arguments(self, model: Any, block: Any) -> dict[str, Any]:
        return {"own": own_tables.own_tables(block, self.own)} if self.own else {}

    def tables(self, model: Any) -> dict[str, Any]:
        if not self.own or model._block is None:
            return {}
        n = memory.head_of(model._block).count
        tables = own_tables.own_tables(model._block, self.own)._asdict()
        return {
            name: table[:n, :n] if self.own[name] == ("B", "B") else table[..., :n]
            for name, table in tables.items()
            if table.size
        }

    def grow(self, model: Any) -> None:
        """Double the capacity of the block, for models without a budget or with a large one."""
        grown = GROWTH_FACTOR * memory.views(model._block).head.capacity
        if model._budget_in_use is not None:
            grown = min(grown, model._budget_in_use + 1)
            head = memory.head_of(model._block)
            if memory.columns_for(grown) <= head.capacity:
                raise RuntimeError(
                    f"the round of {type(model).__name__} has left {head.count} vectors, with "
                    f"{self.limit}="
                    f"{model._budget_in_use}: it must remove those beyond, as `keep` of "
                    "extending.algorithm does"
                )
        try:
            model._resize_block(capacity=memory.columns_for(grown))
        except MemoryError as error:
            fields = model._header_fields(1)
            table_of_squares = fields.get("factored") or fields.get("squares")
            error.add_note(
                f"{type(model).__name__} needs room for {grown} support vectors of "
                f"{len(model._features)} features"
                f"{' and a table of their number squared' if table_of_squares else ''}: "
                f"a smaller {self.limit} limits it"
            )
            raise

    # names

    def make_room(self, model: Any, new: int, beside: Collection[Any]) -> None:
        """Forget names that no vector uses, or make the table wider."""
        width = memory.head_of(model._block).width
        if not model._takes_lists or _free_places(model, width) >= new:
            super().make_room(model, new, beside)
            return
        self._forget_unused(model, beside)
        if _free_places(model, width) >= max(new, FREE_SHARE * width):
            return
        capacity = memory.views(model._block).head.capacity
        most = max(LARGEST_USUAL_TABLE // (8 * capacity), len(beside) + new)
        wider = min(int((1.0 + FREE_SHARE) * (width + new)), most)
        if wider > width:
            model._resize_block(width=wider)
        if _free_places(model, memory.head_of(model._block).width) < new:
            changed = model._snapshot()  # as Ctrl-C may come between the steps
            _drop_smallest(changed, most, new, beside)
            model._swap_in(changed)

    def narrow(self, model: Any, beside: Collection[Any]) -> None:
        """Bring a table that one very long example has made larger than usual back to its bound, in
        one step: the features with the smallest numbers go, but for those `beside`.
        """
        block = memory.views(model._block)
        most = LARGEST_USUAL_TABLE // (8 * block.head.capacity)
        room = int(KEPT_SHARE * most)
        if not model._takes_lists or block.head.width <= most or len(beside) > room:
            return
        issue_once(model, FULL_TABLE)
        sizes, places = _sizes_of(model, beside), model._features.places
        sizes[model._features.vacant] = -1.0
        rows = np.sort(np.argsort(-sizes, kind="stable")[: min(room, len(places))])
        names = {place: name for name, place in places.items()}
        features = copy.copy(model._features)
        features.rename([names[row] for row in rows.tolist()])
        narrowed = memory.resized(model._block, width=most)
        new = memory.views(narrowed)
        new.vectors[: len(rows)], new.vectors[len(rows) :] = block.vectors[rows], 0.0
        _measure(model, new)
        model._replace(_block=narrowed, _features=features)

    def take_back(self, model: Any, names: Collection[Any]) -> None:
        places, vectors = model._features.places, memory.views(model._block).vectors
        unused = [name for name in names if name in places and not vectors[places[name]].any()]
        model._change_names(model._features.remove, unused)

    def _forget_unused(self, model: Any, kept: Collection[Any]) -> None:
        """Forget the names that no vector uses."""
        block = memory.views(model._block)
        numbers = block.vectors.view(np.int64)[:, : block.head.count]
        used = np.bitwise_or.reduce(numbers, axis=1) != 0  # twice as fast as `any` of floats
        if not used.all():
            model._change_names(model._features.forget, used, kept)


def _free_places(model: Any, width: int) -> int:
    return width - len(model._features)


def _drop_smallest(model: Any, most: int, new: int, kept: Collection[Any]) -> None:
    """Set the features with the smallest numbers in all vectors to 0, and forget their names: the
    table is full.
    """
    issue_once(model, FULL_TABLE)
    block = memory.views(model._block)
    vectors = block.vectors[:, : block.head.count]
    sizes = _sizes_of(model, kept)
    room = min(int(KEPT_SHARE * most), most - new)
    dropped = np.argsort(sizes, kind="stable")[: max(len(sizes) - room, 0)]
    vectors[dropped] = 0.0
    _measure(model, block)
    used = np.ones(len(sizes), bool)
    used[dropped] = False
    model._change_names(model._features.forget, used, kept)


def _sizes_of(model: Any, kept: Collection[Any]) -> Any:
    """The largest absolute value of each feature, infinite for the names that are `kept`. (The
    table may be too large for a copy.)
    """
    block, places = memory.views(model._block), model._features.places
    vectors = block.vectors[:, : block.head.count]
    sizes = np.maximum(vectors.max(axis=1, initial=0.0), -vectors.min(axis=1, initial=0.0))
    sizes[[places[name] for name in kept if name in places]] = np.inf
    return sizes


def _measure(model: Any, block: Any) -> None:
    """Compute the norms of all vectors."""
    vectors = block.vectors[:, : block.head.count]
    lengths = np.abs if isinstance(model._kernel_in_use, Laplacian) else np.square
    block.norms[: block.head.count] = lengths(vectors).sum(axis=0)


def split(table: Any) -> None:
    """Split the first row a of a table into the two rows -a/2 and a/2. Modifies `table` in
    place.
    """
    if len(table):
        table[:2] = 0.5 * table[0] * np.array([[-1.0], [1.0]])
