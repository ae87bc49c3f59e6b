"""Statistics, optimizers and losses: the parts of the steps of a pipeline."""

from __future__ import annotations

from typing import Any

from .encoding import PART, Compiled, Known, Object, class_of
from .kinds import ANY, BOOLEAN, COUNT, FRACTION, NUMBER, WEIGHT, Several, Table, real, whole
from .special import SortedWindow, Window


def _rolling(obj: Any, window_size: int) -> Any:
    made = class_of("utils.Rolling")(class_of("stats.Mean"), window_size)
    made.obj = obj
    return made


def _has_its_window(rolling: Any) -> bool:
    counted = getattr(rolling.obj, "n", len(rolling.window)) == len(rolling.window)
    return counted and hasattr(rolling.obj, "revert")


WINDOW_SIZE = whole(1, 2**31)
STATISTICS: dict[str, Known] = {
    "stats.AbsMax": Known(state={"abs_max": NUMBER}),
    "stats.BayesianMean": Known({"prior": NUMBER, "prior_weight": real(0.0)}, {"_mean": PART}),
    "stats.Count": Known(state={"n": COUNT}),
    "stats.Cov": Known({"ddof": COUNT}, {"mean_x": PART, "mean_y": PART, "cov": NUMBER}),
    "stats.EWMean": Known({"fading_factor": FRACTION}, {"_ewmean": Compiled("<3d?d")}),
    "stats.EWVar": Known({"fading_factor": FRACTION}, {"_ewvar": Compiled("<3d?3d?2d")}),
    "stats.IQR": Known(
        {"q_inf": FRACTION, "q_sup": FRACTION},
        {"_iqr": Compiled("<21dB?21dB?2d"), "_is_updated": BOOLEAN},
    ),
    "stats.Kurtosis": Known({"bias": BOOLEAN}, {"_kurtosis": Compiled("<?7d?")}),
    "stats.Max": Known(state={"max": NUMBER}),
    "stats.Mean": Known(state={"n": real(0.0), "_mean": NUMBER}),
    "stats.Min": Known(state={"min": NUMBER}),
    "stats.Mode": Known({"k": whole(-1, 2**53)}, {"counts": Table(COUNT)}),
    "stats.PeakToPeak": Known(state={"_ptp": Compiled("<2d"), "_is_updated": BOOLEAN}),
    "stats.PearsonCorr": Known({"ddof": COUNT}, {"var_x": PART, "var_y": PART, "cov_xy": PART}),
    "stats.Quantile": Known(
        {"q": FRACTION}, {"_quantile": Compiled("<21dB?"), "_is_updated": BOOLEAN}
    ),
    "stats.RollingAbsMax": Known({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.RollingMax": Known({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.RollingMin": Known({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.SEM": Known({"ddof": COUNT}, {"mean": PART, "_S": NUMBER}),
    "stats.Shift": Known({"amount": COUNT, "fill_value": ANY}, {"buffer": Several(ANY, list)}),
    "stats.Skew": Known({"bias": BOOLEAN}, {"_skew": Compiled("<7d2?")}),
    "stats.Sum": Known(state={"sum": NUMBER}),
    "stats.Var": Known({"ddof": COUNT}, {"mean": PART, "_S": NUMBER}),
}
STATISTIC = Object(*STATISTICS, "utils.Rolling")
PARTS = STATISTICS | {
    "utils.Rolling": Known(
        {"obj": Object(*STATISTICS), "window_size": WINDOW_SIZE},
        {"obj": PART, "window": Window()},
        _rolling,
        _has_its_window,
    ),
    "optim.SGD": Known({"lr": Object("optim.schedulers.Constant")}, {"n_iterations": COUNT}),
    "optim.initializers.Zeros": Known(),
    "optim.losses.CrossEntropy": Known({"class_weight": Table(NUMBER)}),
    "optim.losses.Log": Known({"weight_pos": NUMBER, "weight_neg": NUMBER}),
    "optim.losses.Squared": Known(),
    "optim.schedulers.Constant": Known({"learning_rate": WEIGHT}),
}
