"""Kernel expansions: models that are a sum of kernels around stored examples."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core import memory
from ..core.budget import strategies
from ..core.codes import Strategy
from ..core.expansion.scoring import kernel_rows, score
from ..kernels import RBF
from ..maintenance import Maintenance, Merge, Project
from .batch_passes import scores_by
from .calls import Matrix
from .lock import locked_read
from .one_by_one import OneByOne

FIRST_CAPACITY = 64  # the first capacity of a model without a budget
# The passes by which models with the parameter `maintenance` keep a smaller budget
SHRINK = {
    Strategy.REMOVE: strategies.shrink_removing,
    Strategy.PAIRS: strategies.shrink_merging,
    Strategy.MANY: strategies.shrink_merging_several,
    Strategy.FACTOR: strategies.shrink_projecting,
}
MERGE, PROJECT = Merge(), Project()  # the default strategies, which models share


class BudgetModel(OneByOne):
    """A kernel expansion in a block."""

    @property
    def _budget_in_use(self) -> int | None:
        """The limit on the number of vectors; None: no limit."""
        limit: int | None = getattr(self, self.algorithm.columns.limit, None)
        return limit

    @functools.cached_property
    def _strategy(self) -> Maintenance | None:  # type: ignore[override]
        """The maintenance in use: the parameter, or by default merging if the kernel is Gaussian or
        there is no budget, else projection. None for models without the parameter.
        """
        if not hasattr(self, "maintenance"):
            return None
        gaussian = isinstance(self._kernel_in_use, RBF)
        usual = MERGE if gaussian or self._budget_in_use is None else PROJECT
        return self.maintenance or self.algorithm.columns.usual or usual

    def _capacity_for(self, count: int) -> int:
        """The capacity of a block for `count` vectors and a newcomer."""
        budget = self._budget_in_use
        if budget is None:
            return memory.columns_for(max(FIRST_CAPACITY, count + 1))
        return memory.columns_for(int(min(max(self.algorithm.columns.room, count), budget)) + 1)

    def _keep_vectors(self, kept: Any) -> None:
        """Drop all vectors but these, given by their places in increasing order."""
        model, n = memory.views(self._block), len(kept)
        for table in (model.vectors, model.coefficients, model.norms, model.arrivals):
            table[..., :n] = table[..., kept]
            table[..., n : model.head.count] = 0
        model.head.count = n

    # means of iterates

    def _mean_rows(self) -> Any:
        """The coefficients of the mean of iterates, one row for each output: the last rows of
        `per_vector`.
        """
        block = memory.views(self._block)
        table = block.per_vector
        return (
            table[len(table) - block.head.outputs :]
            if getattr(self, "average", False)
            else table[:0]
        )

    # the expansion itself, without further terms such as a bias

    @locked_read
    def _vector_rows(self) -> Any:
        """The support vectors, one row each, with a column for each place."""
        model = memory.views(self._block)
        return np.ascontiguousarray(model.vectors[: self._features.width, : model.head.count].T)

    @locked_read
    def _coefficient_columns(self) -> Matrix:
        """The coefficients, one column per support vector."""
        block = memory.views(self._block)
        columns: Matrix = block.head.scale * block.coefficients[:, : block.head.count]
        return columns

    def _scores_at(self, rows: Any) -> Matrix:
        """The values of the expansion at these rows."""
        return scores_by(self, score, self._block, rows, memory.views(self._block).head.outputs)

    def _scores_of_vectors(self) -> Matrix:
        """The values of the expansion at its own support vectors, one row each."""
        model = self._snapshot()  # so that no thread that learns waits for it
        scores: Matrix = model._scores_at(model._vector_rows())
        return scores

    def _gram(self) -> Matrix:
        """The Gram matrix: the kernel of every support vector with every other."""
        model = self._snapshot()  # so that no thread that learns waits for it
        rows = model._vector_rows()
        values = scores_by(model, kernel_rows, model._block, rows, len(rows))
        return 0.5 * (values + values.T)

    def _squared_length(self) -> float:
        """|w|^2, computed from scratch."""
        model = self._snapshot()  # so that no thread that learns waits for it
        products = model._coefficient_columns().T * model._scores_at(model._vector_rows())
        return max(float(np.sum(products)), 0.0)

    # inspection

    @property
    @locked_read
    def n_support_vectors(self) -> int:
        """The number of support vectors."""
        return 0 if self._block is None else memory.views(self._block).head.count

    @property
    @locked_read
    def _n_repairs(self) -> int:
        """How often a quantity that is updated step by step had drifted and was computed from
        scratch.

        The squared length |w|^2, a factor of the inverse Gram matrix and the responses of a batch
        Perceptron are updated over millions of steps, and checked from time to time. In tests
        rounding errors stay far below the bounds (relative errors of 1e-6 or less), so a repair
        hints at a problem.
        """
        return 0 if self._block is None else memory.views(self._block).head.repairs

    def support_vectors(self) -> list[dict[str, Any]]:
        """The support vectors, oldest first.

        Each is a dict of `features` (those that are not 0), `coefficients` (a number, or one per
        class) and `arrival`, its place in the order in which vectors came into the model; a vector
        made by merging counts as new.
        """
        own = self._snapshot()  # so that no thread that learns waits for it
        if own._block is None:
            return []
        model, means, found = memory.views(own._block), own._mean_rows(), []
        names = {place: name for name, place in own._features.places.items()}
        for j in np.argsort(model.arrivals[: model.head.count]):
            vector = model.vectors[:, j]
            features = {
                names[place]: own._features.unscaled(names[place], float(vector[place]))
                for place in np.flatnonzero(vector).tolist()
            }
            coefficients = own._named(model.head.scale * model.coefficients[:, j])
            arrival = int(model.arrivals[j])
            found.append(
                {"features": features, "coefficients": coefficients, "arrival": arrival}
                | ({"average": own._named(means[:, j])} if len(means) else {})
            )
        return found
