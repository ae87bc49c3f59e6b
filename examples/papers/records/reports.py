"""Measured records as tables.

A table shows the printed figures beside ours, with verdicts, times and notes.
"""

from __future__ import annotations

from collections.abc import Sequence

from river_budget.experiments.common.tables import Table

from . import verdicts
from .outcomes import Outcomes
from .records import FITTED, NOT_YET, Record, Row
from .verdicts import Measured

# Tables

HEADER = ["data", "algorithm", "paper", "ours", "runs", "verdict", "settings", "beside"]
TIME_COLUMNS = ["paper's time", "our time"]
VECTOR_COLUMNS = ["paper's vectors", "our vectors"]


def line(record: Record, row: Row) -> list[str]:
    """A cell as fields of a table."""
    cell = row.cell
    paper = "" if cell.printed is None else str(cell.printed)
    if not row.runs:
        return [cell.column, cell.row, paper, "", "", "", "", ""]
    ours = figure(record, Measured(row.mean, row.deviation, row.runs))
    other = ""
    if row.beside:
        other = f"{cell.beside_is}: {figure(record, row.beside)} {row.beside_verdict}"
    runs = f"{row.runs}" if row.runs == len(cell.tasks) else f"{row.runs} of {len(cell.tasks)}"
    settings = cell.settings if row.verdict else ""
    if settings and cell.tried:
        settings += f", {cell.tried} tried"
    word = f"{row.verdict} ({row.by_rule})" if row.by_rule else row.verdict
    return [cell.column, cell.row, paper, ours, runs, word, settings, other]


def figure(record: Record, ours: Measured) -> str:
    """A mean, with its deviation if there were several runs."""
    mean = f"{ours.mean:.{record.digits}f}"
    return f"{mean} ± {ours.deviation:.{record.digits}f}" if ours.runs > 1 else mean


def note(record: Record, row: Row) -> str:
    """How a cell differs from the paper, why it has no figure of ours, and known causes of a
    difference.
    """
    cell = row.cell
    parts = [cell.other, cell.remark] if row.runs else [cell.missing or NOT_YET]
    if row.verdict in (verdicts.NO, *verdicts.NO_VERDICT) and cell.printed is not None:
        more = row.mean - float(cell.printed.mean)
        word = "better" if (more > 0.0) == ("accuracy" in record.unit) else "worse"
        parts.append(f"{word} by {abs(more):.{record.digits}f}")
    if row.verdict in (verdicts.CLOSE, verdicts.NO, verdicts.ONE_RUN):
        parts.append(cell.note)
    return "; ".join(filter(None, parts))


def times(rows: Sequence[Row]) -> list[list[str]]:
    """The paper's and our seconds, as multiples of those of the first line of the data that has
    both.

    The first line is the Perceptron's where there is one.
    """
    first: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: row.cell.row != "Perceptron"):
        if row.runs and printed_seconds(row):
            first.setdefault(row.cell.column, row)
    found = []
    for row in rows:
        base, theirs = first.get(row.cell.column), printed_seconds(row)
        if base is None or not theirs:
            found.append(["", ""])
        else:
            ours = f"{row.seconds / base.seconds:.2g}" if row.runs else ""
            found.append([f"{theirs / printed_seconds(base):.2g}", ours])
    return found


def vectors(row: Row) -> list[str]:
    """The numbers of support vectors, the paper's and ours, where the paper prints its."""
    if not row.cell.vectors:
        return ["", ""]
    return [row.cell.vectors, f"{row.vectors:,.0f}" if row.runs else ""]


def printed_seconds(row: Row) -> float:
    """The seconds that the paper prints for a cell; 0 if it prints none."""
    return float(row.cell.printed.seconds or 0.0) if row.cell.printed else 0.0


def table(record: Record, rows: Sequence[Row], seconds: bool = False) -> Table:
    """(header, lines); leaves out empty columns."""
    header = [*HEADER, *VECTOR_COLUMNS, *TIME_COLUMNS, *(["seconds"] if seconds else []), "note"]
    lines = []
    for row, ratios in zip(rows, times(rows), strict=True):
        spent = [f"{row.seconds:.2f}" if row.runs else ""] if seconds else []
        lines.append([*line(record, row), *vectors(row), *ratios, *spent, note(record, row)])
    used = [i for i in range(len(header)) if any(fields[i] for fields in lines)]
    return [header[i] for i in used], [[fields[i] for i in used] for fields in lines]


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """The number of cells by verdict, and of printed cells without a figure of ours."""
    words = [row.verdict for row in rows if row.verdict]
    found = {word: words.count(word) for word in (*verdicts.ORDER, *verdicts.NO_VERDICT)}
    found["not measured"] = sum(row.cell.printed is not None and not row.runs for row in rows)
    return found


def processor_minutes(records: Sequence[Record], store: Outcomes) -> float:
    """The time that the finished runs took of one core."""
    tasks = {task.key for record in records for task in record.tasks()}
    found = filter(None, map(store.get, tasks))
    return sum(float(run.get("processor", 0.0)) for run in found) / 60.0


def by_rule(rows: Sequence[Row]) -> str:
    """What the figures alone would give where one of the two words stands, as sentences."""
    texts = []
    for word in verdicts.NO_VERDICT:
        would = [row.by_rule for row in rows if row.verdict == word]
        parts = [f"{would.count(one)} {one}" for one in verdicts.ORDER if one in would]
        if parts:
            texts.append(f"By the figures alone {word} would be {', '.join(parts)}.")
    return " ".join(texts)


def fitted(rows: Sequence[Row], word: str) -> int:
    """How many cells with this verdict have a fitted parameter."""
    return sum(row.verdict == word and row.cell.settings == FITTED for row in rows)


def summary(rows: Sequence[Row]) -> str:
    """The counts as text."""
    return ", ".join(f"{count} {word}" for word, count in counts(rows).items() if count)


def remarks(record: Record, found: Sequence[Row], store: Outcomes) -> list[str]:
    """The lines below a table: the unit, the counts, the note, cells worse than possible, the
    claims.
    """
    words = f"{record.unit}; mean and standard deviation over the runs. {summary(found)}"
    short = [
        f"{row.cell.row} on {row.cell.column} falls short of {row.cell.expected}"
        for row in found
        if row.short
    ]
    claims = [claim.sentence(record, store) for claim in record.claims]
    return [words.rstrip(". ") + ".", *filter(None, [record.note]), *short, *claims]
