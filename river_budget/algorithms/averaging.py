"""The mean of iterates, as a parameter of an estimator."""

from __future__ import annotations

from typing import Any

from ..inputs.batches import Batch
from ..model.one_by_one import OneByOne
from ..parameters import Fixed, positive


def horizon(name: str, value: Any) -> None:
    """Check the parameter `average`."""
    if isinstance(value, bool):
        return
    positive(name, value)
    if value <= 1:
        raise ValueError(
            f"{name} must be True, False, or the number of examples that the mean goes back, above "
            f"1, not {value!r}"
        )


class Averaging(OneByOne):
    """A model with the parameter `average`."""

    average = Fixed(horizon)

    def last_iterate_one(self, x: dict[Any, Any]) -> Any:
        """The score of the last iterate; `decision_function_one` has that of the mean."""
        batch = Batch.of_one(self._features.checked_copy(self._features.present(x)))
        return self._named(self._score_batch(batch, self.algorithm.score)[0])
