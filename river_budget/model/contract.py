"""What other folders use of a model, and the words for its arrays.

Saving, uniting and the distributed part know models by these names only. How they are answered is up to
base.py and expansion.py; which of them an algorithm may answer anew is told in examples/extending.md.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from .features import FeatureIndex

Block = NDArray[np.uint8]  # the memory of a model, see core/layout.py
Rows = NDArray[np.float64]  # two-dimensional: examples, scores, support vectors, coefficients
Numbers = NDArray[np.float64]  # one-dimensional: targets, weights


class InBlock(Protocol):
    """Any of our models."""

    block: Block | None  # None until the first example
    features: FeatureIndex
    entropy: int  # where the random numbers of a seed begin
    target_name: str | None  # of the last series of targets, given to predictions
    kernel: Kernel | None

    @property
    def kernel_in_use(self) -> Kernel: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def memory_usage(self) -> int: ...

    # parameters and the record of the pass
    @classmethod
    def parameters(cls) -> tuple[str, ...]: ...
    def write_parameters(self) -> None: ...
    def state_record(self) -> Any: ...
    def initial_state(self) -> dict[str, Any]: ...

    # the block
    @classmethod
    def stamp(cls) -> int: ...
    def header_fields(self, n_features: int) -> dict[str, Any]: ...
    def create_block(self, n_features: int, **fields: Any) -> None: ...
    def resize_block(self, **sizes: int) -> None: ...

    # files
    checked_fields: Any
    file_limits: Any
    factor_is_table: Any
    scores_with_per_vector: Any

    def check_restored_state(self, count: int) -> None: ...
    def check_restored_rows(self, count: int) -> None: ...

    # uniting
    def after_uniting(self, parts: list[Any]) -> None: ...


class Expansion(InBlock, Protocol):
    """Those that are a sum of kernels around stored examples."""

    budget_name: Any

    @property
    def n_support_vectors(self) -> int: ...
    @property
    def budget_in_use(self) -> int | None: ...
    def capacity_for(self, count: int) -> int: ...
    def fit_budget(self) -> None: ...
    def fit_united_budget(self) -> None: ...
    def vector_rows(self) -> Rows: ...
    def coefficient_columns(self) -> Rows: ...
    def scores_at(self, rows: Rows) -> Rows: ...
    def window_labels(self, flipped: bool) -> Rows: ...
    def set_window_labels(self, marks: Rows) -> None: ...
