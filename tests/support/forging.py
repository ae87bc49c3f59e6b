"""Forged files of models: unpack a file, change it, sign it again, and use the model."""

from __future__ import annotations

import copy
import io
import json
import math
import warnings
import zipfile
import zlib

import numpy as np
from saved_models import answers, stream_of, teach

import river_budget as rb
from river_budget.kernels import RBF, Laplacian, Polynomial
from river_budget.maintenance import Merge, Project
from river_budget.saving import archive, nodes, opened


def unpacked(data):
    """(head, arrays by name) of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        head = json.loads(file.read(archive.HEAD))
        names = [name for name in file.namelist() if name != archive.HEAD]
        arrays = {name: np.load(io.BytesIO(file.read(name))) for name in names}
    return head, {name.removesuffix(".npy"): array for name, array in arrays.items()}


def packed(head, arrays=()):
    """A file with this head and these arrays."""
    parts = {archive.HEAD: head if isinstance(head, bytes) else json.dumps(head).encode()}
    for name, array in dict(arrays).items():
        member = io.BytesIO()
        np.save(member, array)
        parts[f"{name}.npy"] = member.getvalue()
    return zipped(parts.items())


def pipeline_of(steps):
    """The node of a pipeline with these [name, node]."""
    return {"class": "compose.Pipeline", "parameters": {"steps": steps}, "state": {}}


def zipped(parts, **options):
    """A zip archive of these parts, with right checksums."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", **options) as out:
        warnings.simplefilter("ignore")  # two parts of one name
        for name, content in parts:
            out.writestr(zipfile.ZipInfo(name), content, options.get("compression"))
    return file.getvalue()


def parts_of(data):
    """{name: content} of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def signed(data):
    """The same file with right checksums, where its directory can be read; else as it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            parts = []
            for member in file.infolist():
                member.CRC = None  # is not compared
                with file.open(member) as part:
                    part._expected_crc = None
                    parts.append((member.filename, part.read()))
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
        NotImplementedError,
    ):
        return data
    return zipped(parts)


BSGD = rb.BSGDClassifier(15, RBF(0.5))
PROJECTING = rb.BSGDClassifier(15, RBF(0.5), Project())
NEAREST = rb.BPAClassifier(15, RBF(0.5), update="nearest")
SIMPLE = rb.BPAClassifier(15, RBF(0.5), update="simple")
NOGD = rb.NOGDClassifier(15, RBF(0.5))
SBP = rb.SBPClassifier(25, RBF(0.5), fit_bias=True, seed=3)
FOGD = rb.FOGDClassifier(9, RBF(0.5), seed=1)
FORGED = [
    *(BSGD, PROJECTING, NEAREST, SIMPLE, NOGD, SBP, FOGD),
    rb.SBPClassifier(9, Polynomial(2), fit_bias=True, seed=3),
    rb.BSGDClassifier(7, RBF(0.5), Merge(3, "gradient")),
    rb.BPAClassifier(9, Polynomial(2), update="projection"),
    rb.ProjectronRegressor(9, RBF(0.5)),
    rb.ForgetronClassifier(9, Polynomial()),
    rb.BudgetPerceptronClassifier(9, RBF(0.5)),
    rb.BOGDClassifier(9, RBF(0.5), sampling="nonuniform", seed=3),
    rb.NORMAClassifier(None, RBF(0.5)),
    rb.NOGDRegressor(9, Polynomial(2)),
    rb.KernelOneClassSVM(0.2, 9, RBF(0.5)),
    rb.RandomFourier(7, Laplacian(), seed=3),
    rb.Nystroem(9, kernel=RBF(0.5)),
]


EVIL = [
    *("0", "1", "-1", "2", "8", "17", "1000", str(2**31), str(2**61), str(2**63), "x", ""),
    *(None, True, 0, 1, -1, 3, 64, 10**6, 10**30, [], {}, ["a"], {"tuple": []}, {"RBF": {}}),
    *({"float": text} for text in ("nan", "inf", "-1e308", "1e308", "5e-324", "0.0", "-1.0", "x")),
    *({"Merge": {"arity": 50}}, {"Linear": {}}, {"Polynomial": {"degree": 50}}),
]


EVIL_NUMBERS = [math.nan, math.inf, 1e308, -1e308, 5e-324, 0.0, -1.0, 0.5, 1.0, 7.0, 1e17, 1e150]


def places_in(part, path=()):
    """The paths of all values of a header that can be changed."""
    items = (
        part.items()
        if isinstance(part, dict)
        else enumerate(part)
        if isinstance(part, list)
        else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from places_in(value, (*path, key))


def forge(rng, header, arrays):
    """Change a few things at random."""
    header, arrays = copy.deepcopy(header), {name: each.copy() for name, each in arrays.items()}
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        filled = [array for array in arrays.values() if array.size]
        if filled and rng.random() < 0.4:
            forge_array(rng, rng.choice(filled))
        else:
            *way, key = rng.choice(list(places_in(header["model"])) or [("class",)])
            part = header["model"]
            for step in way:
                part = part[step]
            if rng.random() < 0.1:
                del part[key]
            else:
                part[key] = copy.deepcopy(rng.choice(EVIL))
    return packed(header, arrays)


def forge_array(rng, array):
    flat = array.reshape(-1)
    value = rng.choice(EVIL_NUMBERS)
    if array.dtype.kind == "i":
        value = int(rng.choice([-1, 0, 1, 7, 2**61, -(2**61)]))
    places = slice(None) if rng.random() < 0.1 else rng.randrange(len(flat))
    flat[places] = value


def outcome_of(data, max_bytes=2**24):
    """Load and use a forged file. Returns "refused", or "loaded" after its model has predicted and
    learned.

    What is loaded is saved again as it was.
    """
    try:
        model = opened(data, max_bytes=max_bytes)
    except rb.SavedModelError:
        return "refused"
    node, arrays = nodes.saved(model)
    head, found = unpacked(data)
    assert node == head["model"]
    assert arrays.keys() == found.keys()
    assert all(np.array_equal(array, found[name]) for name, array in arrays.items())
    use(model)
    return "loaded"


def use(model):
    """Predict and learn. Errors for invalid examples are allowed."""
    stream = stream_of(model, 12, seed=3)
    if getattr(model, "classes", None):
        stream = [(x, model.classes[i % len(model.classes)]) for i, (x, _) in enumerate(stream)]
    if hasattr(model, "_labels") and model._labels.known:
        stream = [(x, rng_label(model, i)) for i, (x, _) in enumerate(stream)]
    with np.errstate(all="ignore"):
        answers(model, stream)
        teach(model, stream)
        answers(model, stream)


def rng_label(model, i):
    return model._labels.known[i % len(model._labels.known)]
