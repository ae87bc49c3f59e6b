"""Statistics, optimizers and losses: the parts of the steps of a pipeline."""

from __future__ import annotations

from typing import Any

from .encoding import PART, ClassSpec, Compiled, Object, class_of
from .kinds import ANY, BOOLEAN, COUNT, FRACTION, NUMBER, WEIGHT, ListOf, Table, real, whole
from .special import SortedWindow, Window


def _rolling(obj: Any, window_size: int) -> Any:
    made = class_of("utils.Rolling")(class_of("stats.Mean"), window_size)
    made.obj = obj
    return made


def _has_its_window(rolling: Any) -> bool:
    counted = getattr(rolling.obj, "n", len(rolling.window)) == len(rolling.window)
    return counted and hasattr(rolling.obj, "revert")


WINDOW_SIZE = whole(1, 2**31)
STATISTICS: dict[str, ClassSpec] = {
    "stats.AbsMax": ClassSpec(state={"abs_max": NUMBER}),
    "stats.BayesianMean": ClassSpec({"prior": NUMBER, "prior_weight": real(0.0)}, {"_mean": PART}),
    "stats.Count": ClassSpec(state={"n": COUNT}),
    "stats.Cov": ClassSpec({"ddof": COUNT}, {"mean_x": PART, "mean_y": PART, "cov": NUMBER}),
    "stats.EWMean": ClassSpec({"fading_factor": FRACTION}, {"_ewmean": Compiled("<3d?d")}),
    "stats.EWVar": ClassSpec({"fading_factor": FRACTION}, {"_ewvar": Compiled("<3d?3d?2d")}),
    "stats.IQR": ClassSpec(
        {"q_inf": FRACTION, "q_sup": FRACTION},
        {"_iqr": Compiled("<21dB?21dB?2d"), "_is_updated": BOOLEAN},
    ),
    "stats.Kurtosis": ClassSpec({"bias": BOOLEAN}, {"_kurtosis": Compiled("<?7d?")}),
    "stats.Max": ClassSpec(state={"max": NUMBER}),
    "stats.Mean": ClassSpec(state={"n": real(0.0), "_mean": NUMBER}),
    "stats.Min": ClassSpec(state={"min": NUMBER}),
    "stats.Mode": ClassSpec({"k": whole(-1, 2**53)}, {"counts": Table(COUNT)}),
    "stats.PeakToPeak": ClassSpec(state={"_ptp": Compiled("<2d"), "_is_updated": BOOLEAN}),
    "stats.PearsonCorr": ClassSpec({"ddof": COUNT}, {"var_x": PART, "var_y": PART, "cov_xy": PART}),
    "stats.Quantile": ClassSpec(
        {"q": FRACTION}, {"_quantile": Compiled("<21dB?"), "_is_updated": BOOLEAN}
    ),
    "stats.RollingAbsMax": ClassSpec({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.RollingMax": ClassSpec({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.RollingMin": ClassSpec({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.SEM": ClassSpec({"ddof": COUNT}, {"mean": PART, "_S": NUMBER}),
    "stats.Shift": ClassSpec({"amount": COUNT, "fill_value": ANY}, {"buffer": ListOf(ANY, list)}),
    "stats.Skew": ClassSpec({"bias": BOOLEAN}, {"_skew": Compiled("<7d2?")}),
    "stats.Sum": ClassSpec(state={"sum": NUMBER}),
    "stats.Var": ClassSpec({"ddof": COUNT}, {"mean": PART, "_S": NUMBER}),
}
STATISTIC = Object(*STATISTICS, "utils.Rolling")
STATISTIC_PARTS = STATISTICS | {
    "utils.Rolling": ClassSpec(
        {"obj": Object(*STATISTICS), "window_size": WINDOW_SIZE},
        {"obj": PART, "window": Window()},
        _rolling,
        _has_its_window,
    ),
    "optim.SGD": ClassSpec({"lr": Object("optim.schedulers.Constant")}, {"n_iterations": COUNT}),
    "optim.initializers.Zeros": ClassSpec(),
    "optim.losses.CrossEntropy": ClassSpec({"class_weight": Table(NUMBER)}),
    "optim.losses.Log": ClassSpec({"weight_pos": NUMBER, "weight_neg": NUMBER}),
    "optim.losses.Squared": ClassSpec(),
    "optim.schedulers.Constant": ClassSpec({"learning_rate": WEIGHT}),
}
