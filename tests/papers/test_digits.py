"""The figures that the authors of 2016 printed, from their own data in their own 20 orders.

J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016, tables 5, 7, 9:
mean and standard deviation of the mistakes in percent, or of the squared error. Rows without randomness
are met to the last digit, the others within what the paper prints as their scatter.
"""

from __future__ import annotations

import pytest
from conftest import DATA
from papers.printed import paper2016
from papers.records.records import measured
from papers.records.tasks import Store, measure

CELLS = [
    pytest.param(record.unit, cell, id=f"{cell.column}-{cell.row}")
    for record in paper2016.records()
    for cell in record.cells
    if cell.expected
]


@pytest.mark.skipif(not (DATA / "lsokl").is_dir(), reason="the authors' matrices are not here")
@pytest.mark.parametrize(("unit", "cell"), CELLS)
def test_the_printed_digits_are_met(unit, cell, tmp_path):
    store = Store(tmp_path)
    measure(cell.tasks, store, 1)
    row = measured(cell, store, unit)
    assert row.runs == 20
    assert not row.short, (row.mean, row.deviation, row.verdict)


def test_rows_without_randomness_are_those_of_the_authors_programs():
    exact = [case.values[1] for case in CELLS if case.values[1].expected == "EXACT"]
    assert len(exact) == 35
    assert {cell.column for cell in exact} == {"german", "dna", "housing", "satimage", "mg"}
