"""Where each public name is loaded from: what the stub `__init__.pyi` says, which type checkers read as well."""

from __future__ import annotations

import pkgutil
import re

ON_DEMAND = "  # on demand"
_STUB = (pkgutil.get_data("river_budget", "__init__.pyi") or b"").decode()
_FROM_MODULES = re.findall(r"^from \.([\w.]+) import \(?\s*(\w+)", _STUB, re.M)
_MODULES = re.findall(r"^from \. import (\w+) as \w+(.*)", _STUB, re.M)

# {name of a class or function: module inside the package}
PLACES = {name: module for module, name in _FROM_MODULES}
# modules that `import *` takes, and those that it leaves out, as they load much or need an extra
MODULES = [name for name, mark in _MODULES if mark != ON_DEMAND]
MODULES_ON_DEMAND = [name for name, mark in _MODULES if mark == ON_DEMAND]
