"""What an automatic kernel learner can tell about itself and about a prediction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...core.block import blocks
from ...core.compiling.array_views import f64_matrix
from ...core.passes.auto import tables as core
from ...core.passes.auto.heavy_tails import raw_of_score
from ...core.passes.auto.sharing import NEIGHBOURS_FOUND
from ...model.calls.calls import Call
from ...model.one_writer import looks_at_the_model
from .tables import AutoTables

SHOWN = 5  # examples and features in the text of debug_one
_raw_of_score = getattr(raw_of_score, "py_func", raw_of_score)  # it is plain Python too


class Inspected(AutoTables):
    """Importances, experts, explanations."""

    _experts: ClassVar[tuple[str, ...]]  # their names, in the order of the mixer

    @looks_at_the_model
    def importances(self) -> dict[Any, float]:
        """The weight of every feature in the distance between examples, all in units of their spread.

        The weights are learned, and their mean is 1. A feature that tells nothing comes close to 0.
        """
        if self.block is None:
            return {}
        weights = self._table(core.METRIC)[core.METRIC_WEIGHT]
        return dict(zip(self.features, weights.tolist(), strict=False))

    @looks_at_the_model
    def experts(self) -> list[dict[str, Any]]:
        """The opinions that are mixed: their name, their weight, and their running loss.

        The loss is the log loss of a classifier, and in regression the squared error in units of the variance of
        the targets; both are means over about the last hundred examples.
        """
        if self.block is None:
            return []
        mixer, n = self._table(core.MIXER), self._n_experts
        weights, losses = mixer[core.MIXER_WEIGHT, :n], mixer[core.MIXER_LOSS, :n]
        return [
            {"name": name, "weight": float(weight), "loss": float(loss)}
            for name, weight, loss in zip(self._experts, weights, losses, strict=False)
        ]

    @property
    def _n_experts(self) -> int:
        return core.EXPERTS - int(self.state_record().second_order < 0)

    def _look(self, x: dict[Any, Any], n_scores: int) -> tuple[list[float], Any, Any]:
        """Scores of an example, the note, and desk(name): what the pass has found out on the way."""
        call = Call(self.block, self.features.row(x), scores=np.zeros((1, n_scores)))
        call.run(self.scoring_pass)
        note = call.model().note.copy()
        entries, _, _ = core.directory(*self._sizes())

        def desk(name: Any) -> Any:
            start, *shape = map(int, entries[name])
            # asking the call keeps it, and with it the scratch space, alive
            return f64_matrix(call.model().heap + 8 * start, *shape).copy()

        return call.arrays[-1][0].tolist(), note, desk

    @looks_at_the_model
    def explain_one(self, x: dict[Any, Any]) -> dict[str, Any]:
        """What speaks for the prediction of an example.

        Returns
        -------
        A dict of the `prediction`; `examples`, the stored examples nearest to this one: dicts of their
        `features`, `target`, `share` in the vote, squared `distance` and `arrival`, the largest share first; and
        `features`: the part of every feature in these distances, in shares. (Stored features are clipped to four
        standard deviations, and those that were known when the example came.)

        """
        x = self.features.present(x)
        predict = self.predict_one  # type: ignore[attr-defined]
        found: dict[str, Any] = {"prediction": predict(x), "examples": [], "features": {}}
        if self.block is None:
            return found
        _, note, desk = self._look(x, self.n_outputs)
        n, near = int(note[NEIGHBOURS_FOUND]), desk(core.NEAR)
        places, shares = near[core.NEAR_PLACE, :n].view(np.int64), near[core.NEAR_SHARE, :n]
        model, d = blocks.views(self.block), len(self.features)
        stored, rows = model.vectors[:d, places], model.per_vector[:, places]
        found["examples"] = [
            {
                "features": dict(zip(self.features, self._raw(stored[:, k]), strict=True)),
                "target": self._target(float(rows[core.TARGET, k])),
                "share": float(shares[k]),
                "distance": float(near[core.NEAR_DISTANCE, k]),
                "arrival": int(rows[core.ARRIVAL, k]),
            }
            for k in np.argsort(-shares, kind="stable")
        ]
        apart = (desk(core.ROW)[0, 1 : d + 1, None] - stored) ** 2 @ shares
        parts = self._table(core.METRIC)[core.METRIC_WEIGHT, :d] * apart
        total = float(parts.sum()) or 1.0
        found["features"] = dict(zip(self.features, (parts / total).tolist(), strict=True))
        return found

    def _raw(self, scaled: Any) -> list[float]:
        """Features in the units of the user."""
        moments = self._table(core.MOMENTS)[:, : len(scaled)]
        spread = np.sqrt(np.maximum(moments[core.VARIANCE], 0.0)) * moments[core.ORIENTATION]
        values = moments[core.MEAN] + spread * scaled
        tail = self._table(core.TAIL)
        for f in np.flatnonzero(tail[core.BENT, : len(scaled)]):
            values[f] = _raw_of_score(tail, f, moments[core.ORIENTATION, f] * scaled[f])
        found: list[float] = values.tolist()
        return found

    def _target(self, value: float) -> Any:
        """A stored target as users know it."""
        labels = getattr(self, "labels", None)
        return value if labels is None else labels.known[int(value)]

    @looks_at_the_model
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
