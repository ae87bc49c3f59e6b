"""Whether river_budget does without private parts of numba and CPython."""

from __future__ import annotations

import os

PLAIN = os.environ.get("RIVER_BUDGET_PLAIN", "") not in ("", "0")
