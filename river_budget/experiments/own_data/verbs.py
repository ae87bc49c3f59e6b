"""The verbs try and predict, for a user's own file."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...saving import SavedModelError
from ..common.console import (
    GOOD,
    INTERRUPTED,
    NO_DATA,
    check_drawing,
    draw,
    print_tables,
    say,
    visible,
)
from ..common.scores import UNSCORED_ROWS
from .columns import MOST_LABELS, MOST_WORDS, Target
from .finding import Plan, plan, preview_of
from .predicting import Prediction, Predictions, load, save
from .source import Source, opened
from .trial import CAPTION, Trial, entrants


def run_try(options: argparse.Namespace) -> int:
    """Compare models on a file."""
    check_drawing(options.plot)
    expected = [options.target] if options.target else []
    with opened(options.data, options.read, options.header, expected) as source:
        preview = preview_of(source)
        found = plan(source, preview, options.target, options.task, options.drop, options.keep)
        first = _first_targets(found, preview)
        trial = Trial(entrants(first, found.target.regression, options.models))
        name = "standard input" if options.data == "-" else options.data
        say(f"{name}: {source.how}; {'; '.join(found.notes)}")
        say(f"target {found.target.name!r}: {_about(found.target, first)}")
        examples = found.examples(itertools.chain(preview, source.rows))
        trial.run(itertools.islice(examples, options.examples), _share(source, preview, trial))
        if not trial.rows:
            say(source.broken or "no row was learned")
            return INTERRUPTED if trial.interrupted else NO_DATA
        print_tables(options, (trial.table(), caption(trial, found, name)))
        for line in [*odd(found, source), *remarks(trial, found)]:
            say(line)
        if options.plot:
            draw(options.plot, trial.panels(name), "Each row is predicted before it is learned")
        if options.save:
            save_best(options.save, trial, found, source)
        if source.broken:
            raise RuntimeError(f"{source.broken}; what stands above is of the rows before")
    return INTERRUPTED if trial.interrupted else GOOD


def _share(source: Source, preview: list[Any], trial: Trial) -> Callable[[], float | None]:
    """The share of a file that has been learned, although the first rows are read earlier."""
    first = source.share()

    def share() -> float | None:
        if first is None or trial.rows >= len(preview):
            return source.share()
        return first * trial.rows / len(preview)

    return share


def _first_targets(found: Plan, preview: Iterable[Any]) -> list[Any]:
    """The targets of the first rows."""
    target = Target(found.target.name, found.target.kind, found.target.decimal_comma)
    read = (target.read(row[found.at], line) for line, row in preview if row)
    return [y for y in read if y is not None]


def _about(target: Target, first: list[Any]) -> str:
    """The kind of the target, in words."""
    if target.regression:
        return f"numbers from {min(first):g} to {max(first):g} in the first rows, so regression"
    labels = sorted(set(first))
    shown = ", ".join(map(str, labels[:5])) + (" ..." if len(labels) > 5 else "")
    many = target.kind == "int" and len(labels) > 2
    other = " (--task regression takes them as numbers)" if many else ""
    return f"{len(labels)} labels, {shown}, so classification{other}"


def caption(trial: Trial, found: Plan, name: str) -> str:
    """The caption of the table."""
    text = f"{trial.rows:,} rows of {name}, each predicted before it is learned; nothing is set. "
    if found.target.regression:
        skipped = trial.rows - max(one.score.rows for one in trial.entrants)
        text += f"The first {UNSCORED_ROWS} rows do not count. " if skipped else ""
    else:
        label, count = found.target.labels.most_common(1)[0]
        wrong = 100.0 * (1.0 - count / found.target.labels.total())
        text += f"Who always says {label}, the most frequent label, is wrong in {wrong:.2f} %. "
    return f"{text}A star marks the best. {CAPTION}"


def odd(found: Plan, source: Source) -> Iterator[str]:
    """Sentences about rows and cells that were not valid."""
    target, columns = found.target, found.columns
    if source.odd:
        yield f"{source.odd[1]:,} rows left out: another number of cells, first in line {source.odd[0]}"
    if target.missing:
        yield f"{target.missing:,} rows left out: no target"
    if target.unreadable:
        line, cell, count = target.unreadable
        yield f"{count:,} rows left out: the target is of another kind, first {cell!r} in line {line}"
    if target.crowded:
        yield f"{target.crowded:,} rows left out: more than {MOST_LABELS} labels"
    if columns.missing:
        parts = [f"{name} {count:,}" for name, count in columns.missing.most_common(10)]
        more = " ..." if len(columns.missing) > 10 else ""
        yield f"missing, so the feature is left out of the row: {', '.join(parts)}{more}"
    for name, (line, cell, count) in list(columns.unreadable.items())[:10]:
        yield f"of those in {name!r}, {count:,} are no numbers, first {cell!r} in line {line}"
    for name, count in columns.unknown.most_common(10):
        crowded = f"more than {MOST_WORDS} different ones"
        why = crowded if columns.growing else "not seen in training"
        yield f"words in {name!r} that count as none: {count:,}, {why}"


def remarks(trial: Trial, found: Plan) -> Iterator[str]:
    """Sentences about models that raised errors."""
    for one in trial.entrants:
        if one.failure:
            yield one.failure
        elif one.labels is not None and len(found.target.labels) > 2:
            labels = "; ".join(map(str, one.labels))
            yield f"{one.name} knows two labels ({labels}) and took all others for {one.labels[0]}"
    if trial.interrupted:
        yield "Interrupted: the table is of the rows until then."


def save_best(path: str, trial: Trial, found: Plan, source: Source) -> None:
    """Write the best model that can be written."""
    refused = []
    for one in trial.ranking():
        try:
            save(path, one.model, one.labels, found, source)
        except SavedModelError:
            refused.append(one.name)
        except OSError as error:
            raise RuntimeError(f"{path} cannot be written: {error.strerror}") from None
        else:
            better = f" ({' and '.join(refused)}, better here, cannot be saved)" if refused else ""
            say(f"saved: {one.name} in {path}{better}")
            return
    raise RuntimeError(f"nothing is saved: {', '.join(refused)} cannot be")


# predict


def run_predict(options: argparse.Namespace) -> int:
    """Print the predictions of a saved model."""
    model, found, labels, had_header = load(options.model)
    described = found.columns.description()
    expected = [*described.get("numbers", ()), *described.get("words", ())]
    header = "no" if options.header == "auto" and not had_header else options.header
    with opened(options.data, options.read, header, expected) as source:
        predictions = Predictions(model, found, labels, source)
        names = ["prediction"] if found.target.regression else ["prediction", "probability"]
        write = write_json if options.format == "json" else write_csv
        write(predictions, names)
        for line in odd(found, source):
            say(line.replace("left out: another", "without a prediction: another"))
        score = predictions.score
        if score.rows:
            figures = zip(score.header, score.cells(), strict=True)
            text = ", ".join(f"{name} {value}" for name, value in figures)
            say(f"{predictions.rows:,} rows, of which {score.rows:,} have their target: {text}")
        for label, count in predictions.unseen.most_common(10):
            say(f"label {label!r}, not seen in training, so never predicted: {count:,} rows")
        if source.broken:
            raise RuntimeError(f"{source.broken}; only the rows before have predictions")
    return GOOD


class _Terminal:
    """The standard output stream where it is a terminal."""

    def write(self, text: str) -> None:
        sys.stdout.write(visible(text))


def write_csv(predictions: Iterable[Prediction], names: list[str]) -> None:
    """A line for each row. Labels are written as they are, but not on a terminal."""
    writer = csv.writer(_Terminal() if sys.stdout.isatty() else sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for guess, share in predictions:
        cells = ["" if guess is None else guess, "" if share is None else f"{share:.6g}"]
        writer.writerow(cells[: len(names)])


def write_json(predictions: Iterable[Prediction], names: list[str]) -> None:
    """A list with an object for each row, written row by row."""
    between = "["
    for row in predictions:
        text = json.dumps(dict(zip(names, row, strict=False)), ensure_ascii=False)
        print(
            between + "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text), end=""
        )
        between = ",\n "
    print("[]" if between == "[" else "]")
