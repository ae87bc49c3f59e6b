"""Checkpoint: model and position in one file, found again after a restart; and the guide's loop
over Kafka.
"""

from __future__ import annotations

import os
import random

import guide
import pytest
from folders import ROOT

import river_budget as rb
from river_budget.saving import files
from river_budget.saving.checkpoint import SUFFIX

STREAM = [({"a": t % 7, "b": t % 3}, t % 7 > 3) for t in range(3000)]


def fresh():
    return rb.StandardScaler() | rb.RBPClassifier(10, seed=1)


def names(folder):
    return sorted(int(path.stem) for path in folder.glob("*.rb"))


def teach(checkpoint, model, first, last):
    saved = 0
    for t in range(first, last):
        model.learn_one(*STREAM[t])
        saved += checkpoint.learned(model, t + 1)
    return saved


def test_it_saves_every_so_many_and_keeps_the_newest(tmp_path):
    checkpoint = rb.Checkpoint(tmp_path / "new" / "folder", every=100, keep=3)
    model, position = checkpoint.restore(fresh())
    assert position is None
    assert teach(checkpoint, model, 0, 1050) == 10
    assert names(checkpoint.folder) == [800, 900, 1000]
    assert checkpoint.save(model, 1050)
    assert not checkpoint.save(model, 1050)  # nothing was learned since
    assert names(checkpoint.folder) == [900, 1000, 1050]
    assert rb.load(checkpoint.folder / f"{1050:015}.rb")[-1].n_examples == 1050


def test_it_goes_on_where_it_was(tmp_path):
    model = fresh()
    teach(rb.Checkpoint(tmp_path, every=100), model, 0, 250)
    checkpoint = rb.Checkpoint(tmp_path, every=100)
    again, position = checkpoint.restore(fresh())
    assert (position, checkpoint.examples) == (200, 200)
    assert not checkpoint.save(again, position)
    assert teach(checkpoint, again, position, 399) == 1
    teach(rb.Checkpoint(tmp_path / "other"), model, 250, 399)
    assert again.predict_proba_one({"a": 3, "b": 1}) == model.predict_proba_one({"a": 3, "b": 1})
    assert names(tmp_path) == [100, 200, 300]


@pytest.mark.parametrize(
    "position", [None, 7, "2024-05-31", {0: 12, 1: 2**60}, {"orders": {3: 4}}, ("a", 1)]
)
def test_positions_are_kept_as_they_are(position, tmp_path):
    checkpoint = rb.Checkpoint(tmp_path, every=1)
    assert checkpoint.learned(fresh(), position)
    assert checkpoint.restore(None)[1] == position


def test_a_position_that_cannot_be_kept_is_refused_and_no_file_is_written(tmp_path):
    checkpoint = rb.Checkpoint(tmp_path, every=1)
    with pytest.raises(rb.SavedModelError, match="cannot be saved"):
        checkpoint.learned(fresh(), {1, 2})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [lambda data: data[:-30], lambda data: b"", lambda data: b"PK"])
def test_a_damaged_file_is_passed_over(damage, tmp_path):
    teach(rb.Checkpoint(tmp_path, every=100), fresh(), 0, 300)
    newest = tmp_path / f"{300:015}.rb"
    newest.write_bytes(damage(newest.read_bytes()))
    checkpoint = rb.Checkpoint(tmp_path, every=100)
    with pytest.warns(UserWarning, match=r"0300.rb is passed over"):
        model, position = checkpoint.restore(fresh())
    assert (model[-1].n_examples, position) == (200, 200)
    teach(checkpoint, model, 200, 300)  # its file has a higher number than the damaged one
    assert names(tmp_path) == [200, 300, 400]
    again, position = rb.Checkpoint(tmp_path).restore(fresh())
    assert (again[-1].n_examples, position) == (300, 300)


def test_files_of_others_are_left_alone_and_drafts_are_removed(tmp_path):
    rb.save(fresh(), tmp_path / "mine.rb")
    (tmp_path / "12.txt").write_text("mine")
    draft = tmp_path / f"{files.DRAFT_PREFIX}12ab.tmp"
    draft.write_bytes(b"half a model")
    checkpoint = rb.Checkpoint(tmp_path, every=1, keep=1)
    assert checkpoint.restore(None) == (None, None)
    assert not draft.exists()
    teach(checkpoint, fresh(), 0, 3)
    assert {path.name for path in tmp_path.iterdir()} == {"mine.rb", "12.txt", f"{3:015}.rb"}


def test_a_full_disk_leaves_the_files_that_are_there(tmp_path, monkeypatch):
    checkpoint, model = rb.Checkpoint(tmp_path, every=100), fresh()
    teach(checkpoint, model, 0, 199)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        teach(checkpoint, model, 199, 200)
    assert [path.name for path in tmp_path.iterdir()] == [f"{100:015}.rb"]
    monkeypatch.undo()
    assert checkpoint.save(model, 200)


@pytest.mark.parametrize("parameters", [{"every": 0}, {"keep": 0}, {"every": 1.5}])
def test_parameters_are_checked(parameters, tmp_path):
    with pytest.raises((TypeError, ValueError), match=r"every|keep"):
        rb.Checkpoint(tmp_path, **parameters)


# the loop of the guide


class Metric:
    def update(self, y, guess):
        pass


@pytest.fixture(scope="module")
def page():
    """What the guide's page on Kafka defines."""
    found = {}
    for code in guide.blocks(ROOT / "examples" / "guide" / "kafka.md", "python")[:2]:
        lines = [line for line in code.splitlines() if line.startswith((">>> ", "... "))]
        exec("\n".join(line[4:] for line in lines), found)
    return found


def test_the_loop_of_the_guide_learns_each_example_once_however_often_it_is_killed(page, tmp_path):
    rng = random.Random(1)
    offsets = sorted(rng.sample(range(5000), 1000))
    rows = [
        page["Message"](offset, {"a": t % 7, "b": t % 3, "y": t % 7 > 3})
        for t, offset in enumerate(offsets)
    ]
    undisturbed = page["follow"](page["Consumer"](rows), rb.Checkpoint(tmp_path / "a"), Metric())
    kills, model = 0, None
    while model is None:
        consumer = page["Consumer"](rows, dies=rng.randrange(2, 600))
        try:
            model = page["follow"](consumer, rb.Checkpoint(tmp_path / "b", every=30), Metric())
        except KeyboardInterrupt:
            kills += 1
    assert kills > 0
    assert model[-1].n_examples == 1000
    x = {"a": 3, "b": 1}
    assert model.predict_proba_one(x) == undisturbed.predict_proba_one(x)
    assert len(names(tmp_path / "b")) == 3


def test_the_loop_of_the_guide_stops_at_errors(page, tmp_path):
    class Broken(page["Message"]):
        def error(self):
            return "broker is gone"

    consumer = page["Consumer"]([Broken(0, {})])
    with pytest.raises(RuntimeError, match="broker is gone"):
        page["follow"](consumer, rb.Checkpoint(tmp_path), Metric())


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_passed_over(kind, tmp_path):
    checkpoint = rb.Checkpoint(tmp_path, every=1)
    model = fresh()
    teach(checkpoint, model, 0, 3)
    path = tmp_path / f"{9:015}{SUFFIX}"
    if kind == "folder":
        path.mkdir()
    elif hasattr(os, "mkfifo"):
        os.mkfifo(path)
    else:
        pytest.skip("needs pipes")
    with pytest.warns(UserWarning, match="is passed over"):
        _, position = rb.Checkpoint(tmp_path, every=1).restore(fresh())
    assert position == 3
