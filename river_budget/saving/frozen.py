"""Models that only predict: whatever would change them refuses."""

from __future__ import annotations

from typing import Any, NoReturn

LEARNING = ("learn_one", "learn_many", "predict_then_learn_many", "score_then_learn_many")
CHANGING = (*LEARNING, "refine", "mutate", "_change")  # _change: assignment to a parameter


def is_frozen(model: Any) -> bool:
    return vars(model).get("learn_one") is refuse


def refuse(*arguments: Any, **named: Any) -> NoReturn:
    raise RuntimeError("this model was loaded with predict_only=True: it does not learn or change")


def freeze(model: Any) -> Any:
    for name in CHANGING:
        if hasattr(model, name):
            setattr(model, name, refuse)
    return model
