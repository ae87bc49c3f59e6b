"""What is written over: regular files, and nothing else. Each in a process that must end."""

from __future__ import annotations

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

path = sys.argv[1]
model = rb.RBPClassifier(5, seed=1)
model.learn_one({"a": 1.0}, True)
table = path + ".csv"
with open(table, "w") as file:
    file.write("a,y\\n" + "".join(f"{i % 7},{i % 7 > 3}\\n" for i in range(60)))

def command():
    with contextlib.redirect_stderr(io.StringIO()) as said:
        if main(["try", table, "--target", "y", "--save", path]):
            raise RuntimeError(said.getvalue())

writers = {
    "save": lambda: rb.save(model, path),
    "keyed": lambda: KeyedModels(model, "key", backend="serial").save(path),
    "command": command,
}
if importlib.util.find_spec("onnx"):
    import river_budget.export
    writers["onnx"] = lambda: rb.export.onnx(model, path)
for name, write in writers.items():
    try:
        write()
    except (OSError, RuntimeError) as error:
        assert "no regular file" in str(error), (name, error)
    else:
        raise AssertionError(name)
"""


def pipe(path):
    os.mkfifo(path)


def link_to_a_device(path):
    os.symlink(os.devnull, path)


def folder(path):
    os.mkdir(path)


def device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError:
        pytest.skip("needs the right to make devices")


def kind_of(path):
    found = os.lstat(path)
    return found.st_mode, found.st_ino, found.st_rdev


@pytest.mark.parametrize("made", [pipe, device, link_to_a_device, folder])
def test_what_is_no_regular_file_is_not_replaced(made, tmp_path):
    path = tmp_path / "model"
    made(path)
    before = kind_of(path)
    status, _, errors = ended(CHILD, path)
    assert status == 0, errors
    assert kind_of(path) == before
    assert not list(tmp_path.glob(".*"))


SAVED_AS_KNOWN = """
import secrets, sys
import river_budget as rb
secrets.token_hex = lambda n: "known"
try:
    rb.save(rb.RBPClassifier(5), sys.argv[1])
except FileExistsError as error:
    assert "known" in str(error)
else:
    raise AssertionError
"""


@pytest.mark.parametrize("made", [pipe, link_to_a_device])
def test_a_draft_neither_opens_nor_follows_what_has_its_name(made, tmp_path):
    """The name is random: it is taken only if somebody knows it."""
    draft = tmp_path / f"{files.DRAFT_PREFIX}known.tmp"
    made(draft)
    before = kind_of(draft)
    status, _, errors = ended(SAVED_AS_KNOWN, tmp_path / "model")
    assert status == 0, errors
    assert kind_of(draft) == before
    assert list(tmp_path.iterdir()) == [draft]


def test_no_two_drafts_have_one_name(tmp_path, monkeypatch):
    names, replace = set(), os.replace

    def noted(draft, place):
        names.add(os.path.basename(draft))
        replace(draft, place)

    monkeypatch.setattr(os, "replace", noted)
    for _ in range(20):
        rb.save(rb.BSGDClassifier(7), tmp_path / "model")
    assert len(names) == 20
    assert min(map(len, names)) >= 32


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
