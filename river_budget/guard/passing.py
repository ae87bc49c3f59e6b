"""What may pass a guard, or a check of a whole batch: text and dates, in front of a step that takes
them.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from river import base, compose

from ..model.base import StreamModel
from ..parameters import is_missing

SCALERS = {
    *("AdaptiveStandardScaler", "Binarizer", "MaxAbsScaler", "MinMaxScaler", "Normalizer"),
    *("RobustScaler", "StandardScaler"),
}
NO_NUMBERS = str, bytes, datetime.date, datetime.time, np.datetime64


def takes_numbers_only(step: Any) -> bool:
    """Whether a step refuses text, or learns it before somebody refuses it: our models and maps,
    and all scalers.
    """
    ours = issubclass(type(step), StreamModel)
    return (ours and not type(step)._reads_tables) or type(step).__name__ in SCALERS


def part_of(model: Any) -> str | None:
    """The attribute in which a wrapper has its model, of those that hand on examples as they
    are.
    """
    if issubclass(type(model), compose.TargetTransformRegressor):
        return "regressor"
    name: str | None = getattr(type(model), "_hands_on_to", None)
    return name


def first_step(model: Any) -> Any:
    """What an example meets first in a pipeline and in wrappers; None: the pipeline is empty."""
    while True:
        if isinstance(model, compose.Pipeline):
            model = next(iter(model.steps.values()), None)
        elif name := part_of(model):
            model = getattr(model, name)
        else:
            return model


def takes_text(model: Any) -> bool:
    """Whether the first step of a model may be there for text: a transformer that is no scaler,
    such as an encoder or a selection; or AutoKernel.
    """
    first = first_step(model)
    encodes = isinstance(first, base.Transformer) and not takes_numbers_only(first)
    return encodes or reads_tables(first)


def reads_tables(model: Any) -> bool:
    """Whether a model itself takes text and gaps: AutoKernel is the first step."""
    first = first_step(model)
    return issubclass(type(first), StreamModel) and bool(type(first)._reads_tables)


def is_text(value: Any) -> bool:
    """Whether a value is text or a date, which an encoder may take, and no missing one."""
    return isinstance(value, NO_NUMBERS) and not is_missing(value)


class Present(dict[Any, Any]):
    """An example without what a guard has left out. Who asks for that by name hears so."""

    def __missing__(self, name: Any) -> Any:
        raise KeyError(
            f"feature {name!r} is not in this example, or rb.Guard has left it out: "
            "compose.SelectType(float, int) "
            "takes what is there, and rb.Guard('last') fills gaps"
        )
