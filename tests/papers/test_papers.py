"""What the papers' tables are there to show, measured by the records of the experiments: slow.

`pytest -m slow tests/papers/test_papers.py -s` prints the tables.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from conftest import DATA
from papers.printed import paper2010, paper2018
from papers.printed.paper2018 import ADULT, grid
from papers.records import reports
from papers.records.records import Record, rows
from papers.records.tasks import Store, measure

from river_budget.experiments.common.tables import as_text

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="no real datasets here"),
]
LEAST = {"usps": 91.0, "letter": 75.5, "waveform": 85.9, "checkerboard": 99.0}


def measured(record, store, capsys, jobs=2):
    """{algorithm: row}, after the table is printed."""
    measure(record.tasks(), store, jobs)
    found = rows(record, store)
    with capsys.disabled():
        print("", as_text(*reports.table(record, found)), sep="\n")
    return {row.cell.row: row for row in found}


@pytest.mark.parametrize("data", LEAST)
def test_merging_and_projection_are_far_better_than_removal(data, tmp_path, capsys):
    (record,) = (r for r in paper2010.records() if r.name == "2010-table-1")
    cells = tuple(cell for cell in record.cells if cell.column == f"{data}, B = 100")
    found = measured(Record(**(vars(record) | {"cells": cells})), Store(tmp_path), capsys)
    assert found["merge"].mean >= LEAST[data]
    for better in ("merge", "project"):
        for removal in ("random", "smallest"):
            assert found[better].mean > found[removal].mean + 8


def test_merging_more_at_once_is_as_accurate(tmp_path, capsys):
    setting = dataclasses.replace(ADULT, budgets=(500,))
    cells = tuple(paper2018.budgeted(grid((setting,), (2, 3, 4, 5))))
    record, store = Record("2018-figure-0", "", "accuracy, %", 1, cells), Store(tmp_path)
    found = list(measured(record, store, capsys, jobs=1).values())
    spent = [
        min(paper2018.shares_of_merging(cell, store)) * row.seconds
        for cell, row in zip(cells, found, strict=True)
    ]
    with capsys.disabled():
        print(  # and less time goes into maintenance; how much less is for a quiet machine to say
            "maintenance against M = 2:", [f"{spent[0] / each:.2f} times faster" for each in spent]
        )
    two, three, *_, five = found
    error = np.hypot(two.deviation, three.deviation) / 5**0.5
    assert three.mean >= two.mean - max(1.0, 2.0 * error)
    assert five.runs == 5
