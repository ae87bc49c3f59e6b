"""Small files of format 1, one for each family of models, which later versions must load.

    python tests/support/golden.py      writes them anew, only when the format gets another number

Each is packed, as an AutoKernel has many zeros. Beside them stands what the models answered, in
golden.json.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import random
import sys
import tempfile

from river import compose, feature_extraction, linear_model, preprocessing, stats

import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.kernels import RBF, Laplacian, Polynomial
from river_budget.maintenance import Merge, Project

FOLDER = pathlib.Path(__file__).parents[1] / "files" / "golden"
ANSWERS, KEYED = "golden.json", "keyed"
LARGEST = 200_000  # bytes of all files together
NOUNS = ["river", "budget", "kernel", "stream", "score", "margin", "vector", "label"]
SCALED = preprocessing.StandardScaler()

MODELS = {
    "perceptron": rb.KernelPerceptronClassifier(RBF(0.5)),
    "randomised-perceptron": SCALED | rb.RBPClassifier(9, Polynomial(2), seed=1),
    "forgetron": SCALED | rb.ForgetronRegressor(9),
    "passive-aggressive": SCALED | rb.BPAClassifier(9, RBF(0.3), update="nearest"),
    "merged": SCALED | rb.BSGDClassifier(9, RBF(0.5), seed=1),
    "merged-by-four": SCALED | rb.BSGDClassifier(9, RBF(0.5), Merge(4), average=True, seed=1),
    "projected": rb.StandardScaler() | rb.BSGDClassifier(9, Laplacian(0.3), Project(), seed=1),
    "projectron": SCALED | rb.ProjectronPPClassifier(9, RBF(0.5)),
    "window": SCALED | rb.SBPClassifier(20, RBF(0.5), fit_bias=True, seed=1),
    "fogd": SCALED | rb.FOGDClassifier(9, RBF(0.5), seed=1),
    "nogd": SCALED | rb.NOGDRegressor(9, RBF(0.5)),
    "nystroem": SCALED | rb.Nystroem(9, kernel=RBF(0.5)) | linear_model.LogisticRegression(),
    "auto": rb.AutoKernelClassifier(5, seed=1),
    "one-class": rb.KernelOneClassSVM(0.2, 9, RBF(0.5)),
    "targets": rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(9, seed=1)),
    "delayed": rb.Delayed(SCALED | rb.BSGDClassifier(9, RBF(0.5), seed=1)),
    "text": feature_extraction.TFIDF(on="text")
    | rb.FeatureBudget(30)
    | rb.BSGDClassifier(9, seed=1),
    "houses": (compose.Select("a", "gap") | preprocessing.StatImputer(("gap", stats.Mean())))
    + (compose.Select("city") | preprocessing.OneHotEncoder())
    + feature_extraction.TargetAgg(by="city", how=stats.BayesianMean(0.5, 5))
    | preprocessing.RobustScaler()
    | rb.BSGDClassifier(9, seed=1),
}
WORDS = {"text": ("text",), "houses": ("a", "gap", "city")}  # what of an example these take
REGRESSORS = ("forgetron", "nogd", "targets")
NUMBERS = ("a", "b")


def stream(n, seed, names=NUMBERS):
    """(example, whether its two numbers have one sign)."""
    rng = random.Random(seed)
    for _ in range(n):
        a, b = rng.gauss(1.0, 2.0), rng.gauss(0.0, 1.0)
        y = a * b > 0.0
        x = {"a": a, "b": b, "city": rng.choice(["Rome", "Oslo"]), "gap": rng.choice([None, b])}
        x["text"] = " ".join([*rng.choices(NOUNS, k=5), "yes" if y else "no"])
        yield {name: x[name] for name in names}, y


def taught(name, n=60):
    """The model of this name, after some examples."""
    model = MODELS[name].clone()
    for x, y in stream(n, 1, WORDS.get(name, NUMBERS)):
        learn(name, model, x, y)
    return model


def learn(name, model, x, y):
    if name == "one-class":
        model.learn_one(x)
    elif name in REGRESSORS:
        model.learn_one(x, x["a"] * x["b"])
    else:
        model.predict_proba_one(x)
        model.learn_one(x, y)


def answers(name, model, n=8):
    """What a model says, before and after it has learned a little more."""
    found = []
    for x, y in stream(n, 2, WORDS.get(name, NUMBERS)):
        if name == "one-class":
            found.append(model.score_one(x))
        elif name in REGRESSORS:
            found.append(model.predict_one(x))
        else:
            found.append(model.predict_proba_one(x)[True])
        learn(name, model, x, y)
    return found


def rows_by_key(n, seed):
    rows = [x for x, _ in stream(n, seed)]
    targets = [x["a"] * x["b"] for x in rows]
    return [{"key": "uvw"[i % 3], **x} for i, x in enumerate(rows)], targets


def keyed_answers(models):
    """What models per key say, before and after they have learned a little more."""
    rows, targets = rows_by_key(12, 4)
    before = models.predict_many(rows)
    models.learn_many(rows, targets)
    return [*map(float, before), *map(float, models.predict_many(rows))]


def unpacked(name, folder):
    """The path of a file of this name, unpacked into a folder."""
    path = pathlib.Path(folder) / name
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.gz").read_bytes()))
    return path


def pack(name, folder):
    content = (pathlib.Path(folder) / name).read_bytes()
    (FOLDER / f"{name}.gz").write_bytes(gzip.compress(content, 9, mtime=0))


def write(folder):
    FOLDER.mkdir(exist_ok=True)
    said = {}
    for name in MODELS:
        rb.save(taught(name), pathlib.Path(folder) / name)
        pack(name, folder)
        said[name] = answers(name, rb.load(unpacked(name, folder)))
    with KeyedModels(rb.BSGDRegressor(5, RBF(0.5)), key="key", backend="serial") as models:
        models.learn_many(*rows_by_key(60, 3))
        models.save(pathlib.Path(folder) / KEYED)
    pack(KEYED, folder)
    with KeyedModels.load(unpacked(KEYED, folder), backend="serial") as models:
        said[KEYED] = keyed_answers(models)
    (FOLDER / ANSWERS).write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
    sizes = {path.name: path.stat().st_size for path in sorted(FOLDER.iterdir())}
    sys.stdout.write(json.dumps(sizes, indent=1) + f"\n{sum(sizes.values())} bytes\n")
