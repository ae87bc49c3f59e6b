"""The record of addresses and sizes that the dict reader needs; model/calls/fast_path.py fills it."""

from __future__ import annotations

import numpy as np

from ..compiling.array_views import carver

ENTRY = np.dtype(
    (
        np.record,
        [
            ("busy", "i8"),  # 1 while an example is being read into the arrays of the calls
            ("nothing", "i8"),  # the address of None
            ("true", "i8"),  # that of True
            # address of a counter of changes that take places from names; its value when this record was made
            ("given_back", "i8"),
            ("version", "i8"),
            # addresses of the passes that score and learn, or 0; whether the model is large: passes release the GIL
            ("scoring", "i8"),
            ("learning", "i8"),
            ("large", "i8"),
            # addresses of the passes' arguments (core/examples/call.py), with a row and with a list, or 0
            ("row", "i8"),
            ("list", "i8"),
            # known names
            ("places", "i8"),  # the dict {name: place}
            ("known", "i8"),  # its length
            ("names", "i8"),  # the names by place, for whole rows
            ("expected", "i8"),  # the names of the last whole row, in its own order
            ("expected_places", "i8"),
            # models that add and forget names during a stream
            ("fixed", "i8"),  # 1 in models that do not
            ("vacant", "i8"),  # the free places; the last ones are assigned first
            ("left", "i8"),  # the address of the number of free places
            ("new_names", "i8"),  # whether examples may have new names: 2 if names need no places
            ("names_at", "i8"),  # the name at each place, or 0
            ("strangers", "i8"),  # the new names of an example, with a reference to each
            ("new", "i8"),  # the number of new names
            ("met", "i8"),  # total number of unknown names in learned examples
            ("look", "i8"),  # the arrival at which Python reconsiders the storage of vectors
            ("thin", "i8"),  # sparse storage from so many known features per present one on
            # addresses of types, and of the table of CRC-32
            ("dicts", "i8"),
            ("numbers", "i8"),
            ("text", "i8"),
            ("whole", "i8"),
            ("several", "i8"),  # tuple, the type of names such as n-grams of words
            ("remainders", "i8"),
            ("key_mask", "i8"),  # the bits of keys that are used: all, except in tests
            # output arguments of functions of CPython
            ("position", "i8"),
            ("key", "i8"),
            ("value", "i8"),
            ("size", "i8"),
            # of a scaler (core/examples/scaled_dict.py): what it does, and addresses of its arrays
            ("scaling", "i8"),
            ("columns", "i8"),  # the number of places
            ("statistics", "i8"),  # three numbers for each place, as a matrix of three rows
            ("numbers_read", "i8"),  # the values of the last example
        ],
    )
)
POSITION, KEY, VALUE, LENGTH = (
    int(ENTRY.fields[name][1])  # type: ignore[index]
    for name in ("position", "key", "value", "size")
)
N_DICTS, N_NUMBERS = np.int64(4), np.int64(12)  # types

entry_at = carver(ENTRY, 0)
