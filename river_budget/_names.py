"""Where each public name is loaded from: what the stub `__init__.pyi` says, which type checkers
read as well.
"""

from __future__ import annotations

import pkgutil
import re

MARK = "  # on demand"
_STUB = (pkgutil.get_data("river_budget", "__init__.pyi") or b"").decode()
_LINES = re.findall(r"^from (\.[\w.]*) import (?:\(\s*)?(\w+) as \w+(.*)", _STUB, re.M)

# {name of a class or function: module inside the package}
PLACES = {name: place[1:] for place, name, _ in _LINES if place != "."}
MODULES = [name for place, name, _ in _LINES if place == "."]
# what `import *` leaves out, as it loads much or needs an extra
ON_DEMAND = {name for _, name, mark in _LINES if mark == MARK}
