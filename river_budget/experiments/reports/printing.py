"""Records as tables: the printed figures beside ours, with verdicts, times and notes."""

from __future__ import annotations

from collections.abc import Sequence

from ..common.formats import Table
from ..records.records import NOT_YET, Record, Row
from ..records.store import Store

HEADER = ["data", "algorithm", "paper", "ours", "runs", "verdict", "settings"]
TIME_COLUMNS = ["paper's time", "our time"]


def figure(mean: float, deviation: float, runs: int, digits: int) -> str:
    """Mean and deviation as text."""
    text = f"{mean:.{digits}f}"
    return f"{text} ± {deviation:.{digits}f}" if runs > 1 else text


def printed(row: Row) -> str:
    """The paper's figure as text."""
    paper = row.cell.printed
    if paper is None:
        return ""
    return paper.mean if paper.deviation is None else f"{paper.mean} ± {paper.deviation}"


def line(record: Record, row: Row) -> list[str]:
    """A cell as fields of a table."""
    cell = row.cell
    if not row.runs:
        return [cell.column, cell.row, printed(row), "", "", "", ""]
    ours = figure(row.mean, row.deviation, row.runs, record.digits)
    runs = str(row.runs) if row.complete else f"{row.runs} of {len(cell.tasks)}"
    settings = cell.settings if row.verdict else ""
    return [cell.column, cell.row, printed(row), ours, runs, row.verdict, settings]


def note(record: Record, row: Row) -> str:
    """How a cell differs from the paper, why it has no figure of ours, and known causes of a difference."""
    cell = row.cell
    parts = [cell.remark if row.runs else cell.missing or NOT_YET]
    if row.verdict == "NO":
        parts.append(difference(record, row))
    if row.verdict in ("CLOSE", "NO"):
        parts.append(cell.note)
    return "; ".join(filter(None, parts))


def difference(record: Record, row: Row) -> str:
    """By how much our figure is better or worse."""
    assert row.cell.printed is not None
    more = row.mean - float(row.cell.printed.mean)
    better = (more > 0.0) == ("accuracy" in record.unit)
    return f"{'better' if better else 'worse'} by {abs(more):.{record.digits}f}"


def times(record: Record, rows: Sequence[Row]) -> list[list[str]]:
    """The paper's and our seconds, as multiples of those of the first line of the data that has both.

    The first line is the Perceptron's where there is one.
    """
    first: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: row.cell.row != "Perceptron"):
        if row.runs and row.cell.printed and row.cell.printed.seconds:
            first.setdefault(row.cell.column, row)
    found = []
    for row in rows:
        base, paper = first.get(row.cell.column), row.cell.printed
        if base is None or paper is None or paper.seconds is None:
            found.append(["", ""])
            continue
        assert base.cell.printed is not None
        theirs = float(paper.seconds) / float(base.cell.printed.seconds or 1.0)
        ours = f"{row.seconds / base.seconds:.2g}" if row.runs else ""
        found.append([f"{theirs:.2g}", ours])
    return found


def table(record: Record, rows: Sequence[Row], seconds: bool = False) -> Table:
    """(header, lines); leaves out empty columns."""
    header = [*HEADER, *TIME_COLUMNS, *(["seconds"] if seconds else []), "note"]
    lines = []
    for row, ratios in zip(rows, times(record, rows), strict=True):
        spent = [f"{row.seconds:.2f}" if row.runs else ""] if seconds else []
        lines.append([*line(record, row), *ratios, *spent, note(record, row)])
    used = [i for i in range(len(header)) if any(fields[i] for fields in lines)]
    return [header[i] for i in used], [[fields[i] for i in used] for fields in lines]


VERDICT_SIGNS = {"EXACT": "=", "MATCH": "≈", "CLOSE": "~", "NO": "≠"}


def wide(record: Record, rows: Sequence[Row]) -> Table:
    """A line for every algorithm, a column for every dataset: ours, the verdict as a sign, the paper's."""
    columns = list(dict.fromkeys(row.cell.column for row in rows))
    lines: dict[str, list[str]] = {}
    for row in rows:
        fields = lines.setdefault(row.cell.row, [row.cell.row] + [""] * len(columns))
        text = f"{row.mean:.{record.digits}f}" if row.runs else "-"
        if row.cell.printed is not None:
            text += f" {VERDICT_SIGNS.get(row.verdict, '')} {row.cell.printed.mean}"
        fields[1 + columns.index(row.cell.column)] = text
    return ["ours, paper", *columns], list(lines.values())


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """The number of cells by verdict, and of printed cells without a figure of ours."""
    words = [row.verdict for row in rows if row.verdict]
    found = {word: words.count(word) for word in ("EXACT", "MATCH", "CLOSE", "NO")}
    found["not measured"] = sum(row.cell.printed is not None and not row.runs for row in rows)
    return found


def summary(rows: Sequence[Row]) -> str:
    """The counts as text."""
    return ", ".join(f"{count} {word}" for word, count in counts(rows).items() if count)


def remarks(record: Record, found: Sequence[Row], store: Store) -> list[str]:
    """The lines below a table: the unit, the counts, the note, cells worse than possible, the claims."""
    words = f"{record.unit}; mean and standard deviation over the runs. {summary(found)}"
    short = [
        f"{row.cell.row} on {row.cell.column} falls short of {row.cell.expected}"
        for row in found
        if row.short
    ]
    claims = [claim.sentence(record, store) for claim in record.claims]
    return [words.rstrip(". ") + ".", *filter(None, [record.note]), *short, *claims]
