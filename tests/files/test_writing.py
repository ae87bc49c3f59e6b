"""What is written over: regular files, and nothing else."""

from __future__ import annotations

import contextlib
import os
import stat

import pytest
from processes import ended

import river_budget as rb
from river_budget.saving import files

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")

CHILD = """
import contextlib, importlib.util, io, sys
import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.experiments.command.main import main

table, *paths = sys.argv[1:]
model = rb.RBPClassifier(5, seed=1)
model.learn_one({"a": 1.0}, True)

def command(path):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        if main(["try", table, "--target", "y", "--models", "RBP", "--save", path]):
            raise RuntimeError(said.getvalue())

writers = {
    "save": lambda path: rb.save(model, path),
    "keyed": lambda path: KeyedModels(model, "key", backend="serial").save(path),
    "command": command,
}
if importlib.util.find_spec("onnx"):
    import river_budget.export
    writers["onnx"] = lambda path: rb.export.onnx(model, path)
for path in paths:
    for name, write in writers.items():
        try:
            write(path)
        except (OSError, RuntimeError) as error:
            assert "no regular file" in str(error), (name, error)
        else:
            raise AssertionError((name, path))
"""


def device(path):
    with contextlib.suppress(OSError):  # it needs the right to make devices
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


def kind_of(path):
    found = os.lstat(path)
    return found.st_mode, found.st_ino, found.st_rdev


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    """By no writer, in a process that must end."""
    table, folder = tmp_path / "table.csv", tmp_path / "models"
    table.write_text("a,y\n" + "".join(f"{i % 7},{i % 7 > 3}\n" for i in range(60)))
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    os.symlink(os.devnull, folder / "link to a device")
    os.mkdir(folder / "folder")
    device(folder / "device")
    before = {path: kind_of(path) for path in folder.iterdir()}
    status, _, errors = ended(CHILD, table, *before)
    assert status == 0, errors
    assert {path: kind_of(path) for path in folder.iterdir()} == before


def test_a_draft_does_not_follow_what_has_its_name(tmp_path, monkeypatch):
    """The name is random: it is taken only if somebody knows it."""
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "known")
    draft = tmp_path / f"{files.DRAFT_PREFIX}known.tmp"
    os.symlink(os.devnull, draft)
    before = kind_of(draft)
    with pytest.raises(FileExistsError, match="known"):
        rb.save(rb.RBPClassifier(5), tmp_path / "model")
    assert kind_of(draft) == before
    assert list(tmp_path.iterdir()) == [draft]


def test_what_comes_between_is_not_replaced(tmp_path, monkeypatch):
    """A pipe that somebody makes while the file is being written."""
    path, force = tmp_path / "model", os.fsync

    def fsync(handle):
        force(handle)
        os.mkfifo(path)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(FileExistsError, match="no regular file"):
        rb.save(rb.BSGDClassifier(7), path)
    assert stat.S_ISFIFO(os.lstat(path).st_mode)
    assert list(tmp_path.iterdir()) == [path]
