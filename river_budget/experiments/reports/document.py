"""The document of everything that was reproduced: tables, curves, and known differences."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from ...plots.panels import Panel, coinciding
from ..common.formats import as_markdown
from ..records import verdicts
from ..records.records import NOT_YET, SETTINGS, Record, finals, measurements, rows
from ..records.store import Store
from . import printing

OPENING = """# Reproduced

Made by `river-budget reproduce`; nothing here is edited by hand. Every figure was measured on the data at hand
and stands beside the one that the paper prints; every printed cell is here, also where there is no figure of ours,
and then says why. In all: {counts}. The verdicts are computed by one rule:

```
{rule}
```

Settings, cell by cell:

{settings}

Times are multiples of the Perceptron's on the same data, or of the first line's where there is none; ours are those
of the fastest run, two at a time, without the time of reading and testing.
{quiet}
What is known about a difference stands beside it.

Under a figure stands what the paper's shows, and whether ours shows it too, computed from the same measurements. Bands
are one standard deviation over the orders of the examples (of times: from the fastest run to the median). A curve that
another one covers shows as its pale border.
"""


def rule() -> str:
    """The rule for verdicts, from the docstring of records/verdicts.py."""
    text = verdicts.__doc__ or ""
    return text.partition("\n\n")[2].strip()


def write(folder: str | pathlib.Path, records: Sequence[Record], store: Store) -> None:
    """Write README.md, and a PNG for every figure with a finished cell."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    found = [row for record in records for row in rows(record, store)]
    settings = "\n".join(f"- `{name}`: {meaning}." for name, meaning in SETTINGS.items())
    opening = {"counts": printing.summary(found), "rule": rule(), "settings": settings}
    parts = [OPENING.format(**opening, quiet=disturbance(records, store))]
    parts += [section(folder, record, store) for record in records]
    (folder / "README.md").write_text("\n".join(parts), "utf-8")


UNEVEN_RATIO = 1.5  # median / least time of a cell; above it, other work is suspected
UNEVEN_SHARE = 0.2  # share of such cells from which the document says so


def disturbance(records: Sequence[Record], store: Store) -> str:
    """A warning, if uneven times show that the machine did other work."""
    runs = {
        tuple(task.key for task in cell.tasks): finals(cell, store, "seconds")
        for record in records
        for cell in record.cells
    }
    seconds = [sorted(spent) for spent in runs.values() if len(spent) >= 5 and min(spent) > 0.0]
    uneven = [spent[len(spent) // 2] > UNEVEN_RATIO * spent[0] for spent in seconds]
    share = sum(uneven) / len(uneven) if uneven else 0.0
    if share < UNEVEN_SHARE:
        return ""
    return (
        f"In {100.0 * share:.0f} % of the cells the middle run took half as long again as the fastest, or more: the "
        "machine did\nother work, and what is said about times is the less certain."
    )


def section(folder: pathlib.Path, record: Record, store: Store) -> str:
    """A table or figure with its note, claims and remarks."""
    found = rows(record, store)
    words = printing.summary(found)
    text = [f"## {record.name}: {record.title}\n", f"{record.unit}. {words}".rstrip(". ") + ".\n"]
    if record.note:
        text.append(record.note + "\n")
    if absent := unfinished(record, store):
        text.append(f"Not shown: {absent}.\n")
    if record.panels is not None:
        panels = list(record.panels(record, store))
        if panels and draw(folder, record, panels):
            text.append(f"![{record.name}]({record.name}.png)\n")
        text += [claim.sentence(record, store) + "\n" for claim in record.claims if panels]
        if same := coincidences(panels):
            text.append(f"Curves that coincide: {same}.\n")
    if record.panels is None or any(row.cell.printed for row in found):
        text.append(as_markdown(*printing.table(record, found)) + "\n")
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
        for below, above in coinciding(panel) if panel.y_label != "seconds" else ():
            found.setdefault((below, above), []).append(panel.title)
    return "; ".join(f"{a} and {b} ({', '.join(titles)})" for (a, b), titles in found.items())


def draw(folder: pathlib.Path, record: Record, panels: Sequence[Panel]) -> bool:
    """Draw a record, and return whether that was possible, as matplotlib is optional."""
    from ...plots.figures import draw as draw_panels

    try:
        draw_panels(
            folder / f"{record.name}.png", panels, title=record.title, columns=record.columns
        )
    except RuntimeError:
        return False
    return True
