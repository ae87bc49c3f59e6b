"""Compare models on one pass over a file: all predict each row, then all learn it, at once or some
rows later.

Before the last tenth of the file each model is copied. The copies learn no more: their errors on
these rows are those to expect of a saved model, which `predict` does not let learn. The length of
standard input is unknown, so models are copied whenever a tenth more rows have come; the last
copies but one count. Errors are summed row by row, so that no row has to be stored.
"""

from __future__ import annotations

import copy
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from river import compose, linear_model

from ...guard.passing import reads_tables
from ...messages.progress import Progress
from ...plots.costs import TIME, cost_panel
from ...plots.panels import Line, Panel
from ...plots.running import memory, warm_up
from ...wrappers.delayed import Delayed
from ...wrappers.nested import all_ours, steps_of
from ..common.console import check_names
from ..common.scores import UNSCORED_ROWS, LabelScore, NumberScore, Score
from ..common.tables import Table
from ..race.curve import models_for

USUAL = {
    False: ("AutoKernel", "LogisticRegression", "KNN", "ARF"),
    True: ("AutoKernel", "LinearRegression", "KNN", "ARF"),
}
WARM_UP_ROWS = 300  # rows that a copy of a model learns beforehand, so that code is compiled
LEARNED_SHARE = 0.9  # of the file, after which copies of the models learn no more
FIRST_COPIES, MORE_ROWS = (
    10,
    1.1,
)  # rows of standard input before the first copies; times as many before the next
SHOWN_EVERY = 50  # rows between two updates of the progress
MOST_POINTS = 200  # points of a curve
CAPTION = (
    "AutoKernel gets words and gaps as they are, all others each word as a feature of its own. "
    "River's models have a StandardScaler in front{of}, linear regression and KNN a "
    "TargetStandardScaler around; KNN "
    "stores 1000 rows."
)


Forms = tuple[dict[str, Any], dict[str, Any]]  # an example as it is, and encoded


class Entrant:
    """One model of a trial, its score, its time and its curve."""

    def __init__(self, name: str, model: Any, score: Score, labels: Sequence[Any] | None):
        self.name, self.model, self.score = name, model, score
        self.labels = labels  # (negative, positive) for a model that takes booleans only
        self.seconds, self.failure = 0.0, ""
        self.met = 0
        self.points: list[float] = []
        self.regression = isinstance(score, NumberScore)
        self.reads_tables = reads_tables(model)
        self.frozen: list[tuple[Any, Score]] = []  # copies that learn no more, with their scores

    def form_of(self, forms: Forms) -> dict[str, Any]:
        """The example as this model takes it."""
        return forms[0 if self.reads_tables else 1]

    def predict(self, x: dict[str, Any], y: Any, counts: bool) -> None:
        """Predict a row. A model that raises an error leaves the trial."""
        self.met += 1
        begin = time.perf_counter()
        try:
            guess = self._guess(self.model, x)
        except Exception as error:
            self._fail(error)
            return
        self.seconds += time.perf_counter() - begin
        if counts:
            self.score.add(guess, y)
        for model, later in self.frozen:
            later.add(self._guess(model, x), y)

    def learn(self, x: dict[str, Any], y: Any) -> None:
        """Learn a row. A model that raises an error leaves the trial."""
        given = y if self.labels is None else y == self.labels[1]
        begin = time.perf_counter()
        try:
            self.model.learn_one(x, given)
        except Exception as error:
            self._fail(error)
        self.seconds += time.perf_counter() - begin

    def stop_after(self, limit: float) -> None:
        """Leave the trial if predicting and learning have taken more than so many seconds."""
        if self.seconds > limit and not self.failure:
            self.failure = (
                f"{self.name} stopped after {self.met:,} rows: it has taken its {limit:g} seconds "
                "(--seconds)"
            )

    def freeze(self) -> None:
        """Let a copy of the model learn no more. The last two are kept."""
        score = NumberScore() if self.regression else LabelScore()
        self.frozen = [*self.frozen[-1:], (copy.deepcopy(self.model), score)]

    @property
    def later(self) -> Score:
        """The score of the first copy that is kept: of rows that it did not learn."""
        return self.frozen[0][1] if self.frozen else type(self.score)()

    def _guess(self, model: Any, x: dict[str, Any]) -> Any:
        guess = model.predict_one(x) if self.regression else model.predict_proba_one(x)
        return with_labels(guess, self.labels)

    def _fail(self, error: Exception) -> None:
        self.failure = f"{self.name} stopped: {type(error).__name__}: {error}"

    @property
    def beats_constant(self) -> bool:
        """Whether the model is better than always saying the most frequent label, or the mean."""
        score = self.score
        if isinstance(score, NumberScore):
            return score.unexplained < 1.0
        return score.wrong < score.rows - max(score.seen.values(), default=0)


def loss_of(score: Score) -> float:
    """What models are ranked by: wrong predictions or squared errors."""
    found = score.squares if isinstance(score, NumberScore) else score.error
    return math.inf if math.isnan(found) else found


def with_labels(guess: Any, labels: Sequence[Any] | None) -> Any:
    """A prediction with the labels of the file instead of booleans."""
    if labels is None:
        return guess
    return {label: guess.get(i == 1, 0.0) for i, label in enumerate(labels)}


def entrants(
    first: Sequence[Any],
    regression: bool,
    names: Sequence[str] | None = None,
    delay: int = 0,
    measured: Sequence[str] | None = None,
    seed: int = 1,
) -> list[Entrant]:
    """The models that are named, or the usual ones, for a stream that begins with these targets.

    With a delay, also `Delayed`, which is AutoKernel inside `rb.Delayed`. Scalers see the
    `measured` features only, if these are named.
    """
    labels = [] if regression else sorted(set(first))
    others = [object(), object()] if len(labels) == 1 else []  # stand for labels that will come
    known = models_for([({}, y) for y in [*(labels or first[:1]), *others]], seed)
    usual: tuple[str, ...] = USUAL[regression]
    if delay and not regression:
        known["Delayed"] = Delayed(known["AutoKernel"].clone())
        usual = (usual[0], "Delayed", *usual[1:])
    chosen = list(dict.fromkeys(names or usual))
    check_names(chosen, list(known), "model")
    unscored = UNSCORED_ROWS if len(first) >= 10 * UNSCORED_ROWS else 0  # of few rows all count
    found = []
    for name in chosen:
        score = NumberScore(unscored) if regression else LabelScore()
        model = known[name] if measured is None else for_texts(known[name], measured)
        boolean = type(steps_of(model)[-1]) is linear_model.LogisticRegression
        found.append(Entrant(name, model, score, labels if boolean else None))
    return found


def for_texts(model: Any, measured: Sequence[str]) -> Any:
    """A model whose scaler sees measured features only: of a word that occurs once whenever it does
    it would make 0.
    """
    if isinstance(model, compose.Pipeline):
        return compose.Pipeline(
            *((str(name), for_texts(step, measured)) for name, step in model.steps.items())
        )  # type: ignore[no-untyped-call]
    if isinstance(model, compose.TargetTransformRegressor):
        return model.clone({"regressor": for_texts(model.regressor, measured)})
    if type(model).__name__ != "StandardScaler":
        return model
    return (compose.Select(*measured) | model) + compose.Discard(*measured)


class Trial:
    """A pass over a stream with several models."""

    def __init__(
        self,
        found: Sequence[Entrant],
        delay: int = 0,
        seconds: float = math.inf,
        encoded: Callable[[Any], Any] = lambda x: x,
    ):
        self.entrants = list(found)
        self._encoded = encoded  # an example for models that take numbers only
        # that each model may take
        self._seconds = seconds
        self.rows = 0
        self.interrupted = False
        self._next_share, self._next_copies = LEARNED_SHARE, FIRST_COPIES
        self.at: list[int] = []
        self._every = 1  # rows between two points of a curve
        self._delay = max(
            delay, 1
        )  # a label that is one row late comes before the next row, as usual
        self._waiting: deque[tuple[Forms, Any]] = deque()  # rows whose labels are on their way

    @property
    def running(self) -> list[Entrant]:
        """The models that have raised no error so far."""
        return [one for one in self.entrants if not one.failure]

    @property
    def rows_later(self) -> int:
        """The number of last rows that the copies did not learn."""
        return max((one.later.rows for one in self.entrants), default=0)

    def run(self, examples: Iterable[tuple[Any, Any]], share: Callable[[], float | None]) -> None:
        """Predict and learn each example once. Ctrl-C ends it, and the measurements so far remain.

        `share` is how much of the file has been met, None where nobody knows.
        """
        stream = ((self._forms(x), y) for x, y in examples)
        with Progress(100, "try") as bar:
            try:
                first = list(itertools.islice(stream, WARM_UP_ROWS))
                self._warm_up(first, bar)
                for forms, y in itertools.chain(first, stream):
                    if not self.running:
                        break
                    self._freeze(share())
                    self._meet(forms, y)
                    if self.rows % SHOWN_EVERY == 0:
                        bar.done = int((share() or 0.0) * bar.total)
                        bar.show(self._in_words())
                while self._waiting:
                    self._learn(*self._waiting.popleft())
            except KeyboardInterrupt:
                self.interrupted = True
            bar.done = bar.done if self.interrupted else bar.total

    def _freeze(self, share: float | None) -> None:
        """Copy the models if it is time to: in front of the last tenth, or whenever a tenth more
        rows have come.
        """
        if len(self._waiting) == self.rows:  # no label has come
            return
        if self.rows >= self._next_copies if share is None else share >= self._next_share:
            self._next_share = math.inf
            self._next_copies = math.ceil(self.rows * MORE_ROWS)
            for one in self.running:
                one.freeze()

    def _warm_up(self, examples: Sequence[Any], bar: Progress) -> None:
        """Compile the code of our models before measuring times."""
        for one in self.entrants:
            if list(all_ours(one.model)) and examples:
                bar.show(f"{one.name} (its code is loaded, or compiled if it was never used)")
                warm_up(one.model, [(one.form_of(forms), y) for forms, y in examples])

    def _forms(self, x: Any) -> Forms:
        """An example as it is, and encoded if a model needs that."""
        needed = any(not one.reads_tables for one in self.entrants)
        return x, self._encoded(x) if needed else x

    def _meet(self, forms: Forms, y: Any) -> None:
        counts = self._delay == 1 or len(self._waiting) < self.rows  # some label has come
        for one in self.running:
            one.predict(one.form_of(forms), y, counts)
        self._waiting.append((forms, y))
        if len(self._waiting) >= self._delay:
            self._learn(*self._waiting.popleft())
        for one in self.running:
            one.stop_after(self._seconds)
        self.rows += 1
        if self.rows % self._every == 0:
            self._add_point()

    def _learn(self, forms: Forms, y: Any) -> None:
        for one in self.running:
            one.learn(one.form_of(forms), y)

    def _add_point(self) -> None:
        """Add a point with the errors so far; with too many points, drop every other one."""
        self.at.append(self.rows)
        for one in self.entrants:
            one.points.append(one.score.error)
        if len(self.at) >= MOST_POINTS:
            self._every *= 2
            self.at = self.at[1::2]
            for one in self.entrants:
                one.points = one.points[1::2]

    def _in_words(self) -> str:
        words = (f"{m.name} {m.score.in_words()}" for m in self.running if m.score.rows)
        return f"{self.rows:,} rows, {', '.join(words)}"

    def ranking(self, later: bool = False) -> list[Entrant]:
        """The models that processed all rows, those with the fewest wrong predictions or squared
        errors first.

        With `later`, by the errors of their copies.
        """

        return sorted(self.running, key=lambda one: loss_of(one.later if later else one.score))

    def table(self) -> Table:
        """(header, lines): a line for each model; a star marks the best, if it is better than a
        constant.
        """
        ranking, lines = self.ranking(), []
        for one in self.entrants:
            first, *others = one.score.cells()
            if self.rows_later:
                others.append(one.later.cells()[0])
            microseconds = 1e6 * one.seconds / max(one.met, 1)
            costs = [f"{microseconds:.1f}", f"{memory(one.model) / 1000:.0f}"]
            star = "*" if ranking and one is ranking[0] and one.beats_constant else ""
            lines.append([one.name, str(one.score.rows), star + first, *others, *costs])
        score = self.entrants[0].score
        later = [f"frozen {score.header[0]}"] if self.rows_later else []
        return ["model", "rows", *score.header, *later, "µs/row", "kB"], lines

    def panels(self, data: str) -> list[Panel]:
        """Errors along the file, and at its end against the time."""
        score = self.entrants[0].score
        percent = isinstance(score, LabelScore)
        lines = [Line(one.name, self.at, one.points) for one in self.running if any(one.points)]
        curves = Panel(data, "rows", score.label, lines, log_y=True, percent=percent)
        errors = {one.name: [one.score.error] for one in self.running if one.score.rows}
        costs = {one.name: [1e6 * one.seconds / self.rows] for one in self.running}
        label = score.label.removesuffix(" so far")
        return [
            curves,
            cost_panel(
                "at its end: dicts, predict + learn; all but AutoKernel scaled",
                TIME,
                costs,
                label,
                errors,
                percent,
            ),
        ]
