"""Models that keep the mean of their iterates beside the last one, and predict with the mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.block import blocks
from ...core.expansion.mean_iterate import decide_mean
from ...core.expansion.scoring import decide
from ...parameters import positive
from ..base.base import StreamModel
from ..calls.calls import Call
from .expansion import BudgetModel


def split(table: Any) -> None:
    """Split the first row a of a table into the two rows -a/2 and a/2. Modifies `table` in place."""
    table[:2] = 0.5 * table[0] * np.array([[-1.0], [1.0]])


class Averaging(StreamModel):
    """A model with the parameter `average`."""

    average: bool | float
    file_defaults = {"average": False}

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
        return table[len(table) - int(block.head.outputs) :] if self.average else table[:0]

    def after_promotion(self) -> None:
        super().after_promotion()  # type: ignore[misc]
        if self.average:
            split(self.mean_rows())

    def check_restored_rows(self, count: int) -> None:
        """Accept the mean's coefficients from a file without a check: any numbers are valid."""

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
