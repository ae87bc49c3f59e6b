"""What an example must look like, in one sentence for those who hand in something else."""

from __future__ import annotations

from typing import Any

import numpy as np

LONGEST_SHOWN = 60  # characters of a wrong example in an error


def check_example(x: Any) -> None:
    """Raise TypeError if this is no dict, nor anything that is used like one."""
    if type(x) is dict or (hasattr(x, "keys") and hasattr(x, "items")):
        return
    shown = repr(x)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 3]}..."
    advice = ""
    if isinstance(x, (list, tuple, np.ndarray)):
        advice = (
            ": dict(enumerate(x)) numbers its features, learn_many and predict_many take a matrix"
        )
    raise TypeError(f"an example must be a dict of its features, not {shown}{advice}")
