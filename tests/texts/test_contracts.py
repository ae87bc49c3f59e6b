"""What every estimator, kernel and strategy owes: a reference, a place in the texts, answers about
files.
"""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from folders import EXAMPLES, TESTS
from inside import plain
from models import KERNELS
from replayed_cases import CASES, REGRESSION
from river import base
from saved_models import ALL, file_of, taught

import river_budget as rb
from river_budget.core import memory
from river_budget.core.memory import views
from river_budget.kernels import RBF, Kernel
from river_budget.maintenance import Maintenance, Merge, RemoveOldest
from river_budget.model.base import StreamModel
from river_budget.model.lock import changes_the_model
from river_budget.plots.line_styles import KNOWN
from river_budget.saving import frozen, opened, trust

TABLE = (EXAMPLES / "guide" / "algorithms.md").read_text()
PUBLIC = {name: getattr(rb, name) for name in rb.__all__}
ESTIMATORS = {
    name: kind
    for name, kind in PUBLIC.items()
    if isinstance(kind, type) and issubclass(kind, StreamModel)
}
ONE_EACH = list({type(entry.values[0]): entry for entry in reversed(ALL)}.values())


def family(name):
    """What a class and its sister for the other task have in common."""
    return name.removesuffix("Classifier").removesuffix("Regressor")


def test_every_estimator_is_in_the_table_of_models():
    assert {type(entry.values[0]) for entry in ONE_EACH} == set(ESTIMATORS.values())


# References and texts

REPLAYED = {  # what the cases of test_replay_family leave out
    "AutoKernelClassifier": "test_auto_replay.test_two_classes_are_replayed_on_real_data",
    "AutoKernelRegressor": "test_auto_replay.test_regression_is_replayed_on_real_data",
    "BSGDClassifier": "test_replay.test_removal_replays_two_classes",
    "BSGDRegressor": "test_replay.test_removal_replays_regression",
    "FOGDClassifier": "test_fourier.test_emerging_features_and_classes_are_replayed",
    "FOGDRegressor": "test_fourier.test_regression_is_replayed",
    "KRLSTRegressor": "test_krls_tracker.test_real_and_drifting_streams_are_replayed",
    "KernelOneClassSVM": "test_one_class.test_it_replays_its_reference",
    "Nystroem": "test_nystroem.test_the_map_gives_the_kernel_back_on_its_landmarks",
    "PolynomialCountSketch": "test_sketch.test_it_equals_its_reference",
    "RBFSampler": "test_fourier.test_inner_products_approximate_the_kernel",
    "RandomFourier": "test_fourier.test_inner_products_approximate_the_kernel",
    "SBPClassifier": "test_sbp.test_a_stream_is_replayed",
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_is_compared_with_a_reference(name):
    cases = {case[0].__name__ for case in [*CASES.values(), *REGRESSION.values()]}
    assert (name in cases) != (name in REPLAYED)
    if name in REPLAYED:
        module, _, function = REPLAYED[name].partition(".")
        source = (TESTS / "passes" / f"{module}.py").read_text()
        assert f"def {function}(" in source
        assert re.search(r"oracles|import .*plain|from replaying import", source)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_has_a_row_in_the_table_of_algorithms(name):
    first_cells = {line.split("|")[1] for line in TABLE.splitlines() if line.startswith("|")}
    assert any(f"`{family(name)}" in cell for cell in first_cells)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_has_a_line_style_of_its_own(name):
    if issubclass(ESTIMATORS[name], base.AnomalyDetector):
        pytest.skip("no figure shows a detector")
    short = family(name).removeprefix("Kernel").replace("PP", "++")
    assert short in KNOWN


# Kernels and strategies


class Unknown(Kernel):
    """A kernel without a branch in core."""

    def header_fields(self, n_features):
        return {"kernel": 99, "bounded": 1, "gamma": 1.0}


class Strange(Maintenance):
    """A strategy without a branch in core."""

    _code = 99


@pytest.mark.parametrize(
    "kind",
    [kind for kind in ESTIMATORS.values() if "kernel" in kind()._parameters()],
    ids=lambda kind: kind.__name__,
)
def test_a_kernel_that_core_does_not_know_is_refused_when_a_model_is_built(kind):
    with pytest.raises((NotImplementedError, ValueError), match=r"Unknown|kernel"):
        kind(kernel=Unknown())


@pytest.mark.parametrize("kind", [rb.BSGDClassifier, rb.BSGDRegressor, rb.KernelOneClassSVM])
def test_a_strategy_that_core_does_not_know_is_refused_when_a_model_is_built(kind):
    with pytest.raises(NotImplementedError, match="Strange"):
        kind(maintenance=Strange())
    assert isinstance(kind(maintenance=RemoveOldest())._strategy, RemoveOldest)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_kernel_that_says_so_is_1_of_a_vector_with_itself(kernel):
    X = np.vstack([np.zeros(3), np.random.default_rng(0).normal(size=(20, 3))])
    ones = np.diag(plain(kernel)(X, X)) == 1.0
    if kernel.header_fields(3).get("bounded", 0):
        assert ones.all()
    elif not isinstance(kernel, rb.kernels.Normalised):  # with rounding, which may be none
        assert not ones.all()


def test_kernels_and_strategies_have_codes_of_their_own():
    headers = [(type(kernel), kernel.header_fields(1)) for kernel in KERNELS]
    codes = {(header["kernel"], header.get("normalised", 0)): kind for kind, header in headers}
    assert len(codes) == len(rb.kernels.__all__)
    codes = {
        getattr(rb.maintenance, name)().header_fields()["maintenance"]
        for name in rb.maintenance.__all__
    }
    assert len(codes) == len(rb.maintenance.__all__)


# Files and pickles


@pytest.mark.parametrize("model", ONE_EACH)
def test_every_whole_number_of_a_record_is_answered_for(model):
    trust.check_declared(model)


@pytest.mark.parametrize("model", ALL)
def test_a_model_that_keeps_rows_per_vector_says_what_a_file_may_set_them_to(model):
    model = taught(model, 30)
    if views(model._block).head.per_vector:
        assert "per_vector" in trust.ranges_of(model)


@pytest.mark.parametrize("model", ONE_EACH)
def test_a_pickle_of_another_layout_is_refused_with_the_way_out(model):
    model = taught(model, 10)
    model._block[:8].view(np.int64)[0] += 1  # the stamp
    with pytest.raises(TypeError, match=r"another version.*rb\.save"):
        pickle.loads(pickle.dumps(model))


def test_classes_with_other_records_have_other_stamps():
    records = {repr(kind.algorithm.state.descr): kind._stamp() for kind in ESTIMATORS.values()}
    assert len(set(records.values())) == len(records)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("HEAD", memory.record("i8 stamp novelty")),
        ("STATE_SIZE", memory.STATE_SIZE + 64),
        ("_layout", lambda *sizes: ({"norms": (0, float, sizes)}, 0)),
    ],
)
def test_another_layout_has_another_stamp(part, value, monkeypatch):
    state = rb.RBPClassifier.algorithm.state
    before = memory.stamp_of(state)
    monkeypatch.setattr(memory, part, value)
    assert memory.stamp_of.__wrapped__(state) != before


CHANGING = ("learn", "refine", "mutate", "score_then")


@pytest.mark.parametrize("model", ONE_EACH)
def test_a_model_that_only_predicts_refuses_whatever_would_change_it(model):
    model = opened(file_of(taught(model, 10)), predict_only=True)
    names = {
        name
        for name in dir(type(model))
        if getattr(getattr(type(model), name, None), "changes_the_model", False)
        or (not name.startswith("_") and any(word in name for word in CHANGING))
    }
    names = {name for name in names if callable(getattr(model, name))}
    assert "learn_one" in names
    for name in names - {"_learning_pass"}:
        with pytest.raises(RuntimeError, match="predict_only"):
            getattr(model, name)()


class Forgetful(rb.BSGDClassifier):
    """A model with a method of its own that changes it."""

    @changes_the_model
    def forget_everything(self):
        self.block = None


def test_a_marked_method_of_ones_own_is_refused_as_well():
    model = Forgetful(5, RBF(0.5), Merge())
    model.learn_one({"a": 1.0}, True)
    frozen.freeze(model)
    with pytest.raises(RuntimeError, match="predict_only"):
        model.forget_everything()
    assert model.n_support_vectors == 1
