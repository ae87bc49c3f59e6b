"""`check`: what the tests of this package ask of every model, for a class of your own."""

from __future__ import annotations

import copy
import importlib.util
import math
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from river import base, checks

from ..core.compiling import _code_of, _of_users
from ..parameters import Mutable
from ..saving import SavedModelError, load, save
from ..uniting import merge

ROWS, FEATURES, DICTS, SCORED = 160, 3, 60, 20
SMALL, SMALLER = 12, 5  # budgets
CLOSE = 1e-9  # to a reference, relative to its largest score
REFUSALS = (NotImplementedError, ValueError)
# Runs a model as plain Python, where an index out of range is an error
PLAIN = """
import importlib.util, pickle, sys
name, file, path, model, stream = pickle.load(sys.stdin.buffer)
sys.path[:] = path
try:
    found = importlib.util.find_spec(name)
except (ImportError, ValueError):
    found = None
if file is not None and (found is None or found.origin != file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
from river_budget.extending.checking import scores_before
sys.stdout.buffer.write(b"scores:" + pickle.dumps(scores_before(pickle.loads(model), *stream)))
"""


def check(model: Any, reference: Any = None) -> None:
    """Raise AssertionError, with a sentence, for a class that does not do what the models of this
    package do.

    River's own checks; a batch is a loop; files, copies and pickles go on as the model does; a
    third class, `rb.merge` and a smaller budget work or are refused; what is refused changes
    nothing; as plain Python the class gives the same scores, and no index is out of range; no
    function is left in a cache that does not notice edits. It takes some ten seconds.

    model
        A model, of which copies are checked. Its module must be one that can be imported, or a
        file.
    reference
        The same algorithm with the same parameters in plain Python: predict(x) gives the score that
        the model gives, and learn(x, y) learns. They may differ by 1e-9 of the largest score. Give
        it a budget below a hundred.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # streams of the checks are not scaled
        check_beside_river(model)
        _rivers_checks(_small(model))
        if reference is not None:
            _equals(model, reference)


def check_beside_river(model: Any) -> None:
    """`check` without River's own checks."""
    model = _small(model)
    for ask in (_cache, _plain_python, _loop_and_batch, _copies, _files, _refused_examples):
        ask(model)
    for ask in (_smaller_budget, _third_class, _sums):
        ask(model)


def _small(model: Any) -> Any:
    """A clone with a small budget, if it has one, and with a seed, so that its clones are equal."""
    changed = {}
    if (budget := getattr(model, "budget", None)) is not None:
        changed["budget"] = min(budget, SMALL)
    if "seed" in model._parameters() and model.seed is None:
        changed["seed"] = 1
    return model.clone(changed)


# Streams and scores


def _stream(model: Any, seed: int = 0) -> tuple[Any, list[Any]]:
    """(rows, targets): two classes that no line separates, or a smooth function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, FEATURES))
    if isinstance(model, base.Classifier):
        return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=ROWS) > 0.0).tolist()
    return X, (np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=ROWS)).tolist()


def _dict(row: Any) -> dict[int, float]:
    return dict(enumerate(row.tolist()))


def _taught(model: Any, seed: int = 0) -> Any:
    """A copy that has learned a stream."""
    model = model.clone()
    model.learn_many(*_stream(model, seed))
    return model


def _coming_and_going(model: Any, seed: int) -> Iterator[tuple[dict[Any, float], Any]]:
    """The same as dicts, in which half of the features are missing, and new names appear."""
    rows, targets = _stream(model, seed)
    keeps = np.random.default_rng(seed).random(rows.shape) < 0.5
    for t, (row, keep, y) in enumerate(zip(rows[:DICTS], keeps, targets, strict=False)):
        x = {i: value for i, value in _dict(row).items() if keep[i]}
        yield x | ({f"new {seed} {t // 20}": row[0]} if t % 3 == 0 else {}), y


def _scores(model: Any) -> list[str]:
    """The scores of some examples, and the vectors, to the last bit."""
    rows, _ = _stream(model, 9)
    found = [repr(model.decision_function_one(_dict(row))) for row in rows[:SCORED]]
    return [*found, *map(repr, model.support_vectors() if _has_vectors(model) else ())]


def _has_vectors(model: Any) -> bool:
    return hasattr(model, "support_vectors")


def scores_before(model: Any, rows: Any, targets: Any) -> list[Any]:
    """The scores of each example before it is learned."""
    found = []
    for row, y in zip(rows, targets, strict=True):
        found.append(model.decision_function_one(_dict(row)))
        model.learn_one(_dict(row), y)
    return found


def _numbers(scores: list[Any]) -> Any:
    """Scores as one array; those of several classes one behind the other."""
    return np.array([n for f in scores for n in (f.values() if isinstance(f, dict) else [f])])


def _agree(model: Any, others: dict[str, Any], seed: int = 1) -> None:
    """Require that others have the scores of a model, and go on as it does."""
    for then in ("", ", and goes on to learn,"):
        expected = _scores(model)
        for what, other in others.items():
            assert _scores(other) == expected, f"{what}{then} has other scores than the model"
        for x, y in _coming_and_going(model, seed):
            for each in (model, *others.values()):
                each.learn_one(x, y)


def _unchanged(model: Any, act: Callable[[], Any], what: str) -> Exception | None:
    """What an act was refused with, which must leave the model as it was; None if it was not
    refused.
    """
    before, n = _scores(model), model.n_examples
    try:
        act()
    except REFUSALS as error:
        assert (_scores(model), model.n_examples) == (before, n), (
            f"{what} is refused, and the model has changed"
        )
        return error
    return None


# What is asked


def _loop_and_batch(model: Any) -> None:
    rows, targets = _stream(model)
    loop, batch = model.clone(), model.clone()
    for row, y in zip(rows, targets, strict=True):
        loop.learn_one(_dict(row), y)
    for start in range(0, ROWS, 50):
        batch.learn_many(rows[start : start + 50], targets[start : start + 50])
    _agree(loop, {"a model that learned in batches, not one by one,": batch})


def _copies(model: Any) -> None:
    for each in (model.clone(), _taught(model)):
        copies = {
            "a deep copy": copy.deepcopy(each),
            "a pickle": pickle.loads(pickle.dumps(each)),
            "a clone with what was learned": each.clone(include_attributes=True),
        }
        before = _learned(each)
        for what, found in copies.items():
            assert _learned(found) == before, f"{what} is not what it is a copy of"
            other = found.clone(include_attributes=True)
            for x, y in _coming_and_going(each, 2):
                other.learn_one(x, y)
            assert _learned(found) == before, "a copy that learns changes the model"
        _agree(each, copies)
        for what, found in copies.items():
            assert _learned(found) == _learned(each), f"{what} has other names or numbers"


def _learned(model: Any) -> tuple[bytes, list[Any], list[Any]]:
    """All that a model has learned: its numbers, features and labels."""
    block = b"" if model._block is None else bytes(model._block)
    return block, list(model._features), list(getattr(getattr(model, "_labels", None), "known", []))


def _files(model: Any) -> None:
    model = _taught(model)
    only, loaded = _saved(model)
    points = [_dict(row) for row in _stream(model, 9)[0][:SCORED]]
    found, expected = ([f(x) for x in points] for f in map(_scoring, (only, model)))
    _compare(found, expected, "the model before it was saved to predict only")
    _agree(model, {"a file that was loaded": loaded})


def _scoring(model: Any) -> Callable[[Any], Any]:
    scoring: Callable[[Any], Any] = model.decision_function_one
    return scoring


def _saved(model: Any) -> tuple[Any, Any]:
    """A model from a file: one that only predicts, and one that goes on."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "model"
        try:
            save(model, place)
            return load(place, predict_only=True), load(place)
        except (SavedModelError, NotImplementedError) as error:
            raise AssertionError(f"the model cannot be saved and loaded: {error}") from error


def _refused_examples(model: Any) -> None:
    model, nan = _taught(model), math.nan
    target = _stream(model)[1][0]
    acts: dict[str, Callable[[], Any]] = {
        "a negative weight": lambda: model.learn_one({0: 1.0}, target, -1.0),
    }
    if not model._reads_tables:  # as AutoKernel, to which NaN is a missing number
        rows = np.array([[1.0, 2.0, 3.0], [1.0, nan, 3.0]])
        acts["an example with NaN"] = lambda: model.learn_one({0: nan, 1: 1.0}, target)
        acts["a batch with NaN"] = lambda: model.learn_many(rows, [target, target])
    if isinstance(model, base.Regressor):
        acts["a target that is NaN"] = lambda: model.learn_one({0: 1.0}, nan)
    for what, act in acts.items():
        assert _unchanged(model, act, what), f"{what} is learned"


def _smaller_budget(model: Any) -> None:
    if not isinstance(getattr(type(model), "budget", None), Mutable):
        return
    model = _taught(model)
    error = _unchanged(model, lambda: model.mutate({"budget": SMALLER}), "a smaller budget")
    if error and model.budget is None:  # what keeps a budget may need another kernel
        return
    assert not error, f"a smaller budget is refused, though `budget` is Mutable: {error}"
    assert model.budget == SMALLER, "a smaller budget was neither taken nor refused"
    assert model.n_support_vectors > 0, "a smaller budget has left no vector"
    _keeps(model, "a smaller budget", SMALLER)


def _keeps(model: Any, what: str, budget: int) -> None:
    """Require that a model has at most so many vectors and finite scores, and goes on so."""
    for _ in "12":
        if _has_vectors(model):
            n = model.n_support_vectors
            assert n <= budget, f"after {what} of {budget} it has {n} vectors"
        points = [_dict(row) for row in _stream(model, 8)[0][:9]]
        finite = np.isfinite(_numbers([model.decision_function_one(x) for x in points]))
        assert finite.all(), f"after {what} its scores are not finite"
        model.learn_many(*_stream(model, 3))


def _third_class(model: Any) -> None:
    if not isinstance(model, base.Classifier) or getattr(model, "classes", None) is not None:
        return
    model = _taught(model)
    refused = _unchanged(model, lambda: model.learn_one({0: 1.0}, "third"), "a third class")
    if refused is None:
        assert len(model.decision_function_one({0: 1.0})) == 3, "a third class has no score"
        rows, _ = _stream(model, 4)
        model.learn_many(rows, [(False, True, "third")[t % 3] for t in range(ROWS)])
        _keeps(model, "a third class and a budget", _budget_of(model) or ROWS * 4)
        _agree(model, {"a pickle of three classes": pickle.loads(pickle.dumps(model))})


def _sums(model: Any) -> None:
    """`rb.merge` is refused, or what it gives is the weighted sum and goes on."""
    parts = [_taught(model, seed) for seed in (0, 5)]
    for part, seed in zip(parts, (0, 5), strict=True):
        for x, y in _coming_and_going(model, seed):  # each brings other names
            part.learn_one(x, y)
    limited = _has_vectors(model) and _budget_of(model) is not None
    whole = sum(part.n_support_vectors for part in parts) if limited else None
    try:
        united = merge(parts, budget=whole)
    except REFUSALS:
        return
    x = _dict(_stream(model, 9)[0][0])
    a, b, f = (_numbers([each.decision_function_one(x)]) for each in (*parts, united))
    assert np.allclose(f, (a + b) / 2, rtol=1e-6, atol=1e-6), (
        f"rb.merge of two models gives the score {f}, and not the mean of {a} and {b}"
    )
    _keeps(united, "rb.merge and a budget", _budget_of(united) or ROWS * 5)
    copies = {"a file of it": _saved(united)[1], "a pickle": pickle.loads(pickle.dumps(united))}
    _agree(united, {f"after rb.merge {what}": each for what, each in copies.items()})


def _budget_of(model: Any) -> int | None:
    """How many vectors a model may have; None: any number."""
    budget: int | None = getattr(model, "_budget_in_use", None)
    return budget


def _rivers_checks(model: Any) -> None:
    if importlib.util.find_spec("sklearn") is None:  # from which the checks take data
        return
    state = random.getstate()
    try:
        for asked in checks.yield_checks(model):
            random.seed(0)  # the checks shuffle features
            try:
                asked(model.clone())
            except Exception as error:
                name = getattr(asked, "__name__", asked)
                raise AssertionError(f"River's {name} fails: {error!r}") from error
    finally:
        random.setstate(state)


def _equals(model: Any, reference: Any) -> None:
    model, (rows, targets), expected = model.clone(), _stream(model), []
    found = scores_before(model, rows, targets)
    for row, y in zip(rows, targets, strict=True):
        expected.append(reference.predict(_dict(row)))
        reference.learn(_dict(row), y)
    _compare(found, expected, "its reference")
    if "budget" in model._parameters() and model.budget is not None:
        assert model.n_support_vectors >= min(model.budget, 2), (
            "the stream of the check has left it nearly empty: the reference says little"
        )


def _compare(found: list[Any], expected: list[Any], whom: str) -> None:
    """Require scores that differ by less than CLOSE."""
    first, second = _numbers(found), _numbers(expected)
    largest = np.abs(second).max(initial=1e-300)
    apart = np.abs(first - second) / largest
    beyond = np.flatnonzero(~(apart <= CLOSE))
    for t in beyond[:1]:
        raise AssertionError(f"its score {t} is {first[t]}, and that of {whom} {second[t]}")


def _plain_python(model: Any) -> None:
    """As plain Python, without a compiler, it has the same scores, and no index is out of range."""
    stream, kind = _stream(model), type(model)
    expected = scores_before(model.clone(), *stream)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if kind.__module__ == "__main__" or file is None or "numba" not in sys.modules:
        return  # nothing that another process can import
    if kind.__module__.startswith("river_budget."):
        return  # its own tests do the same for all classes in one process
    given = pickle.dumps((kind.__module__, file, sys.path, pickle.dumps(model.clone()), stream))
    done = subprocess.run(
        [sys.executable, "-c", PLAIN],
        input=given,
        capture_output=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    said = done.stderr.decode(errors="replace").strip()
    assert done.returncode == 0, f"as plain Python (NUMBA_DISABLE_JIT=1) it fails:\n{said[-2000:]}"
    found = pickle.loads(done.stdout.partition(b"scores:")[2])
    _compare(expected, found, "the same as plain Python (NUMBA_DISABLE_JIT=1)")


def _cache(model: Any) -> None:
    """No function is left in numba's own cache, which does not notice edits of what the function
    calls.
    """
    for compiled_pass in (model._learning_pass, model._scoring_pass):
        for function in _used_by(compiled_pass):
            kept = type(getattr(function, "_cache", None)).__name__ == "FunctionCache"
            assert not kept or function in _of_users, (
                f"{function.__name__} is kept in numba's cache, which does not notice edits of "
                "what it calls: compile it "
                "by river_budget.extending.compiled, without cache=True"
            )


def _used_by(compiled_pass: Any) -> Iterator[Any]:
    """The compiled functions outside of core that a pass uses."""
    seen: set[Any] = set()
    list(_code_of(compiled_pass, seen))
    for function in seen:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        for value in (*function.__globals__.values(), *cells):
            if getattr(value, "py_func", None) in seen:
                yield value
