"""The columns of AutoKernel: the tables in the room of its block, and what names need in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.auto import tables as core
from ...core.passes.auto.binning import COARSENESS
from ...core.random_numbers import uniforms
from ...inputs.features import Category
from ...model.columns import Columns
from ..features.drawn import key_of
from .categories import decide, write_means

# tables that follow from the seed, the names of features and the memory, and are not in files
DRAWN = {"keys", "slots", "held"}
NEW_METRIC = 1.0, 0.0, 1e-3  # of a feature: its weight, the logarithm of that, squared gradients
NO_DRAW = 2.0  # larger than all numbers that are drawn
BINS = ("the bins",)  # in place of the name of a feature
OLDEST = 4  # without room, one name in so many is forgotten
MEMORY_ROWS = core.SQUARED_ERROR + 1  # numbers of each row of the memory
ENTRIES_OF_A_PART = 2**12  # of a sparse matrix, in a model of words


class Room(Columns):
    """The columns of AutoKernel's tables, of rows or of words."""

    def header(self, model: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        capacity = model._capacity_for(0)
        return {
            "outputs": model._n_outputs,
            "capacity": capacity,
            "budget": model._budget_in_use,
            "per_vector": MEMORY_ROWS,
            "room": model._room_size(fields["width"]),
            **({"count": capacity} if model._of_words else {}),
        }

    def init_tables(self, model: Any) -> None:
        """Write the tables and the record of a new model."""
        self.lay_out(model)
        model._set_parameters()

    def lay_out(self, model: Any) -> None:
        """Write the initial values of tables, also for features and classes that appear later."""
        state = model._state_record()
        state.words, state.means, state.watches = model._of_words, model._n_means, model._watches
        if model._of_words:
            return
        tables = model._tables
        metric, slots = tables["metric"], tables["slots"]
        metric[:] = np.reshape(NEW_METRIC, (3, 1))
        tables["quantiles"][:] = core.NORMAL_QUANTILES
        np.fill_diagonal(tables["covariance"], 1.0)
        # width, shift and hash of all bins depend on the seed only; no slot has a feature yet
        drawn: Any = uniforms(key_of(BINS, model._entropy), 3 * core.BIN_SLOTS)  # type: ignore[no-untyped-call]
        wide, place, turn = drawn.reshape(3, -1)
        slots[core.SCALE] = COARSENESS * (0.5 + wide) / 4.0
        slots[core.SHIFT], slots[core.TURN], slots[core.DRAW] = place, turn, NO_DRAW

    def extra_arguments(self, model: Any, block: Any) -> dict[str, Any]:
        desk = core.desk_for(block)
        return {"room": core.room_of(block), "desk": desk, "opinions": desk}

    def tables(self, model: Any) -> dict[str, Any]:
        if model._block is None:
            return {}
        tables = {name: table for name, table in model._tables.items() if name not in DRAWN}
        kept = max(int(model._state_record().archived), 0)
        tables["archive"] = tables["archive"][:kept, : model._n_means + len(model._features)]
        tables["links"] = tables["links"][:kept]
        rows = int(model._state_record().rounds) if model._watches == core.KEEPS else 0
        tables["first_rows"] = tables["first_rows"][:rows, : 2 + len(model._features)]
        tables["archived"] = tables["archived"][:, :kept]
        return tables

    def restore(self, model: Any, own: Mapping[str, Any]) -> None:
        model._of_words = int(own.get("words") == "1")
        model._watches, model._n_means = (int(own.get(name, 0)) for name in ("watches", "means"))
        of_rows = not (model._of_words or hasattr(model, "_labels"))
        good = 0 <= model._watches <= core.KEEPS and 0 <= model._n_means <= core.MOST_MEANS
        if not good or of_rows != ((model._watches == 0) == (model._n_means > 0)):
            raise ValueError("its columns of target means are out of range")

    def of_names(self, model: Any) -> dict[str, Any]:
        if model._always is None:
            return {}
        names = model._features.in_rows
        made = [at for at, name in enumerate(names) if type(name) is Category]
        always = [at for at, name in enumerate(names) if name in model._always]
        return {"made": made, "always": always}

    def restore_names(self, model: Any, found: Mapping[str, Any]) -> None:
        if not found:
            return
        names, features = model._features.in_rows, model._features
        made, always = found.get("made", ()), found.get("always", ())
        for some in (made, always):
            if not all(type(at) is int and 0 <= at < len(names) for at in some):
                raise ValueError("what it knows of its names is out of range")
        for at in made:
            if type(names[at]) is not tuple or [*map(type, names[at][1:])] != [str]:
                raise ValueError("a text of its columns has no column")
            names[at] = Category(names[at])
        model._features = model._index_of(names)
        model._features.move_to(features.places.values())
        model._always = frozenset(names[at] for at in always)

    def most_entries(self, model: Any) -> int:
        return ENTRIES_OF_A_PART if model._of_words else super().most_entries(model)

    def make_room(self, model: Any, new: int, beside: Collection[Any]) -> None:
        """In a model of words, at its largest size forget the names not seen for longest."""
        width, wanted = memory.head_of(model._block).width, len(model._features) + new
        if not model._of_words:
            super().make_room(model, model._n_means + new, beside)
        elif wanted > width:
            most = max(model._most_words, len(beside) + new)
            changed = model._snapshot()
            if wanted > most:
                changed._forget_oldest(max(wanted - most, len(model._features) // OLDEST), beside)
                wanted = len(changed._features) + new
            if wanted > width:
                changed._resize_block(width=max(wanted, min(2 * wanted, most)))
            model._swap_in(changed)

    def write(self, model: Any, names: Collection[Any], places: Iterable[int]) -> None:
        """The keys of features, from which their bins follow; they are used as soon as they
        vary.
        """
        if model._of_words:
            return
        keys, first = model._table("keys")[0], model._n_means
        for name, place in zip(names, places, strict=True):
            keys[first + place] = key_of(name, model._entropy)
        self._use(model, first + 1 + max(places, default=-1))
        write_means(model, names, places)

    def _use(self, model: Any, n: int) -> None:
        """From now on the model looks at n columns."""
        state = model._state_record()
        squared = min(n, core.MOST_SQUARED) if state.second_order >= 0 else state.second_order
        state.features, state.second_order = n, squared

    def grow(self, model: Any) -> None:
        """The pass of a regressor has stopped behind its first rows."""
        decide(model)

    def width(self, model: Any) -> int:
        return max(int(model._n_means) + super().width(model), 1)

    def take_back(self, model: Any, names: Collection[Any]) -> None:
        if model._of_words:
            table, places = memory.views(model._block).vectors, model._features.places
            known = [name for name in names if name in places]
            unused = [name for name in known if table[places[name], core.SEEN] == 0.0]
            model._change_names(model._features.remove, unused)
            return
        first, places = model._n_means, model._features.places
        moments = model._table("moments")[:, first:]
        unused = [name for name in names if name in places and not moments[:, places[name]].any()]
        for name in unused:  # of no column of texts any more
            model._table("texts")[core.COLUMN :, places[name] : places[name] + 1] = 0.0
        model._change_names(model._features.remove, unused)
        self._use(model, first + len(model._features))
