"""A. Cotter, S. Shalev-Shwartz, N. Srebro. The kernelized stochastic batch Perceptron. ICML 2012.

On adult, as a9a and its test file: figure 2 (methods that see all examples from the start, against the number of
kernel evaluations), figure 3 of the appendix (random Fourier features), and the comparison with LIBSVM in the text of
section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

import river_budget as rb
from river_budget.plots.panels import Line, Panel

from ..records.records import Cell, Record, measurements, spread_line
from ..records.tasks import Store, Task, repeated
from ..records.verdicts import Finding, Printed, claim, percent
from ..rivals.batch_methods import SETTINGS
from .described import record

REPEATS = 5
KERNEL_ROWS = 3_000  # of the kernel matrix
MOST_WAVES = 128  # pairs of random Fourier features
SBP_ITERATIONS = 3_000
TEST_FILE = ("test", "a9a.t")
BIAS_TITLES = {False: "without a bias", True: "with a bias"}
SMO, WAVES = "SMO", "Fourier features"


def model(bias: bool) -> rb.SBPClassifier:
    """SBP with the paper's parameters."""
    setting = SETTINGS[bias]
    kernel = rb.kernels.RBF(setting.gamma)
    return rb.SBPClassifier(kernel=kernel, slack=setting.slack, fit_bias=bias)


def comparison(bias: bool) -> Cell:
    """All methods of figure 2."""
    options = (("bias", bias), ("rows", KERNEL_ROWS))
    tasks = repeated(REPEATS, "batch", "a9a", model(bias), options)
    return Cell(f"SBP {BIAS_TITLES[bias]}", "a9a", tasks, scale=100.0)


def optimiser() -> Cell:
    """SMO, in which only the order of the rows is random, as it decides ties."""
    kernel, options = (
        rb.kernels.RBF(SETTINGS[False].gamma),
        (("C", SETTINGS[False].cost), TEST_FILE),
    )
    return Cell(SMO, "a9a", (Task("smo", "a9a", 0, kernel, options),), scale=100.0)


def features() -> Cell:
    """Linear SVMs on random Fourier features."""
    kernel, cost = rb.kernels.RBF(SETTINGS[False].gamma), ("C", SETTINGS[False].cost)
    options = (cost, TEST_FILE, ("most", MOST_WAVES))
    return Cell(WAVES, "a9a", repeated(REPEATS, "waves", "a9a", kernel, options), scale=100.0)


def run_times() -> Iterator[Cell]:
    """With a bias: LIBSVM until convergence, and SBP for about a quarter of that time."""
    kernel, options = rb.kernels.RBF(SETTINGS[True].gamma), (("C", SETTINGS[True].cost), TEST_FILE)
    task = Task("libsvm", "a9a", 0, kernel, options)
    yield Cell("LIBSVM", "a9a", (task,), Printed("85.1", None, "195"), 100.0)
    options = (("iterations", SBP_ITERATIONS), TEST_FILE)
    tasks = repeated(REPEATS, "refined", "a9a", model(True), options)
    remark = f"{SBP_ITERATIONS:,} iterations"
    note = "the stopping point is ours: after a thirtieth of LIBSVM's time, not a quarter"
    yield Cell("SBP", "a9a", tasks, Printed("85.0", None, "48.75"), 100.0, None, note, remark)


def lines_of(cell: Cell, store: Store) -> dict[str, Line]:
    """The mean of (kernel evaluations, errors) over the runs, for every method of a cell."""
    done = measurements(cell, store)
    runs = [one.get("lines", {cell.row: [one["at"], one["values"]]}) for one in done]
    return {
        name: spread_line(
            name,
            np.mean([run[name][0] for run in runs], axis=0).tolist(),
            [run[name][1] for run in runs],
        )
        for name in (runs[0] if runs else ())
    }


def without_bias(record: Record, store: Store) -> dict[str, Line]:
    """The lines of all methods without a bias."""
    found: dict[str, Line] = {}
    for cell in record.cells:
        if cell.row != f"SBP {BIAS_TITLES[True]}":
            found |= lines_of(cell, store)
    return found


def panels(record: Record, store: Store) -> Iterable[Panel]:
    """A panel of the methods without a bias, SMO among them, and one of those with a bias."""
    for bias in (False, True):
        title, row = BIAS_TITLES[bias], f"SBP {BIAS_TITLES[bias]}"
        chosen = [cell for cell in record.cells if cell.row in ((row,) if bias else (row, SMO))]
        lines = [line for cell in chosen for line in lines_of(cell, store).values()]
        if lines:
            yield Panel(title, "kernel evaluations", "test error", lines, True, percent=True)


def feature_panels(record: Record, store: Store) -> Iterable[Panel]:
    """SBP and the Fourier features."""
    found = without_bias(record, store)
    lines = [line for name, line in found.items() if name in ("SBP", WAVES)]
    if lines:
        yield Panel("adult", "inner products", "test error", lines, True, percent=True)


# Claims of the figures


def at(line: Line, evaluations: float) -> float:
    """The error of a line after this number of kernel evaluations."""
    return float(np.interp(np.log(evaluations), np.log(line.x), line.y))


@claim("SBP is ahead of Pegasos and SDCA for the same number of kernel evaluations.")
def sbp_leads(record: Record, store: Store) -> Finding | None:
    """Whether SBP has the lowest error after equally many kernel evaluations."""
    lines = without_bias(record, store)
    methods = ("SBP", "Pegasos", "SDCA")
    if not lines.keys() >= {*methods}:
        return None
    first = max(lines[name].x[0] for name in methods)
    last = min(lines[name].x[-1] for name in methods)
    places = [float(x) for x in np.geomspace(first, last, 5)]
    sbp = [at(lines["SBP"], x) for x in places]
    rivals = [min(at(lines["Pegasos"], x), at(lines["SDCA"], x)) for x in places]
    won = sum(a < b + 1e-9 for a, b in zip(sbp, rivals, strict=True))
    text = f"at {won} of 5 places from {first:.1g} to {last:.1g} evaluations; at the last "
    text += ", ".join(f"{name} {percent(at(lines[name], last))}" for name in methods)
    return Finding(won == len(places), text)


@claim("SMO makes little progress up to a point, and then converges quickly.")
def smo_waits(record: Record, store: Store) -> Finding | None:
    """Whether the error of SMO stays above 20 % for most of the run and then converges."""
    lines = without_bias(record, store)
    if not {SMO, "SBP"} <= lines.keys():
        return None
    smo, sbp = lines[SMO], lines["SBP"]
    middle = next((x for x, y in zip(smo.x, smo.y, strict=True) if y < 0.2), smo.x[-1])
    text = f"SMO is above 20 % until {middle:.1g} evaluations and ends at {percent(smo.y[-1])}; "
    text += f"SBP has {percent(at(sbp, min(middle, sbp.x[-1])))} there"
    return Finding(middle > 0.3 * smo.x[-1] and smo.y[-1] < 0.16, text)


@claim("the Perceptron overfits on adult after its first pass; SBP does not.")
def perceptron_overfits(record: Record, store: Store) -> Finding | None:
    """Whether the last iterate of the Perceptron ends above its best error."""
    lines = without_bias(record, store)
    if not {"Perceptron", "SBP"} <= lines.keys():
        return None
    line = lines["Perceptron"]
    best, end = min(line.y), line.y[-1]
    text = f"its last iterate is best at {percent(best)} and ends after ten passes at "
    text += f"{percent(end)}, SBP at {percent(lines['SBP'].y[-1])}"
    if "averaged Perceptron" in lines:
        text += f"; the mean of its iterates ends at {percent(lines['averaged Perceptron'].y[-1])}"
    return Finding(end > best + 0.01, text)


@claim("SBP costs less than Fourier features on Reuters and MNIST.")
def waves_compared(record: Record, store: Store) -> Finding | None:
    """The errors of SBP and of Fourier features at equal cost; the claim is about other data."""
    lines = without_bias(record, store)
    if not {WAVES, "SBP"} <= lines.keys():
        return None
    waves, sbp = lines[WAVES], lines["SBP"]
    end = min(waves.x[-1], sbp.x[-1])
    text = f"this is adult, where after {end:.1g} inner products SBP has {percent(at(sbp, end))} "
    return Finding(None, text + f"and the Fourier features {percent(at(waves, end))}")


def records() -> list[Record]:
    """Figure 2, figure 3 and the times of section 5."""
    errors = (comparison(False), comparison(True), optimiser())
    claims = (sbp_leads, smo_waits, perceptron_overfits)
    inner_products = (comparison(False), features())
    return [
        record("2012-figure-2", errors, panels, *claims),
        record("2012-figure-3", inner_products, feature_panels, waves_compared),
        record("2012-section-5", run_times()),
    ]
