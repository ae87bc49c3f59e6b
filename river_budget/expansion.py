"""Kernel expansions: models that are a sum of kernels around stored examples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .calls import Call
from .core import block as blocks
from .core.codes import Maintenance
from .core.rows import decide
from .core.union import project_cheapest, remove_lightest
from .stream import StreamModel

FIRST_CAPACITY = 64  # of a model without a budget
GROWTH = 2  # factor by which it grows


class BudgetModel(StreamModel):
    """A kernel expansion in a block."""

    _shrink: ClassVar[Any]  # compiled: maintain until a smaller budget is kept
    _size: ClassVar[str] = "budget"  # the parameter that limits the number of vectors
    _extras: ClassVar[int] = 0  # further numbers that the pass keeps of every vector
    _decide: ClassVar[Any] = staticmethod(decide)

    @property
    def _limit(self) -> int | None:
        limit: int | None = getattr(self, self._size, None)
        return limit

    def _header(self, n_features: int) -> dict[str, Any]:
        budget = self._limit
        return super()._header(n_features) | {
            "capacity": self._capacity(0),
            "budget": blocks.UNLIMITED if budget is None else budget,
            "extras": self._extras,
        }

    def _capacity(self, count: int) -> int:
        if self._limit is None:
            return blocks.columns_for(max(FIRST_CAPACITY, count + 1))
        return blocks.columns_for(self._limit + 1)

    def _prepare(self) -> None:
        """A model without a budget needs a larger block."""
        head = blocks.views(self._block).head
        self._resize(capacity=blocks.columns_for(GROWTH * int(head.capacity)))

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == self._size and self._block is not None:
            head = blocks.views(self._block).head
            head.budget = blocks.UNLIMITED if value is None else value
            if head.count > head.budget:
                self._make_smaller()
            self._resize(capacity=self._capacity(blocks.views(self._block).head.count))

    def _make_smaller(self) -> None:
        """Keep a budget that has been made smaller."""
        Call(self._block).of(self._shrink)

    def _reduce(self) -> None:
        """Keep the budget of a sum of models: what is missed least goes first, however old it is."""
        head = blocks.views(self._block).head
        if head.maintenance == Maintenance.MERGE:
            arity, head.arity = int(head.arity), 2  # more at once lose more than they must
            self._make_smaller()
            head.arity = arity
        else:
            Call(self._block).of(project_cheapest if head.factored else remove_lightest)

    def _marks(self, flipped: bool) -> Any:
        """Rows of numbers that belong to the vectors, also in a sum with models where the classes may be
        flipped."""
        return np.empty((0, self.n_support_vectors))

    # inspection

    @property
    def n_support_vectors(self) -> int:
        """How many support vectors the model holds."""
        return 0 if self._block is None else int(blocks.views(self._block).head.count)

    @property
    def n_repairs(self) -> int:
        """How often a maintained quantity had drifted away from what it stands for and was computed anew.

        A length |w|^2, a factor of the inverse Gram matrix and the responses of a batch Perceptron are kept
        up to date over millions of steps. Now and then they are checked. Rounding errors have not been seen
        to come near the bounds (a relative error of 1e-6 or less), so any repair is worth a look.
        """
        return 0 if self._block is None else int(blocks.views(self._block).head.repairs)

    def support_vectors(self) -> list[dict[str, Any]]:
        """The support vectors, oldest first.

        Each is a dict of `features` (those that are not 0), `coefficients` (a number, or one per class) and
        `arrival`, its place in the order in which vectors came into the model; a vector made by merging
        counts as new.
        """
        if self._block is None:
            return []
        model = blocks.views(self._block)
        n = int(model.head.count)
        coefficients = model.head.scale * model.coefficients[:, :n]
        return [
            {
                "features": {
                    name: value
                    for name, value in zip(
                        self._features, model.vectors[:, j].tolist(), strict=False
                    )
                    if value != 0.0
                },
                "coefficients": self._named(coefficients[:, j]),
                "arrival": int(model.arrivals[j]),
            }
            for j in np.argsort(model.arrivals[:n])
        ]
