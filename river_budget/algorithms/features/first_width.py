"""A warning of models that approximate a kernel: its width may count the features of a first example that is not typical."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...core.block import blocks
from ...core.rounds.stream_warnings import MANY_NAMES
from ...model.base.base import StreamModel
from ...model.stream_warnings import issue_warnings

NAMES_TIMES = 10  # so many times the features of the first example are words or categories


class WidthOfFirst(StreamModel):
    """Base class: warns where gamma="c/d" and most features were not in the first example."""

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        super().add_features(names, beside)
        kernel = self.kernel_in_use
        if not isinstance(getattr(kernel, "gamma", None), str):
            return
        head = blocks.views(self.block).head
        in_the_first = kernel.header_fields(1)["gamma"] / head.gamma
        if len(self.features) > NAMES_TIMES * in_the_first:
            head.alarm |= MANY_NAMES & ~head.said
            issue_warnings(self)
