"""What compiled code needs in order to read an example by itself: addresses and sizes, made by model/calls/fast_path.py."""

from __future__ import annotations

import numpy as np

from ..compiling.array_views import carver

ENTRY = np.dtype(
    (
        np.record,
        [
            ("busy", "i8"),  # whether an example is being read into the calls
            ("nothing", "i8"),  # None
            ("true", "i8"),  # True
            # what counts how often names have lost their places, and when this was made
            ("given_back", "i8"),
            ("version", "i8"),
            # where the passes are, or 0; and whether others shall go on meanwhile
            ("scoring", "i8"),
            ("learning", "i8"),
            ("large", "i8"),
            # the calls that they are given, or 0
            ("row", "i8"),
            ("list", "i8"),
            # places of names
            ("places", "i8"),  # a dict
            ("known", "i8"),  # how many there are
            ("names", "i8"),  # of whole rows, by place
            ("expected", "i8"),  # the names of the last whole row, in its own order
            ("expected_places", "i8"),
            # where names come and go
            ("fixed", "i8"),  # whether they do not
            ("vacant", "i8"),  # places, of which the last are offered first
            ("left", "i8"),  # what counts them
            ("new_names", "i8"),  # whether there may be any
            ("names_at", "i8"),  # of each place, or 0
            (
                "strangers",
                "i8",
            ),  # the new names of an example, which are held while it is read and learned
            ("new", "i8"),  # how many these are
            ("met", "i8"),  # and have been, in examples that were learned
            ("look", "i8"),  # when it is looked at how vectors are stored
            ("thin", "i8"),
            # types, and the table of CRC-32
            ("dicts", "i8"),
            ("numbers", "i8"),
            ("text", "i8"),
            ("whole", "i8"),
            ("several", "i8"),  # a tuple, as of words that follow each other
            ("remainders", "i8"),
            ("key_mask", "i8"),  # the bits of keys that count: fewer in tests only
            # answers of the interpreter
            ("position", "i8"),
            ("key", "i8"),
            ("value", "i8"),
            ("size", "i8"),
        ],
    )
)
POSITION, KEY, VALUE, LENGTH = (
    int(ENTRY.fields[name][1])  # type: ignore[index]
    for name in ("position", "key", "value", "size")
)
N_DICTS, N_NUMBERS = np.int64(4), np.int64(12)  # types

entry_at = carver(ENTRY, 0)
