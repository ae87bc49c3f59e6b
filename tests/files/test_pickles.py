"""Pickles of all makers, in another process. (Of another layout: test_contracts.py.)"""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from importlib.util import find_spec

from folders import PATHS
from optional import package
from saved_models import ALL, answers, stream_of, taught, teach

import river_budget as rb
from river_budget.kernels import RBF

ONE_EACH = list({type(entry.values[0]): entry.values[0] for entry in ALL}.values())


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
sys.path[:0] = sys.argv[1:]
from saved_models import answers, stream_of, teach
answer = []
for maker, dump in pickle.loads(sys.stdin.buffer.read()):
    if maker == "joblib":
        import joblib
        model = joblib.load(io.BytesIO(dump))
    else:
        model = pickle.loads(dump)
    stream = stream_of(model, 20, seed=1)
    before = answers(model, stream)
    teach(model, stream)
    answer.append([before, answers(model, stream)])
sys.stdout.buffer.write(pickle.dumps(answer))
"""


def test_another_process_goes_on():
    """With the pickles of all makers that are installed: it takes long to start."""
    others = {"joblib", "cloudpickle"}
    installed = [maker for maker in MAKERS if maker not in others or find_spec(maker)]
    fixed = [
        model.clone({"seed": 1} if "seed" in model._parameters() else {}) for model in ONE_EACH
    ]
    models = [taught(model, 30) for model in fixed]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *PATHS],
        input=pickle.dumps(
            [(maker, MAKERS[maker](model)) for maker in installed for model in models]
        ),
        capture_output=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr.decode()
    found = iter(pickle.loads(child.stdout))
    for maker in installed:
        for model in models:
            stream, twin = stream_of(model, 20, seed=1), copy.deepcopy(model)
            before = answers(twin, stream)
            teach(twin, stream)
            assert next(found) == [before, answers(twin, stream)], (maker, model)


def test_a_pickle_holds_no_row_of_another_thread():
    model = taught(rb.BSGDClassifier(5, RBF(1.0, {"f0": 2.0})), 10)
    model.learn_one(dict.fromkeys(model._features, 1.0), model._labels.known[0])  # with all names
    assert model._free_rows
    assert model._free_lists
    twin = pickle.loads(pickle.dumps(model))
    assert not twin._free_rows
    assert not twin._free_lists
