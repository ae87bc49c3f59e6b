"""Forged files and checkpoints of models per key are refused. In another process: a crash would end
it.
"""

from __future__ import annotations

import contextlib
import sqlite3

import pytest
from folders import PYTHONPATH
from keyed import keyed, rows
from processes import ended

import river_budget as rb

WORKS = "code_in_states pairs_in_files frozen_states pairs_in_checkpoints keys anything"
FORGE = """
import pathlib, sys, keyed_forging
for work in sys.argv[2:]:
    print(work, flush=True)
    folder = pathlib.Path(sys.argv[1]) / work
    folder.mkdir()
    getattr(keyed_forging, work)(folder)
"""


@pytest.mark.slow
def test_forged_models_per_key_are_refused(tmp_path):
    status, done, errors = ended(FORGE, tmp_path, *WORKS.split(), PYTHONPATH=PYTHONPATH)
    assert status == 0, f"{done}\n{errors}"
    assert set(WORKS.split()) <= set(done.split())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_20_000_forged_files_of_keyed_models_end_no_process(seed, tmp_path):
    code = "import sys, keyed_forging; keyed_forging.anything(sys.argv[1], 5000, sys.argv[2])"
    status, output, errors = ended(code, tmp_path, seed, limit=1800, PYTHONPATH=PYTHONPATH)
    assert status == 0, errors
    print(output)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER later AFTER INSERT ON models BEGIN DELETE FROM models; END",
        "CREATE VIEW other AS SELECT * FROM models",
        "ALTER TABLE models ADD COLUMN more",
    ],
)
def test_a_database_with_more_than_its_table_is_refused(statement, tmp_path):
    with keyed(checkpoint=tmp_path) as models:
        models.learn_many(*rows(20))
    with contextlib.closing(sqlite3.connect(tmp_path / "shard-0.sqlite")) as database:
        database.execute(statement)
        database.commit()
    with pytest.raises(rb.SavedModelError, match="no database"):
        keyed(checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE models SET state = ?", "text"),
        ("UPDATE models SET state = ?", 7),
        ("UPDATE models SET state = ?", None),
        ("INSERT INTO models VALUES (?, 1, x'00')", "text"),
        ("INSERT INTO models VALUES (?, 1, x'00')", b"no key"),
        ("INSERT INTO models VALUES (?, 1, x'00')", None),
    ],
)
def test_a_database_with_odd_values_is_refused(statement, value, tmp_path):
    X, y = rows(60)
    with keyed(checkpoint=tmp_path, shards=1) as models:
        models.learn_many(X, y)
    with contextlib.closing(sqlite3.connect(tmp_path / "shard-0.sqlite")) as database:
        database.execute(statement, (value,))
        database.commit()
    models = keyed(checkpoint=tmp_path, shards=1)
    with pytest.raises(rb.SavedModelError):  # noqa: PT012, whichever meets it first
        models.keys()
        models.predict_many(X)
    models._coordinator.stop()
