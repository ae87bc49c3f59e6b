"""Scores of predictions, summed row by row, so that no row has to be stored."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

UNSCORED_ROWS = 50  # first rows that do not count in regression, as scales are unknown there
LEAST_PROBABILITY = 1e-6  # probabilities are clamped to it in logarithms
DIVERGED = 1e4  # 1 - R2 above this is no error but a divergence
CALIBRATION_BINS = 10  # of the expected calibration error


class LabelScore:
    """Wrong predictions, their mean over the labels, the log loss, and by how much probabilities
    are off.
    """

    header = ("error %", "balanced error %", "log loss")
    label = "wrong so far"

    def __init__(self) -> None:
        self.rows = self.wrong = 0
        self.loss = 0.0
        self.seen: Counter[Any] = Counter()
        self.right: Counter[Any] = Counter()
        self.gaps = [0.0] * CALIBRATION_BINS

    def add(self, shares: dict[Any, float], y: Any) -> None:
        """Count a prediction."""
        self.rows += 1
        self.seen[y] += 1
        label = max(shares, key=shares.__getitem__) if shares else None
        self.right[y] += label == y
        self.wrong += label != y
        share = min(max(shares.get(y, 0.0), LEAST_PROBABILITY), 1.0 - LEAST_PROBABILITY)
        self.loss -= math.log(share)
        sure = shares.get(label, 0.0)
        place = min(int(sure * CALIBRATION_BINS), CALIBRATION_BINS - 1)
        self.gaps[place] += (label == y) - sure

    @property
    def error(self) -> float:
        return self.wrong / self.rows if self.rows else math.nan

    @property
    def log_loss(self) -> float:
        return self.loss / max(self.rows, 1)

    @property
    def calibration_error(self) -> float:
        """The expected calibration error."""
        return sum(map(abs, self.gaps)) / max(self.rows, 1)

    def cells(self) -> list[str]:
        """The figures below the header."""
        recalls = [self.right[y] / n for y, n in self.seen.items()]
        balanced = 1.0 - sum(recalls) / max(len(recalls), 1)
        return [f"{100 * self.error:.2f}", f"{100 * balanced:.2f}", f"{self.log_loss:.3f}"]

    def in_words(self) -> str:
        """The error, in a few words."""
        return f"{100 * self.error:.1f} %"


class NumberScore:
    """R2, the root of the mean squared error, and the mean absolute error."""

    header = ("R2", "RMSE", "MAE")
    label = "mean absolute error so far"

    def __init__(self, unscored: int = 0) -> None:
        self.left = unscored  # first rows that do not count, as scales are unknown there
        self.rows = 0
        self.absolute = self.squares = self.mean = self.spread = 0.0

    def add(self, guess: float, y: float) -> None:
        """Count a prediction."""
        if self.left:
            self.left -= 1
            return
        self.rows += 1
        off = abs(y - guess)
        self.absolute += off
        self.squares += off * off if off < 1e150 else math.inf
        before = y - self.mean
        self.mean += before / self.rows
        self.spread += before * (y - self.mean)

    @property
    def error(self) -> float:
        return self.absolute / self.rows if self.rows else math.nan

    @property
    def unexplained(self) -> float:
        """1 - R2."""
        return self.squares / self.spread if self.spread else math.nan

    def cells(self) -> list[str]:
        """The figures below the header."""
        if self.unexplained > DIVERGED:
            return ["-inf", "inf", "inf"]
        root = math.sqrt(self.squares / self.rows) if self.rows else math.nan
        return [f"{1.0 - self.unexplained:.3f}", f"{root:.4g}", f"{self.error:.4g}"]

    def in_words(self) -> str:
        """The error, in a few words."""
        return f"{self.error:.4g} off"


Score = LabelScore | NumberScore
