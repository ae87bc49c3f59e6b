"""Which features of AutoKernelRegressor get a column of target means, and how a model gets these
columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.auto import tables as core
from ...core.passes.auto.target_means import LEAST_VALUES, MOST_NAMES
from ...inputs.features import Category
from ..features.drawn import key_of

OTHER = "<other>"
GAPS = Category(("<missing>", "<number>"))  # how many gaps an example has


def decide(model: Any) -> None:
    """After its first rows: begin anew with these columns and learn the rows again, if there are
    such features.
    """
    names = model._features.in_rows
    rows = model._table("first_rows")[:, : 2 + len(names)].copy()
    coded = coded_in(names, rows[:, 2:])
    if not coded:  # a block without the kept rows would be another one, for a few kilobytes
        model._watches = model._state_record().watches = core.DECIDED
        return
    changed = model._snapshot()
    changed._n_means, changed._watches = len(coded), 0
    changed._create_block(len(coded) + len(names))
    # the same as if the columns had been there from the first example on
    memory.head_of(changed._block).gamma = memory.head_of(model._block).gamma
    for column, places in enumerate(coded):
        of_text = type(names[places[0]]) is Category
        changed._table("coded")[0, column] = core.TEXTS if of_text else places[0]
        if of_text:
            changed._table("texts")[core.COLUMN, places] = 1 + column
    changed.algorithm.columns.write(changed, names, range(len(names)))
    targets, weights = rows[:, 0].copy(), rows[:, 1].copy()
    changed._run_pass(rows[:, 2:].copy(), targets, weights, np.empty((len(rows), 1)))
    model._swap_in(changed)


def coded_in(names: list[Any], rows: Any) -> list[list[int]]:
    """The places of features whose values may be names, and of those of each column of text."""
    if GAPS in names:  # means that fill gaps are no names
        rows = rows[rows[:, names.index(GAPS)] == 0.0]
    n = len(names)
    most = core.MOST_MEANS if n > core.MOST_SQUARED else min(core.MOST_MEANS, core.MOST_SQUARED - n)
    texts, found = places_of_texts(names), list[list[int]]()
    whole = (rows == np.round(rows)).all(axis=0)
    for f, name in enumerate(names):
        places = texts.get(name[0], []) if type(name) is Category else [f]
        if places == [f] and type(name) is not Category:
            values = len(np.unique(rows[:, f])) if whole[f] else 0
        else:
            values = int((rows[:, places] != 0.0).any(axis=0).sum()) if f in places[:1] else 0
        if len(found) < most and LEAST_VALUES <= values <= MOST_NAMES:
            found.append(places)
    return found


def places_of_texts(names: Iterable[Any]) -> dict[Any, list[int]]:
    """{column: the places of its texts}"""
    found: dict[Any, list[int]] = {}
    for place, name in enumerate(names):
        if type(name) is Category and name != GAPS:
            found.setdefault(name[0], []).append(place)
    return found


def places_of_means(model: Any) -> list[Any]:
    """For each column of target means, the places of its feature, or of its texts."""
    room, found = model._tables, list[Any]()
    for column, place in enumerate(room["coded"][0].astype(int).tolist()):
        of_texts = np.flatnonzero(room["texts"][core.COLUMN] == 1 + column)
        found.append(of_texts if place == core.TEXTS else np.array([place]))
    return found


def write_means(model: Any, names: Collection[Any], places: Iterable[int]) -> None:
    """The keys of target means, and the columns to which new texts belong."""
    if not model._n_means:
        return
    keys, columns = model._table("keys")[0], model._table("texts")[core.COLUMN]
    new = dict(zip(places, names, strict=True))
    known = dict(enumerate(model._features.in_rows)) | new
    for column, of_column in enumerate(places_of_means(model)):
        name = known[int(of_column[0])]
        if type(name) is Category:
            for place, other in new.items():
                if type(other) is Category and other[0] == name[0] and other != GAPS:
                    columns[place] = 1 + column
            name = Category((name[0], OTHER))
        keys[column] = ~np.uint64(key_of(name, model._entropy))  # another one than of the feature
