"""What stands for a function or class whose package is not installed."""

from __future__ import annotations

from typing import Any


def missing(name: str, needs: str, error: ImportError) -> Any:
    """A stand-in that raises when it is called, so that the module around it can be imported and
    looked at.
    """
    says = f"river_budget.{name} needs {needs}"

    def stand_in(*arguments: Any, **named: Any) -> Any:
        raise ImportError(says) from error

    stand_in.__name__ = stand_in.__qualname__ = name.rpartition(".")[2]
    stand_in.__doc__ = f"{says}."
    return stand_in
