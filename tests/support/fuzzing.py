"""Random public operations in random order.

    python tests/support/fuzzing.py --operations 4000 --rounds 250        (a million, in one process)

`NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=... python tests/support/fuzzing.py` checks every index in
compiled code as well. A fault ends the process and prints where it was; the same seed does the same
operations again.
"""  # noqa: E501

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import faulthandler
import functools
import math
import pickle
import random
import warnings

import numpy as np
from inside import check_names
from models import list_of, may_be_unlimited, two_classes_only
from processes import in_threads
from river import base, preprocessing
from saved_models import ALL, file_of, is_supervised

import river_budget as rb
from river_budget.core.memory import views
from river_budget.kernels import RBF, Laplacian, Linear, Polynomial
from river_budget.maintenance import Merge, Project
from river_budget.model import stored
from river_budget.saving import opened

MORE = [
    rb.ProjectronClassifier(9, Linear()),
    rb.ProjectronRegressor(9, Polynomial(2)),
    rb.BPAClassifier(9, Polynomial(2), update="projection"),
    rb.BPAClassifier(9, Linear(), update="nearest"),
    rb.BSGDClassifier(9, Polynomial(), Project()),
    rb.BSGDClassifier(7, RBF(0.5), Merge(5), average=True),
    rb.BSGDRegressor(8, RBF(0.5), Merge(4, "gradient"), average=9),
    rb.BudgetPerceptronClassifier(9, Linear()),
    rb.NOGDClassifier(9, Linear(), 4),
    rb.NOGDRegressor(9, Polynomial(3), 9, average=True),
    rb.BOGDClassifier(9, Linear(), sampling="nonuniform", seed=1),
    rb.SBPClassifier(9, Polynomial(3, 1.0, -1.0), fit_bias=True),
    rb.SBPClassifier(9, Linear(), fit_bias=True, eviction="oldest"),
    rb.KernelOGDRegressor(Laplacian(0.5), average=True),
    rb.FOGDClassifier(9, Laplacian(0.5), average=True, seed=2),
    rb.AutoKernelClassifier(1, seed=1),
    rb.AutoKernelRegressor(9, seed=1),
]
MODELS = [entry.values[0] for entry in ALL] + MORE
ASKING = "predict_one", "predict_proba_one", "decision_function_one", "score_one", "transform_one"
LARGEST_USUAL_TABLE = stored.LARGEST_USUAL_TABLE
LARGEST = 2**22  # bytes of a block: with more, as without a budget, operations take seconds
LIFE = 60  # mean number of operations with one model

NAMES = ["a", "b", "c", "d", "e", "f", 7, ("g", 1)]
LABELS = ["blue", "amber", "coral", "dun", 3, ("e", 5)]
SIZES = [10.0**power for power in (-300, -160, -30, -8, 8, 30, 150, 155, 300)]
OF_TABLES = [None, math.nan, "text", b"1"]  # which some models learn
BAD = [*OF_TABLES, math.inf, -math.inf, 10**400, [1.0], {}, 1j, np.ones(2), float]


def any_number(rng):
    kind = rng.randrange(12)
    if kind == 0:
        return rng.choice([-1, 1]) * rng.choice(SIZES)
    if kind == 1:
        return rng.choice([0, 0.0, -0.0, True, np.float32(0.5), np.int8(-3), 1e9 + rng.random()])
    return rng.gauss(0.0, 1.0)


def any_example(rng, seen, names=NAMES):
    kind = rng.randrange(10)
    if kind == 0:
        return {}
    if kind <= 2 and seen:
        return rng.choice(seen)
    most = 6 if len(names) < 9 else rng.choice([2, 9, 9, 9, 50])
    names = rng.sample(names, rng.randrange(1, most))
    if kind == 3:
        return dict.fromkeys(names, 0.0)
    if kind == 4:
        return {name: any_number(rng) for name in names}
    return {name: rng.gauss(0.0, 1.0) for name in names}


def any_target(rng, model):
    if isinstance(model, base.Regressor):
        return rng.choice([-1.0, 0.5, 2.0, 0.0, rng.gauss(0.0, 1.0), 1e8, 1e300, -1e-300])
    if getattr(model, "classes", None):
        return rng.choice(model.classes)
    if two_classes_only(model):
        return rng.random() < 0.5
    return rng.choice(LABELS[: rng.choice([2, 3, 6])])


def any_weight(rng):
    return rng.choice([1.0, 1.0, 1.0, 0.0, 0.3, 5, 1e-300, 1e8, True])


def any_size(rng):
    return rng.choice([0, 1, 1, 2, 3, 7, 8, 9, 16, 33, 70])


def any_array(rng, n, width):
    """A matrix of finite numbers with a random type, memory order and alignment."""
    draw = np.random.default_rng(rng.randrange(2**32))
    X = draw.normal(size=(n, width)) * draw.choice([0.0, 1.0, 1.0, 1e3], size=(n, 1))
    if n:
        X[n // 2 :: 5] = X[: len(X[n // 2 :: 5])]
    forms = [
        np.asfortranarray,
        lambda X: np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3],
        lambda X: X[::-1, ::-1],
        read_only,
        lambda X: X.astype(rng.choice([np.float32, np.float16, np.int8, np.int64, bool])),
        lambda X: X.astype(">f8"),
        lambda X: X.view(type("Subclass", (np.ndarray,), {})),
        np.matrix,
        lambda X: np.broadcast_to(X[:1], (n, width)) if n else X,
        lambda X: X.astype(object),
        at_an_odd_address,
        np.ma.array,
        *(np.asarray, np.asarray),
    ]
    return rng.choice(forms)(X)


def read_only(X):
    X.setflags(write=False)
    return X


def at_an_odd_address(X):
    odd = np.zeros(8 * X.size + 1, np.uint8)[1:].view(np.float64).reshape(X.shape)
    odd[...] = X
    return odd


def any_sparse(rng, n, names):
    """A sparse matrix in a random format, or, if pandas is installed, a sparse frame."""
    import scipy.sparse as sp

    try:
        import pandas as pd
    except ImportError:
        pd = None

    draw, width = np.random.default_rng(rng.randrange(2**32)), rng.choice([0, 1, 9, 300])
    shape = n, width
    entries = int(rng.choice([0, 0.5, 5, 5, 60]) * n) if width else 0
    places = draw.integers(max(n, 1), size=entries), draw.integers(max(width, 1), size=entries)
    values = rng.choice([draw.normal, draw.standard_cauchy])(size=entries)
    values[::7] = 0.0
    values = values.astype(rng.choice([float, float, np.float32, np.int16, np.longdouble]))
    form = rng.choice([sp.coo_matrix, sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array])
    matrix = form((values, places), shape=shape)
    if rng.random() < 0.2 and form is sp.csr_matrix:  # unsorted, with duplicates
        order = draw.permutation(entries)
        starts = np.sort(draw.integers(entries + 1, size=n + 1)).astype(np.int32)
        starts[:1], starts[-1:] = 0, entries
        if n:
            matrix = sp.csr_matrix((values, places[1][order], starts), shape=shape)
    if rng.random() < 0.2 and pd is not None and 0 < width <= len(names):
        frame = pd.DataFrame.sparse.from_spmatrix(sp.csc_matrix(matrix).astype(float))
        frame.columns = rng.sample(names, width)
        return frame
    return matrix


def bad_sparse(rng, n, width, kind):
    """A sparse matrix with a value that is not finite, or with indexes out of range."""
    import scipy.sparse as sp

    matrix = sp.csr_matrix(np.ones((n, width)))
    if kind == 10:
        matrix.data[rng.randrange(n * width)] = rng.choice([math.nan, math.inf, -math.inf])
    elif kind == 11:
        matrix.indices[rng.randrange(n * width)] = rng.choice([-1, -(2**31), width, 2**31 - 1])
    else:
        place = rng.randrange(n + 1)
        matrix.indptr[place] = rng.choice([-1, -(2**31), n * width + 1, 2**31 - 1])
    return matrix


def any_frame(rng, n, width, names=NAMES):
    """A matrix as a frame, if pandas is installed, with feature names as columns."""
    if len(names) > len(NAMES) and rng.random() < 0.5:
        return any_sparse(rng, n, names)
    X = any_array(rng, n, width)
    try:
        import pandas as pd
    except ImportError:
        return X
    if rng.random() < 0.5 or width > len(names):
        return X
    return pd.DataFrame(np.asarray(X, float), columns=rng.sample(names, width))


def any_column(rng, values):
    """Targets or weights as a list or as an array of some form."""
    kind = rng.randrange(5)
    if kind == 0 and len({type(value) for value in values}) == 1:
        array = np.array(values)
        return array if array.ndim == 1 else values
    if kind == 1:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return tuple(values) if kind == 2 else values


def ask(model, x):
    """All predictions and scores of an example."""
    for name in ASKING:
        if hasattr(model, name):
            getattr(model, name)(x)


class Fuzzer:
    """A model, and a record of the operations on it."""

    def __init__(self, seed, threads=False, number=None):
        self.rng = random.Random(seed)
        self.counts = collections.Counter()
        self.threads = threads
        self.refused = collections.Counter()
        self.number = number  # of the model that is used; None: of any
        self.new_model()

    def new_model(self):
        number = self.rng.randrange(len(MODELS)) if self.number is None else self.number
        original = MODELS[number]
        changes = {}
        if "seed" in original._parameters():
            changes["seed"] = self.rng.randrange(2**32)
        if getattr(original, "budget", None) and getattr(original, "rank", None) is None:
            changes["budget"] = self.rng.choice([original.budget, 1, 2, 8])
        self.model, self.seen = original.clone(changes), []
        self.wordy, self.words = self.rng.random() < 0.4, 0
        # with a small bound on the table of vectors
        stored.LARGEST_USUAL_TABLE = 2**12 if self.rng.random() < 0.3 else LARGEST_USUAL_TABLE

    @property
    def names(self):
        """Names of features: a few, or words with always new ones."""
        if not self.wordy:
            return NAMES
        self.words += 1
        return [*NAMES, *(f"word {i}" for i in range(self.words // 2, self.words // 2 + 60))]

    def any_example(self):
        return any_example(self.rng, self.seen, self.names)

    # operations

    def learn_one(self):
        for _ in range(self.rng.randrange(1, 4)):
            x = self.any_example()
            self.seen.append(x)
            if self.model._reads_tables and x and self.rng.random() < 0.3:
                x = x | {self.rng.choice(list(x)): self.rng.choice([*OF_TABLES, "red", "blue"])}
            del self.seen[:-50]
            if is_supervised(self.model):
                self.model.learn_one(x, any_target(self.rng, self.model), any_weight(self.rng))
            else:
                self.model.learn_one(x)

    def learn_many(self):
        model, n = self.model, any_size(self.rng)
        X = any_frame(self.rng, n, self.rng.randrange(7), self.names)
        if not is_supervised(model):
            names = [m for m in ("learn_many", "score_then_learn_many") if hasattr(model, m)]
            getattr(model, self.rng.choice(names))(X)
            return
        y = any_column(self.rng, [any_target(self.rng, model) for _ in range(n)])
        w = any_weight(self.rng)
        if self.rng.random() < 0.3:
            w = any_column(self.rng, [any_weight(self.rng) for _ in range(n)])
        getattr(model, self.rng.choice(["learn_many", "predict_then_learn_many"]))(X, y, w)

    def predict_one(self):
        x = self.any_example() | self.rng.choice([{}, {"unknown": 1.0}, {"a": None}])
        ask(self.model, x)

    def predict_many(self):
        X = any_frame(self.rng, any_size(self.rng), self.rng.randrange(9), self.names)
        for method in ("predict_many", "predict_proba_many", "score_many", "transform_many"):
            if hasattr(self.model, method):
                getattr(self.model, method)(X)

    def bad_example(self):
        """An invalid example raises an error or does nothing; the model is unchanged."""
        before = file_of(self.model)
        bad = BAD[len(OF_TABLES) :] if self.model._reads_tables else BAD
        x = self.any_example() | {self.rng.choice(NAMES): self.rng.choice(bad)}
        with self.refusal(ValueError):
            if is_supervised(self.model):
                self.model.learn_one(x, any_target(self.rng, self.model))
            else:
                self.model.learn_one(x)
            raise AssertionError(f"learned {x}")
        assert file_of(self.model) == before
        with self.refusal(ValueError):
            ask(self.model, x)
        assert file_of(self.model) == before

    def bad_target(self):
        if not is_supervised(self.model):
            return
        before = file_of(self.model)
        x = self.any_example()
        y, w = any_target(self.rng, self.model), any_weight(self.rng)
        if self.rng.random() < 0.5:
            y = self.rng.choice([None, math.nan, [1], {"a": 1}, np.ones(2)])
        else:
            w = self.rng.choice([-1.0, math.nan, math.inf, None, "a", [1.0], 1j])
        with self.refusal(ValueError):
            self.model.learn_one(x, y, w)
            raise AssertionError(f"learned {y} with {w}")
        assert file_of(self.model) == before

    def bad_batch(self):
        """Wrong shapes, lengths and types."""
        if not is_supervised(self.model):
            return
        rng, n, width = self.rng, self.rng.randrange(1, 9), self.rng.randrange(1, 5)
        X = any_array(rng, n, width)
        y = [any_target(rng, self.model) for _ in range(n)]
        w = [any_weight(rng) for _ in range(n)]
        kind = rng.randrange(13)
        if kind == 0:
            X = np.asarray(X)[0]
        elif kind == 1:
            X = np.asarray(X, float).reshape(n, width, 1)
        elif kind == 2:
            y = y[:-1]
        elif kind == 3:
            y = [*y, y[0]]
        elif kind == 4:
            w = w[:-1]
        elif kind == 5:
            w[rng.randrange(n)] = rng.choice([-1.0, math.nan, None, "a"])
        elif kind == 6:
            y[rng.randrange(n)] = None
        elif kind == 7:
            X = np.array(X, object)
            bad = [1j, math.inf] if self.model._reads_tables else ["text", None, 1j, math.nan]
            X[rng.randrange(n), rng.randrange(width)] = rng.choice(bad)
        elif kind == 8:
            kinds = [
                "M8[s]",
                "V8",
                "c16",
                [("a", "f8")],
                *([] if self.model._reads_tables else ["S3"]),
            ]
            X = np.zeros((n, width), rng.choice(kinds))
        elif kind >= 10:
            X = bad_sparse(rng, n, width, kind)
        else:
            X = rng.choice([None, 1.0, "text", [1.0, 2.0], object(), np.float64(1.0), {"a": 1}])
        before = file_of(self.model)
        with self.refusal(ValueError, TypeError):
            self.model.learn_many(X, y, w)
            raise AssertionError(f"learned a bad batch of kind {kind}")
        assert file_of(self.model) == before, f"changed by a bad batch of kind {kind}"

    @contextlib.contextmanager
    def refusal(self, *kinds):
        try:
            yield
        except kinds as error:
            self.refused[type(error).__name__] += 1

    def mutate(self):
        rng, model = self.rng, self.model
        if getattr(model, "rank", None) is not None:
            return
        if hasattr(model, "budget"):
            choices = [1, 2, 5, 8, 9, 20, None] if may_be_unlimited(model) else [1, 2, 5, 8, 9, 20]
            with contextlib.suppress(ValueError):  # only the Gaussian kernel can merge
                model.mutate({"budget": rng.choice(choices)})
        elif hasattr(model, "window"):
            model.mutate({"window": rng.choice([1, 2, 5, 8, 20])})
        elif "learning_rate" in model._mutable_attributes:
            model.mutate({"learning_rate": rng.choice([1e-8, 0.1, 0.9])})
        elif "gamma" in model._mutable_attributes:
            model.mutate({"gamma": rng.choice([0.1, "auto", "2/d"])})

    def refine(self):
        if hasattr(self.model, "refine"):
            self.model.refine(self.rng.choice([0, 1, 7]))

    def inspect(self):
        model = self.model
        assert model.memory_usage > 0
        for name in ("support_vectors", "n_support_vectors", "_n_repairs", "norm", "explain"):
            found = getattr(model, name, None)
            if callable(found) and name != "explain":
                found()
        if model._block is not None and hasattr(model, "_gram"):
            model._gram()
            model._scores_of_vectors()
        if hasattr(model, "last_iterate_one"):
            model.last_iterate_one(self.seen[-1] if self.seen else {})
        repr(model)

    def save(self):
        twin = opened(file_of(self.model))
        assert file_of(twin) == file_of(self.model)
        self.model = twin

    def freeze(self):
        frozen = opened(file_of(self.model), predict_only=True)
        model, self.model = self.model, frozen
        self.predict_one()
        self.predict_many()
        self.model = model

    def pickle(self):
        protocol = self.rng.randrange(2, 6)
        self.model = pickle.loads(pickle.dumps(self.model, protocol))

    def copy(self):
        self.model = self.rng.choice([copy.copy, copy.deepcopy])(self.model)

    def clone(self):
        self.model = self.model.clone(include_attributes=True)

    def merge(self):
        model = self.model
        if hasattr(model, "transform_one") or model._unmergeable_because:
            return
        other = copy.deepcopy(model)
        model, self.model = self.model, other
        self.learn_one()
        self.learn_many()
        weights = self.rng.choice([None, [1.0, 0.5], [0.0, 1.0]])
        budget = self.rng.choice([None, 1, 3])
        further = {"budget": budget} if budget and hasattr(model, "budget") else {}
        try:
            united = rb.merge([model, other], weights=weights, **further)
        except (ValueError, NotImplementedError) as error:
            self.refused[f"merge: {type(error).__name__}"] += 1
            self.model = model
            return
        united.learn_one(*((self.seen[-1],) if not is_supervised(model) else
                           (self.seen[-1], any_target(self.rng, model))))  # fmt: skip
        self.model = model if "budget" in further else united

    def in_pipeline(self):
        if not is_supervised(self.model):
            return
        pipeline = rb.Guard("last") | preprocessing.StandardScaler() | copy.deepcopy(self.model)
        for _ in range(3):
            x = self.any_example()
            if self.rng.random() < 0.3:
                x = x | {"a": self.rng.choice([None, math.nan])}
            with self.refusal(ValueError):  # River's scaler turns overflow into NaN
                pipeline.predict_one(x)
                pipeline.learn_one(x, any_target(self.rng, self.model))

    def without_attributes(self):
        """A model made by `__new__`, or without an attribute, raises a Python error and does not
        crash.
        """
        model = type(self.model).__new__(type(self.model))
        if self.rng.random() < 0.7:
            state = copy.deepcopy(self.model).__dict__
            del state[self.rng.choice(sorted(state))]
            model.__dict__.update(state)
        x = self.any_example()
        with self.refusal(AttributeError, TypeError, KeyError, ValueError):
            model.predict_many(np.ones((2, 2))) if hasattr(model, "predict_many") else None
            model.learn_one(x, True) if is_supervised(self.model) else model.learn_one(x)

    def in_threads(self):
        """Two threads learn, and a third predicts."""

        def work(operations, seed):
            twin = Fuzzer.__new__(Fuzzer)
            twin.__dict__.update(self.__dict__)
            twin.rng, twin.seen = random.Random(seed), list(self.seen)
            twin.counts, twin.refused = collections.Counter(), collections.Counter()
            for _ in range(5):
                getattr(twin, twin.rng.choice(operations))()

        works = (["learn_one", "learn_many"], ["learn_one", "learn_many"],
                 ["predict_one", "predict_many"])  # fmt: skip
        seeds = [self.rng.randrange(2**32) for _ in works]
        in_threads(*map(functools.partial, [work] * len(works), works, seeds))

    OPERATIONS = (
        ["learn_one"] * 16
        + ["learn_many"] * 8
        + ["predict_one", "predict_many"] * 3
        + ["bad_example", "bad_target", "bad_batch", "mutate", "refine", "inspect", "save"]
        + ["freeze", "pickle", "copy", "clone", "merge", "in_pipeline", "without_attributes"]
    )

    def step(self):
        """Do one random operation. Returns its name."""
        block = self.model._block
        if self.rng.random() < 1.0 / LIFE or (block is not None and len(block) > LARGEST):
            self.new_model()
        name = self.rng.choice(self.OPERATIONS)
        if self.threads and self.rng.random() < 0.02:
            name = "in_threads"
        self.counts[name] += 1
        self.last = name
        getattr(self, name)()
        return name

    def check(self):
        """Check that all numbers are finite and the budget is kept."""
        check_model(self.model, (self.seen[-1] if self.seen else {}, {"a": 1.0, "new": -1.0}))


def check_answers(model, x):
    """Check that predictions and scores are finite."""
    if hasattr(model, "transform_one"):
        scores = model.transform_one(x).values()
    else:
        scores = list_of(model.decision_function_one(x))
    assert all(map(math.isfinite, scores)), scores
    if isinstance(model, base.Classifier):
        shares = model.predict_proba_one(x)
        assert all(0.0 <= share <= 1.0 for share in shares.values()), shares
        assert model.predict_one(x) in shares or not shares


def check_model(model, examples):
    """Check that the model's answers and the numbers in its block are finite, and that it keeps its
    budget.
    """
    for x in examples:
        check_answers(model, x)
    if model._block is None:
        return
    block = views(model._block)
    n = int(block.head.count)
    limit = getattr(model, "budget", None) or getattr(model, "window", None)
    assert (
        limit is None
        or n <= limit
        or hasattr(model, "n_components")
        or getattr(model, "_of_words", 0)
    ), (n, limit)
    assert block.head.width >= len(model._features)
    if not model.algorithm.columns.draws:
        check_names(model)
    for table in (block.vectors, block.coefficients, block.per_vector):
        assert np.isfinite(table).all()
    assert not np.isnan(block.norms).any()
    assert not block.coefficients[:, n:].any()
    if isinstance(model, (rb.AutoKernelClassifier, rb.AutoKernelRegressor)):
        return  # these blocks have other tables
    assert block.head.outputs == model._n_outputs or hasattr(model, "transform_one")
    if hasattr(model, "n_support_vectors") and n:
        arrivals = block.arrivals[:n]
        assert len(set(arrivals.tolist())) == n
        assert 0 <= arrivals.min() <= arrivals.max() < block.head.arrived


def run(seed, operations, threads=False, number=None):
    """Do this number of operations. Returns the fuzzer. An error says which operation of this seed
    raised it.

    `number`: of the first model in `MODELS`.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.ExitStack() as at_the_end:
        at_the_end.callback(setattr, stored, "LARGEST_USUAL_TABLE", LARGEST_USUAL_TABLE)
        warnings.simplefilter("ignore")
        fuzzer = Fuzzer(seed, threads, number)
        for done in range(operations):
            try:
                fuzzer.step()
                fuzzer.check()
            except Exception as error:
                error.add_note(f"seed {seed}, operation {done}: {fuzzer.last} of {fuzzer.model!r}")
                raise
    return fuzzer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--operations", type=int, default=10_000, help="of each round")
    parser.add_argument("--rounds", type=int, default=1, help="each has the next seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", action="store_true")
    given = parser.parse_args()
    for seed in range(given.seed, given.seed + given.rounds):
        found = run(seed, given.operations, given.threads)
        print(f"seed {seed}: {dict(found.counts)}\nrefused: {dict(found.refused)}", flush=True)


if __name__ == "__main__":
    faulthandler.enable()
    main()
