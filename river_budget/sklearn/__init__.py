"""Our models as estimators of scikit-learn: for its pipelines, searches and calibration."""

from __future__ import annotations

try:
    from .classifying import BudgetClassifier
    from .regressing import BudgetRegressor
except ImportError as error:
    raise ImportError(
        "river_budget.sklearn needs scikit-learn 1.6 or later: pip install scikit-learn"
    ) from error

__all__ = ["BudgetClassifier", "BudgetRegressor"]


def __dir__() -> list[str]:
    return __all__
