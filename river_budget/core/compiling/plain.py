"""Whether to use nothing of numba and CPython but what they document: RIVER_BUDGET_PLAIN=1, read once, at import.

A numba or a Python that has changed inside may break what is private to them. With this switch the same models give the
same results to the bit, slower. So it tells whether a fault comes from there, and it is a way to go on until that is fixed.

Switched off are:

- our own steps of compilation, wide vectors among them (core/compiling/numba_pipeline.py), and functions that are compiled only within
  their callers (core/compiling/linking.py): a first use takes several times as long;
- the cache of compiled functions on disk: every process compiles anew. numba's own cache looks only at the file that a
  function stands in, and a caller would keep an old copy of a callee that was edited in another file;
- the addresses of compiled functions taken out of numba's dispatchers: functions that passes share (core/compiling/by_address.py) are
  `numba.cfunc`s, which have an address that numba documents;
- the reader of dicts, two functions of C that know how CPython calls such functions (model/calls/fast_path.py): examples go the
  long way, through Python.

What remains is what numba offers to authors of extensions, `numba.extending` with the types, models, cgutils and contexts
that go with it, and llvmlite's builder. Some of it numba shows by example only: `AttributeTemplate`, `make_array` and
`populate_array` of numba.np.arrayobj, and the options `no_cpython_wrapper`, `no_cfunc_wrapper` and `forceinline`.
"""

from __future__ import annotations

import os

VARIABLE = "RIVER_BUDGET_PLAIN"
PLAIN = os.environ.get(VARIABLE, "") not in ("", "0")
