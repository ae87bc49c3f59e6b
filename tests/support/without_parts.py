"""A numba in which the package misses a private part; numba itself has it still.

`python tests/support/without_parts.py MODULE CLASS NAME` trains an estimator as a user would and prints its scores and
the warnings. The part is there at import, and gone when the first function is compiled.
"""

from __future__ import annotations

import importlib
import sys
import warnings

PACKAGE = "river_budget.core.compiling."


class Gone:
    """A class attribute that is an AttributeError for the package."""

    def __init__(self, name, found):
        self.name, self.found = name, found

    def __get__(self, instance, owner):
        if sys._getframe(1).f_globals.get("__name__", "").startswith(PACKAGE):
            raise AttributeError(self.name)
        return self.found.__get__(instance, owner)


def take_away(module, kind, name):
    """The package finds no `name` any more in a class of numba."""
    owner = getattr(importlib.import_module(module), kind)
    setattr(owner, name, Gone(name, getattr(owner, name)))


if __name__ == "__main__":
    import river_budget as rb

    model = rb.RBPClassifier(5, seed=1)
    if len(sys.argv) > 1:
        take_away(*sys.argv[1:])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for i in range(60):
            model.learn_one({"a": i % 7 / 7, "b": i % 3}, i % 2 == 0)
            print(repr(model.decision_function_one({"a": 0.5})))
    print(*{str(each.message) for each in seen if each.category is RuntimeWarning}, sep="\n")
