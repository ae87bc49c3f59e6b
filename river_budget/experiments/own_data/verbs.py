"""The verbs try and predict, for a user's own file."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...saving import SavedModelError
from ..common.console import (
    GOOD,
    INTERRUPTED,
    NO_DATA,
    check_drawing,
    counted,
    draw,
    print_tables,
    say,
    visible,
)
from ..common.scores import UNSCORED_ROWS
from ..common.tables import Table
from .code import program
from .columns import MOST_LABELS, MOST_WORDS, Target
from .finding import Plan, plan, preview_of
from .predicting import Prediction, Predictions, load, save
from .source import Source, opened
from .trial import CAPTION, Trial, entrants, loss_of


def run_try(options: argparse.Namespace) -> int:
    """Compare models on a file."""
    check_drawing(options.plot)
    expected = [options.target] if options.target else []
    with opened(options.data, options.read, options.header, expected) as source:
        preview = preview_of(source)
        found = plan(
            source, preview, options.target, options.task, options.drop, options.keep, options.text
        )
        first = _first_targets(found, preview)
        measured = found.columns.measured if options.text else None
        chosen = entrants(
            first, found.target.regression, options.models, options.delay, measured, options.seed
        )
        trial = Trial(chosen, options.delay, options.seconds, found.columns.encoded)
        name = "standard input" if options.data == "-" else options.data
        say(f"{name}: {source.how}; {'; '.join(found.notes)}")
        say(f"target {found.target.name!r}: {_about(found.target, first)}")
        examples = found.examples(itertools.chain(preview, source.rows))
        share = _share(source, preview, trial, options.examples)
        trial.run(itertools.islice(examples, options.examples), share)
        if not trial.rows:
            say(source.broken or "no row was learned")
            return INTERRUPTED if trial.interrupted else NO_DATA
        if trial.rows <= options.delay:
            say(
                f"{counted(trial.rows, 'row')}: with --delay {options.delay} no label comes before "
                "the end"
            )
            return INTERRUPTED if trial.interrupted else NO_DATA
        table = trial.table() if options.format in ("json", "csv") else in_words(trial.table())
        print_tables(options, (table, caption(trial, found, name, options.delay)))
        for line in [*odd(found, source), *remarks(trial, found)]:
            say(line)
        if options.plot:
            draw(options.plot, trial.panels(name), "Each row is predicted before it is learned")
        if options.code:
            say_code(trial, options)
        if options.save:
            save_best(options.save, trial, found, source)
        if source.broken:
            raise RuntimeError(f"{source.broken}; what stands above is of the rows before")
    return INTERRUPTED if trial.interrupted else GOOD


def _share(
    source: Source, preview: list[Any], trial: Trial, most: int | None
) -> Callable[[], float | None]:
    """The share of a file that has been learned, although the first rows are read earlier, and no
    more than `most`.
    """
    first = source.share()

    def share() -> float | None:
        found = source.share()
        if first is not None and trial.rows < len(preview):
            found = first * trial.rows / len(preview)
        return found if most is None else max(found or 0.0, trial.rows / most)

    return share


def in_words(table: Table) -> Table:
    """A table in which figures that are not finite are called diverged."""
    header, lines = table
    return header, [
        ["diverged" if cell.strip("*-") == "inf" else cell for cell in line] for line in lines
    ]


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
    return f"{counted(len(labels), 'label')}, {shown}, so classification{other}"


def caption(trial: Trial, found: Plan, name: str, delay: int = 0) -> str:
    """The caption of the table."""
    late = (
        f" and learned {delay:,} rows later (before the first label none counts)"
        if delay > 1
        else ""
    )
    text = (
        f"{counted(trial.rows, 'row')} of {name}, each predicted before it is learned{late}; "
        "nothing is set. "
    )
    if found.target.regression:
        skipped = trial.rows - max(one.score.rows for one in trial.entrants)
        text += f"The first {UNSCORED_ROWS} rows do not count. " if skipped else ""
    else:
        label, count = found.target.labels.most_common(1)[0]
        wrong = 100.0 * (1.0 - count / found.target.labels.total())
        text += f"Who always says {label}, the most frequent label, is wrong in {wrong:.2f} %. "
    if trial.rows_later:
        text += (
            f"Frozen: copies that did not learn the last {counted(trial.rows_later, 'row')}, on "
            "these rows. A saved model does not "
            "learn in `predict`, so of later rows expect the frozen error, and not the one in "
            "front of it. "
        )
    about = CAPTION.format(of=" of numbers" if found.columns.texts else "")
    ranking = trial.ranking()
    if ranking and not ranking[0].beats_constant:
        constant = "the mean" if found.target.regression else label
        return (
            f"{text}No model is better than always saying {constant}, so there is no star. {about}"
        )
    return f"{text}A star marks the best. {about}"


def odd(found: Plan, source: Source) -> Iterator[str]:
    """Sentences about rows and cells that were not valid."""
    target, columns = found.target, found.columns
    if source.odd:
        odd_rows = counted(source.odd[1], "row")
        yield f"{odd_rows} left out: another number of cells, first in line {source.odd[0]}"
    if target.missing:
        yield f"{counted(target.missing, 'row')} left out: no target"
    if target.unreadable:
        line, cell, count = target.unreadable
        yield f"{counted(count, 'row')} left out: the target is of another kind, first {cell!r} in line {line}"  # noqa: E501
    if target.crowded:
        yield f"{counted(target.crowded, 'row')} left out: more than {MOST_LABELS} labels"
    if columns.missing:
        parts = [f"{name} {count:,}" for name, count in columns.missing.most_common(10)]
        more = " ..." if len(columns.missing) > 10 else ""
        yield f"missing: {', '.join(parts)}{more}"
    for name, (line, cell, count) in list(columns.unreadable.items())[:10]:
        kind = "date" if name in columns.dates else "number"
        are = f"1 is no {kind}" if count == 1 else f"{count:,} are no {kind}s"
        yield f"of those in {name!r}, {are}, first {cell!r} in line {line}"
    for name, count in columns.unknown.most_common(10):
        crowded = f"more than {MOST_WORDS} different ones"
        why = crowded if columns.growing else "not seen in training"
        yield f"words in {name!r} that count as none: {count:,}, {why}"


def remarks(trial: Trial, found: Plan) -> Iterator[str]:
    """Sentences about models that raised errors, that cannot use all features, or that are better
    when frozen.
    """
    for one in trial.entrants:
        if one.failure:
            yield one.failure
        elif one.labels is not None and len(found.target.labels) > 2:
            labels = "; ".join(map(str, one.labels))
            yield f"{one.name} knows two labels ({labels}) and took all others for {one.labels[0]}"
    ranking, frozen = trial.ranking(), trial.ranking(later=True)
    if trial.rows_later and frozen and loss_of(frozen[0].later) < loss_of(ranking[0].later):
        yield (
            f"of the frozen copies {frozen[0].name} is better than {ranking[0].name}: for "
            "`predict` keep that one, by "
            f"--models {shlex.quote(frozen[0].name)} --save FILE"
        )
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


def say_code(trial: Trial, options: argparse.Namespace) -> None:
    """Print a program with the best model, to go on in Python."""
    (best, *_) = trial.ranking() or trial.entrants
    given = {"text": options.text, "drop": options.drop, "keep": options.keep}
    if options.task != "auto":
        given["task"] = options.task
    given["one_hot"] = not best.reads_tables
    print(f"\n{program(best.model, options.data, options.target, given, best.labels)}")


# predict


def run_predict(options: argparse.Namespace) -> int:
    """Print the predictions of a saved model."""
    model, found, labels, had_header = load(options.model)
    header = "no" if options.header == "auto" and not had_header else options.header
    with opened(options.data, options.read, header, found.columns.names) as source:
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
            have = "has its target" if score.rows == 1 else "have their target"
            say(f"{counted(predictions.rows, 'row')}, of which {score.rows:,} {have}: {text}")
        for label, count in predictions.unseen.most_common(10):
            say(
                f"label {label!r}, not seen in training, so never predicted: "
                f"{counted(count, 'row')}"
            )
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
