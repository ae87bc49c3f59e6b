"""Kernel expansions: models that are a sum of kernels around stored examples; and means of their iterates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.block import blocks, layout
from ...core.budget.keep import STRATEGIES
from ...core.compiling.needs import Need
from ...core.expansion.scoring import decide, kernel_rows
from ...kernels import RBF
from ...maintenance import Maintenance as Strategy
from ...maintenance import Merge, Project
from ...parameters import Fixed, instance_of, optional, positive
from ..base.base import check_compiled
from ..base.batch_passes import ManyAtOnce, scores_by
from ..calls.calls import Rows
from ..inputs.batches import Batch
from ..lock import looks_at_the_model
from .stored import StoredVectors

FIRST_CAPACITY = 64  # the first capacity of a model without a budget
GROWTH_FACTOR = 2  # the factor by which a block's capacity grows
MERGE, PROJECT = Merge(), Project()  # the default strategies


class BudgetModel(StoredVectors):
    """A kernel expansion in a block."""

    needs = Need.EXAMPLES | Need.PRODUCTS | Need.KERNEL

    maintenance = Fixed(optional(instance_of(Strategy)))

    def __init__(self, given: dict[str, Any]):
        super().__init__(given)
        if "maintenance" in given:
            self.strategy = self._strategy_in_use()
            check_compiled("maintenance", self.strategy, STRATEGIES)
            self._check_together()

    @property
    def budget_name(self) -> str:
        """The parameter that limits the number of vectors."""
        return "window" if self.algorithm.columns.marks else "budget"

    @property
    def budget_in_use(self) -> int | None:
        """The limit on the number of vectors; None: no limit."""
        limit: int | None = getattr(self, self.budget_name, None)
        return limit

    def header_fields(self, n_features: int) -> dict[str, Any]:
        budget, found = self.budget_in_use, super().header_fields(n_features)
        if strategy := self.__dict__.get("strategy"):
            found |= strategy.header_fields()
        means = self.n_outputs if getattr(self, "average", False) else 0
        return found | {
            "capacity": self.capacity_for(0),
            "budget": layout.UNLIMITED if budget is None else budget,
            "per_vector": found.get("per_vector", 0) + means,
        }

    def capacity_for(self, count: int) -> int:
        """The capacity of a block for `count` vectors and a newcomer."""
        budget = self.budget_in_use
        if budget is None:
            return blocks.columns_for(max(FIRST_CAPACITY, count + 1))
        return blocks.columns_for(int(min(max(self.algorithm.columns.room, count), budget)) + 1)

    def grow(self) -> None:
        """Double the capacity of the block, for models without a budget or with a large one."""
        grown = GROWTH_FACTOR * blocks.views(self.block).head.capacity
        if self.budget_in_use is not None:
            grown = min(grown, self.budget_in_use + 1)
        try:
            self.resize_block(capacity=blocks.columns_for(grown))
        except MemoryError as error:
            error.add_note(
                f"{type(self).__name__} needs room for {grown} support vectors of {len(self.features)} features"
                f"{' and a table of their number squared' if self.header_fields(1).get('factored') else ''}: "
                f"a smaller {self.budget_name} limits it"
            )
            raise

    def keep_vectors(self, kept: Any) -> None:
        """Drop all vectors but these, given by their places in increasing order."""
        model, n = blocks.views(self.block), len(kept)
        for table in (model.vectors, model.coefficients, model.norms, model.arrivals):
            table[..., :n] = table[..., kept]
            table[..., n : model.head.count] = 0
        model.head.count = n

    # maintenance

    def _strategy_in_use(self) -> Strategy:
        """The parameter; or by default merging if the kernel is Gaussian or there is no budget, else projection."""
        chosen: Strategy | None = self.maintenance or self.algorithm.columns.usual
        if chosen is not None:
            return chosen
        gaussian = isinstance(self.kernel_in_use, RBF)
        return MERGE if gaussian or self.budget_in_use is None else PROJECT

    def _check_together(self, **changed: Any) -> None:
        super()._check_together(**changed)
        values = self.__dict__ | changed
        strategy = values.get("strategy")
        if strategy is None or values["budget"] is None or not strategy.needs_rbf:
            return
        if not isinstance(self.kernel_in_use, RBF):
            raise ValueError(
                f"maintenance {strategy!r} needs a Gaussian kernel (RBF), not kernel={self.kernel_in_use!r}"
            )

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name != self.budget_name:
            return
        if self.block is not None:
            head = blocks.views(self.block).head
            head.budget = layout.UNLIMITED if value is None else value
            if head.count > head.budget:
                self.algorithm.after.budget(self, False)
            self.resize_block(capacity=self.capacity_for(blocks.views(self.block).head.count))
        if value is None and self.__dict__.get("maintenance", self) is None:
            self._forget_strategy()

    def _forget_strategy(self) -> None:
        """Drop the tables of the maintenance when a model loses its budget: they would grow with the square of the
        number of vectors."""
        self.strategy = self._strategy_in_use()
        if self.block is not None:
            fields = self.strategy.header_fields()
            head = blocks.views(self.block).head
            for name in fields.keys() - {"factored"}:
                setattr(head, name, fields[name])
            self.resize_block(factored=fields["factored"])

    # means of iterates

    def mean_rows(self) -> Any:
        """The coefficients of the mean of iterates, one row for each output: the last rows of `per_vector`."""
        block = blocks.views(self.block)
        table = block.per_vector
        return (
            table[len(table) - block.head.outputs :]
            if getattr(self, "average", False)
            else table[:0]
        )

    def after_promotion(self) -> None:
        split(self.mean_rows())
        super().after_promotion()

    # the expansion itself, without further terms such as a bias

    @looks_at_the_model
    def vector_rows(self) -> Any:
        """The support vectors, one row each, with a column for each place."""
        model = blocks.views(self.block)
        return np.ascontiguousarray(model.vectors[: self.features.width, : model.head.count].T)

    @looks_at_the_model
    def coefficient_columns(self) -> Rows:
        """The coefficients, one column per support vector."""
        block = blocks.views(self.block)
        columns: Rows = block.head.scale * block.coefficients[:, : block.head.count]
        return columns

    def scores_at(self, rows: Any) -> Rows:
        """The values of the expansion at these rows."""
        return scores_by(decide, self.block, rows, blocks.views(self.block).head.outputs)

    def scores_of_vectors(self) -> Rows:
        """The values of the expansion at its own support vectors, one row each."""
        model = self.twin()  # so that no thread that learns waits for it
        scores: Rows = model.scores_at(model.vector_rows())
        return scores

    def gram(self) -> Rows:
        """The Gram matrix: the kernel of every support vector with every other."""
        model = self.twin()  # so that no thread that learns waits for it
        rows = model.vector_rows()
        values = scores_by(kernel_rows, model.block, rows, len(rows))
        return 0.5 * (values + values.T)

    def squared_length(self) -> float:
        """|w|^2, computed from scratch."""
        model = self.twin()  # so that no thread that learns waits for it
        products = model.coefficient_columns().T * model.scores_at(model.vector_rows())
        return max(float(np.sum(products)), 0.0)

    # inspection

    @property
    @looks_at_the_model
    def n_support_vectors(self) -> int:
        """The number of support vectors."""
        return 0 if self.block is None else blocks.views(self.block).head.count

    @property
    @looks_at_the_model
    def n_repairs(self) -> int:
        """How often a quantity that is updated step by step had drifted and was computed from scratch.

        The squared length |w|^2, a factor of the inverse Gram matrix and the responses of a batch
        Perceptron are updated over millions of steps, and checked from time to time. In tests rounding
        errors stay far below the bounds (relative errors of 1e-6 or less), so a repair hints at a problem.
        """
        return 0 if self.block is None else blocks.views(self.block).head.repairs

    def support_vectors(self) -> list[dict[str, Any]]:
        """The support vectors, oldest first.

        Each is a dict of `features` (those that are not 0), `coefficients` (a number, or one per class) and
        `arrival`, its place in the order in which vectors came into the model; a vector made by merging
        counts as new.
        """
        own = self.twin()  # so that no thread that learns waits for it
        if own.block is None:
            return []
        model, means, found = blocks.views(own.block), own.mean_rows(), []
        names = {place: name for name, place in own.features.places.items()}
        for j in np.argsort(model.arrivals[: model.head.count]):
            vector = model.vectors[:, j]
            features = {
                names[place]: own.features.unscaled(names[place], float(vector[place]))
                for place in np.flatnonzero(vector).tolist()
            }
            coefficients = own.named(model.head.scale * model.coefficients[:, j])
            arrival = int(model.arrivals[j])
            found.append(
                {"features": features, "coefficients": coefficients, "arrival": arrival}
                | ({"average": own.named(means[:, j])} if len(means) else {})
            )
        return found


# The mean of iterates


def split(table: Any) -> None:
    """Split the first row a of a table into the two rows -a/2 and a/2. Modifies `table` in place."""
    if len(table):
        table[:2] = 0.5 * table[0] * np.array([[-1.0], [1.0]])


def horizon(name: str, value: Any) -> None:
    """Check the parameter `average`."""
    if isinstance(value, bool):
        return
    positive(name, value)
    if value <= 1:
        raise ValueError(
            f"{name} must be True, False, or the number of examples that the mean goes back, above 1, not {value!r}"
        )


class Averaging(ManyAtOnce):
    """A model with the parameter `average`."""

    average = Fixed(horizon)

    @property
    def averaged(self) -> int:
        """The number of iterates in the mean."""
        return 0 if self.block is None or not self.average else int(self.state_record().averaged)

    def last_iterate_one(self, x: dict[Any, Any]) -> Any:
        """The score of the last iterate; `decision_function_one` has that of the mean."""
        batch = Batch.of_one(self.features.taken(self.features.present(x)))
        return self.named(self._score_batch(batch, self.algorithm.score)[0])
