"""Pickles of all makers, in another process; and in one whose layout is another."""

from __future__ import annotations

import copy
import functools
import io
import pickle
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest
from folders import PATHS, ROOT
from optional import package
from saved_models import ALL, answers, stream_of, taught, teach

import river_budget as rb
from river_budget.kernels import RBF

ONE_EACH = list({type(entry.values[0]): entry.values[0] for entry in ALL}.values())
PACKAGE = ROOT / "river_budget"


def dumps_of_joblib(model):
    file = io.BytesIO()
    package("joblib").dump(model, file)
    return file.getvalue()


MAKERS = {
    "pickle": pickle.dumps,
    "joblib": dumps_of_joblib,
    "cloudpickle": lambda model: package("cloudpickle").dumps(model),
    "copy": lambda model: pickle.dumps(copy.copy(model)),
    "deepcopy": lambda model: pickle.dumps(copy.deepcopy(model)),
}

CHILD = """
import io, pickle, sys
sys.path[:0] = folder, *_ = sys.argv[1:]
import river_budget
assert river_budget.__file__.startswith(folder), river_budget.__file__
answer = []
for maker, dump in pickle.loads(sys.stdin.buffer.read()):
    try:
        if maker == "joblib":
            import joblib
            model = joblib.load(io.BytesIO(dump))
        else:
            model = pickle.loads(dump)
    except TypeError as error:
        answer.append(str(error))
    else:
        from saved_models import answers, stream_of, teach
        stream = stream_of(model, 20, seed=1)
        before = answers(model, stream)
        teach(model, stream)
        answer.append([before, answers(model, stream)])
sys.stdout.buffer.write(pickle.dumps(answer))
"""


@functools.cache
def models():
    """One of each class, which has learned something."""
    fixed = [model.clone({"seed": 1} if "seed" in model.parameters() else {}) for model in ONE_EACH]
    return [taught(model, 30) for model in fixed]


def in_a_child(folder, *makers):
    """What a process with the package of this folder makes of such pickles."""
    dumps = [(maker, MAKERS[maker](model)) for maker in makers for model in models()]
    result = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), *PATHS],
        input=pickle.dumps(dumps),
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()
    return pickle.loads(result.stdout)


def test_another_process_goes_on():
    """With the pickles of all makers that are installed: it takes long to start."""
    others = {"joblib", "cloudpickle"}
    installed = [maker for maker in MAKERS if maker not in others or find_spec(maker)]
    found = iter(in_a_child(PACKAGE.parent, *installed))
    for maker in installed:
        for model in models():
            stream, twin = stream_of(model, 20, seed=1), copy.deepcopy(model)
            before = answers(twin, stream)
            teach(twin, stream)
            assert next(found) == [before, answers(twin, stream)], (maker, model)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("stamp scratch", "stamp novelty scratch"),  # a field added to the header
        ('_REALS = (\n    "gamma', '_REALS = (\n    "novelty gamma'),
        ("(h.width, h.capacity)", "(h.capacity, h.width)"),  # a table of another shape
        ("STATE_SIZE = 192", "STATE_SIZE = 256"),
    ],
)
def test_a_process_with_another_layout_refuses_and_names_the_way_out(old, new, tmp_path):
    shutil.copytree(
        PACKAGE, tmp_path / "river_budget", ignore=shutil.ignore_patterns("__pycache__")
    )
    layout = tmp_path / "river_budget" / "core" / "block" / "layout.py"
    text = layout.read_text()
    assert text.count(old) == 1
    layout.write_text(text.replace(old, new))
    maker = "joblib" if "stamp" in old else "pickle"
    for model, words in zip(models(), in_a_child(tmp_path, maker), strict=True):
        assert type(model).__name__ in words
        assert "rb.save" in words


def test_a_pickle_holds_no_row_of_another_thread():
    model = taught(rb.BSGDClassifier(5, RBF(1.0, {"f0": 2.0})), 10)
    model.learn_one(dict.fromkeys(model.features, 1.0), model.labels.known[0])  # with all names
    assert model.free_rows
    assert model.free_lists
    twin = pickle.loads(pickle.dumps(model))
    assert not twin.free_rows
    assert not twin.free_lists
