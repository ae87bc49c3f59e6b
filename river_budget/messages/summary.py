"""The summary of a model's state: as text, and as a table in River's HTML representation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import memory

SHOWN_ITEMS = 5  # a summary lists at most so many classes and features
SCORED_ROWS = 5000  # rows scored to find the best features: a summary takes milliseconds
LEAST_SHARE_SHOWN = 0.005  # features with a smaller share of the effects are not listed

CSS = """
.river-estimator-state { border-collapse: collapse; margin-top: 1em; font-size: 110%; }
.river-estimator-state td { padding: 0.1em 1em 0.1em 0; text-align: left; }
"""


def as_text(model: Any) -> str:
    """The facts about a model as text."""
    lines = facts(model)
    width = max(map(len, lines))
    shown = [f"  {name:{width}}  {text}" for name, text in lines.items()]
    return "\n".join([type(model).__name__, *shown])


def as_html(model: Any) -> str:
    """The facts about a model below its parameters, as River shows these."""
    from xml.etree import ElementTree as ET  # imported here, as only notebooks need it

    from river.base import viz

    picture = viz.to_html(model)  # type: ignore[no-untyped-call]
    picture.set("open", "")
    table = ET.SubElement(picture, "table", attrib={"class": "river-estimator-state"})
    for name, text in facts(model).items():
        row = ET.SubElement(table, "tr")
        for cell in (name, text):
            ET.SubElement(row, "td").text = cell
    body = ET.tostring(picture, encoding="unicode")
    return f"<div>{body}<style scoped>{viz.CSS}{CSS}</style></div>"


def facts(model: Any) -> dict[str, str]:
    """{name: text}: the facts in the summary of a model in its present state."""
    model = model._snapshot()  # so that no thread that learns waits for it
    found = {"examples": f"{model.n_examples:,}"}
    found["features"] = f"{len(model._features):,}"
    if words := getattr(model, "n_words", 0):
        found["features"] = f"{words:,} names, as hashes"
    labels = getattr(model, "_labels", None)
    if labels is not None:
        found["classes"] = _some([str(label) for label in labels.known]) or "none yet"
    found["kernel"] = _kernel(model)
    if hasattr(model, "n_support_vectors"):
        budget = model._budget_in_use
        room = ", no limit" if budget is None else f" of {budget:,}"
        found["vectors"] = f"{model.n_support_vectors:,}{room}"
    if hasattr(model, "n_components"):
        found["waves"] = f"{model.n_components:,}"
    found["memory"] = _bytes(model.memory_usage)
    found["best features"] = _some(
        [f"{name} ({part:.2f})" for name, part in best_features(model) if part >= LEAST_SHARE_SHOWN]
    )
    repairs = getattr(model, "_n_repairs", 0)
    found["repairs"] = f"{repairs:,}" if repairs else ""
    return {name: text for name, text in found.items() if text}


def _kernel(model: Any) -> str:
    if not {"kernel", "gamma"}.intersection(model._parameters()):
        return ""
    text = repr(model._kernel_in_use)
    if model._block is None or not isinstance(getattr(model._kernel_in_use, "gamma", None), str):
        return text
    return f"{text}, here gamma = {memory.views(model._block).head.gamma:.4g}"


def _some(texts: list[str]) -> str:
    more = f", and {len(texts) - SHOWN_ITEMS} more" if len(texts) > SHOWN_ITEMS else ""
    return ", ".join(texts[:SHOWN_ITEMS]) + more


def _bytes(n: int) -> str:
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} bytes"


def best_features(model: Any) -> list[tuple[Any, float]]:
    """(feature, share of its effect on the scores) of at most SHOWN_ITEMS features, the largest
    first.

    For a kernel expansion the effect is the mean change of its support vectors' scores when their
    values of the feature are replaced by the mean value.
    """
    parts = model.importances() if hasattr(model, "importances") else _effects(model)
    total = sum(parts.values()) or 1.0
    order = sorted(parts, key=lambda name: -parts[name])[:SHOWN_ITEMS]
    return [(name, parts[name] / total) for name in order]


def _effects(model: Any) -> dict[Any, float]:
    names = list(model._features)
    if not (hasattr(model, "support_vectors") and hasattr(model, "decision_function_one")):
        return {}
    n = min(model.n_support_vectors, SCORED_ROWS // max(len(names), 1))
    if n < 2:
        return {}
    kept = np.linspace(0, model.n_support_vectors - 1, n).astype(int)
    rows = np.ascontiguousarray(model._vector_rows()[kept])

    before, effects = model._score_rows(rows), {}
    for name, column in model._features.places.items():
        changed = rows.copy()
        changed[:, column] = rows[:, column].mean()
        effects[name] = float(np.abs(model._score_rows(changed) - before).mean())
    return effects
