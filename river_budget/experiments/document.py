"""The document of everything that was reproduced: tables, curves, and known differences."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from . import printing, verdicts
from .records import Record, rows
from .store import Store

OPENING = """# Reproduced

Made by `river-budget reproduce`; nothing here is edited by hand. Every figure was measured on the data at hand
and stands beside the one that the paper prints. The verdicts are computed by one rule:

```
{rule}
```

A cell without a verdict has no printed figure. What is known about a difference stands beside it.
"""


def rule() -> str:
    text = verdicts.__doc__ or ""
    return text.partition("\n\n")[2].strip()


def write(folder: str | pathlib.Path, records: Sequence[Record], store: Store) -> None:
    """README.md and a PNG for every figure; a record of which nothing is finished is left out."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts = [OPENING.format(rule=rule())]
    parts += [part for record in records if (part := section(folder, record, store))]
    (folder / "README.md").write_text("\n".join(parts))


def section(folder: pathlib.Path, record: Record, store: Store) -> str:
    found = rows(record, store)
    if not found:
        return ""
    words = printing.summary(found)
    text = [f"## {record.name}: {record.title}\n", f"{record.unit}. {words}".rstrip(". ") + ".\n"]
    if record.note:
        text.append(record.note + "\n")
    if record.panels is not None and draw(folder, record, store):
        text.append(f"![{record.name}]({record.name}.png)\n")
    if record.panels is None or words:
        text.append(printing.as_markdown(*printing.table(record, found)) + "\n")
    return "\n".join(text)


def draw(folder: pathlib.Path, record: Record, store: Store) -> bool:
    """Whether there is a picture: matplotlib is an extra."""
    from ..plots.figures import draw as draw_panels

    assert record.panels is not None
    panels = list(record.panels(record, store))
    if not panels:
        return False
    try:
        draw_panels(folder / f"{record.name}.png", panels, title=record.title)
    except RuntimeError:
        return False
    return True
