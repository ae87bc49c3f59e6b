"""Reliability diagrams: how often predictions of a given probability come true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from river import base

from ..parameters import whole
from .figures import on_axes
from .panels import Line, Panel
from .running import Example, Floats, Models, in_orders, named, predict_and_learn

COUNTS_HEIGHT, PALE = 0.15, 0.3  # of the axes; opacity
FEWEST = 10  # examples in a bin that the diagram shows


def reliability(
    models: Models,
    stream: Iterable[Example],
    *,
    bins: int = 10,
    examples: int | None = None,
    ax: Any = None,
) -> Any:
    """A reliability diagram: how often predictions of a given probability are right.

    Every example is predicted, in its order, before it is learned. Predictions are put into bins by
    the probability of the predicted label; a point shows the mean probability in a bin, and the
    share of right predictions. On the diagonal both are equal; below it, the model is
    overconfident. The legend shows the mean difference: ECE, the expected calibration error. Bars
    along the lower edge show how often each probability was predicted.

    Not for judging accuracy: a model that always predicts the frequencies of the classes lies on
    the diagonal too. Bins of fewer than ten predictions are left out.

    Parameters
    ----------
    models
        River classifiers, as `mistake_curve` takes them.
    stream
        A River dataset or another iterable of (x, y). It must end.
    bins
        The number of bins of probabilities.
    examples
        The largest number of examples; None: all.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets, naive_bayes
    >>> import river_budget as rb

    >>> models = [naive_bayes.GaussianNB(), rb.AutoKernelClassifier(seed=1)]
    >>> ax = rb.plots.reliability(models, datasets.Phishing())
    >>> [text.get_text() for text in ax.figure.legends[0].get_texts()]
    ['GaussianNB, ECE ... %', 'AutoKernel, ECE ... %', 'perfect calibration']

    References
    ----------
    [^1]: The guide, [choosing a model](guide/choosing_a_model.md).

    """
    entries = named(models)
    for name, model in entries.items():
        if not isinstance(model, base.Classifier):
            raise ValueError(f"models: {name} is no classifier, so it has no probabilities")
    whole(1)("bins", bins)
    (rows,) = in_orders(stream, 1, examples)
    lines, all_sure = [], []
    for name, model in entries.items():
        _, found = predict_and_learn(model.clone(), rows, probabilities=True)
        sure, right = confidence(found, [y for _, y in rows])
        counts, gaps, x, y = binned(sure, right, bins)
        shown = counts >= FEWEST
        all_sure.append(sure)
        off = 100.0 * float(np.abs(gaps).sum() / max(len(sure), 1))
        lines.append(Line(f"{name}, ECE {off:.1f} %", x[shown].tolist(), y[shown].tolist()))
    low = min((min(line.x, default=1.0) for line in lines), default=0.0)
    lines.append(Line("perfect calibration", [low, 1.0], [low, 1.0]))
    panel = Panel("calibration", "predicted probability", "share that came true", lines)
    axes = on_axes(panel, ax)
    _add_counts(axes, all_sure, bins)
    return axes


def _add_counts(axes: Any, all_sure: Sequence[Floats], bins: int) -> None:
    """A histogram along the lower edge: how often each probability was predicted, in the colours of
    the lines.
    """
    below = axes.inset_axes((0.0, 0.0, 1.0, COUNTS_HEIGHT), sharex=axes, zorder=0.5)
    drawn = list(axes.lines)[: len(all_sure)]
    for line, sure in zip(drawn, all_sure, strict=False):
        counts, edges = np.histogram(sure, bins, (0.0, 1.0))
        below.stairs(counts, edges, color=line.get_color(), fill=True, alpha=PALE)
    below.set_axis_off()


def confidence(found: Sequence[dict[Any, float]], targets: Sequence[Any]) -> tuple[Floats, Floats]:
    """The probability of every predicted label, and whether the label was right. Skips
    predictions made before the first label."""
    sure, right = [], []
    for shares, y in zip(found, targets, strict=True):
        if shares:
            label = max(shares, key=lambda key: shares[key])
            sure.append(shares[label])
            right.append(float(label == y))
    return np.array(sure), np.array(right)


def binned(sure: Floats, right: Floats, bins: int) -> tuple[Floats, Floats, Floats, Floats]:
    """For each bin that is not empty: the number of predictions, the sum of right minus sure, the
    means of both.
    """
    place = np.minimum((sure * bins).astype(int), bins - 1)
    table = np.array([np.bincount(place, w, bins) for w in (np.ones(len(sure)), sure, right)])
    counts, total, hits = table[:, table[0] > 0.0]
    return counts, hits - total, total / counts, hits / counts
