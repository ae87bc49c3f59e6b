"""Models that take a maintenance strategy to keep their budget."""

from __future__ import annotations

from typing import Any

from .core.codes import Kernel as KernelCode
from .expansion import BudgetModel
from .kernels import RBF
from .maintenance import Maintenance, Merge
from .parameters import Mutable, instance_of, optional, whole


class Maintained(BudgetModel):
    """A model with the parameters `budget` and `maintenance`."""

    budget = Mutable(optional(whole(1)))

    def _maintain(self, budget: int | None, maintenance: Maintenance | None) -> None:
        """Set them: the last thing that a constructor does."""
        optional(instance_of(Maintenance))("maintenance", maintenance)
        self.maintenance = maintenance
        self.budget = budget
        self._check_together()

    @property
    def _strategy(self) -> Maintenance:
        return Merge() if self.maintenance is None else self.maintenance

    def _check_together(self, **parameters: Any) -> None:
        budget = (self.__dict__ | parameters)["budget"]
        if budget is None or not isinstance(self._strategy, Merge):
            return
        kernel = RBF() if self.kernel is None else self.kernel
        if kernel._header(1)["kernel"] != KernelCode.RBF:
            raise ValueError(
                f"maintenance {self._strategy!r} needs a Gaussian kernel (RBF), not kernel={kernel!r}"
            )

    def _header(self, n_features: int) -> dict[str, Any]:
        return super()._header(n_features) | self._strategy._header()
