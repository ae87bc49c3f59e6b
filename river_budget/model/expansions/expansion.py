"""Kernel expansions: models that are a sum of kernels around stored examples; and means of their iterates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...core.block import blocks, layout
from ...core.block.codes import Maintenance
from ...core.budget.keep import STRATEGIES
from ...core.budget.united import project_cheapest, remove_lightest
from ...core.compiling.needs import Need
from ...core.expansion.mean_iterate import decide_mean
from ...core.expansion.scoring import decide, kernel_rows
from ...kernels import RBF
from ...maintenance import Maintenance as Strategy
from ...maintenance import Merge, Project
from ...parameters import FINITE, Mutable, instance_of, optional, positive, whole
from ..base.base import StreamModel, check_compiled
from ..calls.calls import Call, Rows
from ..inputs.lists import vectors_of
from ..lock import looks_at_the_model
from .stored import StoredVectors

FIRST_CAPACITY = 64  # the first capacity of a model without a budget
# A model with at most this budget allocates all its vectors at the start; others grow
FULL_CAPACITY_BUDGET = 1024
GROWTH_FACTOR = 2  # the factor by which a block's capacity grows
MERGE, PROJECT = Merge(), Project()  # the default strategies


class BudgetModel(StoredVectors):
    """A kernel expansion in a block."""

    shrinking_pass: ClassVar[Any]  # compiled: apply the maintenance until a smaller budget is kept
    budget_name: ClassVar[str] = "budget"  # the parameter that limits the number of vectors
    per_vector_rows: ClassVar[int] = 0  # further numbers that the pass keeps for every vector
    # whether vectors with coefficients 0 may be dropped in a model that only predicts
    drops_idle_vectors: ClassVar[bool] = False
    needs = Need.EXAMPLES | Need.PRODUCTS | Need.KERNEL
    scoring_pass: ClassVar[Any] = staticmethod(decide)

    @property
    def budget_in_use(self) -> int | None:
        """The limit on the number of vectors; None: no limit."""
        limit: int | None = getattr(self, self.budget_name, None)
        return limit

    def header_fields(self, n_features: int) -> dict[str, Any]:
        budget = self.budget_in_use
        return super().header_fields(n_features) | {
            "capacity": self.capacity_for(0),
            "budget": layout.UNLIMITED if budget is None else budget,
            "per_vector": self.per_vector_rows,
        }

    def capacity_for(self, count: int) -> int:
        """The capacity of a block for `count` vectors and a newcomer."""
        if self.budget_in_use is None:
            return blocks.columns_for(max(FIRST_CAPACITY, count + 1))
        return blocks.columns_for(min(max(FULL_CAPACITY_BUDGET, count), self.budget_in_use) + 1)

    def prepare(self) -> None:
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

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == self.budget_name and self.block is not None:
            head = blocks.views(self.block).head
            head.budget = layout.UNLIMITED if value is None else value
            if head.count > head.budget:
                self.fit_budget()
            self.resize_block(capacity=self.capacity_for(blocks.views(self.block).head.count))

    def fit_budget(self) -> None:
        """Apply the maintenance until a smaller budget is kept."""
        Call(self.block).run(self.shrinking_pass)

    def fit_united_budget(self) -> None:
        """Reduce a sum of models to its budget, beginning with the vectors that change the function least."""
        head = blocks.views(self.block).head
        if head.maintenance == Maintenance.MERGE:
            arity, head.arity = head.arity, 2  # merging more than two at once would lose more
            self.fit_budget()
            head.arity = arity
        else:
            Call(self.block).run(project_cheapest if head.factored else remove_lightest)

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
        scores = np.empty((len(rows), blocks.views(self.block).head.outputs))
        Call(self.block, rows, scores=scores).run(decide)
        return scores

    def scores_of_vectors(self) -> Rows:
        """The values of the expansion at its own support vectors, one row each."""
        model = self.snapshot()  # so that no thread that learns waits for it
        scores: Rows = model.scores_at(model.vector_rows())
        return scores

    def gram(self) -> Rows:
        """The Gram matrix: the kernel of every support vector with every other."""
        model = self.snapshot()  # so that no thread that learns waits for it
        rows = model.vector_rows()
        values = np.empty((len(rows), len(rows)))
        Call(model.block, rows, scores=values).run(kernel_rows)
        return 0.5 * (values + values.T)

    def squared_length(self) -> float:
        """|w|^2, computed from scratch."""
        model = self.snapshot()  # so that no thread that learns waits for it
        products = model.coefficient_columns().T * model.scores_at(model.vector_rows())
        return max(float(np.sum(products)), 0.0)

    def window_labels(self, flipped: bool) -> Any:
        """Hook: the rows of `per_vector` that a sum of models takes over, such as the labels of a window.

        flipped: this model's negative class is the positive one of the sum, so labels change sign.
        """
        return np.empty((0, self.n_support_vectors))

    def set_window_labels(self, marks: Rows) -> None:
        """Hook: the inverse of `window_labels`, in a united model."""
        raise NotImplementedError

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
        own = self.snapshot()  # so that no thread that learns waits for it
        if own.block is None:
            return []
        model, lists = blocks.views(own.block), vectors_of(own.block)
        n = model.head.count
        coefficients = model.head.scale * model.coefficients[:, :n]
        names = {place: name for name, place in own.features.places.items()}
        starts, places, values = (a.tolist() for a in (lists.starts, lists.places, lists.values))
        return [
            {
                "features": {
                    names[places[i]]: own.features.unscaled(names[places[i]], values[i])
                    for i in range(starts[j], starts[j + 1])
                },
                "coefficients": own.named(coefficients[:, j]),
                "arrival": int(model.arrivals[j]),
            }
            for j in np.argsort(model.arrivals[:n])
        ]


def holding(learning_pass: Any) -> Any:
    """A new class that holds a learning pass, for `pass_holder`."""
    return type("Holder", (), {"learning_pass": staticmethod(learning_pass)})


class Maintained(BudgetModel):
    """A model with the parameters `budget` and `maintenance`."""

    budget = Mutable(optional(whole(1)))
    # {kind of strategy: the holder of its pass}, for the kinds that learning_pass does not contain: one
    # pass for all kinds would take long to compile
    other_passes: ClassVar[dict[Any, Any]] = {}

    @property
    def pass_holder(self) -> Any:
        return self.other_passes.get(self.strategy.kind, type(self))

    def _maintain(self, budget: int | None, maintenance: Strategy | None) -> None:
        """Check and set both parameters; the last call in a constructor."""
        optional(instance_of(Strategy))("maintenance", maintenance)
        self.maintenance = maintenance
        self.strategy = self._usual_strategy(budget) if maintenance is None else maintenance
        check_compiled("maintenance", self.strategy, STRATEGIES)
        self.budget = budget
        self._check_together()

    strategy: Strategy  # the maintenance in use

    def _change(self, name: str, value: Any) -> None:
        super()._change(name, value)
        if name == "budget" and value is None and self.maintenance is None:
            self._forget_strategy()

    def _forget_strategy(self) -> None:
        """Drop the tables of the maintenance when a model loses its budget: they would grow with the square of the
        number of vectors."""
        self.strategy = self._usual_strategy(None)
        if self.block is not None:
            fields = self.strategy.header_fields()
            head = blocks.views(self.block).head
            for name in fields.keys() - {"factored"}:
                setattr(head, name, fields[name])
            self.resize_block(factored=fields["factored"])

    def _usual_strategy(self, budget: int | None) -> Strategy:
        """The default: merging if the kernel is Gaussian or there is no budget, else projection."""
        if budget is None or isinstance(self.kernel_in_use, RBF):
            return MERGE
        return PROJECT

    def _check_together(self, **parameters: Any) -> None:
        budget = (self.__dict__ | parameters)["budget"]
        if budget is None or not self.strategy.needs_rbf:
            return
        if not isinstance(self.kernel_in_use, RBF):
            raise ValueError(
                f"maintenance {self.strategy!r} needs a Gaussian kernel (RBF), not "
                f"kernel={self.kernel_in_use!r}"
            )

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | self.strategy.header_fields()


# The mean of iterates


def split(table: Any) -> None:
    """Split the first row a of a table into the two rows -a/2 and a/2. Modifies `table` in place."""
    table[:2] = 0.5 * table[0] * np.array([[-1.0], [1.0]])


class Averaging(StreamModel):
    """A model with the parameter `average`."""

    average: bool | float
    ranges = {"per_vector": FINITE}  # weights of the mean

    def _set_average(self, average: bool | float) -> None:
        """Check and set the parameter."""
        if not isinstance(average, bool):
            positive("average", average)
            if average <= 1:
                raise ValueError(
                    "average must be True, False, or the number of examples that the mean goes back, above 1, "
                    f"not {average!r}"
                )
        self.average = average

    @property
    def scores_with_per_vector(self) -> bool:  # type: ignore[override]
        return self.average is not False

    @property
    def averaged(self) -> int:
        """The number of iterates in the mean."""
        return 0 if self.block is None or not self.average else int(self.state_record().averaged)

    def last_iterate_one(self, x: dict[Any, Any]) -> Any:
        """The score of the last iterate; `decision_function_one` has that of the mean."""
        raise NotImplementedError


class AveragingExpansion(Averaging, BudgetModel):
    """A kernel expansion with `average`: the last rows of `per_vector` hold the mean's coefficients."""

    @property
    def per_vector_rows(self) -> int:  # type: ignore[override]
        return self.n_outputs if self.average else 0

    @property
    def scoring_pass(self) -> Any:  # type: ignore[override]
        return decide_mean if self.average else decide

    def resize_block(self, **sizes: int) -> None:
        if "outputs" in sizes and self.average:
            sizes["per_vector"] = sizes["outputs"]
        super().resize_block(**sizes)

    def mean_rows(self) -> Any:
        """The coefficients of the mean, one row for each output."""
        block = blocks.views(self.block)
        table = block.per_vector
        return table[len(table) - block.head.outputs :] if self.average else table[:0]

    def after_promotion(self) -> None:
        super().after_promotion()  # type: ignore[misc]
        if self.average:
            split(self.mean_rows())

    def last_iterate_one(self, x: dict[Any, Any]) -> Any:
        """The score of the last iterate; `decision_function_one` has that of the mean."""
        x = self.features.present(x)
        if self.block is None:
            return self.named(np.zeros(self.n_outputs))
        rows = self.features.listed(x) if self.takes_lists else self.features.row(x)
        scores = np.zeros((1, self.n_outputs))
        Call(self.block, rows, scores=scores).run(decide)
        return self.named(scores[0])

    def support_vectors(self) -> list[dict[str, Any]]:
        vectors = super().support_vectors()
        if self.average and vectors:
            means, block = self.mean_rows(), blocks.views(self.block)
            order = np.argsort(block.arrivals[: block.head.count])
            for vector, j in zip(vectors, order, strict=True):
                vector["average"] = self.named(means[:, j])
        return vectors
