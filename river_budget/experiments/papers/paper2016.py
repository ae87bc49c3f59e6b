"""J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016.

Sigma = 8 for all. Mistakes, and squared errors, are counted before each example is learned, in 20 orders of the
examples: the authors' own for german, dna and housing. Their step for FOGD is ours / D, as they do not
divide the features by sqrt(D).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import river_budget as rb

from ..plotting import Panel
from ..records import Cell, Record, by_column, curves, last_seconds, last_value, sweep
from ..store import Store
from ..tasks import Task, dataset
from ..verdicts import Printed

KERNEL = rb.kernels.RBF.from_width(8.0)
REPEATS = 20
LARGE = 100_000  # examples, from which models without a budget run in fewer repeats
FEWER = 5

TABLE_5 = """
             german    spambase  w7a        w8a        a9a       ijcnn1      codrna    kddcup08   kddcup99
Perceptron   35.2 0.9  24.5 0.1  4.01 0.10  3.47 0.01  20.9 0.1  12.27 0.01  14.0 0.1  0.90 0.01  0.02 0.00
OGD          29.5 0.5  22.0 0.1  2.96 0.10  2.81 0.01  16.3 0.1  9.52 0.01   9.7 0.1   0.52 0.01  0.01 0.00
RBP          37.5 1.1  33.3 0.4  5.07 0.13  5.10 0.08  27.1 0.2  16.40 0.10  20.3 0.1  1.06 0.03  0.02 0.00
Forgetron    38.1 0.9  34.6 0.5  5.28 0.06  5.28 0.07  27.8 0.4  16.99 0.32  19.9 0.1  1.07 0.03  0.03 0.00
Projectron   35.6 1.5  30.8 1.2  5.38 1.15  5.42 1.10  21.6 1.9  12.38 0.09  15.8 0.5  0.94 0.02  0.02 0.00
Projectron++ 35.1 1.1  30.4 1.0  4.79 1.87  5.41 3.30  18.6 0.5  9.52 0.03   13.6 1.2  0.84 0.03  0.01 0.00
BPA          33.9 0.9  30.8 0.8  2.99 0.06  2.84 0.03  21.1 0.2  11.33 0.04  15.4 0.3  0.62 0.01  0.01 0.00
BOGD         31.6 1.5  32.2 0.6  3.49 0.16  3.43 0.08  27.9 0.2  11.67 0.13  15.2 0.1  0.61 0.01  0.81 0.06
FOGD         29.9 0.7  26.9 1.0  2.75 0.03  2.43 0.03  17.4 0.1  9.06 0.05   10.3 0.1  0.71 0.01  0.01 0.00
NOGD         30.4 0.8  29.1 0.4  2.98 0.01  2.92 0.03  17.4 0.2  9.55 0.01   13.8 2.1  0.59 0.01  0.01 0.00
"""
TABLE_7 = """
             dna       mnist     satimage  usps      letter    shuttle   acoustic  covtype   poker
Perceptron   20.4 0.7  15.4 0.1  29.6 0.5  10.0 0.2  71.5 0.5  15.2 0.3  - -       - -       - -
OGD          16.1 0.4  10.7 0.2  23.6 0.3  6.7 0.2   71.2 0.3  12.3 0.1  - -       - -       - -
RBP          31.1 1.4  43.4 0.5  49.3 0.8  24.0 0.4  91.7 0.2  29.3 0.5  57.4 0.2  60.1 0.1  56.6 0.0
Forgetron    30.9 2.1  43.9 0.6  48.2 1.4  22.7 0.5  96.1 0.1  34.1 0.4  61.2 0.4  60.4 0.4  56.5 0.0
Projectron   22.7 4.4  17.7 0.1  29.6 0.5  10.6 0.1  71.5 0.5  15.3 0.3  43.0 0.1  41.1 0.2  54.5 0.1
Projectron++ 23.1 6.1  17.7 0.3  25.9 0.4  9.9 0.2   71.4 0.3  16.8 0.5  40.3 0.1  38.3 0.2  53.2 0.1
BPA          25.3 1.2  32.4 1.2  27.9 0.3  15.4 0.6  84.6 0.5  14.1 0.2  46.2 0.3  45.2 0.2  54.7 0.4
BOGD         36.3 0.9  42.5 0.4  48.2 0.6  23.2 0.4  92.7 0.2  27.9 0.2  58.0 0.1  57.4 0.0  53.2 0.0
FOGD         20.8 0.7  11.8 0.2  29.5 0.4  10.1 0.2  71.5 0.6  15.6 0.5  43.0 0.2  40.4 0.1  52.6 0.1
NOGD         20.7 0.9  15.6 0.6  23.7 0.3  9.0 0.2   71.5 0.2  12.3 0.1  37.8 0.1  41.0 0.6  50.3 0.2
"""
TABLE_9 = """
             housing         mg              abalone         parkinsons      cpusmall        cadata          casp            slice           year
OGD          0.04017 0.00043 0.05341 0.00071 0.01137 0.00007 0.04835 0.00018 0.02508 0.00009 0.03976 0.00018 - -             - -             - -
Perceptron   0.04018 0.00080 0.05682 0.00084 0.01280 0.00010 0.05306 0.00045 0.02660 0.00015 0.04155 0.00019 - -             - -             - -
NORMA        0.04329 0.00065 0.06446 0.00073 0.01224 0.00006 0.05084 0.00018 0.03403 0.00014 0.05739 0.00008 - -             - -             - -
RBP          0.05837 0.00140 0.09652 0.00253 0.02498 0.00034 0.07540 0.00102 0.04895 0.00058 0.08115 0.00029 0.12425 0.00048 0.04799 0.00025 0.03151 0.00007
Forgetron    0.05848 0.00216 0.09742 0.00334 0.02483 0.00042 0.07488 0.00114 0.04905 0.00062 0.08128 0.00061 0.12455 0.00046 0.04843 0.00024 0.03148 0.00005
Projectron   0.04023 0.00080 0.05683 0.00084 0.01280 0.00010 0.05306 0.00046 0.02660 0.00015 0.04155 0.00020 0.08709 0.00021 0.01493 0.00142 0.01627 0.00013
BOGD         0.05270 0.00134 0.08936 0.00198 0.01558 0.00017 0.06159 0.00037 0.04972 0.00048 0.07259 0.00031 0.09683 0.00012 0.04730 0.00011 0.05430 0.00002
FOGD         0.04009 0.00071 0.05590 0.00073 0.01169 0.00005 0.04909 0.00020 0.02577 0.00050 0.04097 0.00015 0.08021 0.00031 0.00726 0.00019 0.01427 0.00004
NOGD         0.04063 0.00043 0.05356 0.00076 0.01138 0.00007 0.04896 0.00068 0.02559 0.00024 0.03983 0.00018 0.07844 0.00008 0.02636 0.00460 0.01519 0.00021
"""
# Where the mirror's name of a set is another one, or only a part of it is at hand.
STORED = {"mnist": "mnist-test", "poker": "poker"}

# Steps that the paper does not state, found by trying which one gives its figures.
FOGD_STEP = {"dna": 0.01, "satimage": 0.02, "mnist": 0.001, "usps": 0.02}
LARGER_BUDGET = ("dna", "mnist", "satimage", "usps")  # 200, the others 100
STEP = {"housing": 0.3, "mg": 0.4, "cpusmall": 0.4, "cadata": 0.4, "parkinsons": 0.1, "casp": 0.1}

# What is known of cells without randomness on the authors' own data.
EXACT_5 = {
    (row, "german")
    for row in ["Perceptron", "OGD", "Forgetron", "Projectron", "Projectron++", "BPA", "NOGD"]
}
EXACT_7 = {(row, "dna") for row in ["Perceptron", "OGD", "BPA", "BOGD", "NOGD"]}
EXACT_9 = {
    (row, "housing")
    for row in ["OGD", "Perceptron", "NORMA", "Forgetron", "Projectron", "BOGD", "NOGD"]
}
MATCH_5 = {(row, "german") for row in ["RBP", "BOGD", "FOGD"]}
MATCH_7 = {(row, "dna") for row in ["RBP", "Forgetron", "Projectron", "Projectron++", "FOGD"]}
MATCH_9 = {(row, "housing") for row in ["RBP", "FOGD"]}

ROOT = (
    "the authors' released code takes the wrong root in the shrinking step and gives the printed figure; "
    "this is the paper's rule"
)
DUPLICATES = (
    "ours is better: the authors' projection has no guard against examples that are stored already"
)
UNKNOWN_DECAY = "its step and decay on this set are not reported; a step of .3 is closer on cadata"
OTHER_COPY = "this copy of the set gives most rows one to three per cent more than the paper's"
NOTES = {
    ("Forgetron", "a9a"): ROOT,
    ("Forgetron", "ijcnn1"): ROOT,
    ("Forgetron", "mnist"): ROOT,
    ("Forgetron", "satimage"): ROOT,
    ("Projectron", "w7a"): DUPLICATES,
    ("Projectron++", "w7a"): DUPLICATES,
    ("Projectron", "dna"): DUPLICATES,
    ("Projectron++", "dna"): DUPLICATES,
    ("Projectron++", "shuttle"): "ours is better; the reason is not known",
    ("BOGD", "cpusmall"): UNKNOWN_DECAY,
    ("BOGD", "cadata"): UNKNOWN_DECAY,
    ("BOGD", "casp"): UNKNOWN_DECAY,
    ("RBP", "cpusmall"): OTHER_COPY,
    ("Forgetron", "cpusmall"): OTHER_COPY,
    ("NORMA", "cpusmall"): OTHER_COPY,
    ("FOGD", "shuttle"): "ours is better; the step of the paper is not known",
}
for _row in ("Perceptron", "OGD", "RBP", "Forgetron", "Projectron", "Projectron++", "BPA", "BOGD"):
    NOTES[_row, "usps"] = "the paper's scaling of usps is not known: no width tried gives all rows"
NOTES["FOGD", "usps"] = NOTES["NOGD", "usps"] = NOTES["BPA", "usps"]


def printed_table(text: str) -> dict[tuple[str, str], Printed]:
    header, *lines = text.strip("\n").splitlines()
    columns, table = header.split(), {}
    for line in lines:
        row, *figures = line.split()
        for column, mean, deviation in zip(columns, figures[::2], figures[1::2], strict=True):
            if mean != "-":
                table[row, column] = Printed(mean, deviation)
    return table


def fogd(kind: Any, n: int, step: float) -> Any:
    squared = {"max_error": None} if "max_error" in kind.parameters() else {}
    return kind(n_components=n, kernel=KERNEL, learning_rate=n * step, **squared)


def binary(data: str) -> dict[str, Any]:
    """Table 5: B = 100, D = 400."""
    decay = {"l2": 1.0 / dataset(data).n_samples ** 2, "max_coefficient": 10.0}
    return {
        "Perceptron": rb.KernelPerceptronClassifier(KERNEL),
        "OGD": rb.KernelOGDClassifier(KERNEL, 0.2),
        "RBP": rb.RBPClassifier(100, KERNEL),
        "Forgetron": rb.ForgetronClassifier(100, KERNEL),
        "Projectron": rb.ProjectronClassifier(100, KERNEL),
        "Projectron++": rb.ProjectronPPClassifier(100, KERNEL),
        "BPA": rb.BPAClassifier(100, KERNEL, 1.0, "simple"),
        "BOGD": rb.BOGDClassifier(100, KERNEL, 0.2, removal="random", **decay),
        "FOGD": fogd(rb.FOGDClassifier, 400, 0.002),
        "NOGD": rb.NOGDClassifier(100, KERNEL, learning_rate=0.2),
    }


def multiclass(data: str, budget: int | None = None) -> dict[str, Any]:
    """Table 7: B = 200 for the first sets and 100 for the others, D = 4 B, a step of .5."""
    b = budget or (200 if data in LARGER_BUDGET else 100)
    return {
        "Perceptron": rb.KernelPerceptronClassifier(KERNEL),
        "OGD": rb.KernelOGDClassifier(KERNEL, 0.5),
        "RBP": rb.RBPClassifier(b, KERNEL),
        "Forgetron": rb.ForgetronClassifier(b, KERNEL),
        "Projectron": rb.ProjectronClassifier(b, KERNEL),
        "Projectron++": rb.ProjectronPPClassifier(b, KERNEL),
        "BPA": rb.BPAClassifier(b, KERNEL, 1.0, "simple"),
        "BOGD": rb.BOGDClassifier(b, KERNEL, 0.5, 1e-5, "oldest"),
        "FOGD": fogd(rb.FOGDClassifier, 4 * b, FOGD_STEP.get(data, 0.005)),
        "NOGD": rb.NOGDClassifier(b, KERNEL, learning_rate=0.5),
    }


def regression(data: str) -> dict[str, Any]:
    """Table 9. The paper says B = 30 for all; the printed rows of these four come from 20."""
    step = STEP.get(data, 0.2)
    return {
        "OGD": rb.KernelOGDRegressor(KERNEL, step),
        "Perceptron": rb.KernelPerceptronRegressor(KERNEL, 0.1),
        "NORMA": rb.NORMARegressor(None, KERNEL, 0.03, 0.03, 0.4),
        "RBP": rb.RBPRegressor(20, KERNEL, 0.1),
        "Forgetron": rb.ForgetronRegressor(20, KERNEL, 0.1),
        "Projectron": rb.ProjectronRegressor(20, KERNEL, 0.0, 0.1),
        "BOGD": rb.BOGDRegressor(20, KERNEL, step, 0.03, "oldest"),
        "FOGD": fogd(rb.FOGDRegressor, 450, 6e-4),
        "NOGD": rb.NOGDRegressor(30, KERNEL, learning_rate=step, max_error=None),
    }


def repeats_of(row: str, data: str) -> int:
    unlimited = row in ("Perceptron", "OGD", "NORMA")
    return FEWER if unlimited and dataset(data).n_samples > LARGE else REPEATS


def table(
    text: str,
    models: Callable[[str], dict[str, Any]],
    scale: float,
    exact: set[tuple[str, str]],
    match: set[tuple[str, str]],
) -> Iterator[Cell]:
    printed = printed_table(text)
    for column in dict.fromkeys(column for _, column in printed):
        data = STORED.get(column, column)
        for row, model in models(column).items():
            if (row, column) not in printed:
                continue
            repeats = repeats_of(row, data)
            tasks = tuple(Task("progressive", data, i, model) for i in range(repeats))
            expected = "EXACT" if (row, column) in exact else None
            expected = "MATCH" if (row, column) in match else expected
            note = NOTES.get((row, column), "")
            if column == "poker":
                note = "the 25,010 hands of the training file; the paper has a million"
            if repeats < REPEATS:
                note = f"{repeats} orders only"
            yield Cell(row, column, tasks, printed[row, column], scale, expected, note)


# Figures 3 and 4: what the number of features, and the budget, are worth.

FACTORS_F = (0.5, 1, 2, 3, 4, 5, 6, 8, 10)
FACTORS_N = (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
SWEEP_DATA = ("dna", "satimage", "usps", "letter", "shuttle")
SWEEP_REPEATS = 5
BUDGETS = (25, 50, 100, 200, 300, 400, 500)
BUDGET_DATA = {"codrna": binary, "a9a": binary, "usps": multiclass, "acoustic": multiclass}
BUDGETED = (
    "RBP",
    "Forgetron",
    "Projectron",
    "Projectron++",
    "BPA",
    "BOGD",
    "BOGD++",
    "FOGD",
    "NOGD",
)
BUDGET_REPEATS = 1


def sweep_of_features() -> Iterator[Cell]:
    for data in SWEEP_DATA:
        step = FOGD_STEP.get(data, 0.005)
        settings: list[tuple[str, float, Any]] = [
            ("FOGD", factor, fogd(rb.FOGDClassifier, round(200 * factor), step))
            for factor in FACTORS_F
        ]
        settings += [
            ("NOGD", factor, rb.NOGDClassifier(200, KERNEL, round(200 * factor), 0.5))
            for factor in FACTORS_N
        ]
        for row, factor, model in settings:
            tasks = tuple(Task("progressive", data, i, model) for i in range(SWEEP_REPEATS))
            yield Cell(f"{row} {factor:g}", data, tasks, scale=100.0)


def setting(cell: Cell) -> float:
    """What the rows of a sweep end with."""
    return float(cell.row.split()[-1])


QUANTITIES = ((last_value, "mistakes"), (last_seconds, "seconds"))


def sweep_panels(record: Record, store: Store) -> Iterable[Panel]:
    for row, symbol in (("FOGD", "D / B"), ("NOGD", "rank / B")):
        for y_of, label in QUANTITIES:
            lines = []
            for data, cells in by_column(record).items():
                of_row = [cell for cell in cells if cell.row.startswith(row)]
                lines += sweep(data, of_row, store, setting, y_of)
            seconds = label == "seconds"
            yield Panel(row, symbol, label, lines, False, seconds, not seconds)


def with_budget(model: Any, row: str, budget: int) -> Any:
    if row == "FOGD":
        n = 4 * budget
        step = model.learning_rate / model.n_components
        return model.clone({"n_components": n, "learning_rate": n * step})
    return model.clone({"budget": budget})


def sweep_of_budgets() -> Iterator[Cell]:
    for data, models in BUDGET_DATA.items():
        made = models(data)
        made["BOGD++"] = made["BOGD"].clone({"removal": "random", "sampling": "nonuniform"})
        for row in BUDGETED:
            for budget in BUDGETS:
                model = with_budget(made[row], row, budget)
                tasks = tuple(Task("progressive", data, i, model) for i in range(BUDGET_REPEATS))
                yield Cell(f"{row} {budget}", data, tasks, scale=100.0)


def budget_panels(record: Record, store: Store) -> Iterable[Panel]:
    for data, cells in by_column(record).items():
        for y_of, label in QUANTITIES:
            lines = []
            for row in BUDGETED:
                of_row = [cell for cell in cells if cell.row.split()[0] == row]
                lines += sweep(row, of_row, store, setting, y_of)
            if lines:
                seconds = label == "seconds"
                yield Panel(data, "budget", label, lines, False, seconds, not seconds)


# Table 3: one pass over a training set, accuracy on a test set.

TABLE_3 = {
    "BSGD-merge": (
        Printed("84.21", "0.18"),
        rb.BSGDClassifier(1000, rb.kernels.RBF(0.01), l2=3e-4, learning_rate=None),
    ),
    "BSGD-remove": (
        Printed("81.96", "0.27"),
        rb.BSGDClassifier(
            1000, rb.kernels.RBF(0.01), rb.maintenance.RemoveSmallest(), 1e-4, learning_rate=None
        ),
    ),
    "FOGD": (
        Printed("84.93", "0.03"),
        rb.FOGDClassifier(4000, rb.kernels.RBF(0.01), learning_rate=0.2),
    ),
    "NOGD": (
        Printed("84.99", "0.07"),
        rb.NOGDClassifier(1000, rb.kernels.RBF(0.01), learning_rate=0.1),
    ),
}


def table_3() -> Iterator[Cell]:
    kernel, test = rb.kernels.RBF(0.01), ("test", "a9a.t")
    exact = Task("libsvm", "a9a", 0, kernel, (("C", 10.0), test))
    yield Cell("LIBSVM", "a9a", (exact,), Printed("85.04"), 100.0)
    options = (("C", 1.0), ("landmarks", 1000), test)
    runs = tuple(Task("llsvm", "a9a", i, kernel, options) for i in range(3))
    yield Cell("LLSVM", "a9a", runs, Printed("84.89"), 100.0)
    for row, (printed, model) in TABLE_3.items():
        tasks = tuple(Task("holdout", "a9a", i, model, (test,)) for i in range(5))
        yield Cell(row, "a9a", tasks, printed, 100.0)


def without_figures(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """The same runs, for a picture: the printed figures belong to the table."""
    return tuple(Cell(c.row, c.column, c.tasks, scale=c.scale) for c in cells)


def records() -> list[Record]:
    five = tuple(table(TABLE_5, binary, 100.0, EXACT_5, MATCH_5))
    seven = tuple(table(TABLE_7, multiclass, 100.0, EXACT_7, MATCH_7))
    nine = tuple(table(TABLE_9, regression, 1.0, EXACT_9, MATCH_9))
    mistakes, log_seconds = "mistakes so far", "seconds"
    return [
        Record(
            "2016-table-3",
            "One pass over a9a, then its test set",
            "accuracy, %",
            2,
            tuple(table_3()),
            "The paper chose its parameters by a cross-validation that it does not report; these are ours "
            "(gamma = .01). Other sets of this table are left out for the same reason.",
        ),
        Record("2016-table-5", "Binary classification", "mistakes, %", 2, five),
        Record("2016-table-7", "Classification into several classes", "mistakes, %", 2, seven),
        Record(
            "2016-table-9",
            "Regression",
            "squared error",
            5,
            nine,
            "RBP, Forgetron, Projectron and BOGD with B = 20: with the 30 that the paper states none of the "
            "rows without randomness comes out, with 20 all do.",
        ),
        Record(
            "2016-figure-1",
            "Mistakes of the learners of table 7 along the stream",
            "mistakes, %",
            2,
            without_figures(seven),
            panels=curves(mistakes, log_y=True, percent=True),
        ),
        Record(
            "2016-figure-2",
            "Time that the learners of table 7 take",
            "mistakes, %",
            2,
            without_figures(seven),
            panels=curves(log_seconds, "seconds", log_y=True),
        ),
        Record(
            "2016-figure-3",
            "The number of features of FOGD and NOGD, B = 200",
            "mistakes, %",
            2,
            tuple(sweep_of_features()),
            panels=sweep_panels,
        ),
        Record(
            "2016-figure-4",
            "The budget",
            "mistakes, %",
            2,
            tuple(sweep_of_budgets()),
            "a9a stands in for KDDCUP08, which is published to registered users only.",
            panels=budget_panels,
        ),
        Record(
            "2016-figure-5",
            "Squared error of the learners of table 9 along the stream",
            "squared error",
            5,
            without_figures(nine),
            panels=curves("squared error so far", log_y=True),
        ),
        Record(
            "2016-figure-6",
            "Time that the learners of table 9 take",
            "squared error",
            5,
            without_figures(nine),
            panels=curves(log_seconds, "seconds", log_y=True),
        ),
    ]
