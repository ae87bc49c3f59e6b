"""A model with the columns that it was trained on, in one file.

The file is that of `rb.save`, and `rb.load` reads the model in it. Its header also contains, under `own_data`,
what `predict` needs: which columns are numbers, which words have features, and the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...saving import LARGEST_FILE, NO_LIMIT, SavedModelError, container, nodes, opened
from ...saving.container import Source as Decoding
from .columns import Columns, SparseColumns, Target
from .finding import Plan
from .reading.source import Source

KEY = "own_data"


def save(path: str, model: Any, labels: Sequence[Any] | None, plan: Plan, source: Source) -> None:
    """Write a model and its columns; raises an error, and writes nothing, if they could not be read again."""
    arrays: list[Any] = []
    node = nodes.encoded(model, arrays)
    nodes.decoded(node, Decoding(arrays, False, NO_LIMIT))
    target = plan.target
    node[KEY] = plan.columns.description() | {
        "target": [target.name, target.kind],
        "labels": labels,
        "header": source.header,
    }
    container.write(path, container.content(node, arrays))


def load(path: str) -> tuple[Any, Plan, list[Any] | None, bool]:
    """(model, plan, labels that stand for False and True, whether the file had a header)"""
    try:
        data = container.read(path, LARGEST_FILE)
        model = opened(data, path)
        known = container.parsed(data, path, LARGEST_FILE)[0].get(KEY)
    except FileNotFoundError:
        raise RuntimeError(f"there is no file {path}") from None
    except (OSError, SavedModelError) as error:
        raise RuntimeError(str(error)) from None
    if known is None:
        raise RuntimeError(
            f"{path} holds a model without its columns: `river-budget try --save` writes both"
        )
    try:
        return model, *_described(known)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RuntimeError(f"{path} is damaged: its columns cannot be read") from None


def _described(known: dict[str, Any]) -> tuple[Plan, list[Any] | None, bool]:
    """(plan, labels, whether there was a header) from the description in a file."""
    name, kind = known["target"]
    if kind not in ("number", "int", "bool", "text"):
        raise ValueError(kind)
    columns: Columns | SparseColumns
    if "sparse" in known:
        columns = SparseColumns([str(one) for one in known["sparse"]])
        comma = False
    else:
        comma = bool(known["decimal_comma"])
        words = {str(column): list(map(str, found)) for column, found in known["words"].items()}
        columns = Columns([str(one) for one in known["numbers"]], words, comma)
    columns.growing = False
    labels = known["labels"]
    if labels is not None and len(labels) != 2:
        raise ValueError(labels)
    return Plan(columns, Target(str(name), kind, comma), -1), labels, bool(known["header"])
