"""Forged files and checkpoints of models per key, and what becomes of them.

A crash ends the process: tests run these functions in processes of their own (processes.ended).
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pickle
import random
import sqlite3
import warnings

import pytest
from forging import EVIL, forge, packed, unpacked, zipped
from river import compose, feature_selection, preprocessing
from saved_models import file_of, stream_of, teach

import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.kernels import RBF
from river_budget.maintenance import Project

A, B = b'"a"', b'"b"'  # keys
ABOUT = {"format": 1, "river_budget": rb.__version__, "form": "saved", "key": "key", "rows": 9}


def keyed_file(about, template, models):
    """A file with this head, this template and these models."""
    parts = [part for pair in models for part in pair]
    stream = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    head = about if isinstance(about, bytes) else json.dumps(about).encode()
    return zipped([("model.json", head), ("template", template), ("models", stream)])


def loaded(path, data, **options):
    """The models of a file with this content."""
    pathlib.Path(path).write_bytes(data)
    return KeyedModels.load(path, backend="serial", **options)


def is_refused(path, data, **options):
    try:
        loaded(path, data, **options).close()
    except rb.SavedModelError:
        return True
    return False


# Code in a file


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def code_in_states(folder):
    """Pickles as states of a template that loads and could not be saved, so that its clones would
    be pickled.
    """
    marker, path = os.path.join(folder, "was executed"), os.path.join(folder, "file")
    header, arrays = unpacked(file_of(rb.RBPClassifier(5, RBF(0.5, {"a": 1.0}))))
    scales = header["model"]["parameters"]["kernel"]["RBF"]["scales"]
    scales["dict"][0][0] = {"float": "nan"}
    evil = pickle.dumps(Evil(marker))
    plain = file_of(rb.RBPClassifier(5))
    for template in (packed(header, arrays), plain, evil):
        for form in ("saved", "pickled", "SAVED", "", None, ["pickled"]):
            data = keyed_file(ABOUT | {"form": form}, template, [(b'"ann"', evil)])
            assert is_refused(path, data), (form, template[:20])
    assert not os.path.exists(marker)
    with contextlib.suppress(Exception):  # a folder is no model
        loaded(path, keyed_file(ABOUT | {"form": "pickled"}, evil, []), allow_pickle=True)
    assert os.path.exists(marker), "the marker shows whether code has run"


# Models of another class or with other parameters than the template

RBP = rb.RBPClassifier(5, RBF(0.5), seed=1)
TEMPLATES = [
    RBP,
    RBP.clone({"budget": 50}),
    RBP.clone({"kernel": RBF(0.6)}),
    rb.BSGDClassifier(5, RBF(0.5), seed=1),
    rb.BSGDClassifier(5, RBF(0.5), Project(), seed=1),
    rb.BSGDRegressor(5, RBF(0.5)),
    rb.NOGDClassifier(5, RBF(0.5)),
    rb.SBPClassifier(5, RBF(0.5), seed=1),
    preprocessing.StandardScaler() | RBP,
    preprocessing.RobustScaler() | RBP,
    preprocessing.MaxAbsScaler(window_size=5) | RBP,
    (preprocessing.AdaptiveStandardScaler() + feature_selection.VarianceThreshold()) | RBP,
]


def examples_for(template, n, seed=0):
    last = template["RBPClassifier"] if type(template) is compose.Pipeline else template
    return stream_of(last, n, seed)


def taught(model):
    model = model.clone()
    teach(model, examples_for(model, 30))
    return model


def rows_for(template):
    """Rows of three keys, and their targets."""
    stream = examples_for(template, 60, seed=1)
    return [{"key": "abc"[i % 3]} | x for i, (x, _) in enumerate(stream)], [y for _, y in stream]


def use(models, template):
    rows, targets = rows_for(template)
    models.predict_many(rows)
    models.predict_then_learn_many(rows, targets)
    models.flush()


def pairs_in_files(folder):
    """States of every other template: refused. Its own: they work."""
    path = os.path.join(folder, "file")
    states = [file_of(taught(model)) for model in TEMPLATES]
    for i, template in enumerate(TEMPLATES):
        for j, state in enumerate(states):
            models = [(A, state), (B, states[i])]
            data = keyed_file(ABOUT, file_of(template.clone()), models)
            if i == j:
                with loaded(path, data) as found:
                    use(found, template)
            else:
                assert is_refused(path, data), (template, TEMPLATES[j])


def frozen_states(folder):
    """States of a model that only predicts, for one that learns."""
    path, model = os.path.join(folder, "file"), taught(TEMPLATES[3])
    rb.save(model, path, predict_only=True)
    state = pathlib.Path(path).read_bytes()
    assert is_refused(path, keyed_file(ABOUT, file_of(TEMPLATES[3]), [(A, state)]))


def pairs_in_checkpoints(folder):
    """The same in the databases of a checkpoint: refused when the key is met."""
    states = [file_of(taught(model)) for model in TEMPLATES]
    for i, template in enumerate(TEMPLATES[:4]):
        place = pathlib.Path(folder) / str(i)
        options = {"key": "key", "checkpoint": place, "shards": 1, "backend": "serial"}
        with KeyedModels(template, **options) as models:
            models.learn_many(*rows_for(template))
        for j, state in enumerate(states):
            with contextlib.closing(sqlite3.connect(place / "shard-0.sqlite")) as database:
                database.execute("UPDATE models SET state = ?", (state,))
                database.commit()
            models = KeyedModels(template, **options)
            if i == j:
                use(models, template)
            else:
                with pytest.raises(rb.SavedModelError, match="another class"):
                    use(models, template)
            models._coordinator.stop()


# Keys

NO_KEYS = [
    *(b"", b"x", b'"\xff"', b'"a', b"+1", b"01", b"1_0", b" 1", b"1.0", b"-0", b"9" * 5000, b"null", b"true"),  # noqa: E501
    *(b"{}", b'{"float":"x"}', b'{"float":"0x1.0p+1"}', b'{"float":"nan"}', b'{"float":1}', b'{"bytes":"x"}'),  # noqa: E501
    *(b'{"bytes":7}', b'{"bytes":"AA"}', b"[", b"[null]", b"[1, 2]", b"[NaN]", b'{"float":"inf","more":1}'),  # noqa: E501
]  # fmt: skip


def nested(depth):
    return b"[" * depth + A + b"]" * depth


def keys(folder):
    """What is no key, is a key twice, or stands in another order."""
    path, template = os.path.join(folder, "file"), file_of(TEMPLATES[0].clone())
    state = file_of(taught(TEMPLATES[0]))
    for some in ([A, B], [A, b"-1", b"2"], [nested(9)], [nested(20)]):
        with loaded(path, keyed_file(ABOUT, template, [(name, state) for name in some])) as models:
            assert len(models.keys()) == len(some)
    bad = [[key] for key in [*NO_KEYS, nested(21), nested(5000)]]
    for some in [*bad, [A, A], [B, A]]:
        data = keyed_file(ABOUT, template, [(name, state) for name in some])
        assert is_refused(path, data), some
    assert is_refused(path, keyed_file(ABOUT | {"rows": -1}, template, []))


# Anything at random

HEADS = [*EVIL, "saved", "pickled", "key", "y", 2**70, -1, 0, 2]


def forged(rng, template, states):
    """A keyed file with a few changes in its head, its keys, its template or its states."""
    about, parts = dict(ABOUT), [(b'"%d"' % i, rng.choice(states)) for i in range(rng.randrange(4))]
    for _ in range(rng.choice([1, 1, 2, 3])):
        kind, place = rng.randrange(7), rng.randrange(max(len(parts), 1))
        if kind == 0:
            about[rng.choice([*ABOUT, "more"])] = rng.choice(HEADS)
        elif kind == 1:
            about.pop(rng.choice([*about, "key"]), None)
        elif kind == 2:
            state = rng.choice(states)
            template = forge(rng, *unpacked(state)) if rng.random() < 0.7 else state
        elif not parts:
            parts.append((rng.randbytes(rng.randrange(9)), template))
        elif kind == 3:
            name = rng.choice([*NO_KEYS, b"%d" % rng.randrange(99), b'"' + rng.randbytes(3)])
            parts[place] = name, parts[place][1]
        elif kind == 4:
            state = bytearray(parts[place][1])
            state[rng.randrange(len(state))] ^= 1 << rng.randrange(8)
            parts[place] = parts[place][0], bytes(state)
        else:
            parts[place] = parts[place][0], forge(rng, *unpacked(rng.choice(states)))
    data = keyed_file(about, template, parts)
    if rng.random() < 0.1:
        start = rng.randrange(len(data))
        data = data[:start] + rng.randbytes(rng.randrange(9)) + data[start + rng.randrange(9) :]
    return data


def anything(folder, n=300, seed=0):
    """Refused, or models that work; what a row is wrong for, a model may refuse."""
    path, rng, outcomes = os.path.join(folder, "file"), random.Random(int(seed)), []
    sources = [(m, file_of(m.clone()), [file_of(taught(m)) for _ in range(2)]) for m in TEMPLATES]
    warnings.simplefilter("ignore")
    for _ in range(int(n)):
        model, template, states = rng.choice(sources)
        pathlib.Path(path).write_bytes(forged(rng, template, states))
        try:
            models = KeyedModels.load(path, shards=1, backend="serial")
        except rb.SavedModelError:
            outcomes.append("refused")
            continue
        with contextlib.suppress(ValueError), models:
            use(models, model)
        outcomes.append("loaded")
    print(f"{len(outcomes)} keyed files, {outcomes.count('loaded')} loaded")
    assert 0.02 < outcomes.count("loaded") / len(outcomes) < 0.8
