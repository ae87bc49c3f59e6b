"""Measured records as tables, and the document of all of them.

A table shows the printed figures beside ours, with verdicts, times and notes; the document has all tables and
figures, and what is known about their differences.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Sequence

from river_budget.experiments.common.tables import Table, as_markdown
from river_budget.plots import figures
from river_budget.plots.panels import Panel, covered

from . import verdicts
from .records import NOT_YET, SETTINGS, Record, Row, measurements, rows
from .tasks import Store
from .verdicts import Measured

# Tables

HEADER = ["data", "algorithm", "paper", "ours", "runs", "verdict", "settings", "validated"]
TIME_COLUMNS = ["paper's time", "our time"]
VECTOR_COLUMNS = ["paper's vectors", "our vectors"]


def line(record: Record, row: Row) -> list[str]:
    """A cell as fields of a table."""
    cell = row.cell
    paper = "" if cell.printed is None else str(cell.printed)
    if not row.runs:
        return [cell.column, cell.row, paper, "", "", "", "", ""]
    ours = figure(record, Measured(row.mean, row.deviation, row.runs))
    other = f"{figure(record, row.chosen)} {row.chosen_verdict}" if row.chosen else ""
    runs = f"{row.runs}" if row.runs == len(cell.tasks) else f"{row.runs} of {len(cell.tasks)}"
    settings = cell.settings if row.verdict else ""
    return [cell.column, cell.row, paper, ours, runs, row.verdict, settings, other]


def figure(record: Record, ours: Measured) -> str:
    """A mean, with its deviation if there were several runs."""
    mean = f"{ours.mean:.{record.digits}f}"
    return f"{mean} ± {ours.deviation:.{record.digits}f}" if ours.runs > 1 else mean


def note(record: Record, row: Row) -> str:
    """How a cell differs from the paper, why it has no figure of ours, and known causes of a difference."""
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
    """The paper's and our seconds, as multiples of those of the first line of the data that has both.

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


def processor_minutes(records: Sequence[Record], store: Store) -> float:
    """The time that the finished runs took of one core."""
    tasks = {task.key for record in records for task in record.tasks()}
    found = filter(None, map(store.get, tasks))
    return sum(float(run.get("processor", 0.0)) for run in found) / 60.0


def by_rule(rows: Sequence[Row]) -> str:
    """What those without a verdict would be by the rule, as sentences."""
    texts = []
    for word in verdicts.NO_VERDICT:
        would = [row.by_rule for row in rows if row.verdict == word]
        parts = [f"{would.count(one)} {one}" for one in verdicts.ORDER if one in would]
        if parts:
            texts.append(f"By the rule {word} would be {', '.join(parts)}.")
    return " ".join(texts)


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


# The document

OPENING = """# Reproduced

Made by `python examples/papers reproduce`; nothing here is edited by hand. Every figure was measured on the data at hand
and stands beside the one that the paper prints; every cell of the papers' tables is here, also where there is no figure
of ours, and then says why. In all: {counts}. {instead} The verdicts are computed by one rule:

```
{rule}
```

Settings, cell by cell:

{settings}

Times are multiples of the Perceptron's on the same data, or of the first line's where there is none; ours are processor
times of the fastest run, without reading and testing. With these all runs together took {minutes} minutes of one core.

What is known about a difference stands beside it.

Printed numbers that are no cells, and so have no verdict: numbers of support vectors, which stand in columns of their
own (2010 table 1, 2018 figure 5) or in a note (2005 figure 2); seconds, which stand as multiples; and the sizes of the
datasets.

Under a figure stands what the paper's shows, and whether ours shows it too, computed from the same measurements. Bands
are one standard deviation over the orders of the examples (of times: from the fastest run to the median). A curve that
another one covers shows as its pale border.
"""


def write(
    folder: str | pathlib.Path,
    records: Sequence[Record],
    store: Store,
    drawn: Sequence[Record] | None = None,
) -> None:
    """Write README.md, and a PNG for every figure with a finished cell; `drawn`: only for these."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    found = [row for record in records for row in rows(record, store)]
    opening = {
        "counts": summary(found),
        "instead": by_rule(found),
        "minutes": f"{processor_minutes(records, store):.0f}",
        "rule": (verdicts.__doc__ or "").partition("\n\n")[2].strip(),
        "settings": "\n".join(f"- `{name}`: {meaning}." for name, meaning in SETTINGS.items()),
    }
    parts = [OPENING.format(**opening)]
    for record in records:
        parts.append(section(folder, record, store, drawn is None or record in drawn))
    (folder / "README.md").write_text("\n".join(parts), "utf-8")


def section(folder: pathlib.Path, record: Record, store: Store, drawn: bool) -> str:
    """A table or figure with its note, claims and remarks."""
    found = rows(record, store)
    words = summary(found)
    text = [f"## {record.name}: {record.title}\n", f"{record.unit}. {words}".rstrip(". ") + ".\n"]
    if record.note:
        text.append(record.note + "\n")
    if absent := unfinished(record, store):
        text.append(f"Not shown: {absent}.\n")
    if record.panels is not None:
        panels = list(record.panels(record, store))
        with contextlib.suppress(RuntimeError):  # matplotlib is optional
            if panels:
                path = folder / f"{record.name}.png"
                if drawn:
                    figures.draw(path, panels, title=record.title, columns=record.columns)
                text.append(f"![{record.name}]({record.name}.png)\n")
        text += [claim.sentence(record, store) + "\n" for claim in record.claims if panels]
        if same := coincidences(panels):
            text.append(f"Curves that coincide: {same}.\n")
    if record.panels is None or any(row.cell.printed for row in found):
        text.append(as_markdown(*table(record, found)) + "\n")
    return "\n".join(text)


def unfinished(record: Record, store: Store) -> str:
    """The missing cells of a figure, and why; a table says it cell by cell."""
    reasons: dict[str, list[str]] = {}
    for cell in record.cells:
        if cell.printed is None and not measurements(cell, store):
            names = reasons.setdefault(cell.missing or NOT_YET, [])
            names.append(f"{cell.row} on {cell.column}" if cell.tasks else cell.column)
    return "; ".join(
        f"{', '.join(dict.fromkeys(names))} ({reason})" for reason, names in reasons.items()
    )


def coincidences(panels: Sequence[Panel]) -> str:
    """Curves that cover each other, and in which panels."""
    found: dict[tuple[str, str], list[str]] = {}
    for panel in panels:
        for below, above in covered(panel).items() if panel.y_label != "seconds" else ():
            names = panel.lines[below].name, panel.lines[above].name
            found.setdefault(names, []).append(panel.title)
    return "; ".join(f"{a} and {b} ({', '.join(titles)})" for (a, b), titles in found.items())
