"""A numba in which the package misses a private part; numba itself has it still.

`python tests/support/without_parts.py MODULE,CLASS,NAME ID...` prints what bits.py does, and the warnings. The part is
there at import, and gone when the first function is compiled.
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
    from bits import TABLE, digest

    part, *names = sys.argv[1:]
    take_away(*part.split(","))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for name in names:
            print(name, digest(TABLE[name]))
    print(*{str(each.message) for each in seen if each.category is RuntimeWarning}, sep="\n")
