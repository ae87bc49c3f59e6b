"""Models per key on disk: those that wait there, checkpoints, and files."""

from __future__ import annotations

import contextlib
import json
import sqlite3

import pytest
from forging import parts_of, zipped
from keyed import (
    MODEL,
    N,
    be_late,
    chunks,
    content_of,
    keyed,
    progressive,
    rows,
    shards_of,
    values_of,
)
from keyed_forging import keyed_file
from models import learned
from river import naive_bayes, preprocessing

import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.distributed.keyed import storage
from river_budget.distributed.keyed.keys import unpacked
from river_budget.distributed.keyed.storage import Folder
from river_budget.kernels import RBF

SCALED = preprocessing.StandardScaler() | MODEL


# models that wait on disk


@pytest.mark.parametrize("model", [MODEL, SCALED, naive_bayes.GaussianNB()], ids=repr)
def test_models_that_wait_on_disk_are_the_same(model, file, tmp_path):
    X, y = rows()
    with (
        keyed(model) as unlimited,
        keyed(model, max_keys=6, checkpoint=tmp_path / "c", checkpoint_every=150) as models,
    ):
        expected = progressive(unlimited, X, y, 40)
        for some in chunks(N, 40):
            answers = models.predict_then_learn_many(X[some], y[some])
            assert values_of(answers) == expected[some]
            assert models.n_resident <= 6
        assert models.keys() == unlimited.keys()
        assert models.predict_many(X).tolist() == unlimited.predict_many(X).tolist()
        if not isinstance(model, naive_bayes.GaussianNB):  # pickles of equal models may differ
            assert content_of(models, file) == content_of(unlimited, tmp_path / "other")


def test_those_that_were_used_longest_ago_wait(tmp_path):
    with keyed(shards=1, max_keys=2, checkpoint=tmp_path) as models:
        for key in ("a", "b", "a", "c", "d"):
            models.learn_many([{"key": key, "x": 1.0}], ["y"])
        models.predict_many([{"key": "c", "x": 1.0}])
        models.learn_many([{"key": "e", "x": 1.0}], ["y"])
        (shard,) = shards_of(models)
        assert [unpacked(name) for name in shard.models] == ["c", "e"]
        assert models.keys() == list("abcde")


# checkpoints


def disturbed(folder, X, y, stop, **options):
    """A run that ends in an error after so many rows."""
    with contextlib.suppress(InterruptedError), keyed(checkpoint=folder, **options) as models:
        for some in chunks(stop, 20):
            models.learn_many(X[some], y[some])
        raise InterruptedError


def test_closing_writes_a_last_checkpoint_and_an_error_does_not(tmp_path):
    X, y = rows()
    disturbed(tmp_path / "a", X, y, 100)
    with keyed(checkpoint=tmp_path / "a") as models:
        assert (models.rows_done, models.keys()) == (0, [])
        models.learn_many(X, y)
        assert models.rows_saved == 0
    assert models.rows_saved == N
    with keyed(checkpoint=tmp_path / "a") as models:
        assert models.rows_done == N


def test_a_checkpoint_can_be_asked_for(tmp_path):
    X, y = rows()
    with keyed(checkpoint=tmp_path) as models:
        models.learn_many(X, y)
        models.write_checkpoint()
        assert models.rows_saved == models.rows_done == N
    with keyed() as models, pytest.raises(ValueError, match="checkpoint is None"):
        models.write_checkpoint()


@pytest.mark.parametrize("victim", [0, 1])
def test_a_checkpoint_that_only_one_shard_has_written_does_not_count(victim, file, tmp_path):
    X, y = rows()
    with keyed(checkpoint=tmp_path / "c", max_keys=6) as models:
        models.learn_many(X[:200], y[:200])
        models.write_checkpoint()
        expected = content_of(models, file)
        models.learn_many(X[200:], y[200:])
        models._coordinator.ask(victim, "seal", 2, 1)
        models._coordinator.stop()
    with keyed(checkpoint=tmp_path / "c", max_keys=6) as models:
        assert models.rows_done == 200
        assert content_of(models, file) == expected


def test_a_checkpoint_is_noted_when_all_shards_have_written_it(tmp_path, monkeypatch):
    """At the moment of the note, with shards that are late: what the databases hold then."""
    noted, complete = [], Folder.complete

    def look(folder, checkpoint, rows):
        written = []
        for path in sorted(folder.path.glob("*.sqlite")):
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                written += database.execute("SELECT max(checkpoint) FROM models").fetchone()
        noted.append((checkpoint, written))
        complete(folder, checkpoint, rows)

    be_late(monkeypatch)
    monkeypatch.setattr(Folder, "complete", look)
    X, y = rows()
    with keyed(checkpoint=tmp_path, shards=3) as models:
        for some in chunks(N, 200):
            models.learn_many(X[some], y[some])
            models.write_checkpoint()
    assert noted[:3] == [(number, [number] * 3) for number in (1, 2, 3)]


def test_a_checkpoint_that_fails_is_made_up_for_by_the_next(file, tmp_path):
    X, y = rows()
    odd = [{"key": "odd", "a": 1.0}]
    with keyed(checkpoint=tmp_path / "c", max_keys=6, shards=3) as models:
        models.learn_many(X, y)
        models.write_checkpoint()
        models.learn_many(odd, [frozenset("a")])
        models.learn_many(X, y)
        with pytest.raises(rb.SavedModelError, match="labels"):
            models.write_checkpoint()
        models._coordinator.stop()
    with keyed(checkpoint=tmp_path / "c", max_keys=6, shards=3) as models, keyed() as once:
        assert models.rows_done == N
        once.learn_many(X, y)
        assert content_of(models, file) == content_of(once, tmp_path / "other")


def test_an_error_of_a_model_comes_before_the_checkpoint_that_would_count_its_rows(
    tmp_path, monkeypatch
):
    be_late(monkeypatch)
    options = {"checkpoint": tmp_path, "checkpoint_every": 3}
    with keyed(rb.SBPClassifier(5, RBF(0.5)), **options) as models:
        with pytest.raises(ValueError, match="third class"):
            models.learn_many([{"key": 1, "a": 1.0}] * 3, ["x", "y", "z"])
        assert models.rows_saved == 0


def test_a_folder_of_other_models_is_refused(tmp_path):
    with keyed(checkpoint=tmp_path) as models:
        models.learn_many(*rows(20))
    for changes, message in [
        ({"model": rb.BSGDClassifier(6, RBF(0.5), seed=1)}, "model="),
        ({"key": "f0"}, "key="),
        ({"shards": 3}, "shards="),
    ]:
        options = {"model": MODEL, "key": "key", "shards": 2} | changes
        with pytest.raises(ValueError, match=message):
            KeyedModels(**options, checkpoint=tmp_path, backend="serial")


def test_two_cannot_use_one_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "PATIENCE", 0.05)
    with keyed(checkpoint=tmp_path), pytest.raises(RuntimeError, match="in use"):
        keyed(checkpoint=tmp_path)


def test_a_checkpoint_holds_each_model_once(tmp_path):
    X, y = rows()
    with keyed(checkpoint=tmp_path, checkpoint_every=50, max_keys=6) as models:
        progressive(models, X, y, 50)
        models.write_checkpoint()
        size = len(models)
    note = json.loads((tmp_path / "keyed_models.json").read_text())
    assert note["rows"] == N
    stored = 0
    for path in sorted(tmp_path.glob("*.sqlite")):
        with sqlite3.connect(path) as database:
            stored += database.execute("SELECT count(*) FROM models").fetchone()[0]
    assert size <= stored <= 3 * size


# files


@pytest.mark.parametrize("model", [MODEL, SCALED], ids=repr)
def test_learning_goes_on_from_a_file(model, file, tmp_path):
    X, y = rows()
    with keyed(model) as whole:
        progressive(whole, X[:400], y[:400])
        whole.save(file)
        expected = progressive(whole, X[400:], y[400:])
        content = content_of(whole, tmp_path / "whole")
    for options in ({"shards": 3}, {"checkpoint": tmp_path / "c", "max_keys": 5}):
        with KeyedModels.load(file, backend="serial", **options) as models:
            assert models.rows_done == 400
            assert progressive(models, X[400:], y[400:]) == expected
            assert content_of(models, tmp_path / "again") == content
    with keyed(model, checkpoint=tmp_path / "c") as models:
        assert content_of(models, tmp_path / "again") == content


def test_a_file_does_not_go_into_a_folder_that_is_in_use(file, tmp_path):
    with keyed(checkpoint=tmp_path / "c") as models:
        models.learn_many(*rows(20))
        models.save(file)
    with pytest.raises(ValueError, match="new folder"):
        KeyedModels.load(file, checkpoint=tmp_path / "c", backend="serial")


def test_pickled_models_are_read_only_if_that_is_wished(file):
    X, y = rows()
    with keyed(naive_bayes.GaussianNB()) as models:
        models.learn_many(X, y)
        models.save(file)
        expected = models.predict_many(X).tolist()
    with pytest.raises(rb.SavedModelError, match="allow_pickle=True"):
        KeyedModels.load(file, backend="serial")
    with KeyedModels.load(file, backend="serial", allow_pickle=True) as models:
        assert models.predict_many(X).tolist() == expected


def test_a_damaged_file_is_refused(file):
    with keyed() as models:
        models.learn_many(*rows(50))
        content = content_of(models, file)
    damaged = [content[:length] for length in (0, 5, 30, len(content) - 1)]
    for place in (0, 60, len(content) // 2):
        damaged.append(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    for data in damaged:
        file.write_bytes(data)
        with pytest.raises(rb.SavedModelError):
            KeyedModels.load(file, backend="serial")
    rb.save(learned(MODEL), file)
    with pytest.raises(rb.SavedModelError, match="KeyedModels"):
        KeyedModels.load(file, backend="serial")


@pytest.mark.parametrize(
    ("about", "culprit"),
    [
        (b"[]", "format"),
        (b"{", "JSON"),
        (b'{"format": 1, "form": "saved", "key": "user"}', "no key, rows"),
        (b'{"format": 1, "form": "other", "key": "user", "rows": 0}', "form"),
        (b'{"format": 9, "form": "saved", "key": "user", "rows": 0}', "format 9"),
        (b'{"format": 1, "form": "saved", "key": "user", "rows": 0}', "no model saved"),
    ],
)
def test_a_forged_head_is_refused(about, culprit, file):
    file.write_bytes(keyed_file(about, b"no template", []))
    with pytest.raises(rb.SavedModelError, match=culprit):
        KeyedModels.load(file, backend="serial")


@pytest.mark.parametrize("cut", [1, 7, 8, 12, 100, -1])
def test_models_that_are_cut_off_are_refused(cut, file):
    with keyed() as models:
        models.learn_many(*rows(50))
        parts = parts_of(content_of(models, file))
    parts["models"] = parts["models"][:cut] + (2**62).to_bytes(8, "little") * (cut == 100)
    file.write_bytes(zipped(parts.items()))
    with pytest.raises(rb.SavedModelError):
        KeyedModels.load(file, backend="serial")
