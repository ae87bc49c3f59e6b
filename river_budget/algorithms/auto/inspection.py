"""Inspect AutoKernel: importances of features, experts, explanations of predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.auto import tables as core
from ...core.passes.auto.linear_models import DOUBT, ERRORS_LESS
from ...inputs.batches import Batch
from ...inputs.features import Category
from ...model.calls import Workspace, rows_for
from ...model.lock import locked_read
from .categories import GAPS, places_of_means
from .table_reader import TableReader
from .tables import LEAST_SQUARES

SHOWN = 5  # examples and features in the text of debug_one


def in_columns(names: Iterable[Any], values: Iterable[float], means: Any) -> dict[Any, Any]:
    """A stored example by columns: of the features of texts, the text that it had."""
    found: dict[Any, Any] = {}
    for name, value, mean in zip(names, values, means, strict=True):
        if type(name) is not Category:
            found[name] = value
        elif value > mean and name != GAPS:
            found[name[0]] = name[1]
    return found


class Inspected(TableReader):
    """Importances, experts, explanations."""

    @locked_read
    def importances(self) -> dict[Any, float]:
        """The weight of every feature in the distance between examples, all in units of their
        spread.

        The weights are learned, and their mean is 1. The weight of an irrelevant feature is close
        to 0. That of a feature with a target mean (AutoKernelRegressor) counts both, and the
        texts of a column share that of their target mean.

        Empty for a model of words, which has no distances: `explain_one` says which names of an
        example count.
        """
        if self._block is None or self._of_words:
            return {}
        weights = self._by_feature(self._table("metric")[core.IMPORTANCE])
        return dict(zip(self._features, weights.tolist(), strict=True))

    def _by_feature(self, numbers: Any) -> Any:
        """Numbers of columns as those of features, that of a target mean with its feature, with the
        same mean.
        """
        first, n = self._n_means, len(self._features)
        found = numbers[first : first + n].copy()
        for column, places in enumerate(places_of_means(self)):
            found[places] += numbers[column] / len(places)
        return found * (n / max(first + n, 1))

    @locked_read
    def experts(self) -> list[dict[str, Any]]:
        """The experts of the mixture: their names, weights and running losses.

        The loss is the log loss of a classifier, and in regression the squared error in units of
        the variance of the targets; both are means over about the last hundred examples.
        """
        if self._block is None:
            return []
        rows = zip(self._expert_names, *self._table("mixer")[: core.CURVATURE], strict=False)
        weights = [
            {"name": name, "weight": float(weight), "loss": float(loss)}
            for name, start, weight, loss in rows
            if start != 0.0
        ]
        share = self._straight_share()
        for expert in weights:
            expert["weight"] *= 1.0 - share
            if expert["name"] == LEAST_SQUARES:
                expert["weight"] += share
        return weights

    def _straight_share(self) -> float:
        """The part of least squares beside the mixture, in regression."""
        products, apart, error = (
            float(self._state_record()[name]) for name in ("products", "apart", "blend_error")
        )
        sure, total = products - ERRORS_LESS * math.sqrt(apart * error), apart + DOUBT * error
        return min(max(sure / total, 0.0), 1.0) if total > 0.0 else 0.0

    def _desk_of(self, x: dict[Any, Any]) -> Any:
        """The desk of a prediction, with what it has found."""
        rows = Batch.of_one(x).known(self._features, self._takes_lists)
        work, zeros = Workspace(self, self._block), np.zeros(1)
        work.run(self._scoring_pass, rows_for(rows, zeros, zeros, np.zeros((1, self._n_outputs))))
        return work.arguments["desk"]

    @locked_read
    def explain_one(self, x: dict[Any, Any]) -> dict[str, Any]:
        """Explain the prediction of an example by stored examples and features.

        Returns
        -------
        A dict of the `prediction`; `examples`, the stored examples nearest to this one: dicts of their
        `features`, `target`, `share` in the vote, squared `distance` and `arrival`, the largest share first; and
        `features`: the share of every feature in these distances. (Stored features are clipped to four
        standard deviations, and those that were known when the example came. A column of text holds the text.) A model of words stores no
        examples: there, `features` are the parts of the names in what its linear models say.

        """  # noqa: E501
        x = self._read(x)
        predict = self.predict_one  # type: ignore[attr-defined]
        found: dict[str, Any] = {"prediction": predict(x), "examples": [], "features": {}}
        if self._block is None:
            return found
        if self._of_words:
            return found | {"features": self._parts_of_words(x)}
        desk = self._desk_of(x)
        n, near = int(desk.opinions.found["near"][0]), desk.search.near
        places, shares = near[core.PLACE, :n].astype(int), near[core.SHARE, :n]
        model, first = memory.views(self._block), self._n_means
        d = first + len(self._features)
        stored, moments = model.vectors[:d, places], self._table("moments")[:, :d]
        spread = np.sqrt(np.maximum(moments[core.VARIANCE], 0.0)) * moments[core.ORIENTATION]
        features = (moments[core.MEAN] + spread * stored.T)[:, first:].tolist()  # in users' units
        arrivals = model.per_vector[core.ARRIVAL, places].tolist()
        targets = near[core.TARGET, :n].tolist()
        if labels := getattr(self, "_labels", None):  # targets as users know them
            targets = [labels.known[int(target)] for target in targets]
        found["examples"] = [
            {
                "features": in_columns(self._features, features[k], moments[core.MEAN, first:]),
                "target": targets[k],
                "share": float(shares[k]),
                "distance": float(near[core.DISTANCE, k]),
                "arrival": int(arrivals[k]),
            }
            for k in np.argsort(-shares, kind="stable")
        ]
        apart = (desk.row[core.SCALED, :d, None] - stored) ** 2 @ shares
        parts = self._by_feature(self._table("metric")[core.IMPORTANCE, :d] * apart)
        total = float(parts.sum()) or 1.0
        found["features"] = dict(zip(self._features, (parts / total).tolist(), strict=True))
        return found

    @locked_read
    def debug_one(self, x: dict[Any, Any]) -> str:
        """`explain_one` as text, for pipelines' `debug_one`."""
        found = self.explain_one(x)
        lines = [f"Prediction: {found['prediction']}", "Nearest stored examples"]
        for example in found["examples"][:SHOWN]:
            share, arrival = example["share"], example["arrival"]
            lines.append(f"    {example['target']}: share {share:.3f}, example {arrival}")
        lines.append("Parts of features in their distance")
        parts = sorted(found["features"].items(), key=lambda part: -part[1])
        lines += [f"    {name}: {part:.3f}" for name, part in parts[:SHOWN]]
        lines.append("Experts")
        lines += [f"    {e['name']}: {e['weight']:.3f}" for e in self.experts()]
        return "\n".join(lines)
