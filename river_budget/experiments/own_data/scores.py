"""Errors of predictions, summed row by row, so that no row has to be stored."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

LEAST_PROBABILITY = 1e-6  # probabilities are clamped to it in logarithms


class LabelScore:
    """Wrong predictions, their mean over the labels, and the log loss."""

    header = ("error %", "balanced error %", "log loss")
    label = "wrong so far"

    def __init__(self) -> None:
        self.rows = self.wrong = 0
        self.loss = 0.0
        self.seen: Counter[Any] = Counter()
        self.right: Counter[Any] = Counter()

    def add(self, shares: dict[Any, float], y: Any) -> None:
        """Count a prediction."""
        self.rows += 1
        self.seen[y] += 1
        if shares and max(shares, key=shares.__getitem__) == y:
            self.right[y] += 1
        else:
            self.wrong += 1
        share = min(max(shares.get(y, 0.0), LEAST_PROBABILITY), 1.0 - LEAST_PROBABILITY)
        self.loss -= math.log(share)

    @property
    def error(self) -> float:
        return self.wrong / self.rows if self.rows else math.nan

    def cells(self) -> list[str]:
        """The figures below the header."""
        recalls = [self.right[y] / n for y, n in self.seen.items()]
        balanced = 1.0 - sum(recalls) / max(len(recalls), 1)
        loss = self.loss / max(self.rows, 1)
        return [f"{100 * self.error:.2f}", f"{100 * balanced:.2f}", f"{loss:.3f}"]

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

    def cells(self) -> list[str]:
        """The figures below the header."""
        r2 = 1.0 - self.squares / self.spread if self.spread else math.nan
        root = math.sqrt(self.squares / self.rows) if self.rows else math.nan
        return [f"{r2:.3f}", f"{root:.4g}", f"{self.error:.4g}"]

    def in_words(self) -> str:
        """The error, in a few words."""
        return f"{self.error:.4g} off"


Score = LabelScore | NumberScore
