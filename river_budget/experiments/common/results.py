"""What race, auto and speed share: a runner with a progress bar, and the result of a model on a
stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...messages.progress import Progress
from ...plots.running import memory, predict_and_learn, warm_up
from ...wrappers.nested import all_ours
from .scores import UNSCORED_ROWS, LabelScore, NumberScore

CURVE_POINTS = 40  # points of a curve
WARM_UP_EXAMPLES = 200  # that a copy of our models learns beforehand: full models run other code

T = TypeVar("T")


def one_by_one(label: str, tasks: Mapping[str, Callable[[], T]]) -> list[T]:
    """Run tasks by their names, one after the other, so that none disturbs the times of another."""
    found = []
    with Progress(len(tasks), label) as bar:
        for name, task in tasks.items():
            bar.show(name)
            found.append(task())
            bar.advance(name)
    return found


@dataclass(frozen=True)
class Result:
    """The result of one model on one stream.

    `error` is the share of wrong predictions, or 1 - R2; `loss` the mean log loss, or the mean
    absolute error; `calibration_error` the expected calibration error, NaN in regression. `errors`
    are those over the first examples, `at` how many.
    """

    data: str
    model: str
    regression: bool
    examples: int
    error: float
    loss: float
    calibration_error: float
    microseconds: float  # per example, to predict and to learn it
    bytes: int  # of the model after the stream
    at: tuple[int, ...] = ()
    errors: tuple[float, ...] = ()


def play(
    data: str, name: str, model: Any, stream: Sequence[Any], regression: bool, shares: bool = True
) -> Result:
    """Measure a model on a stream. Without `shares` it predicts labels, and there is no loss."""
    if list(all_ours(model)):
        warm_up(model, stream[:WARM_UP_EXAMPLES])
    seconds, found = predict_and_learn(model, stream, shares and not regression)
    n = len(stream)
    score: Any = NumberScore(UNSCORED_ROWS) if regression else LabelScore()
    at, errors = {n * i // CURVE_POINTS for i in range(1, CURVE_POINTS + 1)} - {0}, []
    for row, (guess, (_, y)) in enumerate(zip(found, stream, strict=True), 1):
        score.add(guess if regression or shares else {guess: 1.0}, y)
        if row in at:
            errors.append(score.error)
    if regression:
        figures = (score.unexplained, score.error, math.nan)
    else:
        figures = (score.error, score.log_loss, score.calibration_error)
    costs = 1e6 * seconds / n, memory(model)
    return Result(data, name, regression, n, *figures, *costs, tuple(sorted(at)), tuple(errors))


def starred(results: Sequence[Result]) -> Callable[[Result], str]:
    """A function that prints wrong predictions in %, or R2, with a star for the best of a
    stream.
    """
    best: dict[str, float] = {}
    for result in results:
        best[result.data] = min(result.error, best.get(result.data, math.inf))

    def text(result: Result) -> str:
        error = f"{1.0 - result.error:.3f}" if result.regression else f"{100 * result.error:.2f}"
        return f"{'*' if result.error == best[result.data] else ''}{error}"

    return text


COSTS = ["µs/example", "kB"]


def costs(results: Collection[Result]) -> list[str]:
    """The mean time, and the memory after the worst stream."""
    spent = sum(result.microseconds * result.examples for result in results)
    mean = spent / sum(result.examples for result in results)
    return [f"{mean:.1f}", f"{max(result.bytes for result in results) / 1000:.0f}"]
