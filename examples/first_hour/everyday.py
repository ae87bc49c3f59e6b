"""What you do with a model in a day: evaluate it, feed it tables, keep bad rows out, save it,
change it.

Each part yields (what, value); a value of 1 is a promise kept.
"""

from __future__ import annotations

import copy
import itertools
import math
import pathlib
import pickle
import tempfile

from river import compose, datasets, evaluate, metrics, preprocessing, stream, time_series

import river_budget as rb


def pipeline():
    return preprocessing.StandardScaler() | rb.BSGDClassifier(budget=50)


def examples(n=800):
    return list(itertools.islice(datasets.Phishing(), n))


def validation():
    """River's ways to judge a model: each example is predicted before it is learned, or long
    before.
    """
    data, accuracy = examples(), metrics.Accuracy
    yield "progressive", evaluate.progressive_val_score(data, pipeline(), accuracy()).get()
    late = evaluate.progressive_val_score(data, pipeline(), accuracy(), delay=20)
    yield "labels 20 examples late", late.get()
    steps = evaluate.iter_progressive_val_score(data, pipeline(), accuracy(), step=100)
    yield "checkpoints", len(list(steps)) / 8
    several = metrics.LogLoss() + metrics.ROCAUC() + metrics.F1()
    log_loss, area, f1 = evaluate.progressive_val_score(data, pipeline(), several).get()
    yield "log loss", log_loss
    yield "ROCAUC", area
    yield "F1", f1
    made = rb.predict_then_learn_many(pipeline(), *as_arrays(data))
    right = sum(guess == y for guess, (_, y) in zip(made, data, strict=True)) / len(data)
    yield "in one call", right


def as_arrays(data):
    import numpy as np

    names = sorted(data[0][0])
    return np.array([[x[name] for name in names] for x, _ in data], float), [y for _, y in data]


def tables():
    """The rows of a data frame as a stream, and whole frames at once."""
    import pandas as pd

    data = examples()
    X, y = pd.DataFrame([x for x, _ in data]), pd.Series([y for _, y in data], name="phishing")
    one, many = rb.BSGDClassifier(budget=50), rb.BSGDClassifier(budget=50)
    for x, label in stream.iter_frame(X, y):
        one.learn_one(x, label)
    for start in range(0, len(X), 100):
        many.learn_many(X[start : start + 100], y[start : start + 100])
    yield "mini-batches are a loop", float(one.support_vectors() == many.support_vectors())
    yield "a series comes back", float(many.predict_many(X).name == "phishing")
    yield "right on the frame", float((many.predict_many(X) == y).mean())


def bad_rows():
    """One row in a hundred is bad. Behind a guard that skips, the model is the one without these
    rows.
    """
    bad = [math.nan, math.inf, None, "text"]
    guarded, clean = rb.Guard("skip") | pipeline(), pipeline()
    for i, (x, y) in enumerate(examples()):
        if i % 100 == 50:
            x = x | {sorted(x)[i // 100]: bad[i // 100 % 4]}
            guarded.predict_one(x)
        else:
            clean.learn_one(x, y)
        guarded.learn_one(x, y)
    same = rb.support_vectors(guarded) == rb.support_vectors(clean)
    yield "as if they had never come", float(same)


def storing():
    """Pickles and copies go on to the bit; so do files, which hold no code."""
    data, model = examples(), pipeline()
    for x, y in data[:400]:
        model.learn_one(x, y)
    with tempfile.TemporaryDirectory() as folder:
        rb.save(model, pathlib.Path(folder) / "model")
        stored = rb.load(pathlib.Path(folder) / "model")
    twins = {
        "pickle": pickle.loads(pickle.dumps(model)),
        "deepcopy": copy.deepcopy(model),
        "file": stored,
    }
    for x, y in data[400:]:
        for each in (model, *twins.values()):
            each.learn_one(x, y)
    for name, twin in twins.items():
        yield name, float(rb.support_vectors(twin) == rb.support_vectors(model))


def changing():
    """A budget may shrink while the model lives; what cannot change says so."""
    model = pipeline()
    for x, y in examples():
        model.learn_one(x, y)
    model.mutate({"BSGDClassifier": {"budget": 10}})
    yield "vectors after mutate", float(len(rb.support_vectors(model)))
    try:
        model["BSGDClassifier"].kernel = rb.kernels.RBF(1.0)
    except AttributeError as error:
        yield "the error names clone", float("clone" in str(error))


def selecting():
    """Some features for one model, some for another scaler, and the whole as a dict."""
    names = sorted(examples(1)[0][0])
    front = (compose.Select(*names[:5]) | preprocessing.StandardScaler()) + (
        compose.Select(*names[5:]) | preprocessing.MinMaxScaler()
    )
    model = front | rb.BSGDClassifier(budget=50)
    yield "two scalers", evaluate.progressive_val_score(examples(), model, metrics.Accuracy()).get()
    union = compose.Prefixer("a_") | compose.Discard(f"a_{names[0]}") | pipeline()
    yield "renamed", evaluate.progressive_val_score(examples(), union, metrics.Accuracy()).get()


def forecasting():
    """A regressor of ours inside River's SNARIMAX, beside saying that next month will be like this
    one.
    """
    model = time_series.SNARIMAX(
        p=12,
        d=1,
        q=0,
        regressor=preprocessing.TargetStandardScaler(
            preprocessing.StandardScaler() | rb.BSGDRegressor(budget=30)
        ),
    )
    errors, plain, last = [], [], None
    for i, (_, y) in enumerate(datasets.AirlinePassengers()):
        if i >= 36:
            errors.append(abs(model.forecast(horizon=1)[0] - y))
            plain.append(abs(last - y))
        model.learn_one(y)
        last = y
    yield "share of the plain error", sum(errors) / sum(plain)


def main() -> None:
    for part in (validation, tables, bad_rows, storing, changing, selecting, forecasting):
        for name, value in part():
            print(f"{part.__name__:15}{name:28}{value:8.3f}")


if __name__ == "__main__":
    main()
