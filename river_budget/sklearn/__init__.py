"""Our models as estimators of scikit-learn: for its pipelines, searches and calibration."""

from __future__ import annotations

from ..messages.extras import missing

try:
    from .classifying import BudgetClassifier
    from .regressing import BudgetRegressor
except ImportError as error:
    NEEDED = "scikit-learn 1.6 or later: pip install scikit-learn"
    BudgetClassifier = missing("sklearn.BudgetClassifier", NEEDED, error)  # type: ignore[misc]
    BudgetRegressor = missing("sklearn.BudgetRegressor", NEEDED, error)  # type: ignore[misc]

__all__ = ["BudgetClassifier", "BudgetRegressor"]


def __dir__() -> list[str]:
    return __all__
