"""The document of all records: a front page, a page for each paper, and the measurements that they
are made of.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterable, Sequence

from river_budget.experiments.common.tables import as_markdown
from river_budget.plots import figures

from . import verdicts
from .outcomes import Outcomes
from .papers import NO_CELLS, PAPERS, Paper
from .records import NOT_YET, SETTINGS, Record, Row, measurements, rows
from .reports import by_rule, counts, fitted, processor_minutes, summary, table
from .tasks import kept

FRONT = "README.md"
MEASURED = "measured.jsonl.xz"  # what the pages are made of

OPENING = """# Reproduced

The tables and figures of five papers, measured again: a page for each.

{pages}

Made by `python examples/papers reproduce`; nothing here is edited by hand. Every figure was measured on the data at hand
and stands beside the one that the paper prints. Every cell of the papers' tables is here, also where there is no figure
of ours, and then says why.

In all: {counts}.

Of the MATCH {fitted} have a fitted parameter, so "within what chance explains" holds for the other {fair}. {instead}
Without these two words there would be {no} NO.

The verdicts are computed by one rule:

```
{rule}
```

Settings, cell by cell:

{settings}

Times are multiples of the Perceptron's on the same data, or of the first line's where there is none; ours are processor
times of the fastest run, without reading and testing. With these all runs together took {minutes} minutes of one core.

What is known about a difference stands beside it.

Under a figure stands what the paper's shows, and whether ours shows it too, computed from the same measurements. Bands
are one standard deviation over the orders of the examples (of times: from the fastest run to the median). A curve that
another one covers shows as its pale border.

Printed numbers that are no cells, and so have no verdict:

{no_cells}

`{measured}` has the last figure of every run (and the curves that claims are about). A test makes all pages from it
again, and measures a sample of the runs anew.
"""  # noqa: E501

PAGE = """# {year}: {title}

{authors}. The rule of the verdicts and the words for settings stand on the [front page]({front}). {counts}.
"""  # noqa: E501


def write(
    folder: str | pathlib.Path,
    records: Sequence[Record],
    store: Outcomes,
    drawn: Sequence[Record] | None = None,
) -> None:
    """Write the measurements that the pages need, the pages, and a PNG for every figure with a
    finished cell.

    drawn: draw only the figures among these.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    keep(folder / MEASURED, records, store)
    for record in records if drawn is None else drawn:
        draw(folder, record, store)
    write_pages(folder, records, Outcomes.read(folder / MEASURED))


def write_pages(folder: pathlib.Path, records: Sequence[Record], store: Outcomes) -> None:
    """Write the front page and a page for each paper."""
    for paper in PAPERS:
        own = [record for record in records if record.paper == paper.year]
        if own:
            text = [page_head(paper, own, store), *(section(record, store) for record in own)]
            (folder / paper.page).write_text("\n".join(text), "utf-8")
    (folder / FRONT).write_text(front(records, store), "utf-8")


def draw(folder: pathlib.Path, record: Record, store: Outcomes) -> None:
    """Draw the PNG of a figure, if some of it is finished; matplotlib is optional."""
    panels = list(record.panels(record, store)) if record.panels is not None else []
    if panels:
        with contextlib.suppress(RuntimeError):
            path = folder / f"{record.name}.png"
            figures.draw(path, panels, title=record.title, columns=record.columns)


def front(records: Sequence[Record], store: Outcomes) -> str:
    """The front page."""
    found = all_rows(records, store)
    matches, chosen = counts(found)[verdicts.MATCH], fitted(found, verdicts.MATCH)
    alone = [row.by_rule or row.verdict for row in found]
    return OPENING.format(
        pages=pages(records, store),
        counts=summary(found),
        fitted=chosen,
        fair=matches - chosen,
        instead=by_rule(found),
        no=alone.count(verdicts.NO),
        minutes=f"{processor_minutes(records, store):.0f}",
        rule=(verdicts.__doc__ or "").partition("\n\n")[2].strip(),
        settings="\n".join(f"- `{name}`: {meaning}." for name, meaning in SETTINGS.items()),
        no_cells="\n".join(f"- {text}" for text in NO_CELLS),
        measured=MEASURED,
    )


def all_rows(records: Iterable[Record], store: Outcomes) -> list[Row]:
    """The rows of several records."""
    return [row for record in records for row in rows(record, store)]


def pages(records: Sequence[Record], store: Outcomes) -> str:
    """A table of the papers, with links to their pages."""
    words = [*verdicts.ORDER, *verdicts.NO_VERDICT, "not measured"]
    lines = []
    for paper in PAPERS:
        own = [record for record in records if record.paper == paper.year]
        number = counts(all_rows(own, store))
        if own:
            link = f"[{paper.year}]({paper.page}), {paper.title}"
            lines.append([link, *(str(number[word] or "") for word in words)])
    return as_markdown(["paper", *words], lines)


def page_head(paper: Paper, records: Sequence[Record], store: Outcomes) -> str:
    """The beginning of a paper's page: what it is, the counts, its tables and figures, and what is
    absent.
    """
    words = summary(all_rows(records, store)) or "No printed figure has a verdict"
    head = PAGE.format(
        year=paper.year, title=paper.title, authors=paper.authors, front=FRONT, counts=words
    )
    return head + (f"\n{paper.absent}\n" if paper.absent else "")


def keep(path: pathlib.Path, records: Sequence[Record], store: Outcomes) -> None:
    """Write what the pages are made of: of every task of the records what `kept` keeps."""
    tasks = {task.key: task for record in records for task in record.tasks()}
    found = ((task, store.get(key)) for key, task in sorted(tasks.items()))
    Outcomes.write(path, {t.key: kept(t, one) for t, one in found if one is not None})


def section(record: Record, store: Outcomes) -> str:
    """A table or figure with its note, claims and remarks."""
    found = rows(record, store)
    words = summary(found)
    text = [f"## {record.name}: {record.title}\n", f"{record.unit}. {words}".rstrip(". ") + ".\n"]
    if record.note:
        text.append(record.note + "\n")
    if absent := unfinished(record, store):
        text.append(f"Not shown: {absent}.\n")
    if record.panels is not None and list(record.panels(record, store)):
        text.append(f"![{record.name}]({record.name}.png)\n")
        text += [claim.sentence(record, store) + "\n" for claim in record.claims]
    if record.panels is None or any(row.cell.printed for row in found):
        text.append(as_markdown(*table(record, found)) + "\n")
    return "\n".join(text)


def unfinished(record: Record, store: Outcomes) -> str:
    """The missing cells of a figure, and why; a table says it cell by cell."""
    reasons: dict[str, list[str]] = {}
    for cell in record.cells:
        if cell.printed is None and not measurements(cell, store):
            names = reasons.setdefault(cell.missing or NOT_YET, [])
            names.append(f"{cell.row} on {cell.column}" if cell.tasks else cell.column)
    return "; ".join(
        f"{', '.join(dict.fromkeys(names))} ({reason})" for reason, names in reasons.items()
    )
