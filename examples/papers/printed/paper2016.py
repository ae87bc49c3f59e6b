"""J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016.

Sigma = 8 for all but table 3. Every example is predicted before it is learned, and mistakes or
squared errors are counted, in 20 orders of the examples: the authors' own for german, spambase,
dna, satimage, housing and mg. The authors' step for FOGD is ours / D, as they do not divide the
features by sqrt(D).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import river_budget as rb

from ..records.records import CHOSEN, FITTED, STATED, Cell, Record
from ..records.stored import dataset
from ..records.tasks import Task, repeated
from ..records.verdicts import Printed
from ..rivals.released_forgetron import ReleasedForgetronClassifier
from ..rivals.released_projectron import (
    ReleasedProjectronClassifier,
    ReleasedProjectronPPClassifier,
)
from .described import contents, first_at_hand, record

KNOWN = contents("paper2016.toml")
KERNEL = rb.kernels.RBF.from_width(8.0)
UNLIMITED = ("Perceptron", "OGD", "NORMA")  # learners without a budget

# Steps that the paper does not state: the one in its list 2, .2, .02, .002, .0002 that gives the
# printed figures (on mnist none does). Other sets use the .005 of the authors' program.
FOGD_STEP = {"dna": 0.02, "satimage": 0.02, "mnist-test": 0.001, "usps": 0.02, "shuttle": 0.2}
FOGD_STEP |= {"poker-hands": 0.02}
LARGER_BUDGET = ("dna", "mnist-test", "satimage", "usps")  # budget 200; the others have 100
# On usps: the width at which the two rows without a budget have their printed figures, and the rows
# that need B = 300
WIDTH = {"usps": rb.kernels.RBF.from_width(9.8)}
LARGER_ON_USPS = ("Projectron", "Projectron++", "BPA", "NOGD")
# The Forgetron: the paper's rule where it comes nearer, elsewhere that of the released program
RULE_FITS = ("german", "usps")
# Sets with many equal rows, on which the released Projectrons without a guard differ from ours
REPEATED_ROWS = ("w7a", "w8a", "w8a-train", "a9a", "dna")
RANK = {"spambase": 50}  # of NOGD; else a fifth of the budget
OGD_STEP = {"spambase": 2.0}  # from the same list; otherwise .2
STEP = {"housing": 0.3, "mg": 0.4, "cpusmall": 0.4, "cadata": 0.4, "parkinsons": 0.1, "casp": 0.1}
OF_THE_AUTHORS = ("housing", "mg")  # the authors' files contain the steps and decays
# Decays that give the printed figures best: of .01, .02, .03 and .05, and of .01 to .03 in steps of
# .005
BOGD_DECAY = {"abalone": 0.01, "cpusmall": 0.02, "cadata": 0.05}
# Whose rows of RBP, Forgetron and Projectron come from the B = 30 of the paper; of the others from
# 20
BUDGET_AS_STATED = ("abalone", "parkinsons", "cpusmall")
NORMA_DECAY = {"abalone": 0.025, "parkinsons": 0.015, "cpusmall": 0.02, "cadata": 0.02}

# Where the set's name in the mirror differs, or only a part of it may be available
STORED_NAMES: dict[str, tuple[str, ...]] = {
    "mnist": ("mnist-test",),
    "kddcup99": ("kddcup99-10pct",),
    "poker": ("poker-test", "poker-hands"),
    "w8a": ("w8a", "w8a-train"),
}

REPEATS, FEWER_REPEATS, FEWEST_REPEATS = 20, 10, 5
HANDS_REPEATS = 2  # of a million hands
LARGE_DATASET = 12_000  # beyond there are fewer, and for models without a budget the fewest
PREPARED = {"kddcup99-10pct": (("logarithms", True),)}  # options of the protocol


def printed_table(number: int) -> dict[tuple[str, str], Printed]:
    """{(row, column): the printed figure}, of a table and its table of times."""
    seconds = dict(_fields(f"times {number}", 1))
    table = {}
    for place, (mean, deviation) in _fields(f"table {number}", 2):
        if mean != "-":
            spent = seconds.get(place, ["-"])[0]
            known = [None if figure == "-" else figure for figure in (deviation, spent)]
            table[place] = Printed(mean, *known)
    return table


def _fields(name: str, width: int) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """((row, column), `width` fields) of a printed table."""
    first, *lines = KNOWN["printed"][name].splitlines()
    for line in lines:
        row, *figures = line.split()
        for i, column in enumerate(first.split()):
            yield (row, column), figures[i * width : (i + 1) * width]


# The learners of tables 5, 7 and 9


def fogd(kind: Any, n: int, step: float, kernel: rb.kernels.Kernel = KERNEL) -> Any:
    """FOGD with the authors' step, which is ours / n."""
    squared = {"max_error": None} if "max_error" in kind._parameters() else {}
    return kind(n_components=n, kernel=kernel, learning_rate=n * step, **squared)


def classifiers(
    data: str, budget: int, step: float, fogd_step: float, **bogd: Any
) -> dict[str, Any]:
    """The learners of tables 5 and 7: D = 4 B, and one step for all but FOGD."""
    kernel = WIDTH.get(data, KERNEL)
    more = 300 if data == "usps" else budget
    released = data not in RULE_FITS
    return {
        "Perceptron": rb.KernelPerceptronClassifier(kernel),
        "OGD": rb.KernelOGDClassifier(kernel, OGD_STEP.get(data, step)),
        "RBP": rb.RBPClassifier(budget, kernel),
        "Forgetron": FORGETRONS[released](budget, kernel),
        "Projectron": rb.ProjectronClassifier(more, kernel),
        "Projectron++": rb.ProjectronPPClassifier(more, kernel),
        "BPA": rb.BPAClassifier(more, kernel, 1.0, "simple"),
        "BOGD": rb.BOGDClassifier(budget, kernel, step, **bogd),
        "FOGD": fogd(rb.FOGDClassifier, 4 * budget, fogd_step, kernel),
        "NOGD": rb.NOGDClassifier(more, kernel, RANK.get(data), step),
    }


FORGETRONS = {True: ReleasedForgetronClassifier, False: rb.ForgetronClassifier}
PROJECTRONS = {
    "Projectron": ReleasedProjectronClassifier,
    "Projectron++": ReleasedProjectronPPClassifier,
}
AS_RELEASED = "as released"


def other_model(row: str, data: str, model: Any) -> tuple[str, Any]:
    """(in words, a model) that stands beside that of a row: the paper's rule, or the program that
    its authors published.
    """
    if row == "Forgetron" and isinstance(model, rb.ForgetronClassifier):
        released = isinstance(model, ReleasedForgetronClassifier)
        words = "the paper's rule" if released else AS_RELEASED
        return words, FORGETRONS[not released](model.budget, model.kernel)
    if data in REPEATED_ROWS and row in PROJECTRONS:
        return AS_RELEASED, PROJECTRONS[row](model.budget, model.kernel)
    return "", None


def binary(data: str) -> dict[str, Any]:
    """Table 5: B = 100."""
    decay = {"l2": 1.0 / dataset(data).n_samples ** 2, "max_coefficient": 10.0}
    return classifiers(data, 100, 0.2, 0.002, removal="random", **decay)


def multiclass(data: str) -> dict[str, Any]:
    """Table 7: B = 200 for the first sets and 100 for the others."""
    budget = 200 if data in LARGER_BUDGET else 100
    return classifiers(data, budget, 0.5, FOGD_STEP.get(data, 0.005), l2=1e-5, removal="oldest")


def regression(data: str) -> dict[str, Any]:
    """Table 9. The paper says B = 30 for all, and D = 15 B.

    On the sets of the authors' files the rows of RBP, Forgetron, Projectron, BOGD and FOGD come
    from B = 20.
    """
    step, decay = STEP.get(data, 0.2), NORMA_DECAY.get(data, 0.03)
    budget = 20 if data in OF_THE_AUTHORS else 30
    smaller = 30 if data in BUDGET_AS_STATED else 20
    return {
        "OGD": rb.KernelOGDRegressor(KERNEL, step),
        "Perceptron": rb.KernelPerceptronRegressor(KERNEL, 0.1),
        "NORMA": rb.NORMARegressor(None, KERNEL, 0.03, decay, 0.4),
        "RBP": rb.RBPRegressor(smaller, KERNEL, 0.1),
        "Forgetron": rb.ForgetronRegressor(smaller, KERNEL, 0.1),
        "Projectron": rb.ProjectronRegressor(smaller, KERNEL, 0.0, 0.1),
        "BOGD": rb.BOGDRegressor(budget, KERNEL, step, BOGD_DECAY.get(data, 0.03), "oldest"),
        "FOGD": fogd(rb.FOGDRegressor, 15 * budget, 6e-4),
        "NOGD": rb.NOGDRegressor(30, KERNEL, learning_rate=step, max_error=None),
    }


def tried(number: int, row: str, data: str) -> int:
    """How many settings were tried until one gave the printed figure of a cell; 0: none was chosen
    by it.
    """
    found = {5: tried_on_two_classes, 7: tried_on_several_classes, 9: tried_in_regression}
    return found[number](row, data)


def tried_on_two_classes(row: str, data: str) -> int:
    """Of table 5: the prepared features of kddcup99, the two Forgetrons, single steps and ranks."""
    if data == "kddcup99-10pct" or row == "Forgetron":
        return 2
    if row == "OGD" and data in OGD_STEP:
        return 5
    return 3 if row == "NOGD" and data in RANK else 0


def tried_on_several_classes(row: str, data: str) -> int:
    """Of table 7: on usps seven widths, on two rows, and then twelve pairs of width and budget."""
    if data == "usps":
        return 7 if row in UNLIMITED else 19
    if row == "FOGD" and data in FOGD_STEP:
        return 2 if data == "poker-hands" else 5
    if row == "Forgetron":
        return 2
    return 2 if data == "mnist-test" and row not in UNLIMITED else 0


def tried_in_regression(row: str, data: str) -> int:
    """Of table 9: budgets, steps (one for OGD, NOGD and BOGD) and decays."""
    if row in ("RBP", "Forgetron", "Projectron"):
        return 0 if data in BUDGET_AS_STATED else 3
    if data in OF_THE_AUTHORS:
        return 3 if row in ("BOGD", "FOGD") else 0
    if row == "NORMA":
        return 5 if data in NORMA_DECAY else 0
    if row == "BOGD":
        return 16 if data in BOGD_DECAY else 4
    return 4 if row in ("OGD", "NOGD") else 0


# The cells of tables 5, 7 and 9


def table(number: int, models: Callable[[str], dict[str, Any]], scale: float) -> Iterator[Cell]:
    """The cells of table 5, 7 or 9; for poker and w8a of the paper's examples if available."""
    printed = printed_table(number)
    for column in dict.fromkeys(column for _, column in printed):
        data = first_at_hand(*STORED_NAMES.get(column, (column,)))
        possible = KNOWN["possible"].get(column, {})
        for row, model in models(data).items():
            if (row, column) not in printed:
                continue
            repeats, options = repeats_of(row, data), PREPARED.get(data, ())
            words, other = other_model(row, data, model)
            settings = tried(number, row, data)
            yield Cell(
                row,
                column,
                repeated(repeats, "progressive", data, model, options),
                printed[row, column],
                scale,
                next((word for word, rows in possible.items() if row in rows), None),
                note_on(row, column),
                "; ".join(remarks_on(row, column, repeats)),
                KNOWN["other"].get(data, ""),
                FITTED if settings else STATED,
                beside=repeated(repeats, "progressive", data, other, options) if other else (),
                beside_is=words,
                tried=settings,
            )


def repeats_of(row: str, data: str) -> int:
    """The number of orders for a row: fewer if an order takes long, or if the data are not the
    paper's anyway.
    """
    if data == "kddcup99-10pct":
        return 1 if row == "OGD" else 2  # one order takes minutes
    if data in KNOWN["other"]:
        return FEWEST_REPEATS
    if data == "poker-hands":
        return HANDS_REPEATS
    if dataset(data).n_samples > LARGE_DATASET:
        return FEWEST_REPEATS if row in UNLIMITED else FEWER_REPEATS
    return REPEATS


def note_on(row: str, column: str) -> str:
    """The known cause of a difference."""
    for note in KNOWN["notes"]:
        rows = note["cells"].get(column, ())
        if rows == "all" or row in rows:
            return str(note["text"])
    return ""


def remarks_on(row: str, column: str, repeats: int) -> Iterator[str]:
    """What differs from the paper, and is always printed."""
    yield from filter(None, [KNOWN["all_rows"].get(column)])
    yield from filter(None, [KNOWN["remarks"].get(row, {}).get(column)])
    if repeats < REPEATS:
        yield f"{repeats} orders only" if repeats > 1 else "one order only"


# Table 3: one pass over a training set, accuracy on a test set, in five orders as in the paper. It
# chose all parameters by five folds of the training file; the grid of its program is 1, .1, .01,
# .001, .0001 for gamma and for the step.

PASSES, LANDMARK_RUNS, RUNS_ON_OTHER_DATA = 5, 3, 2  # runs
BATCH = ("LIBSVM", "LLSVM")

Parameters = dict[str, tuple[float, float]]  # by row: gamma, and C, l2 or the step


@dataclass(frozen=True)
class Setting:
    """The files of one set, the paper's budget B (D = 4 B), and the parameters of every row."""

    train: str
    test: str
    budget: int
    validated: Parameters  # the best on held-out rows of the training file
    fitting: Parameters  # those that give the printed figures, where they are others
    unit: bool = False
    held_out: int = 0  # rows of the training file that stand in for a test file

    def options(self, data: str, row: str) -> tuple[tuple[str, Any], ...]:
        """Options of the protocol, without those that are defaults. The batch rows on codrna are
        standardised.
        """
        if self.held_out:
            return (("held_out", self.held_out),)
        found: list[tuple[str, Any]] = [("test", self.test)]
        if self.train != data:
            found.append(("train", self.train))
        if self.unit:
            found.append(("standardise" if row in BATCH else "unit", True))
        return tuple(found)


WEB: Parameters = {"LIBSVM": (0.01, 100.0), "LLSVM": (0.1, 1.0)}
WEB |= {
    "BSGD-merge": (0.1, 1e-5),
    "BSGD-remove": (0.1, 1e-5),
    "FOGD": (0.1, 1e-3),
    "NOGD": (0.1, 1.0),
}
W7A: Parameters = {"BSGD-merge": (0.1, 5e-4), "BSGD-remove": (0.05, 5e-5), "FOGD": (0.01, 1e-3)}
W8A: Parameters = {"BSGD-merge": (0.01, 1e-4), "BSGD-remove": (0.005, 5e-5), "FOGD": (0.01, 1e-3)}
ADULT_FITS: Parameters = {"BSGD-remove": (0.1, 1e-5)}
ADULT: Parameters = {"LIBSVM": (0.01, 10.0), "LLSVM": (0.01, 1.0), "BSGD-merge": (0.1, 1e-4)}
ADULT |= {"BSGD-remove": (0.1, 1e-4), "FOGD": (0.01, 5e-4), "NOGD": (0.03, 2.0)}
RNA: Parameters = {"LIBSVM": (0.1, 100.0), "LLSVM": (0.1, 10.0), "BSGD-merge": (1.0, 1e-4)}
RNA |= {"BSGD-remove": (1.0, 1e-5), "FOGD": (1.0, 1e-3), "NOGD": (1.0, 1.0)}
RNA_FITS: Parameters = {"BSGD-merge": (1.0, 1e-3), "BSGD-remove": (1.0, 1e-3), "FOGD": (0.01, 1e-3)}
# Fitting cells that differ in more than parameters, and how many settings were tried for them where
# that was counted
REMOVES_AT_RANDOM = ("a9a", "BSGD-remove")
AVERAGED = ("codrna", "FOGD")
TRIED = {REMOVES_AT_RANDOM: 20, AVERAGED: 6}
OTHERWISE = {
    REMOVES_AT_RANDOM: "a random vector is removed, as the paper defines BSGD-R",
    AVERAGED: "the mean of `average=True`",
}
SETTINGS = {
    "codrna": Setting("cod-rna", "cod-rna.t", 400, RNA, RNA_FITS, unit=True),
    "w7a": Setting("w7a", "w7a.t", 400, WEB, W7A),
    "w8a": Setting("w8a", "w8a.t", 1000, WEB, W8A),
    "w8a-train": Setting("w8a", "w8a.t", 1000, WEB, W8A, held_out=14_951),  # as many as w8a.t has
    "a9a": Setting("a9a", "a9a.t", 1000, ADULT, ADULT_FITS),
}
NAMES = {"LIBSVM": "C", "LLSVM": "C", "FOGD": "step", "NOGD": "step"}  # of the second parameter


def described(row: str, parameters: tuple[float, float]) -> str:
    """Parameters in words."""
    gamma, other = parameters
    return f"gamma {gamma:g}, {NAMES.get(row, 'l2')} {other:g}"


def tasks_of(
    data: str, row: str, parameters: tuple[float, float], fitting: bool = False
) -> tuple[Task, ...]:
    """The tasks of a row on one dataset. `fitting`: those that give the printed figure."""
    setting, (gamma, other) = SETTINGS[data], parameters
    passes = RUNS_ON_OTHER_DATA if setting.held_out else PASSES
    kernel, b, options = rb.kernels.RBF(gamma), setting.budget, setting.options(data, row)
    special = (data, row) if fitting else ()
    if row == "LIBSVM":
        return repeated(1, "libsvm", data, kernel, (("C", other), *options))
    if row == "LLSVM":
        more = (("C", other), ("landmarks", b), *options)
        return repeated(min(passes, LANDMARK_RUNS), "llsvm", data, kernel, more)
    if row.startswith("BSGD"):
        removal: rb.maintenance.Maintenance = rb.maintenance.RemoveSmallest()
        if special == REMOVES_AT_RANDOM:
            removal = rb.maintenance.RemoveRandom()
        strategy = rb.maintenance.Merge() if row == "BSGD-merge" else removal
        model: Any = rb.BSGDClassifier(
            b, kernel, strategy, other, project_to_ball=False, learning_rate=None
        )
        return repeated(passes, "holdout", data, model, options)
    if row == "FOGD":
        model = rb.FOGDClassifier(4 * b, kernel, 4 * b * other)
        if special == AVERAGED:
            return repeated(passes, "holdout", data, model.clone({"average": True}), options)
    else:
        model = rb.NOGDClassifier(b, kernel, learning_rate=other, eta_linear=other)
    return repeated(passes, "holdout", data, model, (("mean", True), *options))


def table_3() -> Iterator[Cell]:
    """All cells of table 3."""
    printed, texts = printed_table(3), KNOWN["table_3"]
    for column in dict.fromkeys(column for _, column in printed):
        data = first_at_hand("w8a", "w8a-train") if column == "w8a" else column
        setting = SETTINGS.get(data)
        for row in dict.fromkeys(row for row, _ in printed):
            tasks: tuple[Task, ...] = ()
            validated: tuple[Task, ...] = ()
            words = [texts["remarks"].get(data, "")]
            if setting is not None and setting.unit:
                words = [texts["remarks"]["batch" if row in BATCH else "unit"]]
            fits = setting is not None and row in setting.fitting
            if setting is not None:
                tasks = tasks_of(data, row, setting.validated[row])
                words.append(described(row, setting.validated[row]))
                if fits:
                    tasks, validated = tasks_of(data, row, setting.fitting[row], True), tasks
                    words[-1] = f"{described(row, setting.fitting[row])}; validated: {words[-1]}"
                    words.append(OTHERWISE.get((data, row), ""))
            yield Cell(
                row,
                column,
                tasks,
                printed[row, column],
                100.0,
                note=texts["notes"].get(column, {}).get(row, texts["other"]),
                remark="; ".join(filter(None, words)),
                other=texts["other_data"].get(data, ""),
                settings=FITTED if fits else CHOSEN,
                missing=texts["unseen"].get(column, ""),
                beside=validated,
                beside_is="validated" if validated else "",
                tried=TRIED.get((column, row), 0) if fits else 0,
            )


def records() -> list[Record]:
    """The tables 3, 5, 7 and 9."""
    return [
        record("2016-table-3", table_3()),
        record("2016-table-5", table(5, binary, 100.0)),
        record("2016-table-7", table(7, multiclass, 100.0)),
        record("2016-table-9", table(9, regression, 1.0)),
    ]
