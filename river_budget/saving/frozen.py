"""Models that only predict: every method that would change them raises an error."""

from __future__ import annotations

from typing import Any, NoReturn


def is_frozen(model: Any) -> bool:
    return vars(model).get("learn_one") is refuse


def refuse(*arguments: Any, **named: Any) -> NoReturn:
    raise RuntimeError("this model was loaded with predict_only=True: it does not learn or change")


def freeze(model: Any) -> Any:
    """Replace the methods that change a model: the marked ones, learning, and River's mutate."""
    marked = [
        name
        for kind in type(model).__mro__
        for name, method in vars(kind).items()
        if getattr(method, "changes_the_model", False)
    ]
    for name in (*marked, "learn_one", "learn_many", "mutate"):
        if hasattr(model, name):
            setattr(model, name, refuse)
    return model
